"""Oxoxo solved by a program in C++, where there is a compiler: for tables.

It solves all placements from those of sixteen pieces down to the empty board, which takes four
minutes of a core and 3.5 GB, and then answers at once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from math import comb
from pathlib import Path

from engine.game import State
from engine.games.oxoxo import HAND, SQUARES, Oxoxo, OxoxoState
from engine.games.oxoxo.truth import LONGEST, OxoxoTruth, barred_faces, may_be_too_late
from engine.plurals import counted
from engine.solvers import Solver, quickest
from engine.truth import Advance, Budget, Truth, Value

SOURCE = Path(__file__).with_name("solver.cpp")
FEW = 7
"""Positions of so many pieces and fewer are solved together, from the empty board on."""
LAYER, POSITION = 0, 1
"""What the program is asked for."""


class CompiledOxoxo(OxoxoTruth):
    """Asks the program; it takes what time it takes, whatever the budget."""

    def __init__(self, variant: Oxoxo, solver: Solver, advance: Advance) -> None:
        super().__init__(variant)
        self._solver, self._advance = solver, advance
        self._root: tuple[int, int] | None = None

    def solve(self, form: int, colour: int) -> None:
        """Solves all positions among whose pieces are these."""
        counts = form.bit_count(), colour.bit_count()
        layers = {
            pieces: _positions(*counts, pieces) for pieces in range(SQUARES, sum(counts) - 1, -1)
        }
        done, total = 0, sum(layers.values())
        for pieces, positions in layers.items():
            self._advance(counted(pieces, "piece"), done, total)
            *_, longest = self._solver.ask(LAYER, pieces, form, colour)
            assert longest <= LONGEST
            done += positions
        self._root = form, colour

    def value(self, state: State, budget: Budget) -> Value | None:
        """Raises: RuntimeError: the program has ended."""
        assert isinstance(state, OxoxoState)
        are_few = (state.form | state.colour).bit_count() <= FEW
        root = (0, 0) if are_few else (state.form, state.colour)
        if root != self._root:
            self.solve(*root)
        barred = barred_faces(state)
        position = state.form, state.colour, state.crosses, state.mover
        value, longest = self._solver.ask(POSITION, *position, len(barred), *barred)
        if value and may_be_too_late(state, longest):
            return super().value(state, budget)
        return value


def _positions(form: int, colour: int, pieces: int) -> int:
    """How many there are of so many pieces, some of either seat's lying already; also those that
    look alike, and those that end the game."""
    more = pieces - form - colour
    shares = (one for one in range(more + 1) if max(form + one, colour + more - one) <= HAND)
    faces, seats_to_move = 1 << pieces, 2
    placements = comb(SQUARES - form - colour, more) * sum(comb(more, one) for one in shares)
    return placements * faces * seats_to_move


def quicker(variant: Oxoxo, advance: Advance) -> AbstractContextManager[Truth]:
    """The quickest search there is here."""
    made = partial(CompiledOxoxo, variant, advance=advance)
    return quickest(OxoxoTruth(variant), SOURCE, made)
