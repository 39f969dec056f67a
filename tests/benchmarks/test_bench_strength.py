"""The simulated strength tests: what they simulate, and that they ask when they must."""

import math
from random import Random

import pytest

from arena.ratings.sprt import Decision, Sprt
from tests.benchmarks.bench_strength import Kind, kinds, lot, play, table

KINDS = kinds(elo1=100, matches=300)


def every_match(sprt: Sprt, draw, cells: int) -> tuple[Decision, list[int]]:
    """A test that is asked after every match, as it is in play."""
    counts = [0] * cells
    while (decision := sprt.decide(counts)) is Decision.CONTINUE:
        counts[draw()] += 1
    return decision, counts


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("elo", [0, 50, 100])
def test_a_simulated_test_ends_where_one_in_play_ends(kind: Kind, elo: float) -> None:
    """That most of the questions are spared changes nothing."""
    shares = kind.shares(elo)
    for seed in range(3):
        one, other = lot(shares, Random(seed)), lot(shares, Random(seed))
        assert play(kind.sprt, one, len(shares)) == every_match(kind.sprt, other, len(shares))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_difference_is_what_it_is_said_to_be(kind: Kind) -> None:
    """The definitions say it: the mean score of Elo's formula, or so many deviations of a game."""
    shares = kind.shares(10)
    mean = sum(p * n / (len(shares) - 1) for n, p in enumerate(shares))
    variance = sum(p * (n / (len(shares) - 1) - mean) ** 2 for n, p in enumerate(shares))
    if kind.model == "logistic":
        assert mean == pytest.approx(1 / (1 + 10 ** (-10 / 400)))
    else:
        of_a_game = math.sqrt(variance * kind.games)
        assert (mean - 0.5) / of_a_game == pytest.approx(10 * math.log(10) / 800)


@pytest.mark.long
def test_the_rates_are_printed() -> None:
    """A moment's run of what `make bench` does, with a chance of one in millions to fail."""
    found = table(KINDS, 20)
    assert [row[0] for row in found.rows] == [kind.name for kind in KINDS]
    for _, _, *rates, at0, at1 in found.rows:
        assert max(float(str(rate).split()[0]) for rate in rates) < 0.5
        assert min(int(str(games).replace(",", "")) for games in (at0, at1)) >= 16
