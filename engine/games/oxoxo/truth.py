"""What is certain of Oxoxo: from its ends backwards, and before them wins in few plies.

Where few squares are free, every position is known. What was seen since the last piece was put
down, and the limit of plies, take nothing from that but what is looked for (`faces`).
"""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager

from engine.game import State
from engine.games.oxoxo import MAX_PLIES, OCCURRENCES, SIDE, SQUARES, Oxoxo, OxoxoState
from engine.games.oxoxo.faces import STEPS, FaceSolver
from engine.symmetries import least
from engine.truth import Advance, Budget, Search, Truth, Value, wants

MOST_DEPTH = 40
"""Plies that a search looks ahead."""
MOST_FREE = 8
"""Squares, of positions that are solved from the ends: 5,407 placements at most, 260 MB."""
LAST_PLIES = 4
"""So near the limit a search of all moves is over sooner."""
LONGEST = 140
"""No win takes more plies: so it was found by the program in C++, over all positions."""


class OxoxoTruth(Search):
    """Placements of pieces solved with all their faces, and a search of all moves."""

    def __init__(self, variant: Oxoxo) -> None:
        super().__init__(_identity, most_depth=MOST_DEPTH)
        self._variant = variant
        self._faces = FaceSolver()

    def value(self, state: State, budget: Budget) -> Value | None:
        assert isinstance(state, OxoxoState)
        self._faces.forget()
        placement, affordable = (state.form, state.colour), budget.left // STEPS
        free = SQUARES - sum(map(int.bit_count, placement))
        if free <= MOST_FREE and MAX_PLIES - state.plies > LAST_PLIES:
            barred = barred_faces(state)
            if self._faces.missing(placement, affordable + 1) + bool(barred) <= affordable:
                winner, longest = self._faces.winner(
                    placement, state.crosses, state.mover, barred, budget
                )
                if winner is None:
                    return 0
                if not may_be_too_late(state, longest):
                    return wants(winner)
        return super().value(state, budget)

    def key(self, state: State) -> str:
        """Faces seen before count from the second time on; and the ply, where the limit may."""
        assert isinstance(state, OxoxoState)
        barred = sorted(barred_faces(state))
        if barred:
            return f"{state.form} {state.colour} {state.crosses} {state.plies} {barred}"
        masks = least((state.form, state.colour, state.crosses), SIDE, SIDE)
        return f"{masks} {state.plies if may_be_too_late(state, LONGEST) else state.mover}"

    def quicker(self, advance: Advance) -> AbstractContextManager[Truth]:
        from engine.games.oxoxo.compiled import quicker

        return quicker(self._variant, advance)


def barred_faces(state: OxoxoState) -> frozenset[int]:
    """The faces that end the game by repetition if they are reached once more."""
    seen = Counter((*state.past, state.crosses))
    return frozenset(faces for faces, times in seen.items() if times == OCCURRENCES - 1)


def may_be_too_late(state: OxoxoState, longest: int) -> bool:
    """Whether a win that takes so many plies may come after the limit."""
    return state.plies + longest > MAX_PLIES


def _identity(state: State) -> tuple[int, int, int, int, tuple[int, ...]]:
    """The pieces, the ply as far as it matters, and what was there since a piece was put down."""
    assert isinstance(state, OxoxoState)
    # Only a search that begins so late sees the limit; before that the seat to move is enough.
    is_late = state.plies > MAX_PLIES - 2 * MOST_DEPTH
    return (
        state.form,
        state.colour,
        state.crosses,
        state.plies if is_late else state.plies % 2,
        tuple(sorted(state.past)),
    )
