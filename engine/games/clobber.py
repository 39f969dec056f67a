"""Clobber (Albert, Grossman and Nowakowski, 2001): take a neighbour or lose.

Rules: docs/games/clobber.md. A position is two sets of stones, as bits (see engine.board).
Shifting the other's stones by one step finds every stone that may move that way at once. A
move's code is the mask of the two squares it joins, which says all: the stone that moves is
the mover's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.board import (
    WordTable,
    bits_of,
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
    board_size,
    read_size,
)
from engine.scene import Body, Paint, Piece, Scene, grid

WHITE, BLACK = 0, 1


class Clobber(Variant):
    """Clobber on a board of W files and H ranks."""

    game = "clobber"
    seats = 2
    seat_names = ("White", "Black")

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.width, self.height = read_size(options["size"])
        self.names = square_names(self.width, self.height)
        self.squares = len(self.names)
        self.max_plies = self.squares - 1
        not_last_file = sum(
            1 << bit for bit in range(self.squares) if bit % self.width < self.width - 1
        )
        not_last_rank = (1 << self.squares - self.width) - 1
        # For a step right and a step up: how far it shifts, where it may start, and the words
        # of taking it and of taking it back, by the bit of its lower square.
        self.steps = tuple(
            (shift, guard, self._words(shift, guard, 1), self._words(shift, guard, -1))
            for shift, guard in ((1, not_last_file), (self.width, not_last_rank))
        )
        self.ends_of = {
            self.names[start] + self.names[end]: (1 << start, 1 << end)
            for shift, guard, _, _ in self.steps
            for low in bits_of(guard)
            for start, end in ((low, low + shift), (low + shift, low))
        }

    def _words(self, shift: int, guard: int, direction: int) -> WordTable:
        return WordTable(
            [
                "".join((self.names[bit], self.names[bit + shift])[::direction])
                if guard >> bit & 1
                else ""
                for bit in range(self.squares)
            ]
        )

    def initial(self, seed: int = 0) -> ClobberState:
        width = self.width
        odd = sum(1 << bit for bit in range(self.squares) if (bit % width + bit // width) % 2)
        return ClobberState(self, odd, (1 << self.squares) - 1 ^ odd, WHITE)

    def read(self, text: str) -> ClobberState:
        board, seat = read_fields(text, "ranks", "seat to move")
        cells = read_ranks(board, self.width, self.height, "wb")
        state = ClobberState(self, mask_of(cells, "w"), mask_of(cells, "b"), read_seat(seat, 2))
        check_counts(self.initial(), state)
        return state


def check_counts(start: ClobberState, state: ClobberState) -> None:
    """Refuses stones that no game has: each turn takes one of the other seat's.

    Raises:
        PositionError: with the reason.
    """
    lost_white = start.white.bit_count() - state.white.bit_count()
    lost_black = start.black.bit_count() - state.black.bit_count()
    for name, lost in (("white", lost_white), ("black", lost_black)):
        if lost < 0:
            raise PositionError(f"the number of {name} stones exceeds the set-up's by {-lost}")
    if lost_black - lost_white != state.mover:
        raise PositionError(
            f"White took {lost_black} and Black {lost_white}, so it is not seat "
            f"{state.mover + 1}'s turn"
        )


@dataclass(frozen=True, slots=True)
class ClobberState(State):
    """The stones on the board, and the seat whose turn it is."""

    variant: Clobber = field(repr=False)
    white: int
    black: int
    mover: Seat

    @property
    def to_move(self) -> Seat | None:
        return self.mover if self._can_move() else None

    def _can_move(self) -> bool:
        white, black = self.white, self.black
        return any(
            (white & black >> shift | black & white >> shift) & guard
            for shift, guard, _, _ in self.variant.steps
        )

    def legal_moves(self) -> Sequence[Move]:
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        words: list[Move] = []
        for shift, guard, forth, back in self.variant.steps:
            forth.extend(words, own & other >> shift & guard)
            back.extend(words, other & own >> shift & guard)
        words.sort()
        return words

    def canonical(self, move: str) -> Move:
        self._ends(move)
        return move

    def play(self, move: Move) -> ClobberState:
        return self._step(*self._ends(move))

    def _ends(self, move: str) -> tuple[int, int]:
        """The squares that a legal move leaves and takes."""
        start, end = self.variant.ends_of.get(move, (0, 0))
        own, other = (self.white, self.black) if self.mover == WHITE else (self.black, self.white)
        if not (own & start and other & end):
            raise IllegalMoveError(
                move, "a move takes one of your stones onto a neighbour of the other colour"
            )
        return start, end

    def _step(self, start: int, end: int) -> ClobberState:
        if self.mover == WHITE:
            return ClobberState(self.variant, self.white ^ start ^ end, self.black ^ end, BLACK)
        return ClobberState(self.variant, self.white ^ end, self.black ^ start ^ end, WHITE)

    def ending(self) -> Termination | None:
        return None if self._can_move() else Termination.NORMAL

    def scores(self) -> tuple[float, ...]:
        return (0.0, 1.0) if self.mover == WHITE else (1.0, 0.0)

    def text(self) -> str:
        cells = [
            "w" if self.white >> bit & 1 else "b" if self.black >> bit & 1 else "."
            for bit in range(self.variant.squares)
        ]
        return f"{write_ranks(cells, self.variant.width)} {self.mover + 1}"

    def scene(self) -> Scene:
        variant = self.variant
        pieces = tuple(
            Piece((variant.names[bit],), Body.DISC, paint, f"{paint} stone")
            for paint, stones in ((Paint.WHITE, self.white), (Paint.BLACK, self.black))
            for bit in bits_of(stones)
        )
        name = variant.seat_names[self.mover]
        turn = f"{name} to move" if self._can_move() else f"{name} has no move and loses"
        return Scene(
            title=f"Clobber {variant.options['size']}: {turn}",
            squares=grid(variant.width, variant.height),
            pieces=pieces,
            captions=(turn,),
        )

    def codes(self) -> Sequence[int]:
        white, black = self.white, self.black
        codes = []
        for shift, guard, _, _ in self.variant.steps:
            lows = (white & black >> shift | black & white >> shift) & guard
            pair = 1 << shift | 1
            while lows:
                low = lows & -lows
                codes.append(low * pair)
                lows ^= low
        return codes

    def word(self, code: int) -> Move:
        own = self.white if self.mover == WHITE else self.black
        names = self.variant.names
        start, end = code & own, code & ~own
        return names[start.bit_length() - 1] + names[end.bit_length() - 1]

    def play_code(self, code: int) -> ClobberState:
        own = self.white if self.mover == WHITE else self.black
        return self._step(code & own, code & ~own)


GAME = Game(
    name="clobber",
    title="Clobber",
    options={"size": board_size("6x7", 2, 26)},
    build=Clobber,
    offers=({"size": "6x7"}, {"size": "5x6"}, {"size": "8x8"}, {"size": "10x10"}),
)
