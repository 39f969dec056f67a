"""What a format of tournaments is: all that is asked of one, and two halves to make one of.

A format is a function of the entrants and of what was set and played so far. It keeps nothing:
asked again with the same results it gives the same fixtures, and with more results later
rounds. So a tournament goes on wherever it was interrupted.

A class is a format as it can be chosen, with its name, words and settings; an instance is one
with its settings made, for one tournament. Where all is known from the start it derives from
`AtOnce`, and where each round follows from those before it from `InTurn`: either way it says one
thing, who meets whom. What else there may be, such as a bracket, derives from `Format` itself.
Commands, forms, pages and tournaments ask what stands here and nothing else, so that a new format
is a module beside this one and its line in `arena.formats.catalogue`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

from arena.formats.fixtures import (
    EntrantNumber,
    Fixture,
    Result,
    check_field,
    sitting_out,
    unplayed,
)
from arena.formats.settings import FormatSetting, FormatSettings, Frame
from engine.translation import N_, gettext, translated


@dataclass(frozen=True, slots=True)
class Tie:
    """Two places of a bracket of which one goes on, and who fills them."""

    stage: str
    """Such as "final", "round of 16" or "losers' round 2"; the same for ties side by side."""
    round: int
    """Numbered from 1, and above those of the ties that it takes its sides from."""
    part: int = 0
    """Which part of the bracket it is in, where that has several, drawn one below the other; from
    0."""
    sides: tuple[EntrantNumber | None, EntrantNumber | None] = (None, None)
    """The better seed first once both are known; None is nobody, or not known yet."""
    winner: EntrantNumber | None = None
    loser: EntrantNumber | None = None
    decided: bool = False
    """Whether nothing is left to play; a tie of nobody has no winner."""
    score: tuple[float, float] = (0.0, 0.0)
    """The points of either side."""
    legs: int = 0
    """How many count so far."""
    tie_break: str = ""
    """What the winner is that the score does not show, such as "better seed"."""


NUMBERED = (
    N_("round of %(number)s"),
    N_("winners' round %(number)s"),
    N_("losers' round %(number)s"),
)
"""The stages of a bracket that have numbers, as they are translated."""


def stage_words(stage: str) -> str:
    """What a stage is called, for people."""
    words, _, number = stage.rpartition(" ")
    numbered = f"{words} %(number)s"
    return gettext(numbered, number=number) if numbered in NUMBERED else translated(stage)


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """A place and who shares it."""

    place: int | None
    """None while it is open."""
    entrants: tuple[EntrantNumber, ...]
    """They stand in the order of their points."""


class OpenRound(NamedTuple):
    """A round that is to be set, and what it may depend on."""

    number: int
    entrants: tuple[EntrantNumber, ...]
    """The whole field, the strongest by seeding first."""
    past: tuple[Result, ...]
    """All results of the rounds before it."""
    free: tuple[EntrantNumber, ...]
    """Who has no fixture in it yet, in the order of the seeding; at first the whole field."""


class Format(ABC):
    """A way to decide who meets whom, and who has won."""

    __slots__ = ()

    name: ClassVar[str]
    """The name that commands and the database know it by: small letters and hyphens, 20 at most."""
    title: ClassVar[str]
    """What pages call it, which translate it as all its words."""
    words: ClassVar[str] = ""
    """What it does, in a sentence or two for those who choose one."""
    settings: ClassVar[Mapping[str, FormatSetting]] = {}
    """What can be chosen about it, by the names of options."""
    for_seats: ClassVar[range] = range(2, 3)
    """How many entrants a match may have."""
    tie_breaks: ClassVar[tuple[str, ...]]
    """Those that are used if no others are asked for, by their names in
    `arena.formats.standings.TIE_BREAKS`."""
    by_share: ClassVar[bool] = False
    """Whether points a game decide, since some have more games than others."""
    remark: ClassVar[str] = ""
    """What else decides who stands where, in sentences for below the standings."""
    in_turn: ClassVar[bool] = False
    """Whether later fixtures follow from results; otherwise all are due at once. Then a walkover
    stands though whoever was given it leaves as well: the next round was made of it."""
    keeps_rounds: ClassVar[bool] = False
    """Whether a fixture that was set is due again, as it was, when its match is void, whatever
    else has changed; otherwise it follows anew from the results."""
    walkover_is_bye: ClassVar[bool] = False
    """Whether a walkover counts in tie-breaks as a round sat out; otherwise as a match won against
    whoever has left."""

    @classmethod
    @abstractmethod
    def build(cls, frame: Frame, settings: FormatSettings) -> Self:
        """The format with these settings, for a tournament; each is within its bounds.

        Raises:
            ValueError: they don't go together.
        """

    @abstractmethod
    def fixtures(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result]
    ) -> list[Fixture]:
        """All that are due now and not played yet; none when the tournament is finished.

        Args:
            entrants: the field, the same at every call, the strongest by seeding first.
            results: in any order. Fixtures without games among them stay as they were set.

        Raises:
            ValueError: the field is too small for the format, or names an entrant twice.
        """

    @abstractmethod
    def byes(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Result]:
        """Who sits out which of the rounds that are set, each with the points given for it.

        They are for standings and pages, and are not among the results that `fixtures` takes.
        """

    @abstractmethod
    def planned(self, size: int) -> int | None:
        """How many fixtures a field of so many has in all; None where that depends on results."""

    def fewest(self, size: int) -> int:
        """How many fixtures a field of so many has at least."""
        return self.planned(size) or 0

    def strays(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Fixture]:
        """Fixtures that were set, and have no place any more since a result before has changed."""
        return []

    def ranking(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result]
    ) -> list[SharedPlace] | None:
        """Everybody in order, the best first; None where points and tie-breaks say it."""
        return None

    def ties(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Tie]:
        """The whole bracket as far as it is known; none where there is none to be drawn."""
        return []


class AtOnce(Format):
    """One of which all fixtures are known from the start. To sit out gives no points."""

    __slots__ = ()

    @abstractmethod
    def schedule(self, entrants: Sequence[EntrantNumber]) -> list[Fixture]:
        """All fixtures of a field.

        Raises:
            ValueError: the field is too small for the format, or names an entrant twice.
        """

    def fixtures(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result]
    ) -> list[Fixture]:
        return unplayed(self.schedule(entrants), results)

    def byes(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Result]:
        return sitting_out(entrants, self.schedule(entrants))

    def planned(self, size: int) -> int | None:
        return len(self.schedule(range(1, size + 1)))


@dataclass(frozen=True, slots=True)
class InTurn(Format):
    """A number of rounds, each of which is set when the one before is complete.

    A round stays as it was set, whatever is played anew before it. Whoever is in none of its
    fixtures sits it out, for the points of a win.
    """

    in_turn = True
    keeps_rounds = True
    walkover_is_bye = True

    rounds: int
    games: int = 1
    """How many games a fixture has."""
    seed: int = 0
    withdrawn: Mapping[EntrantNumber, int] = field(default_factory=dict, hash=False)
    """The last round that each of those who play no more was paired for: after it they should meet
    nobody, or each other, and sit out first (see `walkovers.earned`)."""
    seats: int = 2
    """How many entrants a fixture has."""

    @classmethod
    def build(cls, frame: Frame, settings: FormatSettings) -> Self:
        """As `Format` says; the only setting is how many rounds."""
        return cls(settings["rounds"], frame.games, frame.seed, frame.withdrawn, frame.seats)

    @abstractmethod
    def pair(self, open_round: OpenRound) -> Sequence[Fixture]:
        """The fixtures of a round between those who have none in it yet."""

    def tables(self, size: int) -> int:
        """How many fixtures a round of a field has: as many as there are bots for."""
        return size // self.seats

    def fixtures(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result]
    ) -> list[Fixture]:
        return unplayed(self._set(entrants, results), results)

    def byes(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Result]:
        """As `Format` says; a bye is worth as much as winning all games of a fixture."""
        fixtures = self._set(entrants, results)
        last = max(fixture.round for fixture in fixtures)
        # A later round was set whole if an early match is played anew: it stays, byes and all.
        later = [result.fixture for result in results if result.fixture.round > last]
        tables = Counter(fixture.round for fixture in later)
        fixtures += [one for one in later if tables[one.round] == self.tables(len(entrants))]
        return sitting_out(entrants, fixtures, points=(1.0,) * self.games)

    def planned(self, size: int) -> int | None:
        return self.rounds * self.tables(size)

    def _set(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Fixture]:
        """The fixtures of all rounds up to the first that is not complete."""
        check_field(entrants, least=self.seats)
        tables = self.tables(len(entrants))
        past: list[Result] = []
        fixtures: list[Fixture] = []
        for number in range(1, self.rounds + 1):
            here = [result for result in results if result.fixture.round == number]
            given = [result.fixture for result in here]
            if len(given) < tables:
                field = tuple(entrants)
                given += self._missing(OpenRound(number, field, tuple(past), field), given)
            fixtures += given
            if sum(bool(result.games) for result in here) < tables:
                break
            past += here
        return fixtures

    def _missing(self, whole: OpenRound, given: Sequence[Fixture]) -> list[Fixture]:
        """The fixtures of a round beside those that are given already."""
        fixtures = self.pair(whole)
        if set(given) <= set(fixtures):
            return [fixture for fixture in fixtures if fixture not in given]
        # An earlier result changed after this round was set. What was set stays.
        seated = {entrant for fixture in given for entrant in fixture.entrants}
        free = tuple(one for one in whole.entrants if one not in seated)
        return list(self.pair(whole._replace(free=free)))
