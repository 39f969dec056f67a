"""The 21 free polyominoes of one to five squares, and sets of them.

A piece is the number of its name in ``NAMES``; a set of pieces is an int whose bit ``i``
stands for ``NAMES[i]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from engine.board import bits_of
from engine.game import PositionError
from engine.translation import gettext

PATTERNS = {
    "1": "X",
    "2": "XX",
    "I3": "XXX",
    "V3": "XX/X.",
    "I4": "XXXX",
    "L4": "XXX/X..",
    "O4": "XX/XX",
    "T4": "XXX/.X.",
    "Z4": "XX./.XX",
    "F": ".XX/XX./.X.",
    "I5": "XXXXX",
    "L5": "XXXX/X...",
    "N": "XX../.XXX",
    "P": "XXX/XX.",
    "T5": "XXX/.X./.X.",
    "U": "XXX/X.X",
    "V5": "XXX/X../X..",
    "W": "XX./.XX/..X",
    "X": ".X./XXX/.X.",
    "Y": "XXXX/.X..",
    "Z5": "XX./.X./.XX",
}
"""Each piece in one of its orientations."""

NAMES = tuple(PATTERNS)
SIZES = tuple(pattern.count("X") for pattern in PATTERNS.values())
MONOMINO = NAMES.index("1")
ALL = (1 << len(NAMES)) - 1
NO_PIECE = "-"

Cells = tuple[tuple[int, int], ...]
"""Squares as (file, rank), relative to each other."""


@cache
def of_size(size: int) -> int:
    """The set of pieces of so many squares."""
    return sum(1 << piece for piece, its_size in enumerate(SIZES) if its_size == size)


def squares_in(pieces: int) -> int:
    """How many squares a set of pieces covers."""
    return sum(SIZES[piece] for piece in bits_of(pieces))


@cache
def cells_of(piece: int) -> Cells:
    """The piece as its pattern has it, the first row lowest."""
    rows = PATTERNS[NAMES[piece]].split("/")
    return tuple((x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "X")


def orientations(piece: int) -> Iterator[Cells]:
    """The piece turned and mirrored in all eight ways; symmetric pieces repeat themselves."""
    cells = cells_of(piece)
    for _ in range(2):
        for _ in range(4):
            cells = tuple((y, -x) for x, y in cells)
            yield cells
        cells = tuple((-x, y) for x, y in cells)


def write_pieces(pieces: int) -> str:
    """The names of a set of pieces, joined by commas."""
    return ",".join(NAMES[piece] for piece in bits_of(pieces)) or NO_PIECE


def read_pieces(text: str) -> int:
    """The set of pieces that `write_pieces` wrote.

    Raises:
        PositionError: an unknown name, a piece named twice, or another order.
    """
    if text == NO_PIECE:
        return 0
    known = {name: piece for piece, name in enumerate(NAMES)}
    # No set has more names than this, so a longer text need not be taken apart.
    pieces = [known.get(name, -1) for name in text.split(",", len(NAMES))]
    if -1 in pieces or pieces != sorted(set(pieces)):
        raise PositionError(
            gettext(
                "%(text)r is no list of pieces; it takes each at most once, in this order: "
                "%(names)s",
                text=text[:60],
                names=",".join(NAMES),
            )
        )
    return sum(1 << piece for piece in pieces)
