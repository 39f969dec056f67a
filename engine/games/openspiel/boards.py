"""The games of OpenSpiel that are drawn on squares, points or hexagons.

What stands where is read from OpenSpiel's own text of a position, whose rows are found by their
letters. A game is a row of `GRIDS`: what its letters mean, and where its moves are clicked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import sqrt
from typing import Any

from engine.board import FILES
from engine.game import Move, squares_in
from engine.games.openspiel.spiel import GAP, SpielState, SpielVariant
from engine.scene import Body, Line, Paint, Piece, Rim, Scene, Shade, Sign, Square
from engine.translation import N_, translated

Look = tuple[Body, Paint, str, str]
"""A piece's form, colour, words and sign."""
Clicked = Callable[["GridState", Move], tuple[str, ...]]


class Ground(StrEnum):
    """What pieces stand on."""

    CHEQUERED = "chequered"
    PLAIN = "plain"
    POINTS = "points"
    HEXAGONS = "hexagons"


@dataclass(frozen=True)
class Grid:
    """How a game is drawn, and clicked."""

    players: tuple[str, str]
    """What OpenSpiel's two players are called."""
    looks: Mapping[str, Look]
    """Each letter of OpenSpiel's text that is a piece."""
    free: str
    """The letters of free squares."""
    size: Callable[[Mapping[str, str]], tuple[int, int]] = lambda _: (8, 8)
    """Files and ranks, by the options."""
    ground: Ground = Ground.CHEQUERED
    upwards: bool = True
    """Whether the lowest rank is the first."""
    files: str = FILES
    clicks: Clicked = lambda _, move: squares_in(move) or (move,)
    marks: Clicked = lambda _, move: squares_in(move)
    prompts: tuple[str, ...] = ()
    """What is asked before each click."""
    phase: Callable[[Move], str] | None = None
    """What kind of move is due, by one of the legal ones, where they are of several kinds."""
    held: Callable[[GridState], dict[str, str]] = lambda _: {}
    """Letters of pieces that are being moved and stand nowhere in OpenSpiel's text, by square."""
    rims: tuple[Paint, Paint] | None = None
    """The colours of the upper and lower edge, and of the others."""


class GridVariant(SpielVariant):
    """A game that is drawn on a grid."""

    def __init__(self, name: str, options: Mapping[str, str]) -> None:
        super().__init__(name, options)
        self.grid = GRIDS[name]
        self.width, self.height = self.grid.size(options)
        self.seat_names = tuple(self.grid.players[self.player(seat)] for seat in (0, 1))
        letters = re.escape("".join([self.grid.free, *self.grid.looks]))
        self._row = re.compile(rf"\d*([{letters}]{{{self.width}}})\d*")

    def state(self, spiel: Any) -> GridState:
        return GridState(self, spiel)

    def name_of(self, file: int, row: int) -> str:
        """The name of a square by its row from the top, counted from 0."""
        rank = self.height - row if self.grid.upwards else row + 1
        return f"{self.grid.files[file]}{rank}"

    def cells(self, text: str) -> list[str]:
        """The rows of OpenSpiel's text from the top, a letter for each square."""
        lines = (self._row.fullmatch(line.replace(" ", "")) for line in text.splitlines())
        return [line[1] for line in lines if line]

    @cached_property
    def squares(self) -> tuple[Square, ...]:
        """The squares by rows from the top."""
        return tuple(
            self._square(file, row) for row in range(self.height) for file in range(self.width)
        )

    def _square(self, file: int, row: int) -> Square:
        name, y = self.name_of(file, row), self.height - 1 - row
        if self.grid.ground is Ground.HEXAGONS:
            return Square(name, file + row / 2, y * sqrt(3) / 2)
        if self.grid.ground is Ground.POINTS:
            return Square(name, file, y, Shade.POINT)
        if self.grid.ground is Ground.PLAIN:
            return Square(name, file, y)
        return Square(name, file, y, Shade.LIGHT if (file + y) % 2 else Shade.DARK)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """What connects the points of a board that is made of lines."""
        if self.grid.ground is not Ground.POINTS:
            return ()
        across, down = self.width - 1, self.height - 1
        name = self.name_of
        return (
            *(Line(name(0, row), name(across, row), thin=True) for row in range(self.height)),
            *(Line(name(file, 0), name(file, down), thin=True) for file in range(self.width)),
        )

    @cached_property
    def rims(self) -> tuple[Rim, ...]:
        """The coloured edges of a board of hexagons."""
        if self.grid.rims is None:
            return ()
        at = {square.name: (square.x, square.y) for square in self.squares}
        # The corners of a hexagon of width 1, above and below the ends of its upright sides.
        side, tip = 1 / sqrt(12), 1 / sqrt(3)
        top = [at[self.name_of(file, 0)] for file in range(self.width)]
        bottom = [at[self.name_of(file, self.height - 1)] for file in range(self.width)]
        left = [at[self.name_of(0, row)] for row in range(self.height)]
        right = [at[self.name_of(self.width - 1, row)] for row in range(self.height)]
        upper = [(x + dx, y + dy) for x, y in top for dx, dy in ((-0.5, side), (0, tip))]
        lower = [(x + dx, y - dy) for x, y in bottom for dx, dy in ((0, tip), (0.5, side))]
        ends, others = self.grid.rims
        return (
            Rim(tuple((x - 0.5, y + dy) for x, y in left for dy in (side, -side)), others),
            Rim(tuple((x + 0.5, y + dy) for x, y in right for dy in (side, -side)), others),
            Rim((*upper, (top[-1][0] + 0.5, top[-1][1] + side)), ends),
            Rim(((bottom[0][0] - 0.5, bottom[0][1] - side), *lower), ends),
        )


