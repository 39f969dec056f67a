"""Every move of every game can be found by clicking, and no two are confused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from engine.clicks import illustrate, ways
from engine.conformance import pick
from engine.game import State
from engine.games import GAMES
from engine.scene import Body, Line, Paint, Piece, Scene, Square
from engine.svg import render


@pytest.mark.parametrize(
    ("game", "options", "before", "move", "way"),
    [
        # By the notation of each game's page, and where the totems and cells stand there.
        ("clobber", {}, "", "a2a1", "a2 a1"),
        ("blocco", {}, "", "a2a1@b1", "a2 a1 b1"),
        ("oxono", {"totems": "xc4"}, "", "Xc5b5", "c4 c5 b5"),
        ("oxono", {"totems": "xd3"}, "", "Oc5b5", "c4 c5 b5"),
        ("oxoxo", {}, "", "Xa1", "a1|X up"),
        ("oxoxo", {}, "Xa1 Ob1", "Fa1", "a1"),
        ("mijnlieff", {}, "", "b2><", "b2|pull o"),
        ("siege", {}, "", "=GSSSSSSC", "d9 i8"),
        ("siege", {"setup": "fixed"}, "", "g9g10", "g9 g10"),
        ("blokus", {}, "", "blue:a1,a2,b2", "blue V3|a1|a2|b2"),
        ("puzzle", {"task": "tetrominoes"}, "", "red:a1,a2,a3,b1", "red L4|a1|a2|a3|b1"),
        ("puzzle", {"task": "tetrominoes"}, "", "stop", "stop"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_what_is_clicked_for_a_move(
    game: str, options: dict[str, str], before: str, move: str, way: str
) -> None:
    """Squares, and words for what no square shows."""
    state: State = GAMES[game].variant(**options).initial()
    for earlier in before.split():
        state = state.play(earlier)
    assert state.clicks(move) == tuple(way.split("|" if "|" in way else None))


@pytest.mark.parametrize("demand", ["yes", "no"])
def test_a_demand_is_asked_for_only_where_it_may_be(demand: str) -> None:
    """A step of the attackers ends with a choice if its demand is legal too, else on a square."""
    variant = GAMES["siege"].variant(setup="fixed", demand=demand)
    both = 0
    random = Random(3)
    path = [variant.initial(3)]
    while (codes := path[-1].codes()) and len(path) < 90:
        path.append(path[-1].play_code(pick(random, codes)))
    for state in (path[ply] for ply in (0, 30, 60, 89)):
        known = ways(state)
        for move in known:
            if not move.endswith("!"):
                both += f"{move}!" in known
                assert (f"{move}!" in known) == (len(known[move]) == 3)
    assert bool(both) == (demand == "yes")


EMPTY = Scene("a title", (), ())
DISC = Piece(("b9",), Body.DISC, Paint.WHITE, "white stone")
SQUARES = (Square("a1", 0, 0),)


@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        (lambda _: EMPTY, "its scene has no squares and no text"),
        (lambda _: replace(EMPTY, squares=SQUARES, pieces=(DISC,)), "a white stone lies nowhere"),
        (lambda _: replace(EMPTY, squares=SQUARES, lines=(Line("a1", "c1"),)), "a line leads now"),
        (lambda _: 1 // 0, "ZeroDivisionError: "),
    ],
    ids=["nothing", "a piece astray", "a line astray", "an error"],
)
def test_what_can_not_be_drawn_is_shown_as_text(
    scene: Callable[[State], Scene], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game's mistake in its picture spoils no page, and is told there."""
    state = GAMES["clobber"].variant(size="3x2").initial()
    monkeypatch.setattr(type(state), "scene", scene)
    shown = illustrate(state, last="a1b1", clicked=("a1",))
    assert shown.text == (state.text(),)
    assert shown.captions[0].startswith(f"No picture: {reason}")
    assert state.text() in render(shown)
