"""The turns of the Siege of Paris, the ways in which it ends, and what is said of either."""

from __future__ import annotations

from typing import NamedTuple

from engine.game import Termination
from engine.games.siege.board import ARMIES, BLACK, WHITE, YELLOW
from engine.translation import N_, gettext, translated

Y1, W, Y2, B, SETUP = range(5)
TURNS = ("y1", "w", "y2", "b", "setup")
"""The turns as a position text has them: in their order, and the one before them all."""
ARMY = (YELLOW, WHITE, YELLOW, BLACK, YELLOW)
"""Whose turn each is."""
NEXT = (W, Y2, B, Y1)

QUIET_PLIES, MAX_PLIES = 100, 2000


class Ending(NamedTuple):
    """Why a game is over, and what Yellow scores."""

    cause: Termination
    yellow: float
    words: str
    plies: int = 0
    """The limit that the words name."""

    @property
    def said(self) -> str:
        """The words, in the language that is spoken."""
        return gettext(self.words, plies=self.plies)


FORTRESS_HELD = Ending(Termination.NORMAL, 0.0, N_("The attackers win: they hold the fortress"))
NO_MOVE = Ending(Termination.NORMAL, 0.0, N_("The attackers win: Yellow has no legal move"))
BROKEN = Ending(Termination.NORMAL, 1.0, N_("Yellow wins: the siege is broken"))
BROKEN_LATE = Ending(Termination.NORMAL, 0.5, N_("A draw: the siege is broken, an attacker inside"))
REPEATED = Ending(
    Termination.REPETITION, 0.5, N_("A draw: the third time that this stands on the board")
)
QUIET = Ending(
    Termination.PLY_LIMIT, 0.5, N_("A draw: %(plies)s plies without progress"), QUIET_PLIES
)
ENDLESS = Ending(Termination.PLY_LIMIT, 0.5, N_("A draw: %(plies)s plies"), MAX_PLIES)


def due(turn: int, *, demanded: bool) -> str:
    """Who is to do what at a turn."""
    if turn == SETUP:
        return gettext("Yellow to place its army in the fortress")
    if ARMY[turn] == YELLOW:
        then = translated(ARMIES[ARMY[NEXT[turn]]])
        if demanded:
            return gettext("Yellow must capture, then %(army)s", army=then)
        return gettext("Yellow to move, then %(army)s", army=then)
    return gettext("%(seat)s to move", seat=translated(ARMIES[ARMY[turn]]))
