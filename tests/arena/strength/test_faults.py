"""How many faults a test bears before it can't tell who is stronger."""

import pytest

from arena.ratings.elo import elo_of
from arena.strength.faults import clearly_too_many, too_many


@pytest.mark.parametrize(
    ("games", "entrants", "borne"),
    [
        # 3 in 100 games of two; in any few games one.
        (2, 2, 1), (32, 2, 1), (66, 2, 1), (67, 2, 2), (100, 2, 3), (1000, 2, 30), (20_000, 2, 600),
        # With four in a game twice as many can fail.
        (6, 4, 1), (100, 4, 6), (1000, 3, 45),
    ],
)  # fmt: skip
def test_so_many_are_borne_at_the_end(games, entrants, borne):
    """By hand; one fault more is too much."""
    assert not too_many(borne, games, entrants)
    assert too_many(borne + 1, games, entrants)


def test_what_is_borne_costs_as_much_as_a_test_asks_for():
    """Of equal bots one that fails in 3 of 100 games has 0.485 points a game: 10 Elo less."""
    assert elo_of(0.5 * 0.97) == pytest.approx(-10.4, abs=0.1)


@pytest.mark.parametrize(
    ("games", "most"),
    [
        # By hand: x + 3 sqrt(x), of 1, 3, 30 and 300.
        (2, 4), (33, 4), (100, 8), (1000, 46), (10_000, 351),
    ],
)  # fmt: skip
def test_on_the_way_it_must_be_plain(games, most):
    """Three standard deviations of chance beyond what is borne."""
    assert not clearly_too_many(most, games)
    assert clearly_too_many(most + 1, games)


def test_nothing_is_spoilt_by_no_fault():
    """Before the first game, too."""
    assert not too_many(0, 0)
    assert not clearly_too_many(0, 0)
