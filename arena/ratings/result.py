"""What a rating needs to know of a game: who sat where, who belonged together, who won."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

E = TypeVar("E", bound=Hashable)
"""An entrant: whatever names what is rated, a bot version for instance."""


@dataclass(frozen=True, slots=True)
class GameResult(Generic[E]):
    """One finished game, seat by seat.

    Raises:
        ValueError: there are not as many sides and ranks as entrants; there is only one side;
            seats of one side differ in rank; or an entrant plays against itself.
    """

    entrants: tuple[E, ...]
    sides: tuple[int, ...]
    """The side of each seat; seats of one side win and lose together."""
    ranks: tuple[int, ...]
    """The rank of each seat: 1 is best, ties share a rank."""

    def __post_init__(self) -> None:
        if not len(self.entrants) == len(self.sides) == len(self.ranks):
            raise ValueError(
                f"{len(self.entrants)} entrants need as many sides and ranks, "
                f"not {len(self.sides)} and {len(self.ranks)}"
            )
        rank_of: dict[int, int] = {}
        side_of: dict[E, int] = {}
        for entrant, side, rank in zip(self.entrants, self.sides, self.ranks, strict=True):
            if rank_of.setdefault(side, rank) != rank:
                raise ValueError(f"side {side} has the ranks {rank_of[side]} and {rank}")
            if side_of.setdefault(entrant, side) != side:
                raise ValueError(f"{entrant!r} plays against itself, which tells nothing")
        if len(rank_of) < 2:
            raise ValueError("a game of one side tells nothing about strength")

    def teams(self) -> tuple[tuple[tuple[E, ...], ...], tuple[int, ...]]:
        """The entrants of each side, and the rank of each side, in the order of first seats.

        An entrant stands in its side once, however many of its seats it holds: it is one
        player there. Whoever holds both seats of a team of two plays one against one.
        """
        teams: dict[int, dict[E, None]] = {}
        ranks: dict[int, int] = {}
        for entrant, side, rank in zip(self.entrants, self.sides, self.ranks, strict=True):
            teams.setdefault(side, {})[entrant] = None
            ranks[side] = rank
        return tuple(tuple(team) for team in teams.values()), tuple(ranks.values())


def weights(teams: Sequence[Collection[object]]) -> list[float]:
    """What each player of a side counts in its side's strength, side by side.

    Among sides of equal size everybody counts in full. Otherwise a side's strength is the mean
    of its players: were it their sum, a side of two would be expected to win by its number, and
    whoever is on it would lose rating for ever in a game whose rules make the sides even.
    """
    sizes = [len(team) for team in teams]
    if len(set(sizes)) == 1:
        return [1.0] * len(sizes)
    return [1 / size for size in sizes]
