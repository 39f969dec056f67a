"""How a result moves what was believed of the sides' performances in that one game.

Two sides are compared once, and the posterior has a closed form. Of three and more each is
compared with the next in the order of their ranks; what a comparison says of a side changes what
is believed of its other neighbour, so they go down the table and up again until nothing changes.
That is message passing on the factor graph of Herbrich, Minka and Graepel (TrueSkill: A Bayesian
Skill Rating System, 2007; figure 1 and table 1). How often is not decided there: it is done as
the trueskill package does, so that both give the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, erfc, exp, pi, sqrt
from typing import NamedTuple

_LEAST_PROBABILITY = 1e-300
"""A result less probable than this is beyond the arithmetic; that is a gap of some 37
deviations of a game, or 218 units of mu at least."""

_SWEEPS = 10
_NEGLIGIBLE = 1e-4
"""Sides are compared so often at most, and no more once no message changes by as much."""

_SQRT_HALF = sqrt(0.5)
_SQRT_TWO_PI = sqrt(2 * pi)


class Performance(NamedTuple):
    """What a side is expected to show in a game, as a normal distribution."""

    mean: float
    variance: float
    noise: float
    """The part of the variance that is the game's: the side would show it however well known."""


class Pull(NamedTuple):
    """What a result says of a side's performance.

    They are the slope of the result's log probability by the mean that was expected, and by how
    much the slope falls: so far the mean moves for each unit of variance, and so much of the
    variance is lost for each unit of its square.
    """

    shift: float
    shrink: float


_Message = tuple[float, float]
"""A normal distribution as its precision, and its mean times that; two of them add up."""
_NOTHING: _Message = (0.0, 0.0)


def pulls(sides: Sequence[Performance], ranks: Sequence[int], draw_quantile: float) -> list[Pull]:
    """What a result says of each side.

    Args:
        ranks: of each side; 1 is best.
        draw_quantile: the lead up to which a game is drawn, in deviations of its noise.

    Raises:
        FloatingPointError: the result is so improbable that the arithmetic gives out.
    """
    if len(sides) == 2:
        return _pulls_of_two(sides[0], sides[1], ranks[0] - ranks[1], draw_quantile)
    # Neighbours are compared, so those in the middle of a tie come out a little different from
    # those at its ends. Who stands where is for the ratings to say, not for the seats.
    order = sorted(range(len(sides)), key=lambda i: (ranks[i], sides[i]))
    table = _Table([sides[i] for i in order], [ranks[i] for i in order], draw_quantile)
    found = dict(zip(order, table.converge(), strict=True))
    return [found[i] for i in range(len(sides))]


def _pulls_of_two(
    one: Performance, two: Performance, order: int, draw_quantile: float
) -> list[Pull]:
    scale = sqrt(one.variance + two.variance)
    margin = _margin(one, two, draw_quantile)
    shift, shrink = factors((one.mean - two.mean) / scale, margin / scale, order)
    shift, shrink = shift / scale, shrink / scale**2
    return [Pull(shift, shrink), Pull(-shift, shrink)]


def _margin(one: Performance, two: Performance, draw_quantile: float) -> float:
    """The lead up to which a game of these two is drawn."""
    return draw_quantile * sqrt(one.noise + two.noise)


