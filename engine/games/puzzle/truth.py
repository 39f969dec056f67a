"""Whether a puzzle of Blokus can be solved from where it stands.

The rectangles are an exact cover: every square by one piece, every piece once. The search fills
the smallest free area first, from its lowest square, and tries every piece there (algorithm X;
Knuth, 2000). An area that no number of pieces fills is hopeless, and so is what was once found so.
On the large board the colours place in turn, and one that can't place what it has left ends it.
"""

from __future__ import annotations

from collections.abc import Hashable

from engine.game import State
from engine.games.blokus.polyominoes import SIZES
from engine.games.puzzle import EVERY_COLOUR, STOP_CODE, Puzzle, PuzzleState
from engine.truth import Budget, OutOfSteps, Truth, Value

MOST_KEPT = 400_000

Colours = tuple[int, ...]
"""A mask for each colour: of squares, or of pieces."""


class PuzzleTruth(Truth):
    """1 for what can be solved, 0 for what can't."""

    def __init__(self, variant: Puzzle) -> None:
        self._variant = variant
        self._known: dict[Hashable, bool] = {}

    def gain(self, state: State) -> Value:
        return int(state.scores() == (self._variant.solved_score,))

    def value(self, state: State, budget: Budget) -> Value | None:
        assert isinstance(state, PuzzleState)
        if len(self._known) > MOST_KEPT:
            self._known.clear()
        position = state.position
        try:
            if self._variant.in_turn:
                return int(self._can_go_round(state, budget))
            return int(self._can_fill(position.free, position.left, position.covered, budget))
        except OutOfSteps:
            return None

    def _can_fill(self, free: int, left: Colours, covered: Colours, budget: Budget) -> bool:
        """Whether the pieces that are left fill what is free of a rectangle."""
        if not free:
            return True
        hard = self._variant.hard
        # Where colours may touch, they are all alike.
        identity = (free, left, covered if hard else None)
        known = self._known.get(identity)
        if known is None:
            if not budget.step():
                raise OutOfSteps
            known = self._known[identity] = self._try_pieces(free, left, covered, budget)
        return known

    def _try_pieces(self, free: int, left: Colours, covered: Colours, budget: Budget) -> bool:
        board, hard = self._variant.board, self._variant.hard
        parts = list(board.parts(free))
        size = SIZES[self._variant.start.left[0].bit_length() - 1]
        if any(part.bit_count() % size for part in parts):
            return False
        part = min(parts, key=int.bit_count)
        low = part & -part
        for shape, piece in board.piece_of.items():
            mask = shape * low
            if mask & ~part:
                continue
            for colour in EVERY_COLOUR:
                if not left[colour] >> piece & 1:
                    continue
                if hard and board.edges(covered[colour]) & mask:
                    continue
                after = _with(left, colour, left[colour] ^ 1 << piece)
                lying = _with(covered, colour, covered[colour] | mask)
                if self._can_fill(free ^ mask, after, lying, budget):
                    return True
                if not hard:
                    break
        return False

    def _can_go_round(self, state: PuzzleState, budget: Budget) -> bool:
        """Whether all colours can place all they have left, in turn."""
        position = state.position
        if not any(position.left):
            return True
        identity = (position.covered, position.left, state.turn)
        known = self._known.get(identity)
        if known is None:
            if not budget.step():
                raise OutOfSteps
            known = self._known[identity] = all(
                state.may_go_on(colour) for colour in EVERY_COLOUR if position.left[colour]
            ) and any(
                self._can_go_round(state.play_code(code), budget)
                for code in state.codes()
                if code != STOP_CODE
            )
        return known


def _with(masks: Colours, colour: int, mask: int) -> Colours:
    return (*masks[:colour], mask, *masks[colour + 1 :])
