"""Strengths from all results at once, whatever their order: Bradley-Terry and Plackett-Luce.

A side of strength s comes first among some with probability e^s over the sum of theirs, then
the next one among those left, and so on (Luce 1959, Plackett 1975); of two sides that is the
model of Bradley and Terry (1952), and Elo's. Strengths are the likeliest under all results
together, a concave problem that Newton's method solves.

A tie stands for all the orders that it leaves open, in equal parts: a draw is half a win.
Davidson's model of ties (1970) was not taken. Its strengths say who wins if somebody does, so
that ten wins, one loss and a thousand draws would be 400 Elo; half wins keep to the meaning of
Elo, the expected score, and of two bots they give the Elo of the score.

Strengths are drawn to the field's middle by a few draws against an imagined bot that stands
there. So who won everything stays finite, and fields that never met stand side by side.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import mul

from arena.ratings.elo import Z95
from arena.ratings.result import E, GameResult, weights

ELO = 400 / math.log(10)
"""Elo of one unit of strength."""

Side = tuple[tuple[int, ...], float]
"""The numbers of its players, and what each of them counts."""

Matrix = list[list[float]]

_MOST_SUBSETS_OF = 6


@dataclass(frozen=True, slots=True)
class Strength:
    """How far an entrant is above the mean of its field, in Elo."""

    elo: float
    lower: float
    """The lower end of the 95 % interval."""
    upper: float
    """The upper end of the 95 % interval."""


def fit(results: Iterable[GameResult[E]], *, prior_draws: float = 1.0) -> dict[E, Strength]:
    """The strengths of all who played, the strongest first.

    Intervals are of the difference from the field's mean, by the curvature of the likelihood;
    the smaller spread of games that are often drawn is allowed for between two sides. Ties of
    more than two are not, which makes those intervals a little too wide.

    Args:
        results: any number of games of any numbers of sides.
        prior_draws: with how many draws everybody starts. One is about as good as knowing
            beforehand that two bots in three are within 350 Elo of the mean.

    Raises:
        ValueError: prior_draws is not above 0.
    """
    return fit_counted(Counter(results), prior_draws=prior_draws)


def fit_counted(
    counted: Mapping[GameResult[E], int], *, prior_draws: float = 1.0
) -> dict[E, Strength]:
    """The strengths of all who played, by results with how often each of them came.

    Raises:
        ValueError: prior_draws is not above 0.
    """
    if not prior_draws > 0:
        raise ValueError(f"prior_draws must be above 0, not {prior_draws}")
    likelihood = _Likelihood(prior_draws)
    numbers: dict[E, int] = {}
    for result, times in counted.items():
        teams, ranks = result.teams()
        for entrant in result.entrants:
            numbers.setdefault(entrant, len(numbers))
        sides = [
            (tuple(sorted(numbers[entrant] for entrant in team)), weight)
            for team, weight in zip(teams, weights(teams), strict=True)
        ]
        likelihood.add(sides, ranks, times)
    strengths = _maximise(likelihood, len(numbers))
    deviations = _deviations(likelihood, strengths)
    mean = sum(strengths) / max(len(strengths), 1)
    found = {}
    for entrant, i in numbers.items():
        elo, reach = ELO * (strengths[i] - mean), ELO * Z95 * deviations[i]
        found[entrant] = Strength(elo, elo - reach, elo + reach)
    return dict(sorted(found.items(), key=lambda item: -item[1].elo))


class _Likelihood:
    """The results, boiled down to what their logarithmic likelihood needs.

    That is a sum of strengths, times `gains`, less the logarithm of the sum of e^strength of
    each group of sides that a first was chosen from, times how often.
    """

    def __init__(self, prior_draws: float) -> None:
        self.prior = prior_draws
        self.gains: defaultdict[int, float] = defaultdict(float)
        self.choices: defaultdict[tuple[Side, ...], float] = defaultdict(float)
        self.draws: defaultdict[tuple[Side, ...], int] = defaultdict(int)

    def add(self, sides: Sequence[Side], ranks: Sequence[int], times: int) -> None:
        """Takes in a game that came so many times."""
        for rank in sorted(set(ranks)):
            tied = [side for side, other in zip(sides, ranks, strict=True) if other == rank]
            below = [side for side, other in zip(sides, ranks, strict=True) if other > rank]
            for side in tied:
                self._gain(side, times)
            for left in range(len(tied), 0, -1):
                groups = _subsets(tied, left)
                for group in groups:
                    self._choose((*group, *below), times / len(groups))
            if len(tied) == 2 and not below:
                self.draws[tuple(sorted(tied))] += times

    def _gain(self, side: Side, times: float) -> None:
        members, weight = side
        for i in members:
            self.gains[i] += times * weight

    def _choose(self, group: tuple[Side, ...], times: float) -> None:
        if len(group) > 1:
            self.choices[tuple(sorted(group))] += times
        else:
            # A choice of one is none: it takes back what the only one gained by it.
            self._gain(group[0], -times)

    def value(self, strengths: Sequence[float]) -> float:
        """The logarithm of the likelihood, prior included."""
        value = sum(gain * strengths[i] for i, gain in self.gains.items())
        for group, times in self.choices.items():
            value -= times * _log_sum_exp(_side_strengths(group, strengths))
        for strength in strengths:
            value += self.prior * (strength / 2 - _log_sum_exp([0.0, strength]))
        return value

    def gradient(self, strengths: Sequence[float]) -> list[float]:
        """The derivative of `value`."""
        gradient = [self.prior * (0.5 - _logistic(strength)) for strength in strengths]
        for i, gain in self.gains.items():
            gradient[i] += gain
        for group, times in self.choices.items():
            for (members, weight), share in zip(group, _shares(group, strengths), strict=True):
                for i in members:
                    gradient[i] -= times * share * weight
        return gradient

    def information(self, strengths: Sequence[float], *, of_draws: bool = False) -> Matrix:
        """The negative second derivative of `value`, which is the gradient's covariance.

        With ``of_draws`` it is the covariance that remains when games of two sides end drawn as
        often as they did. A score of 0, 1/2 or 1 with the mean p has the variance
        p (1 - p) - d / 4 where draws have the share d; two decisive games are added to each
        pair's own, so that a first draw does not prove that there is nothing else.
        """
        size = len(strengths)
        matrix = [[0.0] * size for _ in range(size)]
        for i, strength in enumerate(strengths):
            matrix[i][i] = self.prior * _logistic(strength) * _logistic(-strength)
        for group, times in self.choices.items():
            shares = _shares(group, strengths)
            scale = times
            if of_draws and group in self.draws:
                p, q = shares
                possible = 2 * min(p, q) * times
                drawn = min(self.draws[group], possible) / (times + 2)
                scale *= 1 - drawn / (4 * p * q)
            seats = [
                (i, members, weight, share)
                for (members, weight), share in zip(group, shares, strict=True)
                for i in members
            ]
            for i, members, weight, share in seats:
                row = matrix[i]
                part = scale * share * weight
                for j in members:
                    row[j] += part * weight
                for j, _, other_weight, other_share in seats:
                    row[j] -= part * other_share * other_weight
        return matrix


def _subsets(sides: Sequence[Side], size: int) -> list[tuple[Side, ...]]:
    """Those of so many sides that may be left of a tie, each equally likely.

    Of many sides only the runs around a circle, in which everybody has the same share: all
    subsets would be too many, and each differs little from the next.
    """
    if len(sides) <= _MOST_SUBSETS_OF:
        return list(combinations(sides, size))
    circle = (*sides, *sides)
    return [circle[start : start + size] for start in range(len(sides))]


def _side_strengths(group: Sequence[Side], strengths: Sequence[float]) -> list[float]:
    return [weight * sum(strengths[i] for i in members) for members, weight in group]


def _shares(group: Sequence[Side], strengths: Sequence[float]) -> list[float]:
    """The probability of each side to come first in the group."""
    values = _side_strengths(group, strengths)
    total = _log_sum_exp(values)
    return [math.exp(value - total) for value in values]


def _log_sum_exp(values: Sequence[float]) -> float:
    most = max(values)
    return most + math.log(sum(math.exp(value - most) for value in values))


def _logistic(x: float) -> float:
    return 0.5 * (1 + math.tanh(x / 2))


def _maximise(likelihood: _Likelihood, size: int) -> list[float]:
    """The strengths of the greatest likelihood, by Newton's method.

    A step that overshoots the maximum is halved until it gains; there is one maximum, since the
    prior makes the concave likelihood strictly so.
    """
    strengths = [0.0] * size
    value = likelihood.value(strengths)
    for _ in range(100):
        factor = _cholesky(likelihood.information(strengths))
        step = _solve(factor, likelihood.gradient(strengths))
        if max(map(abs, step), default=0.0) < 1e-6:
            # Near the maximum a step squares the error, and gains less than rounding loses.
            return _added(strengths, step)
        while (gained := likelihood.value(_added(strengths, step))) < value:
            step = [change / 2 for change in step]
        strengths, value = _added(strengths, step), gained
    return strengths


def _added(strengths: Sequence[float], step: Sequence[float]) -> list[float]:
    return [strength + change for strength, change in zip(strengths, step, strict=True)]


def _deviations(likelihood: _Likelihood, strengths: Sequence[float]) -> list[float]:
    """The standard deviation of each strength's difference from their mean.

    With the curvature H and the gradient's covariance J, the strengths have the covariance
    H^-1 J H^-1 (Godambe, 1960).
    """
    size = len(strengths)
    factor = _cholesky(likelihood.information(strengths))
    covariance = likelihood.information(strengths, of_draws=True)
    deviations = []
    for i in range(size):
        contrast = [-1 / size] * size
        contrast[i] += 1
        column = _solve(factor, contrast)
        spread = [sum(map(mul, row, column)) for row in covariance]
        deviations.append(math.sqrt(sum(map(mul, column, spread))))
    return deviations


def _cholesky(matrix: Matrix) -> Matrix:
    """The rows, each up to its diagonal, of the L for which L times its transpose is the matrix."""
    rows: Matrix = []
    for i, source in enumerate(matrix):
        row: list[float] = []
        for j, other in enumerate(rows):
            row.append((source[j] - sum(map(mul, row, other))) / other[j])
        row.append(math.sqrt(source[i] - sum(map(mul, row, row))))
        rows.append(row)
    return rows


def _solve(factor: Matrix, target: Sequence[float]) -> list[float]:
    """The x for which L times its transpose times x is the target."""
    forward: list[float] = []
    for row, value in zip(factor, target, strict=True):
        forward.append((value - sum(map(mul, row, forward))) / row[-1])
    for i in reversed(range(len(forward))):
        row = factor[i]
        forward[i] /= row[i]
        solved = forward[i]
        for j in range(i):
            forward[j] -= row[j] * solved
    return forward
