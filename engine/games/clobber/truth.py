"""Clobber solved: who makes the last move, by the theory of sums."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path

from engine.game import GameError, State
from engine.games.chequerboard import WHITE
from engine.games.clobber import Clobber, ClobberState
from engine.games.clobber.endgame import ClobberEndgame
from engine.symmetries import least
from engine.translation import gettext
from engine.truth import Advance, Budget, OutOfSteps, Truth, Value

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

    def learn(self, folder: Path) -> None:
        from engine.games.clobber.parts import NAME, PartsTable

        file = folder / NAME
        if file.is_file():
            table = PartsTable(file)
            self._endgame.learn(table)
            self.tables = (table.digest,)

    def make_parts(self, stones: int, folder: Path, advance: Advance) -> tuple[Path, int, str]:
        from engine.games.clobber.parts import MOST_STONES, NAME, make_parts

        if not 2 <= stones <= MOST_STONES:
            raise GameError(
                gettext(
                    "parts have 2 to %(most)s stones, not %(stones)s",
                    most=MOST_STONES,
                    stones=stones,
                )
            )
        file = folder / NAME
        return (file, *make_parts(stones, file, advance))

    def quicker(self, advance: Advance) -> AbstractContextManager[Truth]:
        from engine.games.clobber.compiled import quicker

        return quicker(self._variant)

    def key(self, state: State) -> str:
        assert isinstance(state, ClobberState)
        masks = least((state.white, state.black), self._variant.width, self._variant.height)
        return f"{masks} {state.mover}"
