"""TrueSkill: what one game does to the ratings of those who played it.

A bot's strength is believed to be normal, with mean mu and deviation sigma; a game turns
beliefs into the ones that its result leaves (Herbrich, Minka and Graepel, TrueSkill: A Bayesian
Skill Rating System, 2007). Between two sides the posterior has a closed form (theirs of
section 4; J. Moser, The Math Behind TrueSkill, 2010); three sides and more are compared pair by
pair (`arena.ratings.performances`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, sqrt
from statistics import NormalDist

from arena.ratings.elo import Z95
from arena.ratings.performances import Performance, factors, pulls
from arena.ratings.result import weights
from engine.speed import maker

MU = 25.0
SIGMA = 25 / 3

NEW_VERSION_SIGMA = 5.0

_DISPLAY_CENTRE = 1500
_DISPLAY_SCALE = 47
"""Points shown for one unit of mu: about those of Elo, as differences of 200 Elo and of beta
(25 / 6 units, 196 points) both stand for a win in three games of four."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A belief about a strength."""

    mu: float = MU
    sigma: float = SIGMA

    @property
    def conservative(self) -> float:
        """What the strength almost surely exceeds; leaderboards sort by it."""
        return self.mu - 3 * self.sigma

    @property
    def display(self) -> float:
        """The number that people see; a new bot's is 1500."""
        return _DISPLAY_CENTRE + _DISPLAY_SCALE * (self.mu - MU)

    @property
    def display_margin(self) -> float:
        """How far the 95 % interval reaches to each side of `display`."""
        return Z95 * _DISPLAY_SCALE * self.sigma

    def outperforms(self, other: Rating) -> float:
        """The probability that it performs better than another (Herbrich et al., 2007)."""
        spread = (2 * (SIGMA / 2) ** 2 + self.sigma**2 + other.sigma**2) ** 0.5
        return NormalDist().cdf((self.mu - other.mu) / spread)

    def loosened(self) -> Rating:
        """What is believed of the next version of the bot, or of one that comes back: much the
        same, but less firmly.

        Who chooses among past versions chooses the luckiest, and its luck would else stay.
        """
        return Rating(self.mu, max(self.sigma, NEW_VERSION_SIGMA))


new_rating = maker(Rating)


@dataclass(frozen=True)
class TrueSkill:
    """The constants of a ladder, and the update they define.

    Raises:
        ValueError: a draw probability outside 0 <= p < 1, or a beta or tau below 0.
    """

    draw_probability: float
    """The probability of a draw between equals; 0 only where the rules know no draw."""
    beta: float = SIGMA / 2
    """The deviation of one performance. Who is better by so much wins three games of four."""
    tau: float = SIGMA / 100
    """The deviation that every game adds to what is believed, so that it never sets for good."""

    def __post_init__(self) -> None:
        if not 0 <= self.draw_probability < 1:
            raise ValueError(
                f"a draw probability is from 0 to below 1, not {self.draw_probability}"
            )
        if not (self.beta > 0 and self.tau >= 0):
            raise ValueError(f"beta is above 0 and tau not below, not {self.beta} and {self.tau}")

    def rate(
        self, teams: Sequence[Sequence[Rating]], ranks: Sequence[int]
    ) -> tuple[tuple[Rating, ...], ...]:
        """The ratings after a game, in the same order; ranks are of the sides, 1 is best.

        In sides of unequal size the weights of each side's players sum to 1 (see
        `result.weights`). A result so improbable that the arithmetic gives out changes nothing.

        Raises:
            ValueError: fewer than two sides, an empty one, or a draw where the draw probability
                is 0, which would make everyone less certain.
        """
        if len(teams) < 2 or len(ranks) != len(teams) or not all(teams):
            raise ValueError("a rated game has two sides or more, a rank for each, nobody missing")
        if not self.draw_probability and len(set(ranks)) < len(ranks):
            raise ValueError("a draw cannot be rated with a draw probability of 0")
        if [len(team) for team in teams] == [1, 1]:
            one, two = self.duel(teams[0][0], teams[1][0], ranks[0], ranks[1])
            return (one,), (two,)
        share = weights(teams)
        sides = [self._side(team, weight) for team, weight in zip(teams, share, strict=True)]
        try:
            pulled = pulls(sides, ranks, self._draw_quantile)
        except FloatingPointError:
            return tuple(tuple(team) for team in teams)
        return tuple(
            tuple(self._pulled(rating, weight, *pull) for rating in team)
            for team, weight, pull in zip(teams, share, pulled, strict=True)
        )

    def quality(self, first: Rating, second: Rating) -> float:
        """How even a game of these two will be: 1 at best, that of two known to be equal.

        It is the probability of a draw relative to that of such two, in the limit of few draws.
        """
        noise = 2 * self.beta**2
        total = noise + first.sigma**2 + second.sigma**2
        return sqrt(noise / total) * exp(-((first.mu - second.mu) ** 2) / (2 * total))

    def duel(self, one: Rating, two: Rating, first: int, second: int) -> tuple[Rating, Rating]:
        """`rate` for a game of two players, of these ranks: most games by far are such.

        Raises:
            ValueError: as for `rate`.
        """
        if first == second and not self.draw_probability:
            raise ValueError("a draw cannot be rated with a draw probability of 0")
        variance_one = one.sigma * one.sigma + self._drift
        variance_two = two.sigma * two.sigma + self._drift
        scale = sqrt(self._duel_noise + variance_one + variance_two)
        try:
            shift, shrink = factors(
                (one.mu - two.mu) / scale, self._duel_margin / scale, first - second
            )
        except FloatingPointError:
            return one, two
        part_one, part_two = variance_one / scale, variance_two / scale
        return (
            new_rating(
                one.mu + part_one * shift, sqrt(variance_one - part_one * part_one * shrink)
            ),
            new_rating(
                two.mu - part_two * shift, sqrt(variance_two - part_two * part_two * shrink)
            ),
        )

    def _side(self, team: Sequence[Rating], weight: float) -> Performance:
        noise = len(team) * weight**2 * self.beta**2
        spread = weight**2 * sum(rating.sigma**2 + self._drift for rating in team)
        return Performance(weight * sum(rating.mu for rating in team), noise + spread, noise)

    def _pulled(self, rating: Rating, weight: float, shift: float, shrink: float) -> Rating:
        variance = rating.sigma**2 + self._drift
        part = weight * variance
        return new_rating(rating.mu + part * shift, sqrt(variance - part * part * shrink))

    @cached_property
    def _drift(self) -> float:
        return self.tau**2

    @cached_property
    def _draw_quantile(self) -> float:
        # Times the deviation of the two performances' difference it is the lead up to which a
        # game is drawn: it makes the draw probability that of sides known to be equal.
        return NormalDist().inv_cdf((self.draw_probability + 1) / 2)

    @cached_property
    def _duel_noise(self) -> float:
        return 2 * self.beta**2

    @cached_property
    def _duel_margin(self) -> float:
        return self._draw_quantile * sqrt(self._duel_noise)
