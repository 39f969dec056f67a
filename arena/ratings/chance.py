"""Whether a score differs from what is expected by more than chance explains.

By Hoeffding's bound (Probability inequalities for sums of bounded random variables, 1963): n games
whose points lie between 0 and 1, whatever their distribution, have a mean that is t or more from
the expected one with a probability of 2 exp(-2 n t^2) at most. It asks for a little more than an
exact test of wins and losses would (eight games that were all won, not six), and in return holds
for draws, for places of several seats, and for any score that is expected.
"""

from __future__ import annotations

import math

SELDOM = 0.05
"""So seldom may chance alone do it."""


def beyond_chance(share: float, games: int, expected: float = 0.5) -> bool:
    """Whether points a game, from 0 to 1, are that far from what was expected."""
    if not games:
        return False
    return abs(share - expected) >= math.sqrt(math.log(2 / SELDOM) / (2 * games))
