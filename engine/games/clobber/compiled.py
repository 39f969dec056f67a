"""The search of Clobber as a program in C++, where there is a compiler: for tables.

It answers for boards of 7 files and 8 ranks at most, ten times as quickly as the search in Python
does, in half its steps, and by code of its own: each is a check of the other.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from engine.board import bits_of
from engine.game import State
from engine.games.chequerboard import WHITE
from engine.games.clobber import Clobber, ClobberState
from engine.games.clobber.truth import ClobberTruth
from engine.solvers import Solver, quickest
from engine.truth import Budget, Truth, Value

SOURCE = Path(__file__).with_name("solver.cpp")
MOST_FILES, MOST_RANKS = 7, 8
FEWEST_SQUARES = 21
"""The smallest board that it is made for: on smaller ones a search in Python is over before the
program is compiled."""
BYTE = 8


class CompiledClobber(ClobberTruth):
    """Asks the program; it takes what time it takes, whatever the budget."""

    def __init__(self, variant: Clobber, solver: Solver) -> None:
        super().__init__(variant)
        self._solver, self._width = solver, variant.width

    def _spread(self, mask: int) -> int:
        """A mask with a byte for each rank."""
        squares = (divmod(bit, self._width) for bit in bits_of(mask))
        return sum(1 << BYTE * rank + file for rank, file in squares)

    def value(self, state: State, budget: Budget) -> Value | None:
        """Raises: RuntimeError: the program has ended."""
        assert isinstance(state, ClobberState)
        sides = (state.white, state.black) if state.mover == WHITE else (state.black, state.white)
        won, steps = self._solver.ask(*map(self._spread, sides))
        budget.used += steps
        return 1 if bool(won) == (state.mover == WHITE) else -1


def quicker(variant: Clobber) -> AbstractContextManager[Truth]:
    """The quickest search there is here."""
    fits = variant.width <= MOST_FILES and variant.height <= MOST_RANKS
    return quickest(
        ClobberTruth(variant), SOURCE, partial(CompiledClobber, variant),
        fits=fits and variant.squares >= FEWEST_SQUARES,
    )  # fmt: skip
