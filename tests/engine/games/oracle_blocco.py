"""Blocco once more, slowly: a dict of squares, a set of markers, and the rules as they are told.

Shares nothing with engine.games.blocco, which it is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.engine.games import oracle_clobber as clobber
from tests.engine.games.oracle_clobber import Square, name, neighbours


@dataclass
class Position(clobber.Position):
    """Clobber's stones, and which of them carry a marker."""

    marked: set[Square] = field(default_factory=set)

    def moves(self) -> dict[str, Position]:  # type: ignore[override]
        """Every legal move, with the position after it."""
        found = {}
        for start, end in self.steps():
            if start in self.marked or end in self.marked:
                continue
            stones = dict(self.stones)
            stones[end] = stones.pop(start)
            group = group_of(stones, end)
            for mark in group:
                move = name(start) + name(end)
                marked = set(self.marked)
                if len(group) > 1:
                    move += f"@{name(mark)}"
                    marked = marked - group | {mark}
                found[move] = Position(self.width, self.height, stones, 3 - self.seat, marked)
        return found

    def text(self) -> str:
        """The position text: capitals for the marked stones."""
        capitals = {
            square: colour.upper() if square in self.marked else colour
            for square, colour in self.stones.items()
        }
        return clobber.Position(self.width, self.height, capitals, self.seat).text()


def group_of(stones: dict[Square, str], square: Square) -> set[Square]:
    """The stones of one colour connected with the one on ``square``, itself included."""
    group, edge = {square}, [square]
    while edge:
        for near in neighbours(edge.pop()):
            if near not in group and stones.get(near) == stones[square]:
                group.add(near)
                edge.append(near)
    return group


def start(width: int, height: int) -> Position:
    """Clobber's set-up, without a marker."""
    return Position(width, height, clobber.start(width, height).stones)
