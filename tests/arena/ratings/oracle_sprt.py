"""Likelihood ratios by another way than arena.ratings.sprt: slower, and with no shared step.

The likeliest distribution with a given mean m and deviation s is q = p / (1 + x (a - m) +
y ((a - m)^2 - s^2)), with the two multipliers found by Newton's method (Owen, Empirical Likelihood,
2001, chapter 3). Logistic Elo fixes m and leaves s free (y = 0); normalized Elo allows every s with
m = 1/2 + t s, of which the likeliest is found by golden section.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def llr(
    counts: Sequence[int], elo0: float, elo1: float, *, normalized: bool, empty: float = 1e-3
) -> float:
    """The log-likelihood ratio; an empty cell counts ``empty``, as in fishtest."""
    filled = [count or empty for count in counts]
    total = sum(filled)
    shares = [count / total for count in filled]
    likeliest = _normalized if normalized else _logistic
    return total * (likeliest(shares, elo1) - likeliest(shares, elo0))


def _logistic(shares: Sequence[float], elo: float) -> float:
    mean = 1 / (1 + 10 ** (-elo / 400))
    scores = [n / (len(shares) - 1) for n in range(len(shares))]
    return _best(shares, [[a - mean] for a in scores])


def _normalized(shares: Sequence[float], elo: float) -> float:
    scores = [n / (len(shares) - 1) for n in range(len(shares))]
    # A match of n cells is (n - 1) / 2 games, and has as many times the variance's inverse.
    t = elo * math.log(10) / 800 * math.sqrt((len(shares) - 1) / 2)

    def at(s: float) -> float:
        m = 0.5 + t * s
        return _best(shares, [[a - m, (a - m) ** 2 - s * s] for a in scores])

    grid = [n / 80 for n in range(1, 40)] + [0.4999]
    best = max(range(len(grid)), key=lambda n: at(grid[n]))
    low = grid[best - 1] if best else 1e-3
    high = grid[best + 1] if best + 1 < len(grid) else 0.5
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    f_left, f_right = at(left), at(right)
    while high - low > 1e-7:
        if f_left > f_right:
            high, right, f_right = right, left, f_left
            left = high - ratio * (high - low)
            f_left = at(left)
        else:
            low, left, f_left = left, right, f_right
            right = low + ratio * (high - low)
            f_right = at(right)
    return at((low + high) / 2)


def _best(shares: Sequence[float], rows: Sequence[Sequence[float]]) -> float:
    """The greatest sum of p log(q / p) over q with the mean of every column of rows 0."""
    width = len(rows[0])
    x = [0.0] * width

    def value(at: Sequence[float]) -> float:
        total = 0.0
        for p, row in zip(shares, rows, strict=True):
            term = 1 + sum(map(float.__mul__, at, row))
            if term <= 0:
                return math.inf
            total -= p * math.log(term)
        return total

    for _ in range(60):
        gradient = [0.0] * width
        hessian = [[0.0] * width for _ in range(width)]
        for p, row in zip(shares, rows, strict=True):
            term = 1 + sum(map(float.__mul__, x, row))
            for i in range(width):
                gradient[i] -= p * row[i] / term
                for j in range(width):
                    hessian[i][j] += p * row[i] * row[j] / term**2
        step = _solve(hessian, gradient)
        size, before = 1.0, value(x)
        while value([a - size * b for a, b in zip(x, step, strict=True)]) > before and size > 1e-12:
            size /= 2
        x = [a - size * b for a, b in zip(x, step, strict=True)]
        if max(map(abs, step)) < 1e-13:
            break
    return value(x)


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    if len(right) == 1:
        return [right[0] / matrix[0][0]]
    (a, b), (c, d) = matrix
    det = a * d - b * c
    return [(right[0] * d - b * right[1]) / det, (a * right[1] - c * right[0]) / det]
