"""Oxoxo solved by a program in C++, where there is a compiler: for tables.

It solves all placements from those of sixteen pieces down to the empty board, which takes four
minutes of a core and 3.5 GB, and then answers at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.game import State
from engine.games.oxoxo import SQUARES, Oxoxo, OxoxoState
from engine.games.oxoxo.truth import OxoxoTruth, barred_faces, may_be_too_late
from engine.plurals import counted
from engine.solvers import Solver, compiled, compiler
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

    def solve(self, form: int, colour: int) -> int:
        """Solves all positions among whose pieces are these; returns the most plies of a win."""
        most = 0
        pieces = form.bit_count() + colour.bit_count()
        for left in range(SQUARES, pieces - 1, -1):
            self._advance(counted(left, "piece"), SQUARES - left, SQUARES - pieces + 1)
            *_, longest = self._solver.ask(LAYER, left, form, colour)
            most = max(most, longest)
        self._root = form, colour
        return most

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


@contextmanager
def quicker(variant: Oxoxo, advance: Advance) -> Iterator[Truth]:
    """The quickest search there is here: compiled, or that in Python where it can't be."""
    its = compiler()
    if its is None:
        yield OxoxoTruth(variant)
        return
    with compiled(SOURCE, its) as solver:
        yield CompiledOxoxo(variant, solver, advance)
