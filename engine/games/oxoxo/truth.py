"""The ends of Oxoxo: wins that can be forced in few plies, whatever may be repeated before.

Pieces can be turned over for ever, so that a draw is a matter of all that was seen since the last
piece was put down, and of the limit of plies. All of that is a part of what a search remembers of
a position, so that what it finds holds by the whole of the rules.
"""

from __future__ import annotations

from engine.game import State
from engine.games.oxoxo import MAX_PLIES, SIDE, Oxoxo, OxoxoState
from engine.symmetries import least
from engine.truth import Search

MOST_DEPTH = 40
"""Plies that a search looks ahead."""


class OxoxoTruth(Search):
    """A search of all moves."""

    def __init__(self, variant: Oxoxo) -> None:
        super().__init__(_identity, most_depth=MOST_DEPTH)

    def key(self, state: State) -> str:
        """Positions after a piece was put down have nothing to repeat; others keep their past."""
        form, colour, crosses, *rest = _identity(state)
        if rest[1]:
            return f"{form} {colour} {crosses} {rest}"
        return f"{least((form, colour, crosses), SIDE, SIDE)} {rest}"


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
