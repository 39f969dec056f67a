"""What a strength test is likely to take and to say, before it begins.

Theory of operation. Each match moves the LLR by about the same mean and spread, whatever it is by
then, so that over many matches it is a Brownian motion with a drift between the two bounds: Wald's
approximations (Sequential Analysis, 1947), which are exact for such a motion. Where the candidate
is truly stronger by m of the spreads of a match's score, and the hypotheses are m0 and m1, its
drift is (m1 - m0) (m - (m0 + m1) / 2) a match, and its variance (m1 - m0) squared. Three things
are corrected: the LLR ends a little beyond a bound and not on it, which is as if the bounds lay
0.583 spreads further out (Siegmund, Sequential Analysis, 1985, chapter III); a test with a limit
of games is a motion of which only the time until then is looked at (the series of Darling and
Siegert, The First Passage Problem for a Continuous Markov Process, 1953); and nothing is decided
in the first matches.

Normalized Elo says m itself. For logistic Elo it takes how often games are drawn: a draw of two
bots leaves less spread. The games of a match count as independent; where openings favour a seat
the spread of a pair is less, and logistic tests then take fewer games than is told here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from arena.ratings.elo import Z95, elo_of, expected_score
from arena.ratings.sprt import NELO_UNIT, Sprt
from arena.strength.terms import StrengthTerms
from engine.translation import gettext

OVERSHOOT = 0.583
"""How many spreads of a match the LLR ends beyond its bound, in the mean (Siegmund)."""
POINTS = 25
"""How many points a curve has; with an odd number the middle is one."""
USUAL_DRAWS = 0.05
"""The share of draws where nothing is known of it."""
SUREST = 1e-9
"""The least alpha and beta of which a forecast is made: with less its series is of numbers so large
that nothing is left of what they differ by."""
_NORMAL = NormalDist()
_FAR = 9.0
"""No motion goes so many spreads further than its drift takes it, but once in 10^18."""
_NEGLIGIBLE = 40.0
"""Terms of a series are left out from where e is raised to less than minus this."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is to be expected of a test, if the difference is truly so large."""

    elo: float
    """The true difference, in the unit of the test."""
    passes: float
    """How likely it passes."""
    fails: float
    games: float
    """How many it takes in the mean."""

    @property
    def undecided(self) -> float:
        """How likely it is not decided at its limit."""
        return max(0.0, 1 - self.passes - self.fails)

    def to_json(self) -> dict[str, Any]:
        """The forecast as JSON's types."""
        return {
            "elo": round(self.elo, 3) + 0.0,
            "passes": round(self.passes, 6),
            "fails": round(self.fails, 6),
            "games": round(self.games, 1),
        }


def forecast(
    terms: StrengthTerms, games_a_match: int, elo: float, *, draws: float = USUAL_DRAWS
) -> Forecast:
    """What is to be expected of a test.

    Args:
        elo: the true difference, in the unit of the terms.
        draws: the share of games that are drawn between equals; it falls with the difference.

    Raises:
        ValueError: a test can't have these terms, or the share is none.
    """
    if not 0 <= draws < 1:
        raise ValueError(
            gettext(
                "the share of draws is 0 or more and less than 1, not %(share)s", share=f"{draws:g}"
            )
        )
    truth = _spreads(terms, games_a_match, elo, draws)
    most = terms.most_matches(games_a_match)
    if terms.games is not None:
        assert most is not None
        shift = math.sqrt(most) * truth
        passes, fails = _NORMAL.cdf(shift - Z95), _NORMAL.cdf(-shift - Z95)
        return Forecast(elo, passes, fails, float(most * games_a_match))
    sprt = terms.sprt(games_a_match, most)
    if min(terms.alpha, terms.beta) < SUREST:
        raise ValueError(
            gettext(
                "a forecast is made down to an alpha and a beta of %(least)s", least=f"{SUREST:g}"
            )
        )
    low, high = (
        _spreads(terms, games_a_match, one, draws, at=elo) for one in (terms.elo0, terms.elo1)
    )
    gap = high - low
    passes, fails, matches = _first_passage(
        (truth - (low + high) / 2) * gap,
        gap**2,
        sprt.lower - OVERSHOOT * gap,
        sprt.upper + OVERSHOOT * gap,
        most,
    )
    matches = max(matches, float(Sprt.min_matches))
    return Forecast(elo, passes, fails, matches * games_a_match)


