"""Strength tests: is the candidate stronger than the baseline?

A test is a fold over matches, one after another until it decides. It holds counts and nothing
of the games themselves, so that it can be saved after any match and go on later. What a match
says of the two is in `arena.strength.outcomes`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar

from arena.ground.refusals import Refusal
from arena.ratings.elo import Estimate, estimate
from arena.ratings.sprt import Decision, Sprt
from arena.strength.faults import clearly_too_many, too_many
from arena.strength.outcomes import Faults, Outcome, add_faults, cells, faults_json, seatings
from arena.strength.terms import DEFAULT_TERMS, StrengthTerms
from engine.books import Book, book_json
from engine.clock import TimeControl
from engine.game import Termination, Variant
from engine.match import entrants_needed
from engine.openings import Opening, openings
from engine.plurals import counted
from engine.translation import N_, gettext, pgettext

T = TypeVar("T")

FORMAT = 1
MOST_PLIES = 40
"""The most of a random opening: of longer ones too few leave a game open, and it takes long to find
them."""


class StrengthError(Refusal):
    """A test that can't be made, or can't go on; one sentence for people."""


@dataclass(frozen=True, slots=True)
class Version:
    """A bot as it took part: a name, and a digest that changes with the program."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class StrengthSettings:
    """What is tested, and how; the same settings and bots give the same test.

    Raises:
        StrengthError: it can't be tested so.
    """

    variant: Variant
    candidate: Version
    baseline: Version
    time: TimeControl
    seed: int = 0
    """The seed of openings and dice."""
    terms: StrengthTerms = DEFAULT_TERMS
    book: Book | None = None
    """Whose openings are played, each once; by default they are balanced random ones."""
    plies: int | None = None
    """How many moves those have; by default as many as the game's usually do."""
    others: tuple[Variant, ...] = ()
    """Further boards or games, with whose matches those of the variant take turns."""

    def __post_init__(self) -> None:
        if self.variant.seats == 1:
            raise StrengthError(
                gettext(
                    "%(variant)s can't be a strength test: a game of one seat is played alone, so "
                    "nobody is beaten, and its result says as much of its start as of the bot; "
                    "compare the scores of a race instead (arena play %(game)s BOT BOT)",
                    variant=self.variant,
                    game=self.variant.game,
                )
            )
        if self.terms.games is not None and self.terms.games < 1:
            raise StrengthError(
                gettext("a test has a game or more, not %(games)s", games=self.terms.games)
            )
        if self.book and self.plies is not None:
            raise StrengthError(
                gettext("a book has its openings as they are: leave out how many plies")
            )
        self._refuse_others()
        try:
            self.sprt.llr([0] * cells(self.variant))
        except ValueError as error:
            least = Sprt.min_matches * self.games_a_match
            if self.terms.max_games is not None and self.terms.max_games < least:
                raise StrengthError(
                    gettext(
                        "a test of %(variant)s needs %(least)s games or more, not %(max_games)s: "
                        "nothing is decided before",
                        variant=self.variant,
                        least=least,
                        max_games=self.terms.max_games,
                    )
                ) from None
            raise StrengthError(str(error)) from None

    def _refuse_others(self) -> None:
        """Refuses further boards whose matches can't be counted with the others."""
        for number, other in enumerate(self.others, 1):
            if other in self.boards[:number]:
                raise StrengthError(
                    gettext("%(other)s is named twice: each board has its turn anyway", other=other)
                )
            if _shape(other) != _shape(self.variant):
                raise StrengthError(
                    gettext(
                        "%(variant)s and %(other)s can't be one test: a match of the one is "
                        "%(shape)s, and of the other %(its_shape)s; test them apart",
                        variant=self.variant,
                        other=other,
                        shape=_shape_words(self.variant),
                        its_shape=_shape_words(other),
                    )
                )
        if self.others and self.book:
            raise StrengthError(
                gettext("a book has the openings of one board: leave it or the others out")
            )

    @property
    def boards(self) -> tuple[Variant, ...]:
        """What it is played on, match by match in turn."""
        return (self.variant, *self.others)

    @property
    def game_words(self) -> str:
        """The boards in words."""
        return " and ".join(map(str, self.boards))

    @property
    def games_a_match(self) -> int:
        return len(seatings(self.variant))

    @property
    def most_matches(self) -> int | None:
        """How many matches end the test, whatever they say."""
        return self.terms.most_matches(self.games_a_match)

    def openings(self) -> Iterator[Opening]:
        """Those of its matches in their order; it ends when there are no more."""
        if self.book:
            return self.book.series(self.seed)
        # The first board that has no more ends the turns of all.
        each = (openings(board, self.seed, plies=self.plies) for board in self.boards)
        return chain.from_iterable(zip(*each, strict=False))

    @property
    def sprt(self) -> Sprt:
        """The sequential test.

        Raises:
            ValueError: the hypotheses or limits are none.
        """
        most = None if self.terms.games is not None else self.most_matches
        return self.terms.sprt(self.games_a_match, most)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON's types."""
        return {
            "game": str(self.variant),
            "candidate": self.candidate.name,
            "candidate_digest": self.candidate.digest,
            "baseline": self.baseline.name,
            "baseline_digest": self.baseline.digest,
            "time": self.time.words,
            "seed": self.seed,
            **self.terms.to_json(),
            "plies": self.plies,
            "others": [str(other) for other in self.others],
            **book_json(self.book),
        }


