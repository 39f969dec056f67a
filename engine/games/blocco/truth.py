"""The ends of Blocco: who makes the last move."""

from __future__ import annotations

from engine.game import State
from engine.games.blocco import Blocco, BloccoState
from engine.symmetries import least
from engine.truth import Search


class BloccoTruth(Search):
    """A search of all moves; markers reach so far that a board is no sum of its parts."""

    def __init__(self, variant: Blocco) -> None:
        super().__init__(_masks)
        self._variant = variant

    def key(self, state: State) -> str:
        *masks, mover = _masks(state)
        return f"{least(masks, self._variant.width, self._variant.height)} {mover}"


def _masks(state: State) -> tuple[int, ...]:
    """The stones that can still meet another, and all that are marked or join others to them.

    Returns:
        White's stones, Black's, the marked ones, and whose turn it is.
    """
    assert isinstance(state, BloccoState)
    return state.white, state.black, state.marked, state.mover
