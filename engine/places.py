"""Places in games of more than two sides, where to have won, drawn or lost says little.

Who shares a place has the first of those that are shared, as two who are both second of four; a
mean place counts their middle, 2.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from engine.translation import N_, gettext

TWO = 2
"""Sides, of which a result says all as won, drawn or lost."""


def placed(sides: Sequence[int], rank: int) -> list[int]:
    """A game as the counts of its places, the first first; empty of two sides or one.

    Args:
        sides: of each seat.
        rank: of whose place it is, from 1.
    """
    count = len(set(sides))
    return [int(place == rank) for place in range(1, count + 1)] if count > TWO else []


def added(one: Sequence[int], more: Sequence[int]) -> list[int]:
    """Adds two counts of places."""
    return [mine + theirs for mine, theirs in zip_longest(one, more, fillvalue=0)]


def mean_place(share: float, sides: int) -> float:
    """The mean place of who had this share of the points, which are those of sides beaten."""
    return sides - share * (sides - 1)


def ordinal(place: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``4th``, ``11th``, ``21st``: for programs, in English."""
    return _ordinal(place) % {"place": place}


def ordinal_said(place: int) -> str:
    """The ordinal of a place as people say it."""
    return gettext(_ordinal(place), place=place)


def _ordinal(place: int) -> str:
    if 11 <= place % 100 <= 13:
        return N_("%(place)sth")
    endings = {1: N_("%(place)sst"), 2: N_("%(place)snd"), 3: N_("%(place)srd")}
    return endings.get(place % 10, N_("%(place)sth"))


def results_head(sides: int) -> str:
    """What stands above `results_words`: ``W-D-L``, or ``1st-2nd-3rd``."""
    if sides <= TWO:
        return gettext("W-D-L")
    return "-".join(map(ordinal_said, range(1, sides + 1)))


def results_words(wins: int, draws: int, losses: int, places: Sequence[int] = ()) -> str:
    """Games won, drawn and lost, or where there are places how often each."""
    return "-".join(map(str, places or (wins, draws, losses)))
