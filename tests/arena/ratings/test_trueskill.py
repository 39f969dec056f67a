"""The update of one game: published values, the trueskill package, and the edges."""

import math
from collections.abc import Iterator
from random import Random
from typing import Any

import mpmath
import pytest
import trueskill

from arena.ratings.trueskill import Rating, TrueSkill

Teams = tuple[tuple[Rating, ...], ...]

NEW = Rating()
TEN_PERCENT = TrueSkill(draw_probability=0.1)


@pytest.mark.parametrize(
    ("teams", "ranks", "want"),
    [
        (((NEW,), (NEW,)), (1, 2), [(29.39583201999924, 7.171475587326186), (20.604168, 7.171475)]),
        (((NEW,), (NEW,)), (1, 1), [(25.0, 6.4575196623173081), (25.0, 6.4575196623173081)]),
        (((NEW,), (Rating(50, 12.5),)), (1, 1), [(31.662, 7.137), (35.010, 7.910)]),
        (((NEW, NEW), (NEW, NEW)), (1, 2), [(28.108, 7.774)] * 2 + [(21.892, 7.774)] * 2),
        (((NEW, NEW), (NEW, NEW)), (1, 1), [(25.0, 7.455)] * 4),
        (
            ((NEW,),) * 3,
            (1, 2, 3),
            [(31.675352, 6.655985), (25.0, 6.207897), (18.324648, 6.655985)],
        ),
        (
            ((NEW,),) * 4,
            (1, 2, 3, 4),
            [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)],
        ),
    ],
    ids=["win", "draw", "upset draw", "two on two", "team draw", "three seats", "four seats"],
)
def test_updates_agree_with_published_values(
    teams: Teams, ranks: tuple[int, ...], want: list[tuple[float, float]]
) -> None:
    """The unit tests of J. Moser's Skills library, which took them from Microsoft's calculator."""
    found = [(r.mu, r.sigma) for team in TEN_PERCENT.rate(teams, ranks) for r in team]
    assert found == [pytest.approx(pair, abs=1e-3) for pair in want]


@pytest.mark.parametrize("draw_probability", [0.0, 0.001, 0.1, 0.5, 0.95])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_two_equal_sides_agree_with_the_package(draw_probability: float, size: int) -> None:
    """The closed form is what the package computes with many digits, draws and upsets included."""
    with mpmath.workdps(40):
        env = trueskill.TrueSkill(draw_probability=draw_probability, backend="mpmath")
        random = Random(f"{draw_probability} {size}")
        outcomes = [(1, 2), (2, 1)] + [(1, 1)] * (draw_probability > 0)
        for ranks in outcomes * 6:
            teams = random_teams(random, (size, size))
            want = env.rate(as_package(teams), ranks)
            assert_close(TrueSkill(draw_probability).rate(teams, ranks), want)


@pytest.mark.parametrize("ranks", [(1, 2), (2, 1), (1, 1)])
@pytest.mark.parametrize("sizes", [(1, 2), (2, 1), (1, 3), (3, 2)])
def test_two_unequal_sides_agree_with_partial_play(
    sizes: tuple[int, int], ranks: tuple[int, int]
) -> None:
    """It is the package's with weights that sum to 1 a side, and with its draw margin, which
    counts heads, brought to the deviation that the weights leave of the performances.
    """
    heads, spread = sum(sizes), sum(1 / size for size in sizes)
    quantile = mpmath.erfinv(0.1) * mpmath.sqrt(2) * math.sqrt(spread / heads)
    with mpmath.workdps(40):
        env = trueskill.TrueSkill(
            draw_probability=mpmath.erf(quantile / mpmath.sqrt(2)), backend="mpmath"
        )
        teams = random_teams(Random(7), sizes)
        want = env.rate(as_package(teams), ranks, weights=[[1 / size] * size for size in sizes])
    assert_close(TEN_PERCENT.rate(teams, ranks), want)


@pytest.mark.parametrize("ranks", [(1, 2, 3, 4), (4, 2, 3, 1), (1, 1, 3, 4), (1, 2, 2, 4)])
def test_four_seats_agree_with_the_package(ranks: tuple[int, ...]) -> None:
    """The package, with as many digits as it takes, computes the same."""
    with mpmath.workdps(40):
        env = trueskill.TrueSkill(draw_probability=0.1, backend="mpmath")
        teams = ((Rating(21, 4),), (Rating(22, 5),), (Rating(26, 3),), (Rating(29, 6),))
        assert_close(TEN_PERCENT.rate(teams, ranks), env.rate(as_package(teams), ranks))


