"""Order-free strengths: closed forms, a textbook's table, and simulated fields."""

import math
from collections.abc import Iterator
from itertools import combinations, permutations
from random import Random

import pytest

from arena.ratings.bradley_terry import ELO, Strength, fit
from arena.ratings.elo import elo_of, estimate
from arena.ratings.result import GameResult

NEARLY_NONE = 1e-9


def duels(wins: int, draws: int, losses: int, names: str = "ab") -> list[GameResult[str]]:
    outcomes = [(1, 2)] * wins + [(1, 1)] * draws + [(2, 1)] * losses
    return [GameResult(tuple(names), (0, 1), ranks) for ranks in outcomes]


def ranking(names: str, ranks: tuple[int, ...] | None = None) -> GameResult[str]:
    """A game of one seat a side; by default in the order of the names."""
    seats = tuple(range(len(names)))
    return GameResult(tuple(names), seats, ranks or tuple(seat + 1 for seat in seats))


def elos(results: list[GameResult[str]], prior_draws: float = NEARLY_NONE) -> dict[str, float]:
    return {name: s.elo for name, s in fit(results, prior_draws=prior_draws).items()}


@pytest.mark.parametrize(
    "counts", [(1000, 2000, 800), (100, 100, 100), (300, 0, 360), (500, 9000, 500)]
)
def test_two_players_have_the_elo_of_their_score(counts: tuple[int, int, int]) -> None:
    """Half to each side of the mean, with the interval of a series' estimate, draws and all."""
    want = estimate(counts[::-1])
    found = fit(duels(*counts), prior_draws=NEARLY_NONE)["a"]
    assert found.elo == pytest.approx(want.elo / 2, abs=1e-3)
    assert found.upper - found.lower == pytest.approx((want.upper - want.lower) / 2, rel=0.02)


def test_the_prior_has_a_closed_form() -> None:
    """9 wins and a draw with two prior draws: at the odds 9 to 1, in which either bot stands
    3 to 1 to the imagined one, expected are 10 * 0.9 + 2 * 0.75 points, which is 9.5 + 2 * 0.5.
    """
    want = 200 * math.log10(9)
    assert elos(duels(9, 1, 0), prior_draws=2) == pytest.approx({"a": want, "b": -want})


def test_baseball() -> None:
    """A. Agresti, Categorical Data Analysis, section 10.6: the American League East of 1987, with
    the strengths that R's BradleyTerry2 prints, relative to Baltimore.
    """
    teams = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
    wins = [
        (0, 7, 9, 7, 7, 9, 11),
        (6, 0, 7, 5, 11, 9, 9),
        (4, 6, 0, 7, 7, 8, 12),
        (6, 8, 6, 0, 6, 7, 10),
        (6, 2, 6, 7, 0, 7, 12),
        (4, 4, 5, 6, 6, 0, 6),
        (2, 4, 1, 3, 1, 7, 0),
    ]
    results = [
        GameResult((winner, loser), (0, 1), (1, 2))
        for winner, row in zip(teams, wins, strict=True)
        for loser, count in zip(teams, row, strict=True)
        for _ in range(count)
    ]
    found = fit(results, prior_draws=NEARLY_NONE)
    want = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]
    assert list(found) == teams
    assert [
        (strength.elo - found["Baltimore"].elo) / ELO for strength in found.values()
    ] == pytest.approx(want, abs=1e-4)


def test_rankings_of_three() -> None:
    """Strengths of 3 to 2 to 1 by Luce's rule: in 60 games, abc 20 times (3/6 * 2/3 of them), acb
    10, bac 15, bca 5, cab 6, cba 4. As often as expected, so they are the likeliest strengths.
    """
    often = {"abc": 20, "acb": 10, "bac": 15, "bca": 5, "cab": 6, "cba": 4}
    found = elos([ranking(order) for order, count in often.items() for _ in range(count)])
    assert found["a"] - found["c"] == pytest.approx(400 * math.log10(3), abs=1e-4)
    assert found["b"] - found["c"] == pytest.approx(400 * math.log10(2), abs=1e-4)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_a_tie_is_all_its_orders(size: int) -> None:
    """n! games tied at the top are worth one game of each order, a weaker bot behind or not."""
    names = "abcde"[:size]
    other = [ranking("ab"), ranking("bcz"[:size])]
    for last in ("", "z"):
        orders = [ranking("".join(order) + last) for order in permutations(names)]
        tie = ranking(names + last, (1,) * size + (size + 1,) * len(last))
        assert elos([tie] * len(orders) + other, 1.0) == pytest.approx(
            elos(orders + other, 1.0), abs=1e-6
        )


