"""Everybody meets everybody, or a few candidates meet a field.

Nothing here depends on results, so all fixtures are due at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from arena.formats.fixtures import EntrantNumber, Fixture, Result, check_field, sitting_out
from arena.formats.format import AtOnce
from arena.formats.settings import FormatSetting, FormatSettings, Frame
from engine.translation import N_


@dataclass(frozen=True, slots=True)
class RoundRobin(AtOnce):
    """Everybody meets everybody once in each cycle, by Berger's tables.

    In every other cycle the seats are exchanged. In a cycle the times that an entrant sits first
    and second differ by one at most. In an odd field everybody sits out one round of a cycle.
    """

    name = "round-robin"
    title = N_("Round robin")
    words = N_("Everybody meets everybody. The fairest, and the longest: 20 bots are 190 matches.")
    settings: ClassVar = {
        "cycles": FormatSetting(N_("how often everybody meets everybody"), 1, in_a_race=1)
    }
    tie_breaks = ("head-to-head", "sonneborn-berger", "wins")

    cycles: int = 1
    """1 is a single round robin, 2 a double one, and so on."""

    @classmethod
    def build(cls, _: Frame, settings: FormatSettings) -> Self:
        return cls(settings["cycles"])

    def schedule(self, entrants: Sequence[EntrantNumber]) -> list[Fixture]:
        check_field(entrants, least=2)
        table = berger_table(len(entrants))
        return [
            Fixture(
                cycle * len(table) + number + 1,
                tuple(entrants[place] for place in (pair[::-1] if cycle % 2 else pair)),
            )
            for cycle in range(self.cycles)
            for number, pairs in enumerate(table)
            for pair in pairs
        ]

    def planned(self, size: int) -> int:
        return self.cycles * (size * (size - 1) // 2)


def berger_table(size: int) -> list[list[tuple[int, int]]]:
    """The rounds of a single round robin of the entrants 0 to ``size`` - 1.

    It is the table of FIDE's handbook, C.05 annex 1: all but the last entrant stand on a circle,
    and in each round those meet who are equally far from one of them. That one, half the circle
    further in each round, meets the last entrant, who sits second in odd rounds and first in
    even ones. In an odd field the last entrant is nobody.
    """
    circle = size - 1 + size % 2
    rounds = []
    for number in range(circle):
        middle = number * (circle + 1) // 2 % circle
        pairs = [] if size % 2 else [(middle, circle) if number % 2 == 0 else (circle, middle)]
        pairs += [
            ((middle + step) % circle, (middle - step) % circle)
            for step in range(1, (circle + 1) // 2)
        ]
        rounds.append(pairs)
    return rounds


@dataclass(frozen=True, slots=True)
class GauntletFormat(AtOnce):
    """Each of the first few entrants meets each of the others; neither meet among themselves.

    Candidates sit first against every other one of the field, and in every other cycle the seats
    are exchanged.
    """

    name = "gauntlet"
    title = N_("Gauntlet")
    words = N_("The first bots meet all the others, who do not meet each other.")
    settings: ClassVar = {
        "candidates": FormatSetting(
            N_("how many, the first by seeding, meet all the others"),
            1,
            most=lambda frame: frame.size - 1,
        ),
        "cycles": FormatSetting(N_("how often each candidate meets each"), 1, in_a_race=1),
    }
    tie_breaks = ("head-to-head", "wins")
    by_share = True

    candidates: int = 1
    """How many entrants, from the first, run the gauntlet."""
    cycles: int = 1
    """How often each meets each."""

    @classmethod
    def build(cls, _: Frame, settings: FormatSettings) -> Self:
        return cls(settings["candidates"], settings["cycles"])

    def byes(self, entrants: Sequence[EntrantNumber], results: Sequence[Result]) -> list[Result]:
        """As `Format` says: candidates that wait, where they outnumber the field, for no points.

        The field waits most of the time, and that is no bye.
        """
        return sitting_out(entrants[: self.candidates], self.schedule(entrants))

    def schedule(self, entrants: Sequence[EntrantNumber]) -> list[Fixture]:
        check_field(entrants, least=self.candidates + 1)
        candidates, field = entrants[: self.candidates], entrants[self.candidates :]
        # Each candidate walks along the field, one step behind the next, so nobody is met by
        # two in one round.
        length = max(len(candidates), len(field))
        fixtures = []
        for number in range(self.cycles * length):
            cycle, step = divmod(number, length)
            for start, candidate in enumerate(candidates):
                place = (start + step) % length
                if place < len(field):
                    pair = (candidate, field[place])
                    swapped = (start + place + cycle) % 2
                    fixtures.append(Fixture(number + 1, pair[::-1] if swapped else pair))
        return fixtures

    def planned(self, size: int) -> int:
        return self.cycles * self.candidates * (size - self.candidates)
