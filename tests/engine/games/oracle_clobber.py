"""Clobber once more, slowly: a dict of squares, and the rules as they are told.

Shares nothing with engine.games.clobber, which it is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass

FILES = "abcdefghijklmnopqrstuvwxyz"

Square = tuple[int, int]
"""File and rank, both counted from 1."""


def name(square: Square) -> str:
    """A square as people write it."""
    return f"{FILES[square[0] - 1]}{square[1]}"


def neighbours(square: Square) -> list[Square]:
    """The four squares next to it, on the board or not."""
    file, rank = square
    return [(file - 1, rank), (file + 1, rank), (file, rank - 1), (file, rank + 1)]


@dataclass
class Position:
    """Which colour, "w" or "b", stands on each square that holds a stone."""

    width: int
    height: int
    stones: dict[Square, str]
    seat: int = 1

    @property
    def own(self) -> str:
        return "w" if self.seat == 1 else "b"

    def steps(self) -> list[tuple[Square, Square]]:
        """The steps, from and to: one's own stone onto a neighbour of the other colour."""
        return [
            (square, target)
            for square, colour in self.stones.items()
            for target in neighbours(square)
            if colour == self.own and self.stones.get(target, colour) != colour
        ]

    def moves(self) -> dict[str, Position]:
        """Every legal move, with the position after it."""
        found = {}
        for start, end in self.steps():
            stones = dict(self.stones)
            stones[end] = stones.pop(start)
            after = Position(self.width, self.height, stones, 3 - self.seat)
            found[name(start) + name(end)] = after
        return found

    def scores(self) -> tuple[float, float]:
        """The seat to move has no move and loses."""
        return (0.0, 1.0) if self.seat == 1 else (1.0, 0.0)

    def text(self) -> str:
        """The position text."""
        ranks = []
        for rank in range(self.height, 0, -1):
            line, free = "", 0
            for file in range(1, self.width + 1):
                if (file, rank) in self.stones:
                    line += (str(free) if free else "") + self.stones[file, rank]
                    free = 0
                else:
                    free += 1
            ranks.append(line + (str(free) if free else ""))
        return f"{'/'.join(ranks)} {self.seat}"


def start(width: int, height: int) -> Position:
    """White on the squares whose file and rank numbers make an odd sum, Black on the others."""
    squares = [(file, rank) for rank in range(1, height + 1) for file in range(1, width + 1)]
    return Position(width, height, {square: "bw"[sum(square) % 2] for square in squares})
