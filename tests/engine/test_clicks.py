"""Every move of every game can be found by clicking, and no two are confused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from engine.board import grid
from engine.clicks import arrows, illustrate, ways
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


@pytest.mark.parametrize(
    ("game", "options", "before", "move", "arrows"),
    [
        ("clobber", {}, "", "a2a1", "a2a1"),
        # The stone that goes, not the marker that goes elsewhere.
        ("blocco", {}, "a2a1@b1 c3d3@d4", "d1c1@c1", "d1c1"),
        # The totem; where it stood, and what is put beside it, are no part of it.
        ("oxono", {"totems": "xc4"}, "", "Xc5b5", "c4c5"),
        ("oxono", {"totems": "xc4"}, "", "Xc5c4", "c4c5"),
        ("oxoxo", {}, "", "Xa1", ""),
        ("oxoxo", {}, "Xa1 Ob1", "Fa1", ""),
        ("mijnlieff", {}, "", "b2><", ""),
        ("siege", {}, "", "=GSSSSSSC", ""),
        ("siege", {"setup": "fixed"}, "", "d9c9", "d9c9"),
        ("blokus", {}, "", "blue:a1,a2,b2", ""),
        ("puzzle", {"task": "tetrominoes"}, "", "stop", ""),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_from_where_to_where(
    game: str, options: dict[str, str], before: str, move: str, arrows: str
) -> None:
    """What a move moved, by what lay where before it and lies now."""
    state: State = GAMES[game].variant(**options).initial()
    for earlier in before.split():
        state = state.play(earlier)
    scene = illustrate(state.play(move), last=move, before=state)
    assert " ".join("".join(ends) for ends in scene.arrows) == arrows
    assert illustrate(state.play(move), last=move).arrows == ()


Kind = tuple[Body, Paint, str, str]
WHITE_DISC, KING = (Body.DISC, Paint.WHITE, "w", ""), (Body.DISC, Paint.WHITE, "king", "ring")
ROOK, BLACK_DISC = (Body.DISC, Paint.WHITE, "rook", "rook"), (Body.DISC, Paint.BLACK, "b", "")


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a1": WHITE_DISC}, {"a2": KING}, "a1a2"),  # promoted
        ({"a1": KING, "d1": ROOK}, {"c1": KING, "b1": ROOK}, "a1c1 d1b1"),  # castled
        ({"a1": WHITE_DISC, "b1": BLACK_DISC}, {"b1": WHITE_DISC}, "a1b1"),  # taken
        ({"a1": WHITE_DISC, "b1": WHITE_DISC}, {"a2": WHITE_DISC, "b2": WHITE_DISC}, ""),
        ({"a1": WHITE_DISC}, {"a1": BLACK_DISC}, ""),
        ({"a1": WHITE_DISC}, {"a1": KING}, ""),
    ],
)
def test_pieces_that_went(before: dict[str, Kind], after: dict[str, Kind], found: str) -> None:
    """By hand; where several alike went, nobody knows which came from where."""

    def scene(lying: dict[str, Kind]) -> Scene:
        pieces = (Piece((name,), *look) for name, look in lying.items())
        return Scene("", grid(4, 2), tuple(pieces))

    went = arrows(scene(before), scene(after))
    assert " ".join(sorted("".join(ends) for ends in went)) == found


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
