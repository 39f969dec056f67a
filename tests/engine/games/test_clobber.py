"""Clobber: the rules' examples, refusals, chance, and games beside a slow second implementation."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from engine.conformance import pick
from engine.game import IllegalMoveError, OptionError, PositionError, Termination
from engine.games.clobber import GAME, ClobberState
from tests.engine.games import oracle_clobber as oracle


def same(state: ClobberState, position: oracle.Position) -> None:
    """Asserts that two implementations agree on everything about a position."""
    moves = position.moves()
    assert state.text() == position.text()
    assert list(state.legal_moves()) == sorted(moves)
    assert sorted(map(state.word, state.codes())) == sorted(moves)
    assert state.to_move == (position.seat - 1 if moves else None)
    assert state.ending() == (None if moves else Termination.NORMAL)
    if not moves:
        assert state.scores() == position.scores()


@pytest.mark.parametrize(
    "size", ["6x7", "5x6", "8x8", "10x10", "2x2", "3x2", "2x3", "26x2", "2x26", "11x12"]
)
def test_random_games_are_those_of_the_slow_rules(size: str) -> None:
    """Every position of random games has the moves, the text and the end of the slow rules."""
    width, height = map(int, size.split("x"))
    for seed in range(max(1, 400 // (width * height))):
        random = Random(seed)
        state = GAME.variant(size=size).initial()
        position = oracle.start(width, height)
        same(state, position)
        while moves := position.moves():
            move = pick(random, sorted(moves))
            state, position = state.play(move), moves[move]
            same(state, position)


def test_set_up() -> None:
    """White stands on a2, b1, c4 and e4, Black on a1 and c3; the text runs from the top."""
    text = GAME.variant(size="4x3").initial().text()
    assert text == "bwbw/wbwb/bwbw 1"
    squares = {
        square: piece.words
        for piece in GAME.variant().initial().scene().pieces
        for square in piece.squares
    }
    assert len(squares) == 42
    assert {squares[name] for name in ("a2", "b1", "c4", "e4")} == {"white stone"}
    assert {squares[name] for name in ("a1", "c3")} == {"black stone"}


def test_published_moves() -> None:
    """White's c4-c5 and Black's c3-d3 can be played."""
    state = GAME.variant().initial().play("c4c5").play("c3d3")
    assert state.text() == "bwbwbw/wbwbwb/bwwwbw/wb1bwb/bw1bbw/wbwbwb/bwbwbw 1"


def test_a_whole_game() -> None:
    """On 3x2 White takes c1 and Black a2, and White has no move left."""
    state = GAME.variant(size="3x2").initial()
    assert state.legal_moves() == ["a2a1", "a2b2", "b1a1", "b1b2", "b1c1", "c2b2", "c2c1"]
    state = state.play("b1c1")
    assert state.legal_moves() == ["a1a2", "b2a2", "b2c2"]
    state = state.play("b2a2")
    assert state.text() == "b1w/b1w 1"
    assert state.to_move is None
    assert state.ending() is Termination.NORMAL
    assert state.scores() == (0.0, 1.0)
    assert state.ranks() == (2, 1)
    assert state.scene().captions == ("White has no move and loses",)


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("bwb/wbw 1", ""),
        ("b1w/b1w 1", "a1 a2 c1 c2"),
        # Two regions of one colour each, which touch at a corner alone.
        ("ww1/2b 2", "a2 b2 c1"),
        # Whoever is joined with the other colour, by however many stones, may still move.
        ("wwb/2b 1", ""),
        ("w1b/1bw 1", "a2"),
    ],
)
def test_regions_of_one_colour_are_dead(text: str, dead: str) -> None:
    """By hand, on boards of 3x2."""
    assert " ".join(sorted(GAME.variant(size="3x2").read(text).scene().dead)) == dead


def test_dead_stones_stay_where_they_are() -> None:
    """They do to the end of a game, when all are dead."""
    for seed in range(5):
        random = Random(seed)
        state = GAME.variant(size="5x6").initial()
        dead: set[str] = set()
        while moves := state.legal_moves():
            dead_now = set(state.scene().dead)
            assert dead <= dead_now
            assert not dead_now & {name for move in moves for name in (move[:2], move[2:])}
            dead, state = dead_now, state.play(pick(random, moves))
        assert len(state.scene().dead) == len(state.scene().pieces)


@pytest.mark.parametrize(
    "move",
    [
        "a1a2",  # the other's stone
        "b1b1",
        "b1c2",  # diagonally
        "b1d1",  # two squares
        "b1d2",
        "a2c2",
        "b1a0",
        "b1",
        "b1a1a2",
        "b1-a1",
        "b1xa1",
        "B1A1",
        "b01a1",
    ],
)
def test_other_moves_are_refused(move: str) -> None:
    """Only a stone of one's own moves, onto a neighbour of the other colour."""
    state = GAME.variant(size="4x3").initial()
    assert not state.is_legal(move)
    with pytest.raises(IllegalMoveError, match="neighbour of the other colour, as in a2a1"):
        state.play(move)


