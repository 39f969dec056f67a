"""Divisions: how bots are cut into them, and who rises and falls by a round.

The bots of all divisions are one order, from the first of the highest to the last of the lowest,
and a division is so many of it in a row. So whoever leaves is followed by all below: the first of
the next division fills the one above up.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class DivisionResult:
    """How a division came out in a round."""

    order: Sequence[int]
    """Those who are in it, by their places."""
    is_played: bool = True
    """Nobody rises out of one that was not played to its end, or falls; none comes into it."""
    may_rise: Set[int] | None = None
    """Who may, as they have beaten the boss; None where there is no boss, and all may."""


def divided(order: Sequence[int], size: int, fewest: int = 1) -> list[Sequence[int]]:
    """The divisions of so many bots, the highest first; the lowest has what is left.

    Args:
        fewest: of how many one can be: fewer that are left are in the one above.
    """
    firsts = list(range(0, len(order), size))
    if len(firsts) > 1 and len(order) - firsts[-1] < fewest:
        firsts.pop()
    return [order[first:end] for first, end in pairwise([*firsts, len(order)])]


def moved(divisions: Sequence[DivisionResult], moves: int) -> list[list[int]]:
    """The divisions after a round, the highest first; each has as many as before.

    Of each the first `moves` rise who may, and of the one above as many fall, which are its last.
    Who falls is first where it comes to, and who rises is last.
    """
    found = [list(one.order) for one in divisions]
    rising: list[int] = []
    for above, (upper, lower) in enumerate(pairwise(divisions)):
        staying = [one for one in upper.order if one not in rising]
        rising = []
        if upper.is_played and lower.is_played:
            may = set(lower.order) if lower.may_rise is None else lower.may_rise
            rising = [one for one in lower.order[:moves] if one in may][: len(staying)]
        falling = staying[len(staying) - len(rising) :]
        found[above] = [one for one in found[above] if one not in falling] + rising
        found[above + 1] = falling + [one for one in lower.order if one not in rising]
    return found