class GridState(SpielState):
    """A position that is drawn on a grid."""

    variant: GridVariant

    @cached_property
    def cells(self) -> Sequence[str]:
        """The rows from the top, a letter for each square."""
        return self.variant.cells(str(self.spiel))

    def clicks(self, move: Move) -> tuple[str, ...]:
        return self.variant.grid.clicks(self, move)

    def marks(self, move: Move) -> tuple[str, ...]:
        return self.variant.grid.marks(self, move)

    def prompt(self, clicked: Sequence[str]) -> str:
        return translated("".join(self.variant.grid.prompts[len(clicked) :][:1]))

    def scene(self) -> Scene:
        variant, grid, turn = self.variant, self.variant.grid, self.turn()
        if grid.phase and self.words:
            turn = f"{turn}: {translated(grid.phase(next(iter(self.words.values()))))}"
        standing = {
            variant.name_of(file, row): letter
            for row, letters in enumerate(self.cells)
            for file, letter in enumerate(letters)
            if letter in grid.looks
        }
        standing |= grid.held(self)
        looks = {
            letter: (body, paint, translated(words), sign)
            for letter, (body, paint, words, sign) in grid.looks.items()
        }
        pieces = tuple(Piece((name,), *looks[letter]) for name, letter in standing.items())
        return Scene(
            title=f"{variant.title}: {turn}",
            squares=variant.squares,
            pieces=pieces,
            lines=variant.lines,
            captions=(turn,),
            rims=variant.rims,
            hexagonal=grid.ground is Ground.HEXAGONS,
        )


def _disc(paint: Paint, words: str, sign: str = "") -> Look:
    return Body.DISC, paint, words, sign


def _falls_to(state: GridState, move: Move) -> tuple[str, ...]:
    """The square that a disc falls to."""
    file = int(move[1:])
    free = [row for row, letters in enumerate(state.cells) if letters[file] == "."]
    return (state.variant.name_of(file, free[-1]),)


def _fell_to(state: GridState, move: Move) -> tuple[str, ...]:
    """The square of the disc that lies on top."""
    file = int(move[1:])
    row = next(row for row, letters in enumerate(state.cells) if letters[file] != ".")
    return (state.variant.name_of(file, row),)


