"""Oxoxo: worked examples, repetition, the limit, and games beside a slow second implementation."""

from __future__ import annotations

from random import Random

import pytest

from engine.game import IllegalMoveError, PositionError, Termination
from engine.games.oxoxo import GAME, OxoxoState
from engine.perft import perft
from tests.engine.games import oracle_oxoxo as oracle

VARIANT = GAME.variant()

# A full board on which neither goal stands: every line shows both signs and both shades.
FULL = "XoOo/ooxX/OXOx/xOXx"


def same(state: OxoxoState, position: oracle.Position) -> None:
    """Asserts that two implementations agree on everything about a position."""
    assert state.text() == position.text()
    assert list(state.legal_moves()) == sorted(position.moves())
    assert {state.word(code) for code in state.codes()} == set(position.moves())
    assert state.ending() == position.ending()
    assert state.to_move == (None if position.ending() else position.seat - 1)
    if position.ending():
        assert state.scores() == position.scores()


@pytest.mark.parametrize("seed", range(30))
def test_random_games_agree_with_the_oracle(seed: int) -> None:
    """Moves, texts, ends and scores are those of the rules, ply for ply."""
    random = Random(seed)
    state, position = VARIANT.initial(), oracle.initial()
    same(state, position)
    while moves := position.moves():
        word = random.choice(sorted(moves))
        state, position = state.play(word), position.play(word)
        same(state, position)


def test_long_games_agree_with_the_oracle() -> None:
    """Where nobody makes a goal, a game is drawn by repetition or at the limit."""
    endings = set()
    for seed in range(10):
        random = Random(seed)
        state, position = VARIANT.initial(), oracle.initial()
        while moves := sorted(position.moves()):
            random.shuffle(moves)
            # Odd seeds shun repetition, even ones turn pieces to and fro.
            words = moves if seed % 2 else sorted(moves, key=lambda word: word[0] != "F")
            for word in words:
                after = position.play(word)
                if not after.goals() and (seed % 2 == 0 or after.ending() != "repetition"):
                    break
            state, position = state.play(word), after
            same(state, position)
        endings.add(state.ending())
    assert endings >= {Termination.REPETITION, Termination.PLY_LIMIT}


@pytest.mark.parametrize(
    ("text", "move", "scores"),
    [
        ("4/4/x3/OoO1 1 4", "Od1", (1.0, 0.0)),
        ("4/4/x3/OoO1 1 4", "Xd1", None),
        ("4/4/x3/XoX1 2 5", "Od1", (0.0, 1.0)),
        ("4/4/x3/XoX1 2 5", "Xd1", None),
        ("4/4/x3/OoO1 2 5", "Od1", (1.0, 0.0)),
        ("x3/O3/x3/1O2 1 4", "Oa1", (0.0, 1.0)),
        ("4/4/ooo1/XXX1 1 6", "Xd1", (0.0, 1.0)),
        ("4/4/XOX1/ooo1 2 7", "Od1", (1.0, 0.0)),
        ("4/4/xx2/OoXO 1 6", "Fc1", (1.0, 0.0)),
        ("3X/2x1/1o2/X3 2 5", "Fc3", (0.0, 1.0)),
        ("O3/1o2/2O1/x3 1 4", "Od1", (1.0, 0.0)),
        ("4/4/x3/XoX1 2 199", "Od1", (0.0, 1.0)),
        ("4/4/x3/XoX1 2 199", "Xd1", (0.5, 0.5)),
    ],
    ids=[
        "Form makes four O",
        "three O are too few",
        "Colour makes four dark",
        "three dark are too few",
        "Colour makes Form's goal",
        "Form makes Colour's goal, in a file",
        "Form makes both goals and loses",
        "Colour makes both goals and loses",
        "a piece turned over completes a rank",
        "a piece turned over completes a diagonal",
        "the other diagonal",
        "a goal on the last ply counts",
        "the last ply without a goal",
    ],
)
def test_goals(text: str, move: str, scores: tuple[float, float] | None) -> None:
    """Whoever's goal stands has won, but who makes both at once has lost."""
    state = VARIANT.read(text).play(move)
    assert (state.to_move is None) == (scores is not None)
    if scores is not None:
        assert state.scores() == scores
        assert state.legal_moves() == []
        assert not state.is_legal("Fa1")
        again = VARIANT.read(state.text())
        assert (again, again.scores(), again.ending()) == (state, scores, state.ending())


def test_the_third_occurrence_draws() -> None:
    """Two pieces turned to and fro bring the position after ply 2 back at plies 6 and 10."""
    state = VARIANT.initial().play("Oa1").play("Ob2")
    for ply in range(3, 11):
        assert state.ending() is None
        state = state.play("Fa1" if ply % 2 else "Fb2")
    assert state.plies == 10
    assert state.ending() is Termination.REPETITION
    assert state.to_move is None
    assert state.legal_moves() == []
    assert not state.is_legal("Fa1")
    assert state.scores() == (0.5, 0.5)
    assert state.ranks() == (1, 1)


