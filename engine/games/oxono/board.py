"""Oxono's board: its lines, the ways of its totems, and rows of four."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product, takewhile

from engine.board import bits_of, square_names

SIDE = 6
SQUARES = SIDE * SIDE
BOARD = (1 << SQUARES) - 1
NAMES = square_names(SIDE, SIDE)

RANKS = [sum(1 << bit for bit in range(SQUARES) if bit // SIDE == at) for at in range(SIDE)]
FILES = [sum(1 << bit for bit in range(SQUARES) if bit % SIDE == at) for at in range(SIDE)]


def _rays(bit: int) -> tuple[list[int], ...]:
    """The squares that lie right of, left of, above and below one, the nearest first."""
    start = bit - bit % SIDE
    return tuple(
        [1 << other for other in ray]
        for ray in (
            range(bit + 1, start + SIDE),
            range(bit - 1, start - 1, -1),
            range(bit + SIDE, SQUARES, SIDE),
            range(bit - SIDE, -1, -SIDE),
        )
    )


RAYS = {1 << bit: _rays(bit) for bit in range(SQUARES)}
LINES = {square: sum(map(sum, rays)) for square, rays in RAYS.items()}
"""The other squares of a square's rank and file."""
NEAR = {square: sum(ray[0] for ray in rays if ray) for square, rays in RAYS.items()}


def _rows(line: int) -> Iterator[int]:
    """Every set of squares of a line that holds four in an unbroken row."""
    bits = bits_of(line)
    for held in product((0, 1), repeat=SIDE):
        if "1111" in "".join(map(str, held)):
            yield sum(1 << bit for bit, is_held in zip(bits, held, strict=True) if is_held)


ROWS = frozenset(row for line in RANKS + FILES for row in _rows(line))


def has_row(pieces: int) -> bool:
    """Whether some of the pieces stand four in an unbroken row along a rank or file."""
    return any(pieces & line in ROWS for line in RANKS + FILES)


def rows_in(pieces: int) -> list[tuple[int, int]]:
    """The unbroken rows of four or more along a rank or file, each by the bits of its ends."""
    found = []
    for line in RANKS + FILES:
        row: list[int] = []
        for bit in bits_of(line):
            if pieces >> bit & 1:
                row.append(bit)
            if not pieces >> bit & 1 or bit == line.bit_length() - 1:
                if len(row) >= 4:
                    found.append((row[0], row[-1]))
                row = []
    return found


DIRECTIONS = ((1, sum(FILES[: SIDE - 3])), (SIDE, sum(RANKS[: SIDE - 3])))
"""How far neighbours of a rank and of a file are apart, and where rows of four begin there."""


def completing(pieces: int, free: int) -> int:
    """The free squares where another piece would make a row of four."""
    found = 0
    for step, begin in DIRECTIONS:
        second, third, fourth = pieces >> step, pieces >> 2 * step, pieces >> 3 * step
        inner, outer = second & third & begin, pieces & fourth & begin
        found |= (
            (inner & fourth & free)
            | (outer & third & free >> step) << step
            | (outer & second & free >> 2 * step) << 2 * step
            | (inner & pieces & free >> 3 * step) << 3 * step
        )
    return found


def prospects(pieces: int, others: int) -> int:
    """Pieces in rows of four squares without others, counted in each of them."""
    found = 0
    open_ = BOARD & ~others
    for step, begin in DIRECTIONS:
        rows = open_ & open_ >> step & open_ >> 2 * step & open_ >> 3 * step & begin
        for place in range(4):
            found += (rows & pieces >> place * step).bit_count()
    return found


def _paths() -> dict[int, dict[int, int]]:
    paths: dict[int, dict[int, int]] = {square: {} for square in RAYS}
    for start, rays in RAYS.items():
        for ray in rays:
            path = 0
            for end in ray:
                path |= end
                paths[end][start] = path
    return paths


PATHS = _paths()
"""The squares between, and the one it leads to, to each square from each in line with it."""


def landings(totem: int, others: int) -> Iterator[tuple[int, int]]:
    """Where a totem may go, and where the piece may then be put.

    ``others`` is what is occupied without that totem: the square it leaves is free.
    """
    free = BOARD & ~others
    rays = RAYS[totem]
    if NEAR[totem] & free:
        found = [to for ray in rays for to in takewhile(free.__and__, ray)]
    else:
        found = [to for ray in rays for to in islice(filter(free.__and__, ray), 1)]
        if not found:
            found = [1 << bit for bit in bits_of(free ^ totem)]
    for to in found:
        yield to, NEAR[to] & free or free ^ to