@pytest.mark.parametrize("draw_probability", [0.0, 0.01, 0.3])
@pytest.mark.parametrize(("sides", "size"), [(3, 1), (4, 1), (3, 2), (6, 1)])
def test_many_sides_agree_with_the_package(sides: int, size: int, draw_probability: float) -> None:
    """Upsets, ties and games that need all of the sweeps included."""
    random = Random(f"{sides} {size} {draw_probability}")
    with mpmath.workdps(40):
        env = trueskill.TrueSkill(draw_probability=draw_probability, backend="mpmath")
        for _ in range(4):
            teams = random_teams(random, (size,) * sides)
            ranks = random.sample(range(sides), sides)
            if draw_probability:
                ranks = random.choices(range(sides), k=sides)
            # The order in which it compares those that tie.
            order = sorted(range(sides), key=lambda i: sum(r.mu for r in teams[i]))
            teams = tuple(teams[i] for i in order)
            assert_close(
                TrueSkill(draw_probability).rate(teams, ranks), env.rate(as_package(teams), ranks)
            )


def random_teams(random: Random, sizes: tuple[int, ...]) -> Teams:
    return tuple(
        tuple(Rating(random.uniform(-20, 70), random.uniform(0.5, 9)) for _ in range(size))
        for size in sizes
    )


def as_package(teams: Teams) -> list[list[Any]]:
    return [[trueskill.Rating(r.mu, r.sigma) for r in team] for team in teams]


def assert_close(found: Teams, want: list[tuple[Any, ...]]) -> None:
    for team, wanted in zip(found, want, strict=True):
        for rating, other in zip(team, wanted, strict=True):
            assert rating.mu == pytest.approx(other.mu, abs=1e-9)
            assert rating.sigma == pytest.approx(other.sigma, abs=1e-9)


def test_where_a_seat_stands_does_not_matter() -> None:
    """Ties of several included, in which the package compares neighbours only."""
    ratings = (Rating(20, 4), Rating(24, 3), Rating(27, 3), Rating(33, 5))
    straight = TEN_PERCENT.rate([(r,) for r in ratings], (1, 1, 1, 4))
    for order in ((1, 0, 2, 3), (3, 2, 1, 0), (2, 3, 0, 1)):
        ranks = [4 if seat == 3 else 1 for seat in order]
        turned = TEN_PERCENT.rate([(ratings[seat],) for seat in order], ranks)
        assert [turned[order.index(seat)] for seat in range(4)] == list(straight)


def test_equal_bots_that_tie_stay_equal() -> None:
    """Four new bots that tie keep their mean, and their deviations differ by 1 in 500 at most."""
    rated = TEN_PERCENT.rate([(NEW,)] * 4, (1, 1, 1, 1))
    assert [team[0].mu for team in rated] == pytest.approx([25] * 4, abs=1e-9)
    assert [team[0].sigma for team in rated] == pytest.approx([rated[0][0].sigma] * 4, rel=2e-3)


@pytest.mark.parametrize("ranks", [(2, 1), (1, 1)], ids=["upset", "draw"])
def test_an_absurd_result_changes_nothing(ranks: tuple[int, int]) -> None:
    """At 400 units apart the package has no answer, and a mean that moved would be noise."""
    teams = ((Rating(425, 1),), (Rating(25, 1),))
    assert TEN_PERCENT.rate(teams, ranks) == teams


def test_an_absurd_result_of_many_changes_nothing() -> None:
    """The package's FloatingPointError is no reason to stop a recorder."""
    teams = ((Rating(900, 1),), (Rating(25, 1),), (Rating(-900, 1),))
    assert TEN_PERCENT.rate(teams, (3, 2, 1)) == teams


def test_an_expected_win_teaches_nothing() -> None:
    """However large the gap: the means stand still, and certainty only fades by tau."""
    teams = ((Rating(425, 1),), (Rating(25, 1),))
    after = TEN_PERCENT.rate(teams, (1, 2))
    faded = math.sqrt(1 + (25 / 300) ** 2)
    assert [r.mu for (r,) in after] == [425, 25]
    assert [r.sigma for (r,) in after] == pytest.approx([faded, faded])


def test_a_draw_needs_a_draw_probability() -> None:
    """With 0, a draw would raise sigma: a ladder set up so must not take one."""
    with pytest.raises(ValueError, match="draw probability of 0"):
        TrueSkill(0).rate([(NEW,), (NEW,)], (1, 1))
    with pytest.raises(ValueError, match="draw probability of 0"):
        TrueSkill(0).rate([(NEW,)] * 4, (1, 2, 2, 4))


def outcomes(random: Random, sides: int, draws: bool) -> Iterator[tuple[int, ...]]:
    """Ranks by the lot, one in three of them a draw of all if draws are wanted."""
    while True:
        ranks = random.sample(range(1, sides + 1), sides)
        yield (1,) * sides if draws and random.random() < 1 / 3 else tuple(ranks)


