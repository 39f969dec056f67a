"""Every move of every game can be found by clicking, and no two are confused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from engine.board import grid
from engine.clicks import arrows, asked, caution, half_made, held, illustrate, ways
from engine.conformance import pick
from engine.game import State
from engine.games import GAMES
from engine.scene import Body, Held, Line, Paint, Piece, Scene, Square
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
        ("mijnlieff", {}, "", "b2><", "b2|pull ><"),
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


def lying(scene: Scene, square: str) -> str:
    """What lies on a square, in words."""
    return ", ".join(piece.words for piece in scene.pieces if square in piece.squares)


def played(game: str, options: dict[str, str], before: str) -> State:
    """The position after some moves from the start."""
    state: State = GAMES[game].variant(**options).initial()
    for move in before.split():
        state = state.play(move)
    return state


@pytest.mark.parametrize(
    ("game", "options", "before", "clicked", "asks", "lies"),
    [
        # By the rules' pages: what each click decides, and what lies where when it is decided.
        ("clobber", {}, "", "", "Choose the stone that moves.", "a2 white stone"),
        ("clobber", {}, "", "a2", "Choose the neighbour that it takes.", "a1 black stone"),
        ("clobber", {}, "", "a2|a1", "", "a1 white stone"),
        ("blocco", {}, "", "a2|a1", "gets the marker.", "a1 white stone"),
        # The group that the stone joins had its marker on b1, and chooses anew.
        ("blocco", {}, "a2a1@b1 c3c2@d2", "b3|b2", "gets the marker.", "b1 white stone"),
        ("oxono", {"totems": "xc4"}, "", "", "Choose the totem that you move.", "c4 X totem"),
        ("oxono", {"totems": "xc4"}, "", "d3", "Choose where the O totem goes.", "d3 O totem"),
        ("oxono", {"totems": "xc4"}, "", "c4|c5", "Place your X beside the totem.", "c5 X totem"),
        ("oxono", {"totems": "xc4"}, "", "c4|c5|b5", "", "b5 white X piece"),
        ("oxoxo", {}, "", "", "Choose a free square for a piece, or a piece of yours", "a1 "),
        ("oxoxo", {}, "", "a1", "Choose which side of the piece is up.", "a1 "),
        ("oxoxo", {}, "", "a1|X up", "", "a1 dark X of Form"),
        ("mijnlieff", {}, "", "b2", "Choose which piece you put there.", "b2 "),
        ("mijnlieff", {}, "", "b2|push <>", "", "b2 white push piece"),
        ("siege", {}, "", "", "Choose where the general stands.", "f9 "),
        ("siege", {}, "", "f9", "Choose where the colonel stands;", "f9 yellow general"),
        ("siege", {}, "", "f9|d8", "", "d8 yellow colonel"),
        (
            "siege",
            {"setup": "fixed"},
            "",
            "",
            "Choose the piece of Yellow that moves.",
            "d9 yellow general",
        ),
        (
            "siege",
            {"setup": "fixed"},
            "",
            "d8",
            "Choose where the soldier goes.",
            "d8 yellow soldier",
        ),
        ("siege", {"setup": "fixed"}, "i9j9", "", "Choose the piece of White that moves.", "i9 "),
        ("blokus", {}, "", "", "Choose one of blue's pieces.", ""),
        ("blokus", {}, "", "blue V3|a20", "Choose the squares that it covers", "a20 blue V3 that"),
        ("puzzle", {"task": "tetrominoes"}, "", "", "Choose a piece of any colour.", ""),
        ("puzzle", {"task": "full"}, "", "", "Choose one of blue's pieces.", ""),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_each_click_is_asked_for_and_seen(
    game: str, options: dict[str, str], before: str, clicked: str, asks: str, lies: str
) -> None:
    """The game's words ask; the part of the move that is decided is drawn."""
    state = played(game, options, before)
    known, way = ways(state), tuple(clicked.split("|") if clicked else ())
    scene = half_made(state, known, way)
    assert scene.captions == state.scene().captions
    square, _, words = lies.partition(" ")
    assert words in lying(scene, square)
    assert bool(words) == bool(lying(scene, square))
    if asks:
        assert asks in asked(state, known, way)
    else:
        assert way in known.values()


def test_to_stop_a_puzzle_is_warned_of() -> None:
    """With what is kept: four squares of one tetromino; an ordinary move has no caution."""
    state = played("puzzle", {"task": "tetrominoes"}, "red:a1,a2,a3,b1")
    assert (
        caution(state, "stop")
        == "To stop ends the game. You keep what you have: 4 covered squares."
    )
    assert caution(state, "red:c1,c2,d1,d2") == ""


