"""Rectangular boards: the names of squares, how they lie, and ranks of pieces as text.

A square is a bit: ``rank * width + file``, both counted from 0, so that a1 is bit 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from engine.game import PositionError
from engine.plurals import counted
from engine.scene import Shade, Square
from engine.translation import gettext, translated

FILES = "abcdefghijklmnopqrstuvwxyz"
FREE = "."


@cache
def square_names(width: int, height: int) -> tuple[str, ...]:
    """The names of all squares in the order of their bits: a1, b1, ..., a2, ..."""
    return tuple(f"{FILES[file]}{rank + 1}" for rank in range(height) for file in range(width))


@cache
def square_bits(width: int, height: int) -> dict[str, int]:
    """The bit number of each square, by its name."""
    return {name: bit for bit, name in enumerate(square_names(width, height))}


@cache
def grid(width: int, height: int, *, chequered: bool = True) -> tuple[Square, ...]:
    """The squares of a rectangular board, a1 dark where it is chequered."""
    shades = (Shade.DARK, Shade.LIGHT) if chequered else (Shade.PLAIN, Shade.PLAIN)
    return tuple(
        Square(name, bit % width, bit // width, shades[(bit % width + bit // width) % 2])
        for name, bit in square_bits(width, height).items()
    )


def bits_of(mask: int) -> list[int]:
    """The numbers of the bits that are set, lowest first."""
    bits = []
    # From the top, as that takes an operation on long ints less than from the bottom.
    while mask:
        bit = mask.bit_length() - 1
        bits.append(bit)
        mask ^= 1 << bit
    bits.reverse()
    return bits


def mask_of(cells: Sequence[str], letters: Collection[str]) -> int:
    """The squares that hold one of ``letters``."""
    return sum(1 << bit for bit, letter in enumerate(cells) if letter in letters)


def write_ranks(cells: Sequence[str], width: int) -> str:
    """Cells (one letter each, ``FREE`` where empty) as ranks from the top, joined by '/'."""
    ranks = ["".join(cells[start : start + width]) for start in range(0, len(cells), width)]
    shrunk = [re.sub(r"\.+", lambda run: str(len(run[0])), rank) for rank in ranks]
    return "/".join(reversed(shrunk))


def read_ranks(text: str, width: int, height: int, letters: str) -> list[str]:
    """The cells that `write_ranks` wrote, as a list of width * height letters.

    Raises:
        PositionError: a wrong number of ranks or squares, or a letter not in ``letters``.
    """
    ranks = text.split("/")
    if len(ranks) != height:
        raise PositionError(
            gettext(
                "the position has %(ranks)s, not %(height)s",
                ranks=counted(len(ranks), "rank"),
                height=height,
            )
        )
    cells: list[str] = []
    for number, rank in zip(range(1, height + 1), reversed(ranks), strict=True):
        runs = re.findall(r"[0-9]+", rank)
        if re.sub(r"[0-9]", "", rank).strip(letters) or any(
            run.startswith("0") or len(run) > 2 for run in runs
        ):
            raise PositionError(
                gettext(
                    "rank %(number)s is %(rank)r; it takes %(letters)s and numbers of free squares",
                    number=number,
                    rank=rank[:60],
                    letters=" ".join(letters),
                )
            )
        row = re.sub(r"[0-9]+", lambda run: FREE * int(run[0]), rank)
        if len(row) != width:
            raise PositionError(
                gettext(
                    "rank %(number)s has %(squares)s, not %(width)s",
                    number=number,
                    squares=counted(len(row), "square"),
                    width=width,
                )
            )
        cells.extend(row)
    return cells


def read_fields(text: str, *names: str) -> list[str]:
    """The words of a position text, one for each name of what it says.

    Raises:
        PositionError: there are more or fewer, or they are not separated by single spaces.
    """
    fields = text.split(" ")
    if len(fields) != len(names) or not all(fields):
        raise PositionError(
            gettext(
                "a position has %(fields)s fields separated by single spaces: %(names)s",
                fields=len(names),
                names=", ".join(map(translated, names)),
            )
        )
    return fields


def read_seat(text: str, seats: int = 2) -> int:
    """The seat to move, counted from 0, from its number on the wire, counted from 1.

    Raises:
        PositionError: it is no such number.
    """
    if text not in [str(seat + 1) for seat in range(seats)]:
        raise PositionError(
            gettext(
                "the seat to move is %(text)r, not a number from 1 to %(seats)s",
                text=text[:20],
                seats=seats,
            )
        )
    return int(text) - 1


class WordChunk(dict[int, tuple[str, ...]]):
    """The words of every set of a few bits, made when a set is first asked for."""

    MOST = 1 << 11
    """How many sets are remembered, before they are all forgotten again."""

    def __init__(self, words: Sequence[str]) -> None:
        """Takes a word for each bit."""
        self._words = words

    def __missing__(self, bits: int) -> tuple[str, ...]:
        if len(self) == self.MOST:
            self.clear()
        words = self[bits] = tuple([self._words[bit] for bit in bits_of(bits)])
        return words


class WordTable:
    """The words of the squares in a mask, looked up some bits at a time.

    Listing moves one bit at a time costs more than all else in a small game, so the words of
    every run of ``width`` bits are remembered once they were asked for. A game that lists often
    goes through `chunks` itself, the lowest bits first.
    """

    def __init__(self, words: Sequence[str], width: int = 11) -> None:
        """Takes a word for each bit, '' where a bit never stands."""
        self._width = width
        self._low = (1 << width) - 1
        self.chunks = tuple(
            WordChunk(words[start : start + width]) for start in range(0, len(words), width)
        )

    def extend(self, found: list[str], mask: int) -> None:
        """Appends the words of the bits of ``mask`` to ``found``."""
        for chunk in self.chunks:
            if not mask:
                return
            found += chunk[mask & self._low]
            mask >>= self._width
