"""Checks that hold of every position of every game."""

from __future__ import annotations

import re

import pytest

from engine.game import IllegalMoveError, State, Termination, ranks_of
from tests.engine.games.random_games import MOVES


def check_finished(state: State) -> None:
    """A game that is over has no moves, an ending, and a score and a rank for each seat."""
    variant = state.variant
    assert state.to_move is None
    assert list(state.legal_moves()) == []
    assert list(state.codes()) == []
    assert isinstance(state.ending(), Termination)
    scores, ranks = state.scores(), state.ranks()
    assert len(scores) == len(ranks) == variant.seats
    assert all(isinstance(score, float) for score in scores)
    expected = ranks_of([-rank for rank in ranks], variant.side_of)
    assert expected == ranks, "a rank is 1 and the number of better sides"
    for seat, side in enumerate(variant.side_of):
        assert ranks[seat] == ranks[variant.side_of.index(side)], "a side shares its rank"
    with pytest.raises(IllegalMoveError, match="the game is over"):
        state.play("a1")


def check_position(state: State) -> dict[str, int]:
    """What holds of every position by itself; gives the code of each legal move."""
    moves = state.legal_moves()
    assert list(moves) == sorted(set(moves))
    if not moves:
        check_finished(state)
        return {}
    assert state.to_move in range(state.variant.seats)
    assert state.ending() is None
    for move in moves[:MOVES]:
        assert re.fullmatch(r"[!-~]+", move, re.ASCII), "a move is one word of printable ASCII"
    codes = {state.word(code): code for code in state.codes()}
    assert len(state.codes()) == len(moves)
    assert codes.keys() == set(moves)
    return codes


def check_text(state: State) -> None:
    """The position text is one line of ASCII and stands for the position."""
    text = state.text()
    assert re.fullmatch(r"[ -~]+", text, re.ASCII)
    again = state.variant.read(text)
    assert again == state
    assert hash(again) == hash(state)
    assert again.text() == text
    # How often a position has stood belongs to the history, which no text tells.
    if state.ending() is not Termination.REPETITION:
        assert list(again.legal_moves()) == list(state.legal_moves())
        assert again.to_move == state.to_move
        assert again.ending() == state.ending()


def check_word(state: State, legal: set[str], word: str) -> None:
    """`is_legal`, `canonical` and `play` agree about any text whatever."""
    if state.is_legal(word):
        listed = state.canonical(word)
        assert listed in legal
        assert state.play(word) == state.play(listed)
        return
    assert word not in legal
    with pytest.raises(IllegalMoveError):
        state.canonical(word)
    with pytest.raises(IllegalMoveError):
        state.play(word)
