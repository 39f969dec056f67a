"""Blocco: the rules' examples, refusals, chance, and games beside a slow second implementation."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from engine.conformance import pick
from engine.game import IllegalMoveError, PositionError, Termination
from engine.games import clobber
from engine.games.blocco import GAME, BloccoState
from tests.engine.games import oracle_blocco as oracle

# White's a2 stands beside Black's b2, around which two white stones are marked.
BETWEEN = "bWb/wbw/bWb 1"


def same(state: BloccoState, position: oracle.Position) -> None:
    """Asserts that two implementations agree on everything about a position."""
    moves = position.moves()
    assert state.text() == position.text()
    assert list(state.legal_moves()) == sorted(moves)
    assert sorted(map(state.word, state.codes())) == sorted(moves)
    assert state.to_move == (position.seat - 1 if moves else None)
    assert state.ending() == (None if moves else Termination.NORMAL)
    if not moves:
        assert state.scores() == position.scores()


@pytest.mark.long
@pytest.mark.parametrize(
    "size", ["6x7", "5x6", "8x8", "10x10", "2x2", "3x2", "2x3", "26x2", "2x26", "11x12"]
)
def test_random_games_are_those_of_the_slow_rules(size: str) -> None:
    """Every position of random games has the moves, the text and the end of the slow rules."""
    width, height = map(int, size.split("x"))
    for seed in range(max(1, 300 // (width * height))):
        random = Random(seed)
        state = GAME.variant(size=size).initial()
        position = oracle.start(width, height)
        same(state, position)
        while moves := position.moves():
            move = pick(random, sorted(moves))
            state, position = state.play(move), moves[move]
            same(state, position)


def test_board_and_set_up_are_those_of_clobber() -> None:
    """The same stones on the same squares, the same sizes, no markers."""
    for variant, other in zip(GAME.offered, clobber.GAME.offered, strict=True):
        assert variant.options == other.options
        assert variant.initial().text() == other.initial().text()


def test_the_marker_goes_on_any_stone_of_the_new_group() -> None:
    """From the start e4 takes d4 and belongs to a group of four then."""
    state = GAME.variant().initial()
    assert [move for move in state.legal_moves() if move.startswith("e4d4")] == [
        "e4d4@c4",
        "e4d4@d3",
        "e4d4@d4",
        "e4d4@d5",
    ]
    after = state.play("e4d4@d3")
    assert after.text() == "bwbwbw/wbwbwb/bwbwbw/wbww1b/bwbWbw/wbwbwb/bwbwbw 2"


def test_joining_two_marked_groups_leaves_one_marker() -> None:
    """In the published a2xb2, marking b3, the markers of both groups are taken off first."""
    state = GAME.variant(size="3x3").read(BETWEEN)
    assert state.play("a2b2@b3").text() == "bWb/1ww/bwb 2"
    assert state.play("a2b2@c2").text() == "bwb/1wW/bwb 2"
    assert state.play("a2b2@b2").text() == "bwb/1Ww/bwb 2"


def test_marked_stones_neither_move_nor_are_taken() -> None:
    """White's b1 and b3 have black neighbours: they take none of them and are not taken."""
    variant = GAME.variant(size="3x3")
    white = variant.read(BETWEEN).legal_moves()
    assert {move[:4] for move in white} == {"a2a1", "a2a3", "a2b2", "c2b2", "c2c1", "c2c3"}
    black = variant.read("bWb/w1b/bWw 2").legal_moves()
    assert {move[:4] for move in black} == {"a1a2", "a3a2", "c2c1"}


def test_a_stone_that_stands_alone_is_not_marked() -> None:
    """White's b2 leaves its only friend's side for a2."""
    state = GAME.variant(size="3x2").read("bw1/1bw 1")
    assert [move for move in state.legal_moves() if move.startswith("b2a2")] == ["b2a2"]
    assert state.play("b2a2").text() == "w2/1bw 2"
    for move in ("b2a2@a2", "b2a2@b2", "b2a2@"):
        with pytest.raises(IllegalMoveError, match="stands alone"):
            state.play(move)


def test_a_split_group_keeps_the_marker_it_has() -> None:
    """Where b2 is taken, c2 stays marked though alone, and a1 and a2 stay without a marker."""
    state = GAME.variant(size="3x3").read("b1b/wwW/wbb 2")
    assert state.play("b1b2").text() == "b1b/wbW/w1b 1"


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("b3a3@a3", "unmarked stone of yours"),  # a marked stone moves
        ("a3a2", "unmarked stone of yours"),  # the other's stone
        ("a2a2@a2", "unmarked stone of yours"),
        ("a2c2@c2", "unmarked stone of yours"),
        ("a2b2b2", "unmarked stone of yours"),
        ("@b2", "unmarked stone of yours"),
        ("a2b2", "square of the stone in its group"),  # marking is compulsory
        ("a2b2@", "square of the stone in its group"),
        ("a2b2@a2", "square of the stone in its group"),  # the square that it left
        ("a2b2@a1", "square of the stone in its group"),
        ("a2b2@d4", "square of the stone in its group"),
        ("a2b2@b2@b2", "square of the stone in its group"),
        ("a2b2@B2", "square of the stone in its group"),
    ],
)
def test_other_moves_are_refused(move: str, reason: str) -> None:
    """The reason says whether it is the step or the marker that is wrong."""
    state = GAME.variant(size="3x3").read(BETWEEN)
    assert not state.is_legal(move)
    with pytest.raises(IllegalMoveError, match=reason):
        state.play(move)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bWb/1WW/bwb 2", "the group of b2 is marked twice, on c2 too"),
        ("BWB/1wW/bwb 2", "the group of c2 is marked twice, on b3 too"),
        ("bwb/1wW/Bb1 2", "not seat 2's turn"),
        ("bWb/www/bwb 1", "white stones exceeds the set-up's by 1"),
        ("bXb/wbw/bwb 1", "rank 3 is 'bXb'"),
        ("bwb/wbw/bwb 2", "not seat 2's turn"),
    ],
)
def test_texts_that_are_no_position(text: str, reason: str) -> None:
    """Two markers in a group are refused, and all that Clobber refuses."""
    with pytest.raises(PositionError, match=reason):
        GAME.variant(size="3x3").read(text)


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
        ("3x2", ""),
        ("4x2", ""),
        ("3x3", "b1a1@a1"),
        ("3x3", "a2a3@a3 c3b3@b3"),
        ("2x5", "a2a1@b1"),
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
