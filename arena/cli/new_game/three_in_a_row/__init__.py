"""Three in a Row: who first has three stones in a row has won.

Rules: rules.md beside this file. A position is two sets of stones as masks of squares, whose bits
are numbered along the ranks from a1 (see `engine.board`). A move's code is the bit of its square.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.board import (
    bits_of,
    grid,
    mask_of,
    read_fields,
    read_ranks,
    read_seat,
    square_names,
    write_ranks,
)
from engine.game import (
    Game,
    IllegalMoveError,
    Move,
    PositionError,
    Seat,
    State,
    Termination,
    Variant,
    page_beside,
)
from engine.options import board_size, read_size
from engine.scene import Body, Look, Paint, Piece, PieceRow, Scene

WHITE, BLACK = 0, 1
ROW = 3
"""Stones in a row that win."""


class ThreeInARow(Variant):
    """Three in a Row on a board of some size."""

    game = "three-in-a-row"
    seats = 2
    seat_names = ("White", "Black")
    opening_plies = 1

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.width, self.height = read_size(options["size"])
        self.names = square_names(self.width, self.height)
        self.bit_of = {name: bit for bit, name in enumerate(self.names)}
        self.max_plies = len(self.names)
        self.full = (1 << len(self.names)) - 1
        self.rows = tuple(self._rows())

    def _rows(self) -> list[int]:
        """Each row that wins, as a mask."""
        found = []
        for file in range(self.width):
            for rank in range(self.height):
                for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                    squares = [(file + n * right, rank + n * up) for n in range(ROW)]
                    if all(x < self.width and 0 <= y < self.height for x, y in squares):
                        found.append(sum(1 << y * self.width + x for x, y in squares))
        return found

    def initial(self, seed: int = 0) -> ThreeInARowState:
        return ThreeInARowState(self, 0, 0)

    def read(self, text: str) -> ThreeInARowState:
        ranks, seat = read_fields(text, "ranks", "seat to move")
        cells = read_ranks(ranks, self.width, self.height, "wb")
        white, black = mask_of(cells, "w"), mask_of(cells, "b")
        mover = read_seat(seat)
        if white.bit_count() - black.bit_count() != mover:
            raise PositionError(
                f"with {white.bit_count()} white and {black.bit_count()} black stones it is not "
                f"seat {mover + 1}'s turn"
            )
        state = ThreeInARowState(self, white, black)
        if state.has_row(mover):
            raise PositionError(f"{self.seat_names[mover]} has a row already, and is to move")
        return state

    def all_moves(self) -> Sequence[Move]:
        return self.names

    def all_looks(self) -> Sequence[Look]:
        return [(Body.DISC, paint, "") for paint in (Paint.WHITE, Paint.BLACK)]


@dataclass(frozen=True, slots=True)
class ThreeInARowState(State):
    """The stones of both seats; how many there are says whose turn it is."""

    variant: ThreeInARow = field(repr=False)
    white: int
    black: int

    @property
    def mover(self) -> Seat:
        """Whose turn it is, or would be."""
        return (self.white | self.black).bit_count() % 2

    @property
    def to_move(self) -> Seat | None:
        return self.mover if self.ending() is None else None

    def has_row(self, seat: Seat) -> bool:
        """Whether a seat has three in a row."""
        stones = self.black if seat == BLACK else self.white
        return any(stones & row == row for row in self.variant.rows)

    @property
    def free(self) -> int:
        """The free squares, as a mask."""
        return self.variant.full ^ self.white ^ self.black

    def ending(self) -> Termination | None:
        # Only who moved last can have made a row.
        over = not self.free or self.has_row(1 - self.mover)
        return Termination.NORMAL if over else None

    def scores(self) -> tuple[float, ...]:
        if self.has_row(1 - self.mover):
            return (1.0, 0.0) if self.mover == BLACK else (0.0, 1.0)
        return (0.5, 0.5)

    def legal_moves(self) -> Sequence[Move]:
        return sorted(self.variant.names[bit] for bit in self.codes())

    def codes(self) -> Sequence[int]:
        return [] if self.ending() else bits_of(self.free)

    def word(self, code: int) -> Move:
        return self.variant.names[code]

    def judge(self, move: str) -> int:
        """The square's bit."""
        if self.ending():
            raise IllegalMoveError(move, "the game is over")
        bit = self.variant.bit_of.get(move)
        if bit is None or not self.free >> bit & 1:
            raise IllegalMoveError(move, "a move is the name of a free square, as in b2")
        return bit

    def play(self, move: Move) -> ThreeInARowState:
        return self.play_code(self.judge(move))

    def play_code(self, code: int) -> ThreeInARowState:
        stone = 1 << code
        if self.mover == WHITE:
            return ThreeInARowState(self.variant, self.white | stone, self.black)
        return ThreeInARowState(self.variant, self.white, self.black | stone)

    def text(self) -> str:
        cells = ["."] * len(self.variant.names)
        for letter, stones in (("w", self.white), ("b", self.black)):
            for bit in bits_of(stones):
                cells[bit] = letter
        return f"{write_ranks(cells, self.variant.width)} {self.mover + 1}"

    def scene(self) -> Scene:
        variant = self.variant
        pieces = tuple(
            Piece((variant.names[bit],), Body.DISC, paint, f"{paint} stone")
            for paint, stones in ((Paint.WHITE, self.white), (Paint.BLACK, self.black))
            for bit in bits_of(stones)
        )
        words = f"{variant.seat_names[self.mover]} to move"
        if self.ending():
            won = self.has_row(1 - self.mover)
            words = f"{variant.seat_names[1 - self.mover]} has a row and wins" if won else "A draw"
        found = (
            row for row in variant.rows for its in (self.white, self.black) if its & row == row
        )
        return Scene(
            title=f"Three in a Row: {words}",
            squares=grid(variant.width, variant.height, chequered=False),
            pieces=pieces,
            captions=(words,),
            rows=tuple(
                PieceRow(variant.names[first], variant.names[last])
                for first, _, last in map(bits_of, found)
            ),
        )


GAME = Game(
    name="three-in-a-row",
    title="Three in a Row",
    options={"size": board_size("3x3", 3, 9)},
    build=ThreeInARow,
    offers=({"size": "3x3"}, {"size": "4x4"}),
    rules=page_beside(__file__),
)
