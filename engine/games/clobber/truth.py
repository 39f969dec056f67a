"""Clobber solved: who makes the last move, by the theory of sums."""

from __future__ import annotations

import sys

from engine.game import State
from engine.games.chequerboard import WHITE
from engine.games.clobber import Clobber, ClobberState
from engine.games.clobber.endgame import ClobberEndgame
from engine.symmetries import least
from engine.truth import Budget, OutOfSteps, Truth, Value

MOST_KEPT = 300_000
"""Parts remembered; with more a search begins with empty tables, but none ends for lack of room."""


class ClobberTruth(Truth):
    """The parts of a position, the small ones by their values, searched to the last move."""

    def __init__(self, variant: Clobber) -> None:
        self._variant = variant
        self._endgame = ClobberEndgame(variant.width, variant.height, largest_table=sys.maxsize)

    def value(self, state: State, budget: Budget) -> Value | None:
        assert isinstance(state, ClobberState)
        if len(self._endgame.parts) > MOST_KEPT:
            self._endgame.forget()
        try:
            wins = self._endgame.wins(*self._endgame.stones(state), state.mover, budget.step)
        except OutOfSteps:
            return None
        return 1 if wins == (state.mover == WHITE) else -1

    def key(self, state: State) -> str:
        assert isinstance(state, ClobberState)
        masks = least((state.white, state.black), self._variant.width, self._variant.height)
        return f"{masks} {state.mover}"