def test_history_is_no_part_of_a_position() -> None:
    """A state read from its text is equal, hashes alike, and counts occurrences afresh."""
    state = VARIANT.initial().play("Oa1").play("Ob2")
    for move in ("Fa1", "Fb2", "Fa1", "Fb2"):
        state = state.play(move)
    fresh = VARIANT.read(state.text())
    assert fresh == state
    assert hash(fresh) == hash(state)
    for move in ("Fa1", "Fb2", "Fa1", "Fb2"):
        state, fresh = state.play(move), fresh.play(move)
    assert fresh == state
    assert (state.ending(), fresh.ending()) == (Termination.REPETITION, None)
    for move in ("Fa1", "Fb2", "Fa1", "Fb2"):
        fresh = fresh.play(move)
    assert fresh.ending() is Termination.REPETITION


def test_plies_tell_positions_apart() -> None:
    """The plies are part of the text, so the same board at another ply is another state."""
    assert VARIANT.read("4/1o2/4/O3 1 2") != VARIANT.read("4/1o2/4/O3 1 4")


def test_who_holds_nothing_turns_pieces_over() -> None:
    """Form has put down its eight pieces; Colour still has three, and three squares."""
    state = VARIANT.read("XoOo/ooxX/OXO1/1OX1 1 20")
    assert state.legal_moves() == ["Fa2", "Fa4", "Fb1", "Fb2", "Fc1", "Fc2", "Fc4", "Fd3"]
    assert not state.is_legal("Oa1")
    state = VARIANT.read("XoOo/ooxX/OXO1/1OX1 2 21")
    assert state.legal_moves() == [
        *("Fa3", "Fb3", "Fb4", "Fc3", "Fd4"),
        *("Oa1", "Od1", "Od2", "Xa1", "Xd1", "Xd2"),
    ]


def test_the_limit() -> None:
    """After 200 plies the game is drawn; a state read there is over for the same reason."""
    state = VARIANT.read(f"{FULL} 1 198")
    state = state.play("Fd3").play("Fb4")
    assert state.ending() is Termination.PLY_LIMIT
    assert state.scores() == (0.5, 0.5)
    assert VARIANT.read(state.text()).ending() is Termination.PLY_LIMIT
    assert "200 plies" in state.scene().title


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4/4/4/4 1", "fields"),
        ("4/4/4 1 0", "3 ranks"),
        ("4/4/4/5 1 0", "5 squares"),
        ("4/4/4/w3 1 1", "rank 1"),
        ("4/4/4/4 2 0", "turn"),
        ("4/4/4/O3 1 1", "turn"),
        ("4/4/4/O3 3 1", "seat to move"),
        ("4/4/4/O3 2 1.0", "plies"),
        ("4/4/4/O3 2 01", "plies"),
        ("4/4/4/O3 2 201", "plies"),
        ("4/4/4/O3 2 " + "9" * 5000, "plies"),
        ("4/4/4/O3 2 \u0661", "plies"),
        ("4/4/4/OX2 2 1", "Form has 2 pieces"),
        ("4/4/4/Oo2 2 1", "Colour has 1 piece on"),
        ("OXXO/XOXO/O3/4 1 40", "Form has 9 pieces"),
        ("4/4/4/4 1 2", "Form has no piece"),
        ("4/4/4/O3 1 2", "Colour has no piece"),
    ],
)
def test_refused_texts(text: str, reason: str) -> None:
    """A text that is no position is refused with its reason."""
    with pytest.raises(PositionError, match=reason):
        VARIANT.read(text)


@pytest.mark.parametrize(
    "move", ["", "Oa1", "oc1", "Fc1", "Fb1", "O", "Xe1", "Oc1 ", "Oc1" * 9999, "Xc\u0661", "a1"]
)
def test_refused_moves(move: str) -> None:
    """Occupied squares, free squares to turn over, the other's pieces and nonsense are refused."""
    state = VARIANT.initial().play("Oa1").play("Ob1")
    assert not state.is_legal(move)
    for ask in (state.canonical, state.play):
        with pytest.raises(IllegalMoveError):
            ask(move)


def test_perft() -> None:
    """The rules' numbers; deeper ones are in tests/data/perft."""
    assert [perft(VARIANT.initial(), depth) for depth in (1, 2, 3)] == [32, 960, 27840]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("4/4/xo2/OX2 1 4", []),
        # Four X along the lowest rank; an X of Form is dark, one of Colour light.
        ("4/4/o1O1/XxXx 1 6", [("a1", "d1")]),
        # Four dark pieces along the diagonal: Form's X and Colour's O.
        ("3o/2X1/1o1O/X2x 1 6", [("a1", "d4")]),
        # Four X, all of them dark, are one row.
        ("4/ox2/oxo1/XXXX 1 10", [("a1", "d1")]),
    ],
)
def test_lines_that_won_are_shown(text: str, rows: list[tuple[str, str]]) -> None:
    """By hand: of a sign or of a shade, each once."""
    assert [(row.start, row.end) for row in VARIANT.read(text).scene().rows] == rows


def test_the_scene_says_what_there_is() -> None:
    """Form's pieces are tiles, Colour's are discs; the shade is the paint, the sign the sign."""
    scene = VARIANT.read("4/4/xo2/OX2 1 4").scene()
    assert {
        piece.squares[0]: (str(piece.body), str(piece.paint), str(piece.sign), piece.words)
        for piece in scene.pieces
    } == {
        "a1": ("tile", "white", "ring", "light O of Form"),
        "b1": ("tile", "black", "cross", "dark X of Form"),
        "a2": ("disc", "white", "cross", "light X of Colour"),
        "b2": ("disc", "black", "ring", "dark O of Colour"),
    }
    assert scene.captions == ("Form to move", "Form holds 6", "Colour holds 6")
