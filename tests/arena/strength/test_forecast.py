"""What is expected of tests: beside another program, other formulas, and tests themselves."""

from __future__ import annotations

import math
from itertools import accumulate
from random import Random
from statistics import NormalDist, fmean, stdev

import pytest

from arena.ratings.elo import elo_of
from arena.ratings.sprt import Decision, Sprt
from arena.strength.forecast import POINTS, curve, forecast
from arena.strength.terms import StrengthTerms

SPRTA = [(-2, 0.05, 16951), (0, 5.00, 39909), (2, 85.89, 51884)]
"""M. Van den Bergh's sprta.py, as he showed it on talkchess.com: a test of 0 against 4 BayesElo
with a draw_elo of 250; the true logistic Elo, the chance to pass in per cent, and the games."""


@pytest.mark.parametrize(("elo", "passes", "games"), SPRTA)
def test_it_agrees_with_sprta(elo: int, passes: float, games: int) -> None:
    """But for the LLR's end beyond its bounds, which it leaves out: half a per cent of the games.

    A BayesElo of b wins 1 / (1 + 10 ** ((250 - b) / 400)) of the games, and loses likewise by -b.
    """
    wins, losses = (1 / (1 + 10 ** ((250 - b) / 400)) for b in (4, -4))
    draws = 1 - 2 / (1 + 10 ** (250 / 400))
    terms = StrengthTerms(0, elo_of(wins + (1 - wins - losses) / 2), model="logistic")
    found = forecast(terms, 1, elo, draws=draws)
    assert 100 * found.passes == pytest.approx(passes, abs=0.06)
    assert found.games == pytest.approx(games, rel=0.005)


def test_its_errors_are_those_that_were_asked_for() -> None:
    """Wald's bounds: at the hypotheses it passes with alpha and 1 - beta, where steps are small."""
    terms = StrengthTerms(0, 2, alpha=0.02, beta=0.1)
    low, high = (forecast(terms, 2, elo) for elo in (0, 2))
    assert low.passes == pytest.approx(0.02, abs=0.001)
    assert high.passes == pytest.approx(0.9, abs=0.002)
    # Halving the distance costs four times as many games (docs/strength-tests.md).
    half = forecast(StrengthTerms(0, 1, alpha=0.02, beta=0.1), 2, 0)
    assert half.games / low.games == pytest.approx(4, rel=0.02)


def test_draws_count_for_logistic_elo_alone() -> None:
    """Three of four games drawn leave a quarter of the variance, and need a quarter of games."""
    logistic, normalized = StrengthTerms(0, 2, model="logistic"), StrengthTerms(0, 2)
    few, many = (forecast(logistic, 2, 0, draws=share).games for share in (0, 0.75))
    assert few / many == pytest.approx(4, rel=0.03)
    assert forecast(normalized, 2, 0, draws=0) == forecast(normalized, 2, 0, draws=0.75)


def test_a_fixed_number_passes_by_its_interval() -> None:
    """400 games between bots that never draw: a score of 0.55 is two of its spreads, of 0.025,
    above one half, so that the interval lies above zero with the chance of z > 1.96 - 2.
    """
    found = forecast(StrengthTerms(games=400, model="logistic"), 2, elo_of(0.55), draws=0)
    spread = math.sqrt(0.55 * 0.45 / 400)
    assert found.passes == pytest.approx(NormalDist().cdf(0.05 / spread - 1.959964), abs=1e-6)
    assert found.passes == pytest.approx(0.516, abs=0.005)  # 1 - Phi(-0.04)
    assert found.games == 400
    none = forecast(StrengthTerms(games=399), 2, 0)
    assert (none.games, none.undecided) == (400, pytest.approx(0.95))


