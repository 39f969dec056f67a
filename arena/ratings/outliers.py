"""Which worker's results differ from the others' by more than chance explains.

A worker is compared with all others together, by the chi-squared test of homogeneity (Pearson,
1900) on its matches by their scores, and again on its games with and without a fault. It is
marked if chance would make either so different in fewer than one in a thousand series: that is
divided by the number of comparisons (Bonferroni), so that many workers are not marked for being
many. A mark is a reason to look; results are as likely to be right as the worker's machine is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEAST_EXPECTED = 5.0
"""Cells of which fewer are expected are put together: the test holds for large counts only."""
THRESHOLD = 1e-3


@dataclass(frozen=True, slots=True)
class Series:
    """A worker's matches."""

    counts: Sequence[int]
    """Matches by their score, from the worst to the best in equal steps."""
    games: int
    faults: int
    """Games with one, by either side."""


def outliers(series: Mapping[str, Series]) -> dict[str, float]:
    """The workers that are marked, each with how likely chance makes such a difference.

    One after the other, the oddest first, and the next by those that are left: beside a very
    odd one everybody looks odd. Of the last two the one with fewer matches is marked.
    """
    found: dict[str, float] = {}
    left = dict(series)
    while len(left) > 1:
        chances = {name: _chance(name, left) for name in left}
        # Between two it is the same chance, but for the last bits.
        oddest = min(
            left,
            key=lambda name: (chances[name] if len(left) > 2 else 0, sum(left[name].counts), name),
        )
        if chances[oddest] >= THRESHOLD / (2 * len(series)):
            break
        found[oddest] = chances[oddest]
        del left[oddest]
    return found


def _chance(name: str, series: Mapping[str, Series]) -> float:
    """How likely chance makes a worker differ so from the others."""
    own = series[name]
    others = [one for other, one in series.items() if other != name]
    rest = [sum(counts) for counts in zip(*(one.counts for one in others), strict=True)]
    faults, games = sum(one.faults for one in others), sum(one.games for one in others)
    return min(
        homogeneity(own.counts, rest),
        homogeneity([own.faults, own.games - own.faults], [faults, games - faults]),
    )


def homogeneity(one: Sequence[int], other: Sequence[int]) -> float:
    """How likely two series of one kind differ as much as these, or more; 1 if too few to tell."""
    first, second = sum(one), sum(other)
    if not first or not second:
        return 1.0
    cells: list[tuple[int, int]] = []
    a = b = 0
    for x, y in zip(one, other, strict=True):
        a, b = a + x, b + y
        if (a + b) * min(first, second) / (first + second) >= LEAST_EXPECTED:
            cells.append((a, b))
            a = b = 0
    if (a or b) and cells:
        x, y = cells.pop()
        cells.append((x + a, y + b))
    if len(cells) < 2:
        return 1.0
    distance = 0.0
    for x, y in cells:
        expected = (x + y) * first / (first + second)
        distance += (x - expected) ** 2 / expected
        expected = (x + y) * second / (first + second)
        distance += (y - expected) ** 2 / expected
    return chi_squared_tail(distance, len(cells) - 1)


def chi_squared_tail(value: float, freedom: int) -> float:
    """The probability that chi-squared with so many degrees of freedom exceeds a value.

    By the recurrence Q(k + 2) = Q(k) + (x/2)^(k/2) e^(-x/2) / Gamma(k/2 + 1) (Abramowitz and
    Stegun, 26.4.8), from Q(1) = erfc(sqrt(x/2)) and Q(2) = e^(-x/2).
    """
    half = value / 2
    if half <= 0:
        return 1.0
    k = 2 - freedom % 2
    tail = math.exp(-half) if k == 2 else math.erfc(math.sqrt(half))
    while k < freedom:
        tail += math.exp(k / 2 * math.log(half) - half - math.lgamma(k / 2 + 1))
        k += 2
    return min(tail, 1.0)
