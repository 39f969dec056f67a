"""The board of Clobber and Blocco: every square holds a stone, in a chequered pattern.

A set of stones is a mask of squares (see engine.board). In both games a stone takes a neighbour
of the other colour, so a move joins two neighbouring squares that hold both colours.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.board import (
    WordChunk,
    WordTable,
    bits_of,
    read_fields,
    read_ranks,
    read_seat,
    square_names,
    write_ranks,
)
from engine.game import Move, PositionError, Seat, Variant
from engine.options import board_size, read_size
from engine.scene import Paint
from engine.translation import N_, gettext, translated

WHITE, BLACK = 0, 1

SIZE = {"size": board_size("6x7", 2, 26)}
OFFERS = ({"size": "6x7"}, {"size": "5x6"}, {"size": "8x8"}, {"size": "10x10"})

LARGE = 101
"""Squares of a board on which four plies decide nothing: in random games after them each side won
0.43 to 0.61 (12 openings of either game on 10x10 and 12x12, 150 to 400 games each)."""

CHUNK = 14
"""Squares that are looked up at once; a third of the default board."""
LOW = (1 << CHUNK) - 1

STONES = {Paint.WHITE: N_("white stone"), Paint.BLACK: N_("black stone")}
TOO_MANY = (
    N_("the number of white stones exceeds the set-up's by %(stones)s"),
    N_("the number of black stones exceeds the set-up's by %(stones)s"),
)

Words = tuple[WordChunk, ...]


class Chequerboard(Variant):
    """A board of W files and H ranks, with its set-up and the words of all steps on it."""

    seats = 2
    seat_names = (N_("White"), N_("Black"))

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.width, self.height = read_size(options["size"])
        self.names = square_names(self.width, self.height)
        self.squares = len(self.names)
        self.max_plies = self.squares - 1
        self.harmless_plies = 4 if self.squares >= LARGE else 0
        self.board = (1 << self.squares) - 1
        self.black = sum(
            1 << bit
            for bit in range(self.squares)
            if (bit % self.width + bit // self.width) % 2 == 0
        )
        self.white = self.board ^ self.black
        not_last_file = sum(
            1 << bit for bit in range(self.squares) if bit % self.width < self.width - 1
        )
        not_last_rank = (1 << self.squares - self.width) - 1
        # For a step right and a step up: how far it shifts, where it may start, and the words
        # of making it and of making it backwards, by its lower square.
        self.steps: tuple[tuple[int, int, Words, Words], ...] = tuple(
            (shift, guard, self._words(shift, guard, 1), self._words(shift, guard, -1))
            for shift, guard in ((1, not_last_file), (self.width, not_last_rank))
        )
        self.pairs = [
            (1 << shift | 1) << low for shift, guard, _, _ in self.steps for low in bits_of(guard)
        ]
        """Every two neighbouring squares, as a mask."""
        self.ends_of: dict[Move, tuple[int, int]] = {
            self.names[start] + self.names[end]: (1 << start, 1 << end)
            for pair in self.pairs
            for low, high in (bits_of(pair),)
            for start, end in ((low, high), (high, low))
        }
        """The square left and the square entered, as masks, by the word of a step."""

    def _words(self, shift: int, guard: int, direction: int) -> Words:
        words = [
            "".join((self.names[bit], self.names[bit + shift])[::direction])
            if guard >> bit & 1
            else ""
            for bit in range(self.squares)
        ]
        return WordTable(words, CHUNK).chunks

    def turn(self, mover: Seat, *, can_move: bool) -> str:
        """Whose turn it is, or that the game is over, in words."""
        name = translated(self.seat_names[mover])
        if can_move:
            return gettext("%(seat)s to move", seat=name)
        return gettext("%(seat)s has no move and loses", seat=name)

    def read_cells(self, text: str, letters: str) -> tuple[list[str], Seat]:
        """The squares of a position text, a letter each, and the seat to move.

        Raises:
            PositionError: a wrong size or letter.
        """
        board, seat = read_fields(text, N_("ranks"), N_("seat to move"))
        return read_ranks(board, self.width, self.height, letters), read_seat(seat)

    def write_cells(self, stones: Mapping[str, int], mover: Seat) -> str:
        """What `read_cells` reads, from a mask for each letter."""
        cells = ["."] * self.squares
        for letter, mask in stones.items():
            for bit in bits_of(mask):
                cells[bit] = letter
        return f"{write_ranks(cells, self.width)} {mover + 1}"

    def check_counts(self, white: int, black: int, mover: Seat) -> None:
        """Refuses stones that no game has: each turn takes one of the other seat's.

        Raises:
            PositionError: with the reason.
        """
        lost_white = self.white.bit_count() - white.bit_count()
        lost_black = self.black.bit_count() - black.bit_count()
        for exceeds, lost in zip(TOO_MANY, (lost_white, lost_black), strict=True):
            if lost < 0:
                raise PositionError(gettext(exceeds, stones=-lost))
        if lost_black - lost_white != mover:
            raise PositionError(
                gettext(
                    "White took %(taken_by_white)s and Black %(taken_by_black)s, so it is not seat "
                    "%(seat)s's turn",
                    taken_by_white=lost_black,
                    taken_by_black=lost_white,
                    seat=mover + 1,
                )
            )
