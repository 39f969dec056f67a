"""Elo of a series of matches between two bots, with its interval.

A score s, the mean share of the points, stands for the Elo difference 400 log10(s / (1 - s))
(Elo, The Rating of Chessplayers, 1978). The interval carries that of the mean score over; the
score's spread is taken from the matches themselves, so that draws, and pairs of games that
depend on each other, narrow it as they should.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from engine.translation import N_, gettext, translated

EMPTY_CELL = 1e-3
"""What an empty cell counts for, so that neither a spread nor a likelihood is zero."""

Z95 = NormalDist().inv_cdf(0.975)
"""Standard deviations that a 95 % interval reaches to each side."""

_LEAST_SCORE = 1e-3
"""A score so close to 0 or 1 stands for 1200 Elo, and so does one that is closer still."""

FEWEST_MATCHES = 10
"""The fewest matches of which an Elo is told: the intervals of ten pairs are some 300 wide
already."""
FEWEST_GAMES = 2 * FEWEST_MATCHES
TOO_FEW = N_("too few games to say")
FINE = 100
"""An Elo whose interval is narrower is told with a decimal."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The strength of the first bot over the second."""

    elo: float
    lower: float
    """The lower end of the 95 % interval."""
    upper: float
    """The upper end of the 95 % interval."""
    los: float
    """Likelihood of superiority: the probability that the first bot is the stronger one."""
    matches: int
    """How many matches it was measured by."""

    @property
    def tells(self) -> bool:
        """Whether it is for people: it rests on enough matches, and knows a bound at least."""
        return self.matches >= FEWEST_MATCHES and (self._has_lower or self._has_upper)

    @property
    def has_bounds(self) -> bool:
        """Whether its interval ends on either side: past what a score can stand for none does."""
        return self._has_lower and self._has_upper

    @property
    def _has_lower(self) -> bool:
        return self.lower > elo_of(0)

    @property
    def _has_upper(self) -> bool:
        return self.upper < elo_of(1)

    @property
    def words(self) -> str:
        """Words for people: ``-21.3 [-30.1, -12.2]``, or of nothing but wins ``above +234``."""
        if not self.tells:
            return translated(TOO_FEW)
        elo, lower, upper = (signed(x, self._digits) for x in (self.elo, self.lower, self.upper))
        if not self.has_bounds:
            if self._has_lower:
                return gettext("above %(elo)s", elo=lower)
            return gettext("below %(elo)s", elo=upper)
        return f"{elo} [{lower}, {upper}]"

    @property
    def measured(self) -> str:
        """Words as ``-94 ±36``, where the interval is about as wide to either side."""
        half = (self.upper - self.lower) / 2
        is_even = abs((self.upper + self.lower) / 2 - self.elo) < half / 10
        if not (is_even and self.tells and self.has_bounds):
            return self.words
        return f"{signed(self.elo, self._digits)} ±{half:.{self._digits}f}"

    @property
    def sure(self) -> str:
        """The LOS for people: nothing is sure, however many nines it has."""
        if self.los > 0.9995:
            return ">99.9%"
        return "<0.1%" if self.los < 0.0005 else f"{self.los:.1%}"

    @property
    def _digits(self) -> int:
        return 1 if self.upper - self.lower < FINE else 0

    def to_json(self) -> dict[str, Any]:
        """The estimate as JSON's types."""
        # Adding zero makes a zero of minus zero.
        elo, lower, upper = (round(x, 3) + 0.0 for x in (self.elo, self.lower, self.upper))
        return {"elo": elo, "elo_95": [lower, upper], "los": round(self.los, 6)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Estimate:
        """The estimate that `to_json` told, among whatever else there is, the matches too."""
        lower, upper = data["elo_95"]
        return cls(data["elo"], lower, upper, data["los"], data["matches"])


def estimate(counts: Sequence[int]) -> Estimate:
    """The Elo that the counts show; see `observed` for what they are.

    Everything is finite, and within 1200 Elo of zero. Mean and deviation come from the counts,
    the interval and the LOS from the normal distribution. That would be sure of itself after a
    single game, whose deviation is zero; so neither may be more certain than the mere number n
    of matches allows. Results of a kind not seen in n matches have a share of up to
    1 - 0.025 ** (1 / n) (with 97.5 % confidence: Clopper and Pearson, 1934), which the interval
    leaves room for at either end; and n matches, won all, leave 0.5 ** (n + 1) for the
    opponent's being stronger (Bayes' rule, from a uniform prior).

    Raises:
        ValueError: as for `observed`.
    """
    total, shares = observed(counts)
    scores = cell_scores(len(shares))
    mean = sum(p * a for p, a in zip(shares, scores, strict=True))
    variance = sum(p * (a - mean) ** 2 for p, a in zip(shares, scores, strict=True))
    deviation = math.sqrt(variance / total)
    matches = sum(counts)
    unseen = 1 - 0.025 ** (1 / matches) if matches else 1.0
    doubt = 0.5 ** (matches + 1)
    return Estimate(
        elo=elo_of(mean),
        lower=elo_of(min(mean - Z95 * deviation, mean * (1 - unseen))),
        upper=elo_of(max(mean + Z95 * deviation, 1 - (1 - mean) * (1 - unseen))),
        los=min(max(NormalDist().cdf((mean - 0.5) / deviation), doubt), 1 - doubt),
        matches=matches,
    )


def expected_score(elo: float) -> float:
    """The mean score that an Elo difference stands for."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of(score: float) -> float:
    """The Elo difference that a mean score stands for, within 1200 of zero."""
    score = min(max(score, _LEAST_SCORE), 1 - _LEAST_SCORE)
    return 400 * math.log10(score / (1 - score))


def signed(elo: float, digits: int = 0) -> str:
    """An Elo difference as people read it: with its sign, and no zero below zero."""
    return f"{elo:+z.{digits}f}"


def observed(counts: Sequence[int]) -> tuple[float, list[float]]:
    """The number of matches, and each cell's share; an empty cell counts as EMPTY_CELL.

    Counts are numbers of matches by their score, from the worst to the best in equal steps:
    three cells for single games (loss, draw, win), five for pairs of games (0, 0.5, 1, 1.5 and
    2 points), and so on.

    Raises:
        ValueError: fewer than two cells, or a negative count.
    """
    if len(counts) < 2 or min(counts) < 0:
        raise ValueError(f"counts are two numbers or more, none below 0, not {list(counts)}")
    filled = [count or EMPTY_CELL for count in counts]
    total = sum(filled)
    return total, [count / total for count in filled]


def cell_scores(cells: int) -> list[float]:
    """The scores of so many cells, from 0 to 1 in equal steps."""
    return [cell / (cells - 1) for cell in range(cells)]