def test_onto_an_empty_square_and_after_the_end_nothing_moves() -> None:
    """A square that was left is not entered again; a finished game has no moves."""
    state = GAME.variant(size="3x2").initial().play("b1c1")
    assert not state.is_legal("a1b1")
    over = state.play("b2a2")
    assert not over.is_legal("c1c2")
    assert over.codes() == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bwb/wbw", "2 fields"),
        ("bwb/wbw  1", "2 fields"),
        ("bwb/wbw 1 0", "2 fields"),
        ("bwb/wbw/bwb 1", "3 ranks, not 2"),
        ("bwbw/wbw 1", "rank 2 has 4 squares, not 3"),
        ("bwb/w1 1", "rank 1 has 2 squares, not 3"),
        ("bwb/wBw 1", "rank 1 is 'wBw'"),
        ("bwb/w01w 1", "rank 1"),
        ("bwb/wbw 3", "seat to move"),
        ("bwb/wbw w", "seat to move"),
        ("bwb/bbw 1", "black stones exceeds the set-up's by 1"),
        ("www/wb1 1", "white stones exceeds the set-up's by 1"),
        ("bwb/wbw 2", "not seat 2's turn"),
        ("bwb/wb1 1", "not seat 1's turn"),
        ("1wb/1bw 2", "not seat 2's turn"),
        ("3/2w 1", "not seat 1's turn"),
    ],
)
def test_texts_that_are_no_position(text: str, reason: str) -> None:
    """The reason says which part of the text is wrong."""
    with pytest.raises(PositionError, match=reason):
        GAME.variant(size="3x2").read(text)


@pytest.mark.parametrize("size", ["1x6", "27x6", "6x1", "6x27", "6", "06x7", "6X7", "6x7x8", "x"])
def test_sizes_that_there_are_not(size: str) -> None:
    """Both sides are numbers from 2 to 26."""
    with pytest.raises(OptionError, match="WxH, files by ranks, each 2 to 26"):
        GAME.variant(size=size)


def test_offered_sizes() -> None:
    """A fresh arena opens four ladders, the usual size first."""
    sizes = [variant.options["size"] for variant in GAME.offered]
    assert sizes == ["6x7", "5x6", "8x8", "10x10"]
    assert GAME.variant() == GAME.offered[0]


def white_wins(position: oracle.Position, known: dict[str, Fraction]) -> Fraction:
    """How likely White wins when both seats play every legal move as likely as any other."""
    text = position.text()
    if text not in known:
        moves = position.moves()
        known[text] = (
            sum((white_wins(after, known) for after in moves.values()), Fraction()) / len(moves)
            if moves
            else Fraction(position.scores()[0])
        )
    return known[text]


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "moves"),
    [
        ("3x3", ""),
        ("4x3", ""),
        ("4x3", "b1a1"),
        ("4x3", "a2a3 a1b1 b3b2"),
        ("3x4", "b3b4 c3c4"),
        ("2x6", "a2a1"),
    ],
)
def test_playouts_are_uniformly_random(size: str, moves: str) -> None:
    """White wins as many playouts as the whole tree of equally likely moves says."""
    width, height = map(int, size.split("x"))
    state, position = GAME.variant(size=size).initial(), oracle.start(width, height)
    for move in moves.split():
        state, position = state.play(move), position.moves()[move]
    expected = float(white_wins(position, {}))
    assert 0.02 < expected < 0.98
    games = 20_000
    random = Random(7)
    wins = sum(state.playout(random)[0] for _ in range(games))
    # 4 standard deviations; the seed is fixed, so that this passes always or never.
    assert abs(wins / games - expected) < 4 * (expected * (1 - expected) / games) ** 0.5
