"""Formats that the arena does not offer, to see that all it takes is a module and a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from arena.formats.catalogue import FORMATS
from arena.formats.fixtures import EntrantNumber, Fixture, Result
from arena.formats.format import Format, InTurn, OpenRound, SharedPlace, Tie
from arena.formats.settings import FormatSetting, FormatSettings, Frame


@dataclass(frozen=True, slots=True)
class Danish(InTurn):
    """In each round has the first by points meet the second, the third the fourth, and so on.

    With more seats it is the first few, then the next. It doesn't matter who has met before. Who
    did so least often, and of these who has least points, sits out.
    """

    name = "danish"
    title = "Danish"
    settings: ClassVar = {"rounds": FormatSetting("how many rounds", 3, in_a_race=1)}
    for_seats = range(2, 5)
    tie_breaks = ("buchholz", "head-to-head", "wins")

    def pair(self, open_round: OpenRound) -> list[Fixture]:
        number, entrants, past, free = open_round
        points = dict.fromkeys(entrants, 0.0)
        rounds = dict.fromkeys(entrants, 0)
        for result in past:
            for entrant, share in zip(result.fixture.entrants, result.points, strict=True):
                points[entrant] += share
                rounds[entrant] += 1
        for entrant in entrants:
            points[entrant] += (number - 1 - rounds[entrant]) * self.games
            if self.withdrawn.get(entrant, number) < number:
                points[entrant], rounds[entrant] = -1, number
        order = sorted(free, key=lambda entrant: -points[entrant])
        last_first = sorted(free, key=lambda one: (-rounds[one], points[one], -entrants.index(one)))
        out = last_first[: len(free) % self.seats]
        playing = [one for one in order if one not in out]
        return [
            Fixture(number, tuple(playing[first : first + self.seats]))
            for first in range(0, len(playing), self.seats)
        ]


@dataclass(frozen=True, slots=True)
class Hill(InTurn):
    """King of the hill: the last two by seeding meet, and whoever wins meets the next one up.

    Of two who are level the better seed stays. Everybody else waits, and that is no bye.
    """

    name = "hill"
    title = "King of the hill"
    settings: ClassVar = {}
    tie_breaks = ("wins",)
    remark = "Who has won the last match is first, and who was beaten earlier stands lower."

    @classmethod
    def build(cls, frame: Frame, _: FormatSettings) -> Self:
        return cls(frame.size - 1, frame.games, frame.seed, frame.withdrawn)

    def tables(self, _: int) -> int:
        return 1

    def pair(self, open_round: OpenRound) -> list[Fixture]:
        number, entrants, past, free = open_round
        king = self._king(entrants, past)
        return [Fixture(number, (entrants[-1 - number], king))] if king in free else []

    def byes(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Result]:
        return []

    def ranking(
        self, entrants: Sequence[EntrantNumber], results: Sequence[Result]
    ) -> list[SharedPlace]:
        played = [one for one in results if one.games]
        king, over = self._king(entrants, played), len(played) == self.rounds
        left = {one: result.fixture.round for result in played for one in result.fixture.entrants}
        there = [one for one in entrants if one == king or one not in left]
        fallen = sorted(left.keys() - {king}, key=lambda one: -left[one])
        ranks = [SharedPlace(1 if over else None, (one,)) for one in there]
        return ranks + [SharedPlace(len(entrants) + 1 - left[one], (one,)) for one in fallen]

    def ties(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Tie]:
        """As `Format` says: a row of them."""
        played = {one.fixture.round: one for one in results if one.games}
        found = []
        for number in range(1, self.rounds + 1):
            challenger, result = entrants[-1 - number], played.get(number)
            tie = Tie(f"round {number}", number, sides=(challenger, None))
            if result:
                better, king = result.fixture.entrants
                gained, kept = result.points
                winner, loser = (better, king) if gained >= kept else (king, better)
                why = "better seed" if gained == kept else ""
                tie = replace(
                    tie,
                    sides=(better, king),
                    winner=winner,
                    loser=loser,
                    decided=True,
                    score=(gained, kept),
                    legs=1,
                    tie_break=why,
                )
            found.append(tie)
        return found

    def _king(self, entrants: Sequence[EntrantNumber], past: Sequence[Result]) -> EntrantNumber:
        king = self.ties(entrants, past)[len(past) - 1].winner if past else entrants[-1]
        assert king is not None
        return king


NEWCOMERS: dict[str, type[Format]] = {
    form.name: form for form in (Danish, Hill) if form.name not in FORMATS
}
"""Unless the arena has come to offer one of that name."""
