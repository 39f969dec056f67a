"""The outlook in Blokus: squares counted by hand, and what is better for whom."""

from __future__ import annotations

from random import Random

import pytest

from engine.games.blokus import outlook
from engine.games.blokus.game import GAME

START = GAME.variant(mode="duel").initial()


def squares_hoped_for(*moves: str, colour: int, to_play: bool) -> float:
    """What a colour may hope to cover after some moves."""
    state = START
    for move in moves:
        state = state.play(move)
    start = state.variant.board.corners
    return outlook.squares_hoped_for(state.position, colour, start, to_play=to_play)


@pytest.mark.parametrize(
    ("moves", "colour", "covered", "reached"),
    [
        # Each corner of the board, and 2 + 3 + 4 + 5 squares within four steps from it.
        pytest.param([], 0, 0, 4 * 15, id="before its first piece"),
        # 15 from b2 up and to the right, and a3 to a5, c1 to e1; not a2 and b1.
        pytest.param(["blue:a1"], 0, 1, 21, id="from one corner"),
        pytest.param(["blue:a1"], 1, 0, 3 * 15, id="a corner is taken"),
    ],
)
def test_squares_are_counted(moves: list[str], colour: int, covered: int, reached: int) -> None:
    """What a colour covers, and a part of what lies within a piece's length; by hand."""
    found = [squares_hoped_for(*moves, colour=colour, to_play=yes) for yes in (False, True)]
    assert found == pytest.approx([covered + 0.5 * reached, covered + 0.7 * reached])


def test_who_left_hopes_for_nothing() -> None:
    """And the others are compared without it."""
    state = GAME.variant(mode="classic").initial()
    alone = state.play("blue:a1").retire(1).outlook()
    assert alone is not None
    assert alone[1] == 0.0
    assert alone[2] == alone[3]


@pytest.mark.parametrize(
    ("squares", "sides", "expected"),
    [
        ((30, 20), (0, 1), (0.5 + 10 / 178, 0.5 - 10 / 178)),
        ((30, 20, 10), (0, 1, 2), (0.5 + 15 / 178, 0.5, 0.5 - 15 / 178)),
        # The mean of a team's two.
        ((30, 20, 10, 20), (0, 1, 0, 1), (0.5, 0.5, 0.5, 0.5)),
        # Who left is no rival.
        ((30, None, 10), (0, 1, 2), (0.5 + 20 / 178, 0.0, 0.5 - 20 / 178)),
        ((120, 0), (0, 1), (1.0, 0.0)),
    ],
)
def test_seats_are_compared(
    squares: tuple[float | None, ...], sides: tuple[int, ...], expected: tuple[float, ...]
) -> None:
    """It is by how many of a colour's 89 squares a side is ahead of the mean of the others."""
    assert outlook.hopes(squares, sides) == pytest.approx(expected)


@pytest.mark.parametrize("mode", ["classic", "teams", "duel", "trio"])
@pytest.mark.parametrize("gone", [False, True])
def test_the_prospects_of_moves_are_the_outlooks_after_them(mode: str, gone: bool) -> None:
    """But for a colour that a move puts out, which shows only when its turn comes."""
    dice = Random(1)
    state = GAME.variant(mode=mode).initial()
    if gone and mode in ("classic", "trio"):
        state = state.play(state.legal_moves()[0]).retire(2)
    while (seat := state.to_move) is not None:
        codes = state.codes()
        some = dice.sample(codes, min(8, len(codes)))
        prospects = state.prospects(some)
        assert prospects is not None
        for code, prospect in zip(some, prospects, strict=True):
            after = state.play_code(code)
            if after.stuck == state.stuck:
                assert after.outlook()[seat] == pytest.approx(prospect)
        state = state.play_code(max(some, key=int.bit_count))