def curve(
    terms: StrengthTerms, games_a_match: int, *, draws: float = USUAL_DRAWS
) -> list[Forecast]:
    """What is to be expected by true difference, in equal steps from where it surely fails to
    where it surely passes, with the middle between the two.

    Raises:
        ValueError: as for `forecast`.
    """
    middle, reach = (terms.elo0 + terms.elo1) / 2, 1.5 * (terms.elo1 - terms.elo0)
    if terms.games is not None:
        most = terms.most_matches(games_a_match) or 1
        middle, far = 0.0, 4 / math.sqrt(most)
        if terms.model == "normalized":
            reach = far * NELO_UNIT / math.sqrt(games_a_match)
        else:
            reach = elo_of(0.5 + far * math.sqrt((1 - draws) / 4 / games_a_match))
    steps = [middle + reach * (2 * point / (POINTS - 1) - 1) for point in range(POINTS)]
    return [forecast(terms, games_a_match, elo, draws=draws) for elo in steps]


def _spreads(
    terms: StrengthTerms, games_a_match: int, elo: float, draws: float, *, at: float | None = None
) -> float:
    """A difference as the mean score of a match above one half, in spreads of that score.

    Args:
        at: the difference by which the spread goes; by default the same.
    """
    if terms.model == "normalized":
        return elo * math.sqrt(games_a_match) / NELO_UNIT
    there = expected_score(elo if at is None else at)
    spread = math.sqrt(there * (1 - there) * (1 - draws) / games_a_match)
    return (expected_score(elo) - 0.5) / spread


def _first_passage(
    drift: float, variance: float, lower: float, upper: float, most: int | None
) -> tuple[float, float, float]:
    """How likely a Brownian motion from 0 leaves by its upper and by its lower bound within some
    time, and how long it takes in the mean, at most that time.

    Args:
        drift, variance: in a unit of time.
        most: that time; None for any.
    """
    if drift < 0:
        fails, passes, mean = _first_passage(-drift, variance, -upper, -lower, most)
        return passes, fails, mean
    if most is not None and drift * most + _FAR * math.sqrt(variance * most) < min(-lower, upper):
        return 0.0, 0.0, float(most)
    width = upper - lower
    rate = 2 * drift / variance
    if rate * width < 1e-9:
        passes, mean = -lower / width, -lower * upper / variance
    else:
        passes = math.expm1(rate * lower) / math.expm1(-rate * width)
        mean = (upper * passes + lower * (1 - passes)) / drift
    fails = 1 - passes
    if most is None:
        return passes, fails, mean
    late_up = late_down = late = 0.0
    slowest = drift**2 / (2 * variance)
    for number in _numbers(most * variance / width**2):
        decay = slowest + (number * math.pi / width) ** 2 * variance / 2
        size = number * math.pi * variance / width**2 * math.sin(-number * math.pi * lower / width)
        # As one power, since both of its parts may be too large for a number.
        up = size * math.exp(drift * upper / variance - decay * most) / decay
        down = size * math.exp(drift * lower / variance - decay * most) / decay
        late_up += up if number % 2 else -up
        late_down += down
        late += ((up if number % 2 else -up) + down) / decay
    passes, fails = (min(max(one, 0.0), 1.0) for one in (passes - late_up, fails - late_down))
    return passes, fails, min(max(mean - late, 0.0), float(most))


def _numbers(time: float) -> Sequence[int]:
    """The numbers of the terms of the series that matter after some time.

    In a time of 1 a motion without drift has gone the way between the bounds once.
    """
    last = math.sqrt(2 * _NEGLIGIBLE / time) / math.pi
    return range(1, min(math.ceil(last) + 2, 100_000))
