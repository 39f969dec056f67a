"""The count of leaves by which programs that know a game's rules are compared."""

from __future__ import annotations

from engine.game import State


def perft(state: State, depth: int) -> int:
    """The number of leaf nodes of the tree of legal moves; a finished game has no children."""
    if depth <= 0:
        return 1
    codes = state.codes()
    if depth == 1:
        return len(codes)
    return sum(perft(state.play_code(code), depth - 1) for code in codes)