def _shape(variant: Variant) -> tuple[int, int, int]:
    """What matches that are counted together have in common."""
    return entrants_needed(variant), len(seatings(variant)), cells(variant)


def _shape_words(variant: Variant) -> str:
    _, games, scores = _shape(variant)
    return gettext(
        "%(games)s with %(scores)s", games=counted(games, "game"), scores=counted(scores, "score")
    )


@dataclass(frozen=True, slots=True)
class OnBoard:
    """What was played on one of several boards."""

    counts: tuple[int, ...]
    """Matches by their score, from the worst to the best in equal steps."""
    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, outcome: Outcome) -> OnBoard:
        """The count after one more match."""
        counts = list(self.counts)
        counts[outcome.half_points] += 1
        return OnBoard(
            tuple(counts),
            self.wins + outcome.wins,
            self.draws + outcome.draws,
            self.losses + outcome.losses,
        )

    def plus(self, other: OnBoard) -> OnBoard:
        """The count of both boards together."""
        return OnBoard(
            tuple(map(sum, zip(self.counts, other.counts, strict=True))),
            self.wins + other.wins,
            self.draws + other.draws,
            self.losses + other.losses,
        )

    @property
    def estimate(self) -> Estimate:
        """Elo by this board alone."""
        return estimate(self.counts)

    def to_json(self) -> dict[str, Any]:
        """Tells it as JSON's types."""
        return asdict(self) | {"counts": list(self.counts)}


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """A test after some matches."""

    settings: StrengthSettings
    counts: tuple[int, ...]
    """Matches by their score, from the worst to the best in equal steps."""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: tuple[Faults, Faults] = field(default_factory=lambda: ({}, {}))
    """The faults of candidate and baseline."""
    digest: str = ""
    """SHA-256 over the matches in their order; two tests of equal digest played the same games."""
    out_of_openings: bool = False
    on_boards: tuple[OnBoard, ...] = ()
    """What makes up the sums, board by board, if there are several."""

    @classmethod
    def begin(cls, settings: StrengthSettings) -> SequentialTest:
        """A test before its first match."""
        none = (0,) * cells(settings.variant)
        boards = (OnBoard(none),) * len(settings.boards)
        return cls(settings, none, on_boards=boards if settings.others else ())

    def add(self, outcome: Outcome) -> SequentialTest:
        """The test after one more match.

        Raises:
            StrengthError: it is over; a result more would make another test of it.
        """
        if self.decision is not Decision.CONTINUE:
            raise StrengthError(
                gettext(
                    "the test is over (%(decision)s) and takes no more matches",
                    decision=self.decision,
                )
            )
        counts = list(self.counts)
        counts[outcome.half_points] += 1
        boards = list(self.on_boards)
        if boards:
            turn = self.matches % len(boards)
            boards[turn] = boards[turn].add(outcome)
        return replace(
            self,
            counts=tuple(counts),
            on_boards=tuple(boards),
            wins=self.wins + outcome.wins,
            draws=self.draws + outcome.draws,
            losses=self.losses + outcome.losses,
            faults=(
                add_faults(self.faults[0], outcome.faults[0]),
                add_faults(self.faults[1], outcome.faults[1]),
            ),
            digest=hashlib.sha256((self.digest + outcome.digest).encode()).hexdigest(),
        )

    def end_of_openings(self) -> SequentialTest:
        """The test when there is no opening that it did not use yet."""
        return replace(self, out_of_openings=True)

    @property
    def matches(self) -> int:
        return sum(self.counts)

    @property
    def games(self) -> int:
        return self.matches * self.settings.games_a_match

    @property
    def llr(self) -> float:
        """The log-likelihood ratio of elo1 against elo0."""
        return self.settings.sprt.llr(self.counts) if self.matches else 0.0

    @property
    def llr_bounds(self) -> tuple[float, float]:
        """The bounds at which the LLR decides."""
        sprt = self.settings.sprt
        return sprt.lower, sprt.upper

    def llr_json(self) -> dict[str, Any]:
        """Both as JSON's types; null where a number of games is fixed, which none decides."""
        if self.settings.terms.games is not None:
            return {"llr": None, "llr_bounds": None}
        return {"llr": round(self.llr, 6), "llr_bounds": list(self.llr_bounds)}

    @property
    def estimate(self) -> Estimate:
        """Elo, as by the mean score of the candidate's meetings with the baseline."""
        return estimate(self.counts)

    @property
    def decision(self) -> Decision:
        """What the matches so far say; any other answer than CONTINUE is final."""
        return Decision.UNDECIDED if self.is_spoilt else self._said

    @property
    def is_spoilt(self) -> bool:
        """Whether faults ended too many of the games for a verdict (`arena.strength.faults`)."""
        faults = sum(sum(side.values()) for side in self.faults)
        if self.settings.terms.allow_faults or not faults:
            return False
        judge = clearly_too_many if self._said is Decision.CONTINUE else too_many
        return judge(faults, self.games, entrants_needed(self.settings.variant))

    @property
    def spoilt_words(self) -> str:
        """Says by what faults it is spoilt."""
        bots = (self.settings.candidate, self.settings.baseline)
        counts = [sum(side.values()) for side in self.faults]
        each = ", ".join(f"{bot.name} {n}" for bot, n in zip(bots, counts, strict=True))
        return gettext(
            "%(faults)s in %(games)s (%(each)s) are too many to tell who is stronger",
            faults=counted(sum(counts), "fault"),
            games=counted(self.games, "game"),
            each=each,
        )

    @property
    def _said(self) -> Decision:
        """What the results say, however they came about."""
        if self.settings.terms.games is None:
            said = self.settings.sprt.decide(self.counts)
        else:
            said = self._decide_fixed()
        if said is Decision.CONTINUE and self.out_of_openings:
            return Decision.UNDECIDED
        return said

    @property
    def shortened(self) -> SequentialTest:
        """The test as one of just so many games as there are, if it is of a fixed number."""
        terms = self.settings.terms
        if terms.games is None or not self.games:
            return self
        short = replace(terms, games=self.games)
        return replace(self, settings=replace(self.settings, terms=short))

    def _decide_fixed(self) -> Decision:
        most = self.settings.most_matches
        if most is None or self.matches < most:
            return Decision.CONTINUE
        found = self.estimate
        if found.lower > 0:
            return Decision.ACCEPT
        return Decision.REJECT if found.upper < 0 else Decision.UNDECIDED

    @property
    def matches_left(self) -> float | None:
        """How many more it may take if things go on as they did; None if that can't be told."""
        most = self.settings.most_matches
        rest = None if most is None else most - self.matches
        if self.settings.terms.games is not None or not self.matches or self.llr == 0:
            return rest
        sprt, llr = self.settings.sprt, self.llr
        way = (sprt.upper if llr > 0 else sprt.lower) - llr
        left = max(way / (llr / self.matches), sprt.min_matches - self.matches, 0.0)
        return left if rest is None else min(left, rest)

    @property
    def verdict(self) -> str:
        """The decision in words."""
        settings = self.settings
        if self.is_spoilt:
            return gettext("undecided: %(reason)s", reason=self.spoilt_words)
        if self.out_of_openings and self.decision is Decision.UNDECIDED:
            if settings.book:
                return gettext(
                    "undecided: the book %(name)s has no more different openings",
                    name=settings.book.name,
                )
            return gettext(
                "undecided: %(game)s has no more different openings", game=settings.game_words
            )
        terms = settings.terms
        match self.decision:
            case Decision.ACCEPT:
                said = terms.decided(self.estimate, passed=True)
                return gettext("passed: %(reason)s", reason=said)
            case Decision.REJECT:
                said = terms.decided(self.estimate, passed=False)
                return gettext("failed: %(reason)s", reason=said)
            case Decision.UNDECIDED:
                return gettext("undecided: %(reason)s", reason=terms.why_undecided)
            case Decision.CONTINUE:
                return gettext("not finished")

    def to_json(self) -> dict[str, Any]:
        """What it takes to go on, as JSON's types; `from_json` takes it back."""
        return {
            "strength_test": FORMAT,
            "settings": self.settings.to_json(),
            "counts": list(self.counts),
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "faults": [faults_json(side) for side in self.faults],
            "digest": self.digest,
            "out_of_openings": self.out_of_openings,
            "boards": [
                {"game": str(board), **its.to_json()}
                for board, its in zip(self.settings.boards, self.on_boards, strict=False)
            ],
        }

    @classmethod
    def from_json(cls, data: Any, settings: StrengthSettings) -> SequentialTest:
        """The test that `to_json` wrote, to go on under the same settings.

        Raises:
            StrengthError: it is none, or one with other settings; it says which differ.
        """
        if not isinstance(data, dict) or data.get("strength_test") != FORMAT:
            raise StrengthError(gettext("this is no saved strength test of a format known here"))
        try:
            # A test that was saved before there were these settings did without them.
            saved = {"allow_faults": False, "plies": None, "others": [], **data["settings"]}
            asked = settings.to_json()
            # What a book is called is nothing to it.
            other = [key for key in asked if key != "book" and saved.get(key) != asked[key]]
            if other:
                raise StrengthError(
                    gettext(
                        "the saved test is another one: %(differences)s; give the same settings "
                        "and bots, or begin a new test",
                        differences=_differences(saved, asked, other),
                    )
                )
            mine, theirs = (
                {Termination(key): _count(n) for key, n in side.items()} for side in data["faults"]
            )
            test = cls(
                settings,
                tuple(map(_count, data["counts"])),
                _count(data["wins"]),
                _count(data["draws"]),
                _count(data["losses"]),
                (mine, theirs),
                _of_type(str, data["digest"]),
                _of_type(bool, data["out_of_openings"]),
                tuple(map(on_board, data.get("boards", []))),
            )
        except StrengthError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StrengthError(
                gettext("the saved test is damaged: %(error)s", error=error)
            ) from None
        played = test.wins + test.draws + test.losses
        sums = tuple(map(sum, zip(*(its.counts for its in test.on_boards), strict=True)))
        adds_up = (len(test.on_boards), sums) == (len(settings.boards), test.counts)
        if not settings.others:
            adds_up = not test.on_boards
        if len(test.counts) != cells(settings.variant) or played != test.games or not adds_up:
            raise StrengthError(gettext("the saved test is damaged: its counts do not add up"))
        return test


