"""The sequential probability ratio test: is the candidate stronger than the baseline?

After each match, the log-likelihood ratio (LLR) of "the difference is elo1" against "the
difference is elo0" is compared with two bounds; past the upper one elo1 is accepted, past the
lower one elo0, and in between the test goes on (Wald, Sequential Analysis, 1947).

The hypotheses say nothing of how often matches are drawn or split, so each side of the ratio is
the likelihood at its own best fit to the results so far: the generalised test, GSPRT. Its fits
and normalized Elo follow M. Van den Bergh's notes on them (hardy.uhasselt.be/Fishtest), as the
testing of chess programs does. What is counted are whole matches, an opening played from both
seats: the two games of such a pair depend on each other, the scores of pairs do not.

With p the observed shares and a the scores of the cells, a fit maximises sum(p log q) over
distributions q. Logistic Elo fixes the mean of q. Normalized Elo fixes how many of its own
standard deviations the mean lies above one half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from arena.ratings.elo import cell_scores, elo_of, expected_score, observed
from engine.translation import gettext

Model = Literal["normalized", "logistic"]

NELO_UNIT = 800 / math.log(10)
"""Normalized Elo of a mean one standard deviation of a game above one half. For even, drawless
games, whose deviation is one half, it makes normalized and logistic Elo agree."""

_MAX_T = 0.8
"""Past this many deviations of a match the fit has no safe start, and no need of a test."""

_ROUNDING = 1e-15
"""What a sum of terms that cancel each other is off by, of the sum of their sizes and for each."""


class Decision(StrEnum):
    """What a test says after the matches so far."""

    CONTINUE = "continue"
    ACCEPT = "accept"
    """elo1 is accepted: the candidate is stronger."""
    REJECT = "reject"
    """elo0 is accepted: the candidate is not stronger by what was asked for."""
    UNDECIDED = "undecided"
    """The greatest number of matches was played, and neither was accepted."""


@dataclass(frozen=True)
class Sprt:
    """A test of elo0 against elo1, wrong with a probability of about alpha or beta at most.

    Counts are numbers of matches by score, from the worst to the best in equal steps: three
    cells for single games (loss, draw, win), five for game pairs (0, 0.5, 1, 1.5 and 2 points),
    in general two a game and one. Counts that cannot occur are 0, and are given all the same:
    normalized Elo is about one game, and takes a match of n cells for (n - 1) / 2 games unless
    `games_per_match` says otherwise.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Probability of accepting elo1 when elo0 is true."""
    beta: float = 0.05
    """Probability of accepting elo0 when elo1 is true."""
    model: Model = "normalized"
    min_matches: int = 16
    """The fewest matches that decide anything: the spread of the results, which the fits rest on,
    cannot be told from a few, least of all when they are all alike."""
    max_matches: int | None = None
    """How many matches end the test undecided. Without it a test whose truth lies midway between
    the hypotheses can take very long, and nothing but draws under elo0 = -elo1 for ever."""
    games_per_match: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise ValueError(
                gettext(
                    "elo0 must be less than elo1, not %(elo0)s and %(elo1)s",
                    elo0=self.elo0,
                    elo1=self.elo1,
                )
            )
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(
                gettext(
                    "alpha and beta must be above 0 and add up to less than 1, not %(alpha)s and "
                    "%(beta)s",
                    alpha=self.alpha,
                    beta=self.beta,
                )
            )
        if self.model not in ("normalized", "logistic"):
            raise ValueError(f"the model is 'normalized' or 'logistic', not {self.model!r}")
        if self.max_matches is not None and self.max_matches < self.min_matches:
            raise ValueError(
                gettext(
                    "max_matches (%(most)s) is less than min_matches (%(least)s)",
                    most=self.max_matches,
                    least=self.min_matches,
                )
            )

    @property
    def lower(self) -> float:
        """The LLR at or below which elo0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR at or above which elo1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[int]) -> float:
        """The log-likelihood ratio of elo1 against elo0, as a natural logarithm.

        Raises:
            ValueError: fewer than two cells, a negative count, or an elo that is so far from 0
                that a handful of matches shows it.
        """
        total, shares = observed(counts)
        fit0, fit1 = self._fit(shares, self.elo0), self._fit(shares, self.elo1)
        return total * sum(
            p * math.log(q1 / q0) for p, q0, q1 in zip(shares, fit0, fit1, strict=True)
        )

    def decide(self, counts: Sequence[int]) -> Decision:
        """What the matches so far say. To be asked after each match; the first answer other than
        CONTINUE ends the test.

        Raises:
            ValueError: as for `llr`.
        """
        played = sum(counts)
        llr = self.llr(counts)
        if played >= self.min_matches:
            if llr >= self.upper:
                return Decision.ACCEPT
            if llr <= self.lower:
                return Decision.REJECT
        if self.max_matches is not None and played >= self.max_matches:
            return Decision.UNDECIDED
        return Decision.CONTINUE

    def _fit(self, shares: Sequence[float], elo: float) -> list[float]:
        deviations = math.sqrt(self.games_per_match or (len(shares) - 1) / 2) / NELO_UNIT
        # No score stands for more logistic Elo than elo_of(1).
        limit = elo_of(1) if self.model == "logistic" else _MAX_T / deviations
        if abs(elo) > limit:
            raise ValueError(
                gettext(
                    "a %(model)s Elo of %(elo)s needs no sequential test; use less than %(limit)s",
                    model=self.model,
                    elo=f"{elo:g}",
                    limit=f"{limit:.0f}",
                )
            )
        if self.model == "logistic":
            return _fit_mean(shares, expected_score(elo))
        return _fit_t(shares, elo * deviations)