def test_a_limit_cuts_it_off() -> None:
    """Early it is a walk without bounds; late it is as without a limit; it never takes more."""
    terms = [StrengthTerms(0, 5, max_games=most) for most in (2000, 10**6)]
    short, long = (forecast(one, 2, 2.5) for one in terms)
    assert long.passes == pytest.approx(0.5, abs=0.001)
    assert long.games == pytest.approx(forecast(StrengthTerms(0, 5), 2, 2.5).games, rel=1e-6)
    # By the reflection principle a walk from 0 was beyond b, or -b, by time t with the chance
    # 4 (1 - Phi(b / sqrt(v t))), less what was beyond both, which is nothing here.
    gap = 5 * math.sqrt(2) / (800 / math.log(10))
    bound = math.log(19) + 0.583 * gap
    left = 4 * (1 - NormalDist().cdf(bound / (gap * math.sqrt(1000))))
    assert 1 - short.undecided == pytest.approx(left, rel=1e-3)
    assert short.passes == pytest.approx(short.fails)
    assert short.games <= 2000


@pytest.mark.parametrize(
    ("terms", "games_a_match"),
    [
        (StrengthTerms(), 2),
        (StrengthTerms(-10, 0, max_games=500), 2),
        (StrengthTerms(0, 3, model="logistic", max_games=20_000), 6),
        (StrengthTerms(games=30), 2),
        (StrengthTerms(games=1000, model="logistic"), 2),
        (StrengthTerms(0, 0.001, max_games=200_000), 2),
        (StrengthTerms(0, 1e-300, max_games=32), 2),
        (StrengthTerms(0, 1e-300, model="logistic", max_games=32), 2),
        (StrengthTerms(-300, 300, alpha=1e-9, beta=0.4, max_games=32), 2),
    ],
    ids=str,
)
def test_a_curve_rises(terms: StrengthTerms, games_a_match: int) -> None:
    """It does from hardly ever to nearly always, unless the limit cuts it off; all are shares."""
    points = curve(terms, games_a_match, draws=0.3)
    passes = [point.passes for point in points]
    assert len(points) == POINTS
    assert passes == pytest.approx(list(accumulate(passes, max)), abs=1e-9)
    assert all(0 <= one.fails <= 1 and 0 <= one.undecided <= 1 for one in points)
    most = terms.most_matches(games_a_match)
    assert all(0 < one.games <= max(most or math.inf, 16) * games_a_match for one in points)


@pytest.mark.parametrize("draws", [-0.1, 1.0, math.nan])
def test_what_is_no_share_of_draws_is_refused(draws: float) -> None:
    """Nothing is left that could decide if all games are drawn."""
    with pytest.raises(ValueError, match="share of draws"):
        forecast(StrengthTerms(), 2, 0, draws=draws)


@pytest.mark.parametrize("terms", [{"alpha": 1e-10}, {"beta": 1e-300}, {"alpha": 5e-324}])
def test_what_is_too_sure_is_not_foretold(terms: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="down to an alpha and a beta of 1e-09"):
        curve(StrengthTerms(max_games=20_000, **terms), 2)


@pytest.mark.long
@pytest.mark.parametrize("elo", [0, 60])
def test_tests_come_out_as_foretold(elo: float) -> None:
    """50 tests of the arena's own, of pairs of games without draws, by a seed: the chance to pass
    and the games, within what chance explains of so many. (More are in docs/strength-tests.md.)
    """
    tests = 50
    terms = StrengthTerms(0, 100)
    # By how many of its spreads, of one half, the score of such a game is above one half.
    share = 0.5 + elo * math.log(10) / 800 / 2
    random, sprt, passed, games = Random(7), Sprt(0, 100, max_matches=400), 0, list[int]()
    for _number in range(tests):
        counts = [0] * 5
        while (decision := sprt.decide(counts)) is Decision.CONTINUE:
            counts[2 * sum(random.random() < share for _game in range(2))] += 1
        passed += decision is Decision.ACCEPT
        games.append(2 * sum(counts))
    found = forecast(terms, 2, elo)
    spread = math.sqrt(found.passes * (1 - found.passes) / tests)
    assert passed / tests == pytest.approx(found.passes, abs=3 * spread)
    spread = stdev(games) / math.sqrt(tests)
    assert fmean(games) == pytest.approx(found.games, abs=3 * spread)
