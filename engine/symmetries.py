"""The symmetries of a rectangular board: one mask for all that are turned or mirrored alike."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from engine.board import bits_of

Moved = tuple[int, ...]
"""The mask of the square that each square becomes, by its bit."""


@cache
def symmetries(width: int, height: int) -> tuple[Moved, ...]:
    """The ways in which a board can be laid onto itself: eight if it is square, else four."""
    places = [(file, rank) for rank in range(height) for file in range(width)]
    mirrored = [
        [(abs(right - file), abs(top - rank)) for file, rank in places]
        for right in (0, width - 1)
        for top in (0, height - 1)
    ]
    if width == height:
        mirrored += [[(rank, file) for file, rank in way] for way in mirrored]
    return tuple(tuple(1 << rank * width + file for file, rank in way) for way in mirrored)


def moved(mask: int, way: Moved) -> int:
    """A mask of squares after a symmetry."""
    return sum(way[bit] for bit in bits_of(mask))


def least(masks: Sequence[int], width: int, height: int) -> tuple[int, ...]:
    """Some masks on one board, after that symmetry after which they come first as numbers."""
    return min(tuple(moved(mask, way) for mask in masks) for way in symmetries(width, height))
