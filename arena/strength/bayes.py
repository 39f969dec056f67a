"""Where to look next among few numbers and noisy games: Bayesian optimisation.

The share that is won against one and the same opponent is taken for a Gaussian process over the
numbers, each scaled to its range: in the mean even, and smooth. How far the games of a trial can be
from the truth is known by how many they are, so a number that was lucky in a few is not believed
at once. The next trial is where the mean and `BOLDNESS` standard deviations come highest (an upper
confidence bound; Srinivas and others, "Gaussian Process Optimization in the Bandit Setting", 2010).

The work is done by bayesian-optimization and the scikit-learn below it, which the extra ``tune``
brings; nothing of them is loaded before the first suggestion. The same trials and seed give the
same suggestion, on machines that compute alike to the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from random import Random
from typing import NamedTuple

from engine.translation import gettext

Point = tuple[float, ...]
"""A value for each number, from 0 at its least to 1 at its most."""

BOLDNESS = 1.5
SMOOTH = (0.3, 3.0)
"""The part of the range over which a result tells something of its neighbours, from and to."""
SPREAD = (0.003, 1.0)
"""The variance of shares over the range, from and to."""
GAME_VARIANCE = 0.25
"""The variance of a game that is won or lost by the toss of a coin: no game has more."""
LOOKS, CLIMBS = 2000, 4
"""How many points, drawn by lot, are looked at, and from how many of them the highest is climbed
to."""
ALL_ABOUT = 1e-6
"""The variance of what is certain."""


class NotInstalledError(ImportError):
    """What suggests is not here; it says what to install."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What was won at a point."""

    point: Point
    share: float
    """The share that came of it, from 0 to 1."""
    games: int


def is_installed() -> bool:
    """Whether there is something here to suggest by; it is not loaded."""
    return find_spec("bayes_opt") is not None


def demand_installed() -> None:
    """Raises: NotInstalledError: there is nothing here to suggest by."""
    try:
        import bayes_opt  # noqa: F401
    except ImportError as error:
        raise NotInstalledError(
            gettext(
                "Bayesian optimisation needs pip install 'game-bot-arena[tune]' (%(error)s)",
                error=error,
            )
        ) from error


class Aim(NamedTuple):
    """What trials say."""

    next: Point
    """Where to try next."""
    best: Point
    """Where the most is to be expected by what is known."""
    share: float
    """How much is to be expected there."""
    deviation: float
    """The standard deviation of that."""


def aim(start: Point, trials: Sequence[Tried], seed: int) -> Aim:
    """What some trials say; the first are drawn by lot.

    Args:
        start: where a share of one half is certain, since it is the opponent's own.
    """
    dice = Random(seed)
    drawn = tuple(dice.random() for _ in start)
    if not trials:
        return Aim(drawn, start, 0.5, 0.0)
    demand_installed()
    import numpy
    from bayes_opt import TargetSpace
    from bayes_opt.acquisition import UpperConfidenceBound
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    from threadpoolctl import threadpool_limits

    names = [f"number {number}" for number in range(len(start))]
    space = TargetSpace(None, dict.fromkeys(names, (0.0, 1.0)))
    points, shares, variances = zip(*_known(start, trials), strict=True)
    for point, share in zip(points, shares, strict=True):
        space.register(numpy.array(point), share - 0.5)
    kernel = ConstantKernel(0.05, SPREAD) * RBF(0.5, SMOOTH)
    process = GaussianProcessRegressor(kernel, alpha=numpy.array(variances))

    def highest(boldness: float) -> Point:
        found = UpperConfidenceBound(kappa=boldness).suggest(
            process, space, LOOKS, CLIMBS, fit_gp=False, random_state=seed % 2**32
        )
        return tuple(map(float, found))

    # Matrices so small are slower on several cores, and what they come to depends on their number.
    with warnings.catch_warnings(), threadpool_limits(1):
        # That a bound of the kernel was reached is what it is there for.
        warnings.simplefilter("ignore")
        process.fit(numpy.array(points), numpy.array(shares) - 0.5)
        is_new = len(trials) < 2 * len(start) + 2
        best = highest(0.0)
        (ahead,), (deviation,) = process.predict(numpy.array([best]), return_std=True)
        following = drawn if is_new else highest(BOLDNESS)
        return Aim(following, best, 0.5 + float(ahead), float(deviation))


def _known(start: Point, trials: Sequence[Tried]) -> list[tuple[Point, float, float]]:
    """Each point once, with its share and the variance of that."""
    sums: dict[Point, tuple[float, int]] = {}
    for one in trials:
        won, games = sums.get(one.point, (0.0, 0))
        sums[one.point] = won + one.share * one.games, games + one.games
    sums.pop(start, None)
    found = [(start, 0.5, ALL_ABOUT)]
    found += [(point, won / games, GAME_VARIANCE / games) for point, (won, games) in sums.items()]
    return found
