"""Mijnlieff's boards: squares, pieces as bits, where each piece sends the other seat, and points.

A board is the rectangle around its outline (see engine.board), of which some squares may be
missing. A piece is a bit: its type times the number of squares, plus its square; so a seat's
pieces on the board are one mask of four layers.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.board import FILES, WordTable, bits_of, square_names
from engine.game import PositionError
from engine.options import read_size
from engine.plurals import counted
from engine.translation import N_, gettext

STRAIGHT, DIAGONAL, PULL, PUSH = range(4)
TYPES = ("+", "x", "><", "<>")
SIGNS = "+xoO"
"""The types in position texts; moves may be spelt with them, too."""
KINDS = (N_("straight"), N_("diagonal"), N_("pull"), N_("push"))
LETTERS = "WB"

TILES = {
    "ell": ("a1", "a3", "a5", "c1"),
    "tee": ("a3", "c3", "e3", "c1"),
    "zig": ("a3", "c3", "c1", "e1"),
}
"""The lower left squares of the 2x2 tiles that make up a shape."""

Place = tuple[int, int]
"""The file and the rank of a square, from 0."""


def outline(size: str, shape: str) -> frozenset[Place]:
    """The squares of a board."""
    width, height = read_size(size)
    if shape == "square":
        return frozenset((file, rank) for file in range(width) for rank in range(height))
    corners = [(FILES.index(name[0]), int(name[1:]) - 1) for name in TILES[shape]]
    return frozenset((file + x, rank + y) for file, rank in corners for x in (0, 1) for y in (0, 1))


def sends(kind: int, piece: Place, other: Place) -> bool:
    """Whether a piece of a type lets the other seat play on another square."""
    across, up = abs(piece[0] - other[0]), abs(piece[1] - other[1])
    if kind == STRAIGHT:
        return across == 0 or up == 0
    if kind == DIAGONAL:
        return across == up
    return (max(across, up) <= 1) == (kind == PULL)


class Board:
    """The tables of one board; a piece is known by its code, the number of its bit."""

    def __init__(self, size: str, shape: str) -> None:
        places = outline(size, shape)
        width = 1 + max(file for file, _ in places)
        self.width, self.height = width, 1 + max(rank for _, rank in places)
        self.squares = self.width * self.height
        """All squares of the rectangle, the missing ones among them."""
        self.names = square_names(self.width, self.height)
        place_of = {rank * width + file: (file, rank) for file, rank in sorted(places)}
        self.outline = sum(1 << bit for bit in place_of)
        self.size = len(places)
        self.hand = self.size // 8
        """How many pieces of each type a seat begins with."""

        self.words = self._pieces(TYPES)
        """Each code's piece in the notation of moves, '' on a missing square."""
        self.signed = self._pieces(SIGNS)
        """Each code's piece as the binding one in a position text."""
        self.table = WordTable(self.words)
        self.code_of = {
            word: code
            for words in (self.signed, self.words)
            for code, word in enumerate(words)
            if word
        }
        self.layers = tuple(
            (1 << self.squares) - 1 << kind * self.squares for kind in range(len(TYPES))
        )
        """The codes of all pieces of each type, as masks."""
        self.parts = tuple(
            (1 << code % self.squares, self.layers[code // self.squares])
            for code in range(len(self.words))
        )
        """The square of each code's piece, and the layer of its type."""
        self.reach = tuple(
            self._reach(kind, place_of, place_of[bit]) if bit in place_of else 0
            for kind in range(len(TYPES))
            for bit in range(self.squares)
        )
        """The squares on which each code's piece lets the other seat play."""
        neighbours = self.reach[PULL * self.squares : (PULL + 1) * self.squares]
        self.rim = sum(1 << bit for bit in place_of if (neighbours[bit]).bit_count() < 8)
        self.threes = tuple(
            (
                across + up * width,
                sum(
                    1 << bit
                    for bit, (file, rank) in place_of.items()
                    if {(file + across * n, rank + up * n) for n in (1, 2)} <= places
                ),
            )
            for across, up in ((1, 0), (0, 1), (1, 1), (-1, 1))
        )
        """The shift of a step in each direction of a line, and where three squares start."""

    def _pieces(self, signs: Sequence[str]) -> list[str]:
        return [
            name + sign if self.outline >> bit & 1 else ""
            for sign in signs
            for bit, name in enumerate(self.names)
        ]

    @staticmethod
    def _reach(kind: int, place_of: dict[int, Place], piece: Place) -> int:
        return sum(
            1 << bit
            for bit, place in place_of.items()
            if place != piece and sends(kind, piece, place)
        )

    def flat(self, pieces: int) -> int:
        """The squares on which pieces of any type stand."""
        squares = 0
        while pieces:
            squares |= pieces
            pieces >>= self.squares
        return squares & self.outline

    def held(self, pieces: int) -> list[int]:
        """How many pieces of each type a seat holds that has ``pieces`` on the board."""
        return [self.hand - (pieces & layer).bit_count() for layer in self.layers]

    def is_done(self, pieces: int) -> bool:
        """Whether a seat that has ``pieces`` on the board holds none any more."""
        return pieces.bit_count() == len(TYPES) * self.hand

    def points(self, pieces: int) -> int:
        """The points of a seat's pieces: a run of n is worth n - 2, as many as it has threes."""
        own = self.flat(pieces)
        return sum(
            (own & own >> shift & own >> 2 * shift & starts).bit_count()
            for shift, starts in self.threes
        )

    def lines(self, pieces: int) -> list[tuple[int, int, int]]:
        """The lines that a seat's pieces score: the squares of their ends, and their points."""
        own = self.flat(pieces)
        found = []
        for shift, starts in self.threes:
            threes = own & own >> shift & own >> 2 * shift & starts
            # A run is as many threes one after the other as it has points.
            for first in bits_of(threes & ~(threes << shift)):
                points = 1
                while threes >> first + points * shift & 1:
                    points += 1
                found.append((first, first + (points + 1) * shift, points))
        return found

    def prospects(self, pieces: int, others: int) -> int:
        """A seat's pieces in threes where the other seat has none, counted in each of them."""
        own = self.flat(pieces)
        open_ = self.outline & ~self.flat(others)
        found = 0
        for shift, starts in self.threes:
            rows = open_ & open_ >> shift & open_ >> 2 * shift & starts
            found += (
                (rows & own).bit_count()
                + (rows & own >> shift).bit_count()
                + (rows & own >> 2 * shift).bit_count()
            )
        return found

    def write(self, white: int, black: int) -> str:
        """The ranks of a position text."""
        cells = [".." if self.outline >> bit & 1 else "##" for bit in range(self.squares)]
        for letter, pieces in zip(LETTERS, (white, black), strict=True):
            for code in bits_of(pieces):
                kind, bit = divmod(code, self.squares)
                cells[bit] = letter + SIGNS[kind]
        starts = range(0, self.squares, self.width)
        return "/".join("".join(cells[start : start + self.width]) for start in reversed(starts))

    def read(self, text: str) -> tuple[int, int]:
        """White's and Black's pieces, from the ranks of a position text.

        Raises:
            PositionError: a wrong number of ranks or squares, or something else on a square.
        """
        ranks = text.split("/")
        if len(ranks) != self.height:
            raise PositionError(
                gettext(
                    "the position has %(ranks)s, not %(height)s",
                    ranks=counted(len(ranks), "rank"),
                    height=self.height,
                )
            )
        sides = [0, 0]
        for number, rank in enumerate(reversed(ranks)):
            if len(rank) != 2 * self.width:
                raise PositionError(
                    gettext(
                        "rank %(number)s has %(letters)s, not two for each of %(width)s squares",
                        number=number + 1,
                        letters=counted(len(rank), "character"),
                        width=self.width,
                    )
                )
            for file in range(self.width):
                cell, bit = rank[2 * file : 2 * file + 2], number * self.width + file
                if not self.outline >> bit & 1:
                    if cell != "##":
                        raise PositionError(
                            gettext(
                                "%(square)s is %(cell)r, not ##: this board has no such square",
                                square=self.names[bit],
                                cell=cell,
                            )
                        )
                elif cell[0] in LETTERS and cell[1] in SIGNS:
                    code = SIGNS.index(cell[1]) * self.squares + bit
                    sides[LETTERS.index(cell[0])] |= 1 << code
                elif cell != "..":
                    raise PositionError(
                        gettext(
                            "%(square)s is %(cell)r, not .. or W or B and one of + x o O",
                            square=self.names[bit],
                            cell=cell,
                        )
                    )
        return sides[0], sides[1]