def _fit_mean(shares: Sequence[float], mean: float) -> list[float]:
    """The likeliest distribution under which the score has this mean, between 0 and 1."""
    return _tilt(shares, [score - mean for score in cell_scores(len(shares))])


def _fit_t(shares: Sequence[float], t: float) -> list[float]:
    """The likeliest distribution whose mean lies t of its standard deviations above one half.

    The condition, mean - 1/2 - t * deviation = 0, is not linear in the distribution. Around
    one with mean m and deviation d, it is to first order that the values
    a - 1/2 - t/2 * (d + (a - m)^2 / d) have the mean 0, for which the fit is exact. That is
    repeated from the new m and d until it stands still.
    """
    scores = cell_scores(len(shares))
    fit = [1 / len(shares)] * len(shares)
    for _ in range(100):
        mean = sum(q * a for q, a in zip(fit, scores, strict=True))
        deviation = math.sqrt(sum(q * (a - mean) ** 2 for q, a in zip(fit, scores, strict=True)))
        values = [a - 0.5 - t / 2 * (deviation + (a - mean) ** 2 / deviation) for a in scores]
        last, fit = fit, _tilt(shares, values)
        if max(abs(q - q0) for q, q0 in zip(fit, last, strict=True)) < 1e-10:
            break
    return fit


def _tilt(shares: Sequence[float], values: Sequence[float]) -> list[float]:
    """The likeliest distribution under which ``values``, of both signs, have the mean 0.

    By a Lagrange multiplier it is q = p / (1 + x * value), with the one x for which the mean is
    0 while no q is negative or above 1. The mean falls with x. Newton's steps that leave what is
    left of the interval are replaced by its middle; so are those from where the mean has hardly
    become less, as beside a pole, where steps are small though the mean is large.
    """
    pairs = [*zip(shares, values, strict=True)]
    low = max((p - 1) / value for p, value in pairs if value > 0)
    high = min((p - 1) / value for p, value in pairs if value < 0)
    x, last = 0.0, math.inf
    for _ in range(200):
        mean = slope = size = 0.0
        for p, value in pairs:
            term = value / (1 + x * value)
            mean += p * term
            size += p * abs(term)
            slope += p * term * term
        if abs(mean) <= _ROUNDING * len(values) * size:
            break
        if mean > 0:
            low = x
        else:
            high = x
        step = x + mean / slope
        if not low < step < high or abs(mean) > last / 4:
            step = (low + high) / 2
        if step == x:
            break
        last, x = abs(mean), step
    return [p / (1 + x * value) for p, value in pairs]