@pytest.mark.parametrize(
    ("sides", "games", "draws"),
    [
        (((0,), (1,)), 3000, False),
        (((0,), (1,)), 3000, True),
        (((0,), (1, 2)), 3000, False),
        (((0,), (1, 2)), 3000, True),
        (((0, 1), (2, 3)), 3000, True),
        (((0,), (1,), (2,), (3,)), 400, False),
        (((0,), (1,), (2,), (3,)), 400, True),
    ],
    ids=["duel", "duel draws", "1-2", "1-2 draws", "teams", "four seats", "four draws"],
)
def test_equal_bots_do_not_drift(
    sides: tuple[tuple[int, ...], ...], games: int, draws: bool
) -> None:
    """Bots of one strength stay near 25 however long they play, in seats that rotate.

    Near is four times the standard error that ratings keep (sigma converges to about 1); without
    weights, three bots at one against two fall below 1 within 1500 games.
    """
    random = Random(1871)
    bots = sum(map(len, sides))
    ratings = [NEW] * bots
    model = TrueSkill(1 / 3 if draws else 0.05)
    for game, ranks in zip(range(games), outcomes(random, len(sides), draws), strict=False):
        seated = [[(bot + game) % bots for bot in side] for side in sides]
        rated = model.rate([[ratings[bot] for bot in side] for side in seated], ranks)
        for side, team in zip(seated, rated, strict=True):
            for bot, rating in zip(side, team, strict=True):
                ratings[bot] = rating
    assert sum(r.mu for r in ratings) / bots == pytest.approx(25, abs=1)
    assert all(abs(r.mu - 25) < 4 for r in ratings)
    assert all(r.sigma < 2 for r in ratings)


def test_strengths_are_found() -> None:
    """Bots two, one and no betas above the weakest come out as far apart, within their sigmas."""
    random, beta = Random(7), 25 / 6
    true = [0.0, beta, 2 * beta]
    ratings = [NEW] * 3
    for _ in range(1500):
        a, b = random.sample(range(3), 2)
        lead = random.gauss(true[a], beta) - random.gauss(true[b], beta)
        (ratings[a],), (ratings[b],) = TrueSkill(0).rate(
            [(ratings[a],), (ratings[b],)], (1, 2) if lead > 0 else (2, 1)
        )
    for bot in (1, 2):
        found = ratings[bot].mu - ratings[0].mu
        assert found == pytest.approx(true[bot], abs=3 * math.hypot(ratings[bot].sigma, 0.8))


def test_quality_agrees_with_the_package() -> None:
    """The ladder pairs by it; 1 would be two bots known to be equal."""
    for first, second in (((25, 25 / 3), (25, 25 / 3)), ((31, 2), (22, 1))):
        want = trueskill.quality_1vs1(trueskill.Rating(first), trueskill.Rating(second))
        assert TEN_PERCENT.quality(Rating(*first), Rating(*second)) == pytest.approx(
            want, abs=1e-12
        )
    assert TEN_PERCENT.quality(Rating(30, 1e-9), Rating(30, 1e-9)) == pytest.approx(1)


def test_what_people_see() -> None:
    """A new bot is at 1500, with an interval as wide as all that is not known of it."""
    assert (NEW.display, NEW.conservative) == pytest.approx((1500, 0))
    assert Rating(27, 1).display == pytest.approx(1594)
    assert Rating(27, 1).display_margin == pytest.approx(1.96 * 47, abs=0.01)


def test_a_new_version_keeps_the_mean() -> None:
    """It is believed to be much like the last one, but not as firmly."""
    assert Rating(31, 1.2).loosened() == Rating(31, 5)
    assert Rating(31, 7).loosened() == Rating(31, 7)


@pytest.mark.parametrize(
    "constants",
    [
        {"draw_probability": 1},
        {"draw_probability": -0.1},
        {"draw_probability": 0.1, "beta": 0},
        {"draw_probability": 0.1, "tau": -1},
    ],
)
def test_senseless_constants_are_refused(constants: dict[str, float]) -> None:
    """With one line that says what is wrong."""
    with pytest.raises(ValueError, match=r"a draw probability is|beta is above 0"):
        TrueSkill(**constants)


@pytest.mark.parametrize(
    ("teams", "ranks"), [([(NEW,)], (1,)), ([(NEW,), ()], (1, 2)), ([(NEW,), (NEW,)], (1, 2, 3))]
)
def test_what_is_no_game_is_refused(teams: Teams, ranks: tuple[int, ...]) -> None:
    """Two sides or more, a rank for each, and somebody on each."""
    with pytest.raises(ValueError, match="two sides or more"):
        TEN_PERCENT.rate(teams, ranks)
