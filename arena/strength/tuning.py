"""Tuning of a bot's numbers by games against itself: functions of past results.

By SPSA: simultaneous perturbation stochastic approximation (Spall, "Implementation of the
simultaneous perturbation algorithm for stochastic optimization", 1998), with the gains as fishtest
and OpenBench give them: every match plays all parameters moved a step up or down by lot against all
of them moved the other way, and moves each towards the side that won. Of match k, from 1,

    c_k = c / k^gamma,  c = c_end * n^gamma
    a_k = a / (A + k)^alpha,  a = r_end * c_end^2 * (A + n)^alpha
    parameter += a_k / c_k * result * flip

where n is the number of matches, ``c_end`` the step of the last one, ``r_end`` the part of that
step by which a result of 1 then moves a parameter, and ``flip`` 1 or -1 by lot. A result
is, as those have it for a game pair, wins less losses of the side that was moved by the flips; in
games of more seats the meetings won less those lost, in the same range of -2 to 2.

By Bayesian optimisation (`arena.strength.bayes`): each batch tries other values against those of
the start, and what all of them won says where to try next, and what is best so far.

What was gained is estimated by the matches themselves: of SPSA each match is a sample of how much
stronger a step along its flips makes a bot, and so of what the move before it was worth (`_worth`);
of Bayesian optimisation it is the share that is expected of the best values. No proof is either.

Theory of operation. Matches are played in batches, all of one from the same values, and counted
when the batch is whole. So what comes out follows from the seed and the results alone, however
many matches are played at the same time.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random
from typing import Any

from arena.ratings.elo import FEWEST_MATCHES, TOO_FEW
from arena.strength import bayes
from arena.strength.bayes import Point, Tried
from arena.strength.faults import clearly_too_many, too_many
from arena.strength.outcomes import Faults, Outcome, add_faults, cells, faults_json, seatings
from arena.strength.parameters import Parameter
from arena.strength.sequential import StrengthError, Version
from engine.books import Book, book_json
from engine.clock import TimeControl
from engine.game import Termination, Variant
from engine.match import entrants_needed
from engine.openings import Opening, openings
from engine.seeds import derive
from engine.translation import gettext, translated

FORMAT = 1
ALPHA, GAMMA = 0.602, 0.101
"""The exponents of Spall's paper, and everybody's."""
A_SHARE = 0.1
"""A, as a share of the matches."""
MOST_PARAMETERS = 64
BATCH = 16
"""Matches from the same values, by default; of SPSA."""
TRIALS = 30
"""How many trials of Bayesian optimisation the matches are shared out on by default, at most."""
MOST_TRIALS, MOST_TRIED = 100, 10
"""How many trials, and how many numbers, Bayesian optimisation has at most on the site: what trials
say is found by the process that takes results in, and takes longer the more there are."""
ELO_A_RESULT = 100 / math.log(10) * 4
"""How much Elo two are apart, by a small result: a quarter of that is a share of a game, and around
an even share one is 1600 / ln 10 Elo."""
EDGE = 0.001
"""No share is thought to be nearer to 0 or 1."""
PATH = 200
"""So many points of the way are kept."""


class Method(StrEnum):
    """How values are found."""

    SPSA = "spsa"
    BAYES = "bayes"


def default_batch(method: Method, matches: int) -> int:
    """How many matches are played from the same values if nothing is said."""
    return max(BATCH, -(-matches // TRIALS)) if method is Method.BAYES else BATCH


@dataclass(frozen=True, slots=True)
class TuningSettings:
    """What is tuned, and how; the same settings and results give the same values.

    Raises:
        StrengthError: it can't be tuned so.
    """

    variant: Variant
    bot: Version
    parameters: tuple[Parameter, ...]
    time: TimeControl
    matches: int
    """How many are played, by which the gains are."""
    seed: int = 0
    batch: int = BATCH
    """Matches from the same values."""
    book: Book | None = None
    method: Method = Method.SPSA
    extended: int = 0
    """How many are played beyond those; the gains become smaller by the same formula."""

    def __post_init__(self) -> None:
        if self.variant.seats == 1:
            raise StrengthError(
                gettext("%(variant)s is played alone: nobody is beaten in it", variant=self.variant)
            )
        if not 1 <= len(self.parameters) <= MOST_PARAMETERS:
            raise StrengthError(
                gettext(
                    "1 to %(most)s options can be tuned at once",
                    most=MOST_PARAMETERS,
                )
            )
        names = [one.option.name for one in self.parameters]
        if len({*names}) < len(names):
            raise StrengthError(gettext("an option is named twice"))
        if self.matches < 1 or self.batch < 1:
            raise StrengthError(gettext("a tuning has a match or more, and so has a batch"))

    @property
    def games_a_match(self) -> int:
        return len(seatings(self.variant))

    @property
    def most(self) -> int:
        """How many matches are played in all."""
        return self.matches + self.extended

    @property
    def is_light(self) -> bool:
        """Whether what its trials say is found in a moment; of SPSA it always is."""
        few = len(self.parameters) <= MOST_TRIED and self.most <= MOST_TRIALS * self.batch
        return self.method is Method.SPSA or few

    def openings(self) -> Iterator[Opening]:
        """Those of its matches in their order; it ends when there are no more."""
        return self.book.series(self.seed) if self.book else openings(self.variant, self.seed)

    def gains(self, match: int) -> list[tuple[float, float]]:
        """Each parameter's step in a match, and how far a result of 1 moves it.

        Args:
            match: from 0.
        """
        k, n = match + 1, self.matches
        big_a = A_SHARE * n
        found = []
        for one in self.parameters:
            step = one.c_end * n**GAMMA / k**GAMMA
            a_k = one.r_end * one.c_end**2 * (big_a + n) ** ALPHA / (big_a + k) ** ALPHA
            found.append((step, a_k / step))
        return found

    def flips(self, match: int) -> list[int]:
        """Draws 1 or -1 for each parameter."""
        dice = Random(derive(self.seed, "flips", match))
        return [1 if dice.random() < 0.5 else -1 for _ in self.parameters]

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON's types."""
        return {
            "game": str(self.variant),
            "bot": self.bot.name,
            "bot_digest": self.bot.digest,
            "parameters": [one.to_json() for one in self.parameters],
            "time": self.time.words,
            "matches": self.matches,
            "seed": self.seed,
            "batch": self.batch,
            "method": str(self.method),
            **book_json(self.book),
        }


