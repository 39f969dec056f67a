"""What is counted of a match: by the recorder as it comes in, and when all is counted anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.competitions.pairings import pairs_of
from arena.ratings.result import GameResult
from engine.game import Termination
from engine.match import shares_beaten


@dataclass(slots=True)
class EntrantTally:
    """An entrant's games."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    """Of each game the share of opponents beaten, ties half, added up."""
    faults: int = 0

    def add_to(self, counts: Any) -> None:
        """Adds each number to what has the same name."""
        counts.games += self.games
        counts.wins += self.wins
        counts.draws += self.draws
        counts.losses += self.losses
        counts.points += self.points
        counts.faults += self.faults


@dataclass(slots=True)
class MeetingTally:
    """What two entrants did against each other."""

    matches: int = 0
    """Those in which both played, on one side or on two."""
    games: int = 0
    """Those that they played against each other; allies do not meet."""
    wins: int = 0
    """Games in which the first ranked before the second."""
    draws: int = 0

    def add_to(self, counts: Any) -> None:
        """Adds each number to what has the same name."""
        counts.matches += self.matches
        counts.games += self.games
        counts.wins += self.wins
        counts.draws += self.draws


@dataclass(slots=True)
class Tally:
    """What is counted of one match, or of many."""

    games: int = 0
    neighbours: int = 0
    """Sides next to each other in the order of finish, two by two."""
    ties: int = 0
    """How many of those two shared a rank."""
    entrants: dict[int, EntrantTally] = field(default_factory=dict)
    meetings: dict[tuple[int, int], MeetingTally] = field(default_factory=dict)
    """By the ids of both, the lower first."""

    def add(self, one: Tally) -> None:
        """Adds a match, number by number as the recorder does: sums of floats have an order."""
        self.games += one.games
        self.neighbours += one.neighbours
        self.ties += one.ties
        for entrant, its in one.entrants.items():
            its.add_to(self.entrants.setdefault(entrant, EntrantTally()))
        for pair, both in one.meetings.items():
            both.add_to(self.meetings.setdefault(pair, MeetingTally()))


def tally(
    results: Sequence[GameResult[int]], faults: Iterable[tuple[int, Termination]], *, games: int
) -> Tally:
    """What is counted of a match.

    Args:
        results: one for each game; for a race a single one.
        faults: the entrant of each, and its kind; to resign is to play, and counts as none.
        games: how many games were played.
    """
    found = Tally(games=games)
    for result in results:
        _count(found, result)
    for entrant, kind in faults:
        found.entrants[entrant].faults += kind.is_failure
    for meeting in found.meetings.values():
        meeting.matches = 1
    return found


def _count(found: Tally, result: GameResult[int]) -> None:
    shares = shares_beaten(result.sides, result.ranks)
    seats = {entrant: seat for seat, entrant in enumerate(result.entrants)}
    firsts = {side for side, rank in zip(result.sides, result.ranks, strict=True) if rank == 1}
    for entrant, seat in seats.items():
        counts = found.entrants.setdefault(entrant, EntrantTally())
        counts.games += 1
        counts.points += shares[seat]
        if result.ranks[seat] > 1:
            counts.losses += 1
        elif len(firsts) > 1:
            counts.draws += 1
        else:
            counts.wins += 1
    for first, second in pairs_of(sorted(seats)):
        meeting = found.meetings.setdefault((first, second), MeetingTally())
        if result.sides[seats[first]] == result.sides[seats[second]]:
            continue
        rank, other = result.ranks[seats[first]], result.ranks[seats[second]]
        meeting.games += 1
        meeting.wins += rank < other
        meeting.draws += rank == other
    rank_of_side = dict(zip(result.sides, result.ranks, strict=True))
    found.neighbours += len(rank_of_side) - 1
    found.ties += len(rank_of_side) - len(set(rank_of_side.values()))
