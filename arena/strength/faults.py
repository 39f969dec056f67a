"""When faults have ended so many games of a test that it can't tell who is stronger.

A game that ends by a crash, a clock, an illegal move or a start that fails says nothing of how
well the other played. A few such games are a part of a bot's strength, as on a ladder; many make
a test of programs that don't run, whoever of the two they are. Resigning is no fault.
"""

from __future__ import annotations

import math

SHARE = 0.03
"""So many faults a game of two are borne. Between equals a fault costs half a point, so those of
one bot in 3 of 100 games are 1.5 % of the score, which is 10 Elo: as much as the two answers of a
test lie apart by default. Beyond that it is the faults that decide."""
ALWAYS = 1
"""Faults that are borne however few the games: anything may happen once."""
DEVIATIONS = 3
"""How many standard deviations of chance (a Poisson count's is its root) faults have to be beyond
what is borne, where a test does not wait for its end."""


def too_many(faults: int, games: int, entrants: int = 2) -> bool:
    """Whether a test that is over had too many faults, of all bots, for a verdict.

    Args:
        entrants: of a game; with more than two there are more who can fail.
    """
    return faults > _borne(games, entrants)


def clearly_too_many(faults: int, games: int, entrants: int = 2) -> bool:
    """Whether it will have had too many, so that it need not go on.

    Five faults in any few games say so, or 9 in 100: a bot that fails once in 100 games comes
    that far in one of 8,000 tests, however long.
    """
    borne = _borne(games, entrants)
    return faults > borne + DEVIATIONS * math.sqrt(borne)


def _borne(games: int, entrants: int) -> float:
    return max(ALWAYS, SHARE * games * entrants / 2)
