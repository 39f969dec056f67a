"""The ends of Oxono: rows that can be forced, and draws that nobody can avoid."""

from __future__ import annotations

from engine.game import State
from engine.games.oxono import Oxono, OxonoState
from engine.games.oxono.board import SIDE
from engine.symmetries import least
from engine.truth import Search


class OxonoTruth(Search):
    """A search of all moves, for any Oxono: where the totems began tells nothing later."""

    def __init__(self, variant: Oxono) -> None:
        super().__init__(_masks)

    def key(self, state: State) -> str:
        masks = _masks(state)
        return f"{least(masks[:-1], SIDE, SIDE)} {masks[-1]}"


def _masks(state: State) -> tuple[int, ...]:
    """All squares that hold something, and whose turn it is."""
    assert isinstance(state, OxonoState)
    return (*state.colours, *state.symbols, *state.totems, state.mover)