def on_board(data: Any) -> OnBoard:
    """What `OnBoard.to_json` told, among whatever else there is.

    Raises:
        StrengthError: a count is none.
    """
    results = (_count(data[key]) for key in ("wins", "draws", "losses"))
    return OnBoard(tuple(map(_count, data["counts"])), *results)


def _of_type(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind):
        raise StrengthError(
            gettext(
                "the saved test is damaged: %(value)r is no %(name)s",
                value=str(value)[:40],
                name=kind.__name__,
            )
        )
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise StrengthError(
            gettext("the saved test is damaged: %(value)r is no count", value=str(value)[:40])
        )
    return value


def _differences(saved: dict[str, Any], asked: dict[str, Any], keys: Sequence[str]) -> str:
    """How a saved test differs, for people: of a bot's digests no more than that they do."""
    words = []
    for key in keys:
        side, _, kind = key.partition("_")
        if side == "book":
            before, now = saved.get("book"), asked["book"]
            if before == now:
                words.append(gettext("the book %(name)s was another", name=now))
            else:
                nothing = pgettext("a book", "none")
                words.append(
                    gettext(
                        "the book is %(before)s there, not %(now)s",
                        before=before or nothing,
                        now=now or nothing,
                    )
                )
        elif kind != "digest":
            words.append(
                gettext(
                    "%(key)s is %(before)s there, not %(now)s",
                    key=key,
                    before=saved.get(key),
                    now=asked[key],
                )
            )
        elif side not in keys:
            others = (
                N_("the files of the candidate %(name)s were others")
                if side == "candidate"
                else N_("the files of the baseline %(name)s were others")
            )
            words.append(gettext(others, name=asked[side]))
    return ", ".join(words)