class _Table:
    """Sides in the order of their ranks, and what the comparisons of neighbours say so far.

    Comparison number i is of the sides i and i + 1.
    """

    def __init__(
        self, sides: Sequence[Performance], ranks: Sequence[int], draw_quantile: float
    ) -> None:
        self._sides = sides
        neighbours = range(len(sides) - 1)
        self._orders = [ranks[i] - ranks[i + 1] for i in neighbours]
        self._margins = [_margin(sides[i], sides[i + 1], draw_quantile) for i in neighbours]
        self._of_lead = [_NOTHING] * len(neighbours)
        """What each comparison says of the first side's lead."""
        self._of_first = [_NOTHING] * len(sides)
        self._of_second = [_NOTHING] * len(sides)
        """What is said of each side where it is the first of a comparison, and the second."""

    def converge(self) -> list[Pull]:
        """Compares neighbours until nothing changes, and says what came of it for each side."""
        last = len(self._orders) - 1
        for _ in range(_SWEEPS):
            change = 0.0
            for i in range(last):
                change = max(change, self._compare(i))
                self._tell_second(i)
            for i in range(last, 0, -1):
                change = max(change, self._compare(i))
                self._tell_first(i)
            if change <= _NEGLIGIBLE:
                break
        self._tell_first(0)
        self._tell_second(last)
        return [self._pull(i) for i in range(len(self._sides))]

    def _first(self, i: int) -> tuple[float, float]:
        """Mean and variance of a comparison's first side, but for what itself says of it."""
        return _updated(self._sides[i], self._of_second[i])

    def _second(self, i: int) -> tuple[float, float]:
        return _updated(self._sides[i + 1], self._of_first[i + 1])

    def _compare(self, i: int) -> float:
        """Finds what an order says of the lead, and by how much that is not what it said before."""
        first, second = self._first(i), self._second(i)
        lead, scale = first[0] - second[0], sqrt(first[1] + second[1])
        shift, shrink = factors(lead / scale, self._margins[i] / scale, self._orders[i])
        kept = (1 - shrink) * scale
        if kept <= 0:
            raise FloatingPointError("a result leaves no doubt at all")
        before = self._of_lead[i]
        self._of_lead[i] = said = (shrink / kept / scale, (lead / scale * shrink + shift) / kept)
        return max(sqrt(abs(said[0] - before[0])), abs(said[1] - before[1]))

    def _tell_first(self, i: int) -> None:
        """The first side is by its lead ahead of the second."""
        mean, variance = self._second(i)
        precision, weighted = self._of_lead[i]
        known = 1 + variance * precision
        self._of_first[i] = (precision / known, (mean * precision + weighted) / known)

    def _tell_second(self, i: int) -> None:
        mean, variance = self._first(i)
        precision, weighted = self._of_lead[i]
        known = 1 + variance * precision
        self._of_second[i + 1] = (precision / known, (mean * precision - weighted) / known)

    def _pull(self, i: int) -> Pull:
        side = self._sides[i]
        precision = self._of_first[i][0] + self._of_second[i][0]
        weighted = self._of_first[i][1] + self._of_second[i][1]
        known = 1 + side.variance * precision
        return Pull((weighted - side.mean * precision) / known, precision / known)


def _updated(side: Performance, said: _Message) -> tuple[float, float]:
    """Mean and variance of a performance, once that is known of it."""
    precision, weighted = said
    known = 1 + side.variance * precision
    return (side.mean + side.variance * weighted) / known, side.variance / known


def factors(lead: float, margin: float, order: int) -> tuple[float, float]:
    """How far a result moves the first side's mean, and by what part it shrinks the variances.

    Args:
        lead: what the first side was expected to be ahead by, in units of the game's own.
        margin: the lead up to which a game is drawn, in the same.
        order: below 0 if the first side won, above if it lost, 0 for a draw.
    """
    if order == 0:
        return _draw_factors(lead, margin)
    if order < 0:
        return _win_factors(lead - margin)
    shift, shrink = _win_factors(-lead - margin)
    return -shift, shrink


def _win_factors(t: float) -> tuple[float, float]:
    """How far a win shifts the means and shrinks the variances, in units of the game's own.

    t is the winner's expected lead beyond the draw margin. They are V and W of the paper.
    """
    probability = _cdf(t)
    if probability < _LEAST_PROBABILITY:
        raise FloatingPointError(f"a win at {t} deviations cannot be rated")
    shift = _pdf(t) / probability
    return shift, shift * (shift + t)


def _draw_factors(t: float, margin: float) -> tuple[float, float]:
    """How far a draw shifts means and shrinks variances; t is the first side's expected lead."""
    above, below = margin - abs(t), -margin - abs(t)
    # On the lower tail, where probabilities are small numbers and keep their digits.
    probability = _cdf(above) - _cdf(below)
    if probability < _LEAST_PROBABILITY:
        raise FloatingPointError(f"a draw at {t} deviations cannot be rated")
    shift = (_pdf(below) - _pdf(above)) / probability
    shrink = shift * shift + (above * _pdf(above) - below * _pdf(below)) / probability
    return copysign(shift, -t), shrink


def _cdf(x: float) -> float:
    return 0.5 * erfc(-x * _SQRT_HALF)


def _pdf(x: float) -> float:
    return exp(-0.5 * x * x) / _SQRT_TWO_PI