def _amazon_square(state: GridState, move: Move) -> tuple[str, ...]:
    """The square of ``X_From_(7,_1)``: the row from the top, then the file."""
    row, file = map(int, re.findall(r"\d+", move))
    return (state.variant.name_of(file - 1, row - 1),)


def _lifted_amazon(state: GridState) -> dict[str, str]:
    """The amazon that was chosen, before it goes somewhere."""
    due = next(iter(state.words.values()), "")
    if "_To_" not in due:
        return {}
    (square,) = _amazon_square(state, state.text().rpartition(" ")[2])
    return {square: due[0]}


def _square_board(options: Mapping[str, str]) -> tuple[int, int]:
    return int(options["board_size"]), int(options["board_size"])


AMAZON_PHASES = {
    "From": N_("which amazon"),
    "To": N_("where it goes"),
    "Shoot:": N_("where its arrow goes"),
}

GRIDS: Mapping[str, Grid] = {
    "amazons": Grid(
        (N_("White"), N_("Black")),
        {
            "X": (Body.FIGURE, Paint.WHITE, N_("white amazon"), "queen"),
            "O": (Body.FIGURE, Paint.BLACK, N_("black amazon"), "queen"),
            "#": (Body.TILE, Paint.NEUTRAL, N_("arrow"), Sign.CROSS),
        },
        free=".",
        size=_square_board,
        clicks=_amazon_square,
        marks=_amazon_square,
        phase=lambda move: AMAZON_PHASES[move.split(GAP)[1]],
        held=_lifted_amazon,
    ),
    "breakthrough": Grid(
        (N_("Black"), N_("White")),
        {"b": _disc(Paint.BLACK, N_("black piece")), "w": _disc(Paint.WHITE, N_("white piece"))},
        free=".",
        size=lambda options: (int(options["columns"]), int(options["rows"])),
        prompts=(N_("Choose the piece that moves."), N_("Choose where it goes.")),
    ),
    "checkers": Grid(
        (N_("White"), N_("Black")),
        {
            "o": _disc(Paint.WHITE, N_("white man")),
            "+": _disc(Paint.BLACK, N_("black man")),
            "8": _disc(Paint.WHITE, N_("white king"), Sign.RING),
            "*": _disc(Paint.BLACK, N_("black king"), Sign.RING),
        },
        free=".",
        prompts=(N_("Choose the piece that moves."), N_("Choose where it goes.")),
    ),
    "connect_four": Grid(
        (N_("Red"), N_("Yellow")),
        {
            "x": _disc(Paint.RED, N_("red disc"), Sign.CROSS),
            "o": _disc(Paint.YELLOW, N_("yellow disc")),
        },
        free=".",
        size=lambda options: (int(options["columns"]), int(options["rows"])),
        ground=Ground.PLAIN,
        clicks=_falls_to,
        marks=_fell_to,
        prompts=(N_("Choose where your disc falls."),),
    ),
    "go": Grid(
        (N_("Black"), N_("White")),
        {"X": _disc(Paint.BLACK, N_("black stone")), "O": _disc(Paint.WHITE, N_("white stone"))},
        free="+",
        size=_square_board,
        ground=Ground.POINTS,
        files=FILES.replace("i", ""),
        prompts=(N_("Choose where you put a stone."),),
    ),
    "hex": Grid(
        (N_("Red"), N_("Blue")),
        {
            "x": _disc(Paint.RED, N_("red stone"), Sign.CROSS),
            "o": _disc(Paint.BLUE, N_("blue stone")),
        },
        free=".",
        size=lambda options: (int(options["num_cols"]), int(options["num_rows"])),
        ground=Ground.HEXAGONS,
        upwards=False,
        rims=(Paint.RED, Paint.BLUE),
        prompts=(N_("Choose where you put a stone."),),
    ),
    "othello": Grid(
        (N_("Black"), N_("White")),
        {"x": _disc(Paint.BLACK, N_("black disc")), "o": _disc(Paint.WHITE, N_("white disc"))},
        free="-",
        ground=Ground.PLAIN,
        upwards=False,
        prompts=(N_("Choose where you put a disc."),),
    ),
}
