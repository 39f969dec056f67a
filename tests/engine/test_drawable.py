"""Scenes that can't be drawn are told, and none of them gets anything into a picture or a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from engine.board import grid
from engine.clicks import illustrate
from engine.drawable import undrawable
from engine.games import GAMES
from engine.scene import Area, Body, Goal, Line, Paint, Piece, PieceRow, Rim, Scene, Shade, Square
from engine.svg import render
from tests import faulty
from tests.packages import Installer

STONE = Piece(("a1",), Body.DISC, Paint.RED, "red stone")
FINE = Scene("Fine", grid(2, 2), (STONE,), captions=("One", "", "two"))
HOSTILE = 'a"><script>alert(1)</script>'


def square(*words: Any) -> Scene:
    """A scene with a square of such words."""
    return replace(FINE, squares=(*FINE.squares, Square(*words)))


def piece(**words: Any) -> Scene:
    """A scene whose piece is another."""
    return replace(FINE, pieces=(replace(STONE, **words),))


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        (square(HOSTILE, 3, 3), "a name of a square is no word"),
        (square("x" * 21, 3, 3), "a name of a square is no word"),
        (square("c3", float("nan"), 3), "the square c3 has no shade, or no place"),
        (square("c3", 3, -1e6), "the square c3 has no shade, or no place"),
        (square("c3", 3, 3, HOSTILE), "the square c3 has no shade, or no place"),
        (piece(paint=HOSTILE), "a piece has no body, or no colour"),
        (piece(body=HOSTILE), "a piece has no body, or no colour"),
        (piece(words="a\0b"), "what a piece is called has letters that can't be seen"),
        (piece(words=""), "what a piece is called has 0 letters"),
        (piece(sign="\x1b[2J"), "the sign of a piece has letters that can't be seen"),
        (piece(squares=("d9",)), "a red stone lies nowhere"),
        (replace(FINE, title="x" * 501), "the title of its scene has 501 letters"),
        (replace(FINE, title=""), "the title of its scene has 0 letters"),
        (replace(FINE, captions=("a\0b",)), "a line of its scene has letters that can't be seen"),
        (replace(FINE, text=("x" * 501,)), "a line of its scene has 501 letters"),
        (replace(FINE, captions=("x",) * 201), "more squares, pieces or lines than can be drawn"),
        (replace(FINE, pieces=(STONE,) * 4001), "more squares, pieces or lines than can be drawn"),
        (replace(FINE, lines=(Line("a1", "d9"),)), "a line leads nowhere"),
        (replace(FINE, rims=(Rim(((0, 0), (1, 1)), HOSTILE),)), "a rim has no colour"),  # type: ignore[arg-type]
        (replace(FINE, rims=(Rim(((0, float("inf")),), Paint.RED),)), "has no place"),
        (replace(FINE, areas=(Area(((0, 0), (1, 1)), HOSTILE),)), "an area has no shade"),  # type: ignore[arg-type]
        (replace(FINE, areas=(Area(((0, 0),) * 2000, Shade.WALL),)), "than can be drawn"),
        (replace(FINE, rows=(PieceRow("a1", "d9"),)), "a line leads nowhere"),
        (replace(FINE, rows=(PieceRow("a1", "a2", HOSTILE),)), "a row has no colour"),  # type: ignore[arg-type]
        (replace(FINE, rows=(PieceRow("a1", "a2", points="x" * 7),)), "what a row is worth"),
        (replace(FINE, goals=(Goal("", ((1, 2),), Paint.RED),)), "a goal has 0 letters"),
        (replace(FINE, goals=(Goal("x", (), Paint.RED),)), "the parts of a goal are not numbers"),
        (replace(FINE, goals=(Goal("x", ((1, 0),), Paint.RED),)), "the parts of a goal"),
        (replace(FINE, goals=(Goal("x", ((10**99, 1),), Paint.RED),)), "the parts of a goal"),
        (replace(FINE, goals=(Goal("x", ((1, 2),), HOSTILE),)), "a goal has no colour"),  # type: ignore[arg-type]
        (replace(FINE, dead=("d9",)), "a square is marked that is none"),
        (replace(FINE, last=("d9",)), "a square is marked that is none"),
        (replace(FINE, targets=("d9",)), "a square is marked that is none"),
        (replace(FINE, arrows=(("a1", "d9"),)), "a line leads nowhere"),
        (Scene("Empty", (), ()), "its scene has no squares and no text"),
    ],
)
def test_what_can_not_be_drawn_is_told(scene: Scene, reason: str) -> None:
    """With what is wrong."""
    assert reason in undrawable(scene)
    assert not undrawable(FINE)


def test_words_of_a_scene_are_only_words() -> None:
    """Whatever they look like."""
    said = {"title": HOSTILE, "captions": (HOSTILE,), "text": (HOSTILE,)}
    scene = replace(piece(words=HOSTILE, sign=HOSTILE), **said)
    assert not undrawable(scene)
    drawn = render(scene)
    assert "<script" not in drawn
    ElementTree.fromstring(drawn)


def test_a_position_is_shown_by_its_text_whatever_that_holds(packages: Installer) -> None:
    """A picture of it is well-formed XML."""
    methods = r"""
    def scene(self):
        raise ValueError("a\0b")
    def text(self):
        return "a\0" + "<b>" * 9999
"""
    packages.install("faulty-games", faulty.CODE.format(methods=methods), faulty.ENTRY)
    drawn = render(illustrate(GAMES["faulty"].variant().initial()))
    ElementTree.fromstring(drawn)
    assert "No picture: ValueError: a?b" in drawn