def test_a_tie_of_many_is_fair_to_its_seats() -> None:
    """Ten that solve the same puzzle come out as equals, ahead of one that does not."""
    found = fit([ranking("abcdefghijz", (1,) * 10 + (11,))])
    assert len({round(found[name].elo, 6) for name in "abcdefghij"}) == 1
    assert list(found)[-1] == "z"


def test_teams_are_the_sum_of_their_players() -> None:
    """If ab, ac and ad beat the other two 3 to 1 each, then b, c and d are alike, and a is what
    its team has over the other: log 3 above them.
    """
    results = []
    for team in ("abcd", "acbd", "adbc"):
        for ranks in [(1, 1, 3, 3)] * 3 + [(3, 3, 1, 1)]:
            results.append(GameResult(tuple(team), (0, 0, 1, 1), ranks))
    found = elos(results)
    assert found["a"] - found["b"] == pytest.approx(400 * math.log10(3), abs=1e-3)
    assert found["b"] == pytest.approx(found["c"], abs=1e-6)


def test_unequal_sides_are_the_mean_of_their_players() -> None:
    """Three that take turns alone against two, and score as often as not, are equal."""
    results = []
    for alone in ("abc", "bca", "cab"):
        for ranks in ((1, 2, 2), (3, 1, 1)):
            results.append(GameResult(tuple(alone), (0, 1, 1), ranks))
    assert elos(results) == pytest.approx({"a": 0, "b": 0, "c": 0}, abs=1e-6)


def test_an_entrant_with_both_seats_of_a_team_is_one_player() -> None:
    """As in the ladder's ratings."""
    team = GameResult(("a", "b", "a", "b"), (0, 1, 0, 1), (1, 3, 1, 3))
    assert fit([team]) == fit(duels(1, 0, 0))


def test_order_does_not_matter() -> None:
    """That of games does not, nor that of seats."""
    results = [ranking("abcd", ranks) for ranks in ((1, 2, 3, 4), (2, 1, 2, 4), (4, 3, 1, 1))] * 3
    results += duels(3, 2, 1, "ca")
    turned = [GameResult(r.entrants[::-1], r.sides[::-1], r.ranks[::-1]) for r in results]
    Random(3).shuffle(turned)
    one, two = fit(results), fit(turned)
    assert list(one) == list(two)
    for name in one:
        assert one[name].elo == pytest.approx(two[name].elo, abs=1e-6)
        assert one[name].upper == pytest.approx(two[name].upper, abs=1e-6)


def test_unbeaten_bots_stay_finite() -> None:
    """Each wins all against all below: in order, finite, and the more games the further apart."""
    ladder = "abcdef"
    few = [ranking(a + b) for a, b in combinations(ladder, 2)]
    found = fit(few)
    assert "".join(found) == ladder
    assert all(strength.lower < strength.elo < strength.upper for strength in found.values())
    assert found["a"].elo < 1000
    assert fit(few * 10)["a"].elo > found["a"].elo


def test_one_win_proves_little() -> None:
    """After a single game the interval holds 0, however it ended."""
    for counts in ((1, 0, 0), (0, 1, 0)):
        assert all(s.lower < -100 and s.upper > 100 for s in fit(duels(*counts)).values())


def test_fields_that_never_met_stand_side_by_side() -> None:
    """Nothing says that one is the stronger."""
    found = fit(duels(3, 0, 1) + duels(3, 0, 1, "cd"))
    assert found["a"].elo == pytest.approx(found["c"].elo)
    assert found["a"].elo + found["b"].elo == pytest.approx(0)


