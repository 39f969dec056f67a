"""Mijnlieff solved: by how many points White wins a position with the best of play."""

from __future__ import annotations

from contextlib import AbstractContextManager

from engine.game import State
from engine.games.mijnlieff import Mijnlieff, MijnlieffState
from engine.games.mijnlieff.endgame import MijnlieffEndgame, Reduced, ReducedRules
from engine.symmetries import moved, symmetries
from engine.truth import Advance, Budget, OutOfSteps, Truth, Value

MOST_POINTS = 999
"""A number of points that no board has."""
LARGEST_TABLE = 1_000_000
"""Positions remembered; with more a search begins with an empty table."""


class MijnlieffTruth(Truth):
    """Alpha-beta to the last piece, with windows of no width around what is left possible."""

    def __init__(self, variant: Mijnlieff) -> None:
        self._variant, board = variant, variant.board
        self._endgame = MijnlieffEndgame(ReducedRules(board), MOST_POINTS)
        outlined = symmetries(board.width, board.height)
        # A board of another shape is laid onto itself by some of them only.
        self.ways = [way for way in outlined if moved(board.outline, way) == board.outline]

    def value(self, state: State, budget: Budget) -> Value | None:
        endgame = self._endgame
        if len(endgame.table) > LARGEST_TABLE:
            endgame.table.clear()
        position = self.reduced(state)
        lead, low, high = 0, -MOST_POINTS, MOST_POINTS
        try:
            while low < high:
                goal = max(lead, low + 1)
                lead = endgame.value(position, goal - 1, goal, budget.step)
                if lead < goal:
                    high = lead
                else:
                    low = lead
        except OutOfSteps:
            return None
        return -lead if position.turned else lead

    def gain(self, state: State) -> Value:
        white, black = state.scores()
        return int(white - black)

    def key(self, state: State) -> str:
        """Which types lie where does not matter, only what is left of them, and what is open."""
        position = self.reduced(state)
        masks = (position.own, position.other, position.open)
        least = min(tuple(moved(mask, way) for mask in masks) for way in self.ways)
        return f"{least} {position.hand} {position.others} {position.turned}"

    def quicker(self, advance: Advance) -> AbstractContextManager[Truth]:
        from engine.games.mijnlieff.compiled import quicker

        return quicker(self._variant)

    def reduced(self, state: State) -> Reduced:
        """What of a position decides how it goes on."""
        assert isinstance(state, MijnlieffState)
        return self._endgame.rules.position(state)