@pytest.mark.parametrize(
    ("game", "options", "before", "seat", "hand"),
    [
        # From the set-up of each game's page, less what was put down.
        ("clobber", {}, "", 0, {}),
        ("oxono", {"totems": "xc4"}, "Xc5b5", 0, {"white X piece": 7, "white O piece": 8}),
        ("oxoxo", {}, "Xa1 Ob1", 1, {"O up": 7, "X up": 7}),
        (
            "mijnlieff",
            {},
            "b2><",
            0,
            {"straight +": 2, "diagonal x": 2, "pull ><": 1, "push <>": 2},
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_what_a_seat_holds(
    game: str, options: dict[str, str], before: str, seat: int, hand: dict[str, int]
) -> None:
    """Kind by kind, in the order of the game's page."""
    found = held(played(game, options, before), seat)
    assert [(one.name, one.left) for one in found] == list(hand.items())


@pytest.mark.parametrize(
    ("mode", "before", "seats"),
    [
        # The colour of each seat's hand: its own, or of two the one whose turn comes next; in a
        # game of three the fourth colour is Blue's first, then Yellow's.
        ("classic", "", ["blue", "yellow", "red", "green"]),
        ("duel", "", ["blue", "yellow"]),
        ("duel", "blue:a20 yellow:t20", ["red", "green"]),
        ("trio", "blue:a20 yellow:t20 red:t1", ["green", "yellow", "red"]),
    ],
)
def test_a_tray_of_blokus_keeps_its_order(mode: str, before: str, seats: list[str]) -> None:
    """All 21 pieces of one colour lie in it the same way round, and those placed are ghosts."""
    state = played("blokus", {"mode": mode}, before)
    for seat, colour in enumerate(seats):
        hand = held(state, seat)
        assert len(hand) == 21
        assert {one.name.partition(" ")[0] for one in hand} == {colour}
        assert [one.cells for one in hand] == [one.cells for one in held(state, 0)]
        gone = [one.name for one in hand if not one.left]
        assert gone == ([f"{colour} 1"] if f"{colour}:" in before else [])


@pytest.mark.parametrize(
    ("options", "before", "rims"),
    [
        (
            {"corners": "fixed"},
            "",
            [
                ("blue", -0.5, 19.5),
                ("yellow", 19.5, 19.5),
                ("red", 19.5, -0.5),
                ("green", -0.5, -0.5),
            ],
        ),
        (
            {"corners": "fixed"},
            "blue:a20",
            [("yellow", 19.5, 19.5), ("red", 19.5, -0.5), ("green", -0.5, -0.5)],
        ),
        (
            {},
            "blue:a20",
            [("yellow", -0.5, -0.5), ("yellow", 19.5, -0.5), ("yellow", 19.5, 19.5)],
        ),
    ],
)
def test_where_colours_begin_is_marked(
    options: dict[str, str], before: str, rims: list[tuple[str, float, float]]
) -> None:
    """A rim in its colour does it at each corner open to it, until its first piece lies."""
    scene = played("blokus", options, before).scene()
    assert sorted((rim.paint, *rim.corners[1]) for rim in scene.rims) == sorted(rims)


@pytest.mark.parametrize(
    ("ways", "clicked", "words"),
    [
        ({"a1b1": ("a1", "b1")}, (), "Choose where a move begins."),
        ({"a1b1": ("a1", "b1")}, ("a1",), "Choose one of the marked squares."),
        ({"a1": ("a1", "up"), "a1!": ("a1", "down")}, ("a1",), "Choose how it goes on."),
        ({"a1": ("a1",), "pass": ("pass",)}, (), "Choose a square."),
        ({"take 1": ("take 1",), "take 2": ("take 2",)}, (), "Choose a move."),
    ],
)
def test_the_general_words(
    ways: dict[str, tuple[str, ...]],
    clicked: tuple[str, ...],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A game without its own has them by where its clicks are: on squares or beside them."""
    state = GAMES["clobber"].variant(size="3x2").initial()
    monkeypatch.setattr(type(state), "prompt", lambda *_: "")
    assert asked(state, ways, clicked) == words


@pytest.mark.parametrize(
    ("name", "fails"),
    [
        ("prompt", lambda *_: 1 // 0),
        ("prompt", lambda *_: "two\nlines"),
        ("prompt", lambda *_: 7),
        ("caution", lambda *_: 1 // 0),
        ("half_made", lambda *_: EMPTY),
        ("half_made", lambda *_: 1 // 0),
        ("hand", lambda *_: 1 // 0),
        ("hand", lambda *_: [Held("stone", -1, Body.DISC, Paint.WHITE)]),
        ("hand", lambda *_: [Held("stone", 1, Body.DISC, Paint.WHITE, cells=())]),
        ("hand", lambda *_: 3),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_game_fails_to_tell_spoils_no_page(
    name: str, fails: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The general words and the position before the move stand in its place."""
    state = GAMES["clobber"].variant(size="3x2").initial()
    monkeypatch.setattr(type(state), name, fails)
    known = ways(state)
    general = "Choose one of the marked squares."
    assert asked(state, known, ("a1",)) == (
        general if name == "prompt" else asked(state, known, ("a1",))
    )
    assert caution(state, "a1a2") == ""
    assert half_made(state, known, ("b1",)).pieces == state.scene().pieces
    assert held(state, 0) == ()


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