def test_without_games_there_is_nobody() -> None:
    """An empty tournament has an empty table."""
    assert fit(list[GameResult[str]]()) == {}


@pytest.mark.parametrize("seed", range(5))
def test_a_full_round_robin_keeps_the_order_of_points(seed: int) -> None:
    """With the same opponents, points are all that counts (Zermelo, 1929), draws as halves."""
    random, points = Random(seed), dict.fromkeys("abcdefgh", 0.0)
    results = []
    for first, second in combinations(points, 2):
        ranks = random.choice([(1, 2), (2, 1), (1, 1)])
        results.append(ranking(first + second, ranks))
        points[first] += {(1, 2): 1.0, (1, 1): 0.5, (2, 1): 0.0}[ranks]
        points[second] += {(1, 2): 0.0, (1, 1): 0.5, (2, 1): 1.0}[ranks]
    found = fit(results)
    for one, two in combinations(points, 2):
        if points[one] != points[two]:
            assert (points[one] > points[two]) == (found[one].elo > found[two].elo)


def simulated(
    random: Random, strengths: dict[str, float], rounds: int, draws: float
) -> Iterator[GameResult[str]]:
    """Round robins in which a share of the decisions, won and lost alike, is drawn instead."""
    for _ in range(rounds):
        for a, b in combinations(strengths, 2):
            p = 1 / (1 + math.exp(strengths[b] - strengths[a]))
            drawn = draws * 2 * min(p, 1 - p)
            u = random.random()
            won, tied = u < p - drawn / 2, u < p + drawn / 2
            yield ranking(a + b, (1, 2) if won else (1, 1) if tied else (2, 1))


@pytest.mark.parametrize("draws", [0.0, 0.4, 0.9])
def test_intervals_hold_the_truth(draws: float) -> None:
    """The true strength is in 95 of 100 intervals, in fields that draw and in those that don't."""
    random = Random(1952)
    true = dict(zip("abcdef", (-1.0, -0.6, -0.2, 0.2, 0.6, 1.0), strict=True))
    held = tries = 0
    for _ in range(80):
        for name, found in fit(simulated(random, true, 10, draws)).items():
            held += found.lower < ELO * true[name] < found.upper
            tries += 1
    # Of 480 tries, 3 % are three deviations.
    assert held / tries == pytest.approx(0.95, abs=0.03)


def test_intervals_of_four_seats_hold_the_truth() -> None:
    """The same for rankings of four by Luce's rule, drawn as the fastest of four clocks."""
    random = Random(1975)
    true = dict(zip("abcdef", (-1.0, -0.6, -0.2, 0.2, 0.6, 1.0), strict=True))
    held = tries = 0
    for _ in range(60):
        results = []
        for _ in range(30):
            seats = random.sample(sorted(true), 4)
            seats.sort(key=lambda name: random.expovariate(math.exp(true[name])))
            results.append(ranking("".join(seats)))
        for name, found in fit(results).items():
            held += found.lower < ELO * true[name] < found.upper
            tries += 1
    assert held / tries == pytest.approx(0.95, abs=0.035)


def test_elo_of_a_strength() -> None:
    """A strength that wins ten times for one loss is 400 Elo above."""
    found = elos(duels(10, 0, 1))
    assert found["a"] - found["b"] == pytest.approx(elo_of(10 / 11), abs=1e-3) == 400


def test_a_prior_is_needed() -> None:
    """Without it an unbeaten bot would be infinitely strong."""
    with pytest.raises(ValueError, match="prior_draws must be above 0"):
        fit(duels(1, 0, 0), prior_draws=0)


def test_the_mean_is_zero() -> None:
    """Strengths are relative to the field."""
    found = fit([ranking("abc")] * 4 + duels(3, 1, 1))
    assert sum(s.elo for s in found.values()) == pytest.approx(0, abs=1e-9)
    assert isinstance(found["a"], Strength)