@dataclass(frozen=True, slots=True)
class Tuning:
    """A tuning after some matches."""

    settings: TuningSettings
    values: tuple[float, ...]
    """What the parameters are, as the last whole batch left them."""
    path: tuple[tuple[int, tuple[float, ...]], ...]
    """The values after so many matches; the start and the end are among them."""
    matches: int = 0
    """How many matches whole batches had."""
    pending: tuple[float, ...] = ()
    """The results of the batch that is under way, in their order."""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    """Games of the side whose values the flips had moved."""
    faults: Faults = field(default_factory=dict)
    digest: str = ""
    """SHA-256 over the matches in their order."""
    trials: tuple[Tried, ...] = ()
    """What whole batches told of Bayesian optimisation."""
    point: tuple[float, ...] = ()
    """The values that the batch under way tries; empty of SPSA."""
    moves: tuple[float, ...] = ()
    """How far the last whole batch moved the values, by SPSA."""
    gain: float = 0.0
    """How much Elo the values are thought to be better by than the start."""
    gain_variance: float = 0.0
    """The variance of that, in Elo squared."""

    @classmethod
    def begin(cls, settings: TuningSettings) -> Tuning:
        """A tuning before its first match."""
        start = tuple(one.start for one in settings.parameters)
        return cls(settings, start, ((0, start),))._aimed()

    def _aimed(self) -> Tuning:
        """The tuning with what trials say: the best values, and what its next batch is to try."""
        if self.settings.method is Method.SPSA:
            return self
        start = tuple(one.scaled(one.start) for one in self.settings.parameters)
        found = bayes.aim(start, self.trials, derive(self.settings.seed, "aim", len(self.trials)))
        aimed = replace(self, point=self._played(found.next))
        if not self.trials:
            return aimed
        share = min(max(found.share, EDGE), 1 - EDGE)
        slope = 400 / math.log(10) / (share * (1 - share))
        return replace(
            aimed,
            values=self._played(found.best),
            gain=400 * math.log10(share / (1 - share)),
            gain_variance=(slope * found.deviation) ** 2,
        )

    def _played(self, point: Point) -> tuple[float, ...]:
        """A point's values as a bot is told them, whole numbers whole."""
        pairs = zip(self.settings.parameters, point, strict=True)
        return tuple(float(one.told(one.unscaled(part))) for one, part in pairs)

    @property
    def played(self) -> int:
        """Matches, those of the batch under way too."""
        return self.matches + len(self.pending)

    @property
    def games(self) -> int:
        return self.played * self.settings.games_a_match

    @property
    def is_over(self) -> bool:
        return self.matches >= self.settings.most

    @property
    def is_spoilt(self) -> bool:
        """Whether faults ended too many of the games to go by them (`arena.strength.faults`)."""
        judge = too_many if self.is_over else clearly_too_many
        faults, needed = sum(self.faults.values()), entrants_needed(self.settings.variant)
        return bool(faults) and judge(faults, self.games, needed)

    @property
    def batch(self) -> range:
        """The matches that are still to be played from these values."""
        end = min(self.settings.most, self.matches + self.settings.batch)
        return range(self.played, end)

    def sides(self, match: int) -> tuple[dict[str, str], dict[str, str]]:
        """What is chosen about each side of a match: moved by the flips, and against them; or what
        is tried, and the start."""
        settings = self.settings
        if settings.method is Method.BAYES:
            return self._chosen(self.point), self.chosen_at_start
        dice = Random(derive(settings.seed, "rounding", match))
        moved: tuple[dict[str, str], dict[str, str]] = {}, {}
        for one, value, (step, _), flip in zip(
            settings.parameters,
            self.values,
            settings.gains(match),
            settings.flips(match),
            strict=True,
        ):
            # The same lot for both: what they differ by is the step alone.
            lot = dice.random()
            for side, sign in zip(moved, (1, -1), strict=True):
                side[one.option.name] = one.told(value + sign * flip * step, lot)
        return moved

    def add(self, outcome: Outcome) -> Tuning:
        """The tuning after one more match.

        Args:
            outcome: of the side moved by the flips against the other.

        Raises:
            StrengthError: it is over.
        """
        if self.is_over:
            raise StrengthError(gettext("the tuning is over, and takes no more matches"))
        even = (cells(self.settings.variant) - 1) / 2
        result = 2 * (outcome.half_points - even) / even
        found = replace(
            self,
            pending=(*self.pending, result),
            wins=self.wins + outcome.wins,
            draws=self.draws + outcome.draws,
            losses=self.losses + outcome.losses,
            faults=add_faults(self.faults, add_faults(*outcome.faults)),
            digest=hashlib.sha256((self.digest + outcome.digest).encode()).hexdigest(),
        )
        return found if found.batch else found._counted()

    def _counted(self) -> Tuning:
        """The tuning after a whole batch."""
        now = replace(self, matches=self.played, pending=())
        if self.settings.method is Method.BAYES:
            now = now._tried(self.pending)._aimed()
        else:
            values, (gain, variance) = self._moved(), self._worth()
            now = replace(
                now,
                values=values,
                moves=tuple(to - at for to, at in zip(values, self.values, strict=True)),
                gain=self.gain + gain,
                gain_variance=self.gain_variance + variance,
            )
        return replace(now, path=_thinned((*now.path, (now.matches, now.values))))

    def _tried(self, results: Sequence[float]) -> Tuning:
        """The tuning with what a trial told."""
        parameters, size = self.settings.parameters, self.settings.games_a_match
        point = tuple(one.scaled(at) for one, at in zip(parameters, self.point, strict=True))
        share = 0.5 + math.fsum(results) / (4 * len(results))
        trial = Tried(point, share, size * len(results))
        return replace(self, trials=(*self.trials, trial))

    def _worth(self) -> tuple[float, float]:
        """What the move before this batch was worth in Elo by its matches, and the variance of it.

        The dice of this batch know nothing of those that made the move, so that it is not praised
        for its luck. A match of result r lies about ELO_A_RESULT * r apart, by 2 c in each
        parameter along its flip; so along a move it is the sum of move * flip / (2 c) times that,
        in which what the others do cancels out in the mean.
        """
        if not any(self.moves):
            return 0.0, 0.0
        settings = self.settings
        samples = []
        for match, result in enumerate(self.pending, self.matches):
            steps = zip(self.moves, settings.gains(match), settings.flips(match), strict=True)
            along = math.fsum(move * flip / (2 * step) for move, (step, _), flip in steps)
            samples.append(ELO_A_RESULT * result * along)
        count = len(samples)
        # About zero rather than their mean: rather too large than too small.
        return math.fsum(samples) / count, math.fsum(one * one for one in samples) / count**2

    def _moved(self) -> tuple[float, ...]:
        """The values after what the batch says of the flips."""
        settings = self.settings
        values = list(self.values)
        for match, result in enumerate(self.pending, self.matches):
            moves = zip(settings.gains(match), settings.flips(match), strict=True)
            for number, ((_, rate), flip) in enumerate(moves):
                moved = values[number] + rate * result * flip
                values[number] = settings.parameters[number].clip(moved)
        return tuple(values)

    @property
    def gain_margin(self) -> float:
        """Half of the 95 % interval of the gain, in Elo."""
        return 1.96 * math.sqrt(self.gain_variance)

    @property
    def gain_words(self) -> str:
        """What was gained, as it is guessed."""
        if self.matches < FEWEST_MATCHES:
            return translated(TOO_FEW)
        return gettext(
            "perhaps %(gain)s Elo [%(lower)s, %(upper)s] by its own games",
            gain=f"{self.gain:+.0f}",
            lower=f"{self.gain - self.gain_margin:+.0f}",
            upper=f"{self.gain + self.gain_margin:+.0f}",
        )

    @property
    def chosen(self) -> dict[str, str]:
        """What the values come to, as the bot is told it."""
        return self._chosen(self.values)

    def _chosen(self, values: Sequence[float]) -> dict[str, str]:
        pairs = zip(self.settings.parameters, values, strict=True)
        return {one.option.name: one.told(value) for one, value in pairs}

    @property
    def chosen_at_start(self) -> dict[str, str]:
        """What it began with, as the bot is told it."""
        return {one.option.name: one.told(one.start) for one in self.settings.parameters}

    def to_json(self) -> dict[str, Any]:
        """What it takes to go on, as JSON's types; `from_json` takes it back."""
        return {
            "tuning": FORMAT,
            "settings": self.settings.to_json(),
            "values": list(self.values),
            "path": [[match, list(values)] for match, values in self.path],
            "matches": self.matches,
            "pending": list(self.pending),
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "faults": faults_json(self.faults),
            "digest": self.digest,
            "moves": list(self.moves),
            "gain": [self.gain, self.gain_variance],
            "trials": [[list(one.point), one.share, one.games] for one in self.trials],
            "point": list(self.point),
        }

    @classmethod
    def from_json(cls, data: Any, settings: TuningSettings) -> Tuning:
        """The tuning that `to_json` wrote, to go on under the same settings.

        Raises:
            StrengthError: it is none, or was begun under other settings.
        """
        try:
            if data["tuning"] != FORMAT:
                raise StrengthError(
                    gettext(
                        "it has the format %(its)r, not %(known)s",
                        its=data["tuning"],
                        known=FORMAT,
                    )
                )
            # A release before knew one method, and kept no trials.
            _demand_same({"method": str(Method.SPSA), **data["settings"]}, settings.to_json())
            found = cls(
                settings,
                _numbers(data["values"]),
                tuple((int(match), _numbers(values)) for match, values in data["path"]),
                int(data["matches"]),
                _numbers(data["pending"]),
                int(data["wins"]),
                int(data["draws"]),
                int(data["losses"]),
                {Termination(kind): int(count) for kind, count in data["faults"].items()},
                str(data["digest"]),
                tuple(
                    Tried(_numbers(point), _numbers([share])[0], int(games))
                    for point, share, games in data.get("trials", [])
                ),
                _numbers(data.get("point", [])),
                _numbers(data.get("moves", [])),
                *_numbers(data.get("gain", [0.0, 0.0])),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, StrengthError):
                raise
            raise StrengthError(gettext("it is no saved tuning")) from None
        widths = {len(found.values), *(len(values) for _, values in found.path)}
        if settings.method is Method.BAYES:
            widths |= {len(found.point), *(len(one.point) for one in found.trials)}
        if found.moves:
            widths.add(len(found.moves))
        if widths != {len(settings.parameters)} or len(found.pending) >= settings.batch:
            raise StrengthError(gettext("it is no saved tuning"))
        return found


def _numbers(values: Sequence[Any]) -> tuple[float, ...]:
    found = tuple(map(float, values))
    if not all(map(math.isfinite, found)):
        raise ValueError(found)
    return found


def _demand_same(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuses other settings than before.

    Raises:
        StrengthError: one differs; it says which.
    """
    for key, value in now.items():
        if before.get(key) != value:
            raise StrengthError(
                gettext(
                    "it was begun with %(key)s %(before)r, not %(value)r",
                    key=key,
                    before=before.get(key),
                    value=value,
                )
            )


def _thinned(
    path: tuple[tuple[int, tuple[float, ...]], ...],
) -> tuple[tuple[int, tuple[float, ...]], ...]:
    """Every other point of a path that has become too long, its ends among them."""
    return path if len(path) <= PATH else (*path[:-1:2], path[-1])
