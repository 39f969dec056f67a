"""Boards in letters, as a terminal shows them."""

from __future__ import annotations

import codecs
from random import Random

import pytest

from arena.cli import streams
from arena.cli.terminal_board import COUNTED, draw
from engine.clicks import illustrate
from engine.games import GAMES
from engine.scene import Body, Paint, Piece, PieceRow, Scene, Sign, Square

PIECES = (
    Piece(("a1",), Body.FIGURE, Paint.WHITE, "white king", "king"),
    Piece(("b2",), Body.FIGURE, Paint.BLACK, "black pawn", "pawn"),
    Piece(("b1",), Body.DISC, Paint.BLACK, "marked black stone", Sign.CROSS),
    Piece(("a2",), Body.DISC, Paint.BLUE, "blue general", "G"),
)
SQUARES = tuple(Square(f"{'ab'[x]}{y + 1}", x, y) for y in range(2) for x in range(2))
HEXAGONS = tuple(
    Square(f"{'ab'[x]}{2 - y}", x + (1 - y) / 2, y) for y in range(2) for x in range(2)
)


@pytest.mark.parametrize(
    ("scene", "lines"),
    [
        (Scene("", SQUARES, PIECES, captions=("turn",)),
         ["2 BG♟ ", "1 ♔ ●×", "  a b ", "turn"]),
        # Each row half a square further to the right than the one above; files above the first.
        (Scene("", HEXAGONS, (), hexagonal=True), ["  a b", "1 · · ", "2  · · "]),
        (Scene("", (), (), text=("oo.", "\x1b[2J"), captions=("a\nb",)),
         ["oo.", r"\x1b[2J", r"a\nb"]),
    ],
    ids=["squares", "hexagons", "text"],
)  # fmt: skip
def test_boards_in_letters(scene: Scene, lines: list[str]) -> None:
    """They were drawn by hand; what commands a terminal is written out."""
    drawn = draw(scene).plain.split("\n")
    assert [line.rstrip() for line in drawn] == [line.rstrip() for line in lines]


def test_the_last_move_is_seen() -> None:
    """Where a piece of its own colour hides the ground, by a line beneath."""
    styles = [
        {span.style for span in draw(Scene("", SQUARES, PIECES, last=last)).spans}
        for last in ((), ("b1",), ("a2",))
    ]
    assert len({frozenset(map(str, one)) for one in styles}) == 3


def test_a_row_that_counts_is_seen() -> None:
    """The ground of all its squares shows it, and words where there are no colours."""
    scene = Scene(
        "", SQUARES, PIECES, rows=(PieceRow("a1", "b2", points="3"), PieceRow("a2", "b2"))
    )
    drawn = draw(scene)
    assert drawn.plain.endswith("\nCounts together: a1 to b2 for 3, a2 to b2")
    marked = {
        drawn.plain[span.start : span.end]
        for span in drawn.spans
        if COUNTED in str(span.style) or "underline" in str(span.style)
    }
    assert marked == {"♔ ", "♟ ", "BG"}  # but not b1


@pytest.mark.parametrize("name", GAMES.singles)
def test_every_game_has_a_board(name: str) -> None:
    """Each of its squares is there, and its kinds of pieces differ without any colour."""
    variant = GAMES[name].offered[0]
    state, dice = variant.initial(1), Random(1)
    for _ in range(6):
        state = state.play(dice.choice(state.legal_moves()))
    scene = illustrate(state)
    rows = draw(scene).plain.split("\n")[: len({square.y for square in scene.squares})]
    covered = {name for piece in scene.pieces for name in piece.squares}
    assert sum(len(row.split(" ", 1)[1].replace(" ", "")) for row in rows) >= len(scene.squares)
    assert sum(row.count("·") + row.count("+") for row in rows) >= len(scene.squares) - len(covered)
    looks = variant.all_looks() or ()
    cells = {
        draw(Scene("", SQUARES[:1], (Piece(("a1",), body, paint, "", sign),))).plain[2:4]
        for body, paint, sign in looks
    }
    assert len(cells) == len(looks)
    # Where a terminal has no more than ASCII, too, in as many columns.
    codecs.register_error(streams.ERRORS, streams.look_alike)
    plain = {cell.encode("ascii", streams.ERRORS) for cell in cells}
    assert [len(cell) for cell in plain] == [2] * len(looks)
