"""What was said of a line: one share for all, its swings, where bots agree; worked out by hand."""

from __future__ import annotations

import pytest

from arena.analyses.evaluations import Evaluation, agreed, bar, expectations, swings
from engine.games import find_variant

TWO = find_variant("clobber", ["size=3x2"])
FOUR = find_variant("blokus", [])
# White thinks that it is ahead, Black sees it too; then White gives 0.4 away, as both see.
SAID = [
    Evaluation("a", 0, 0, 0.6, "x"),
    Evaluation("a", 1, 1, 0.4, "y"),
    Evaluation("a", 2, 0, 0.6, "z"),
    Evaluation("a", 3, 1, 0.8, "w"),
    Evaluation("b", 2, 0, 0.5, "z"),
    Evaluation("b", 3, 1, 0.5, "v"),
]


def test_all_is_told_for_one_side():
    """What Black expects is what White does not."""
    first, second = expectations(TWO, SAID)
    assert (first.who, first.side) == ("a", 0)
    assert dict(first.points) == pytest.approx({0: 0.6, 1: 0.6, 2: 0.6, 3: 0.2})
    assert dict(second.points) == pytest.approx({2: 0.5, 3: 0.5})


def test_each_of_four_speaks_for_itself():
    said = [Evaluation("a", place, place % 4, 0.1 + place / 10) for place in range(6)]
    found = expectations(FOUR, said)
    assert [(one.side, [at for at, _ in one.points]) for one in found] == [
        (0, [0, 4]), (1, [1, 5]), (2, [2]), (3, [3]),
    ]  # fmt: skip
    assert bar(FOUR, found, 2) is None  # Green has said nothing yet
    assert bar(FOUR, found, 3) == pytest.approx({0: 0.1, 1: 0.2, 2: 0.3, 3: 0.4})
    assert swings(FOUR, said, [0, 1, 2, 3, 0, 1]) == []
    lost = [Evaluation("a", 0, 0, 0.7), Evaluation("a", 4, 0, 0.2)]
    (swing,) = swings(FOUR, lost, [0, 1, 2, 3, 0])
    assert (swing.place, swing.seat, swing.lost) == (0, 0, pytest.approx(0.5))


def test_the_move_that_lost_it():
    """The third move, by who answered before and after it; what is small is none."""
    (swing,) = swings(TWO, SAID, [0, 1, 0])
    assert (swing.who, swing.place, swing.seat, swing.better) == ("a", 2, 0, "z")
    assert (swing.before, swing.after) == pytest.approx((0.6, 0.2))
    # A player is asked at its own turns alone.
    own = [Evaluation("white", 0, 0, 0.9), Evaluation("white", 2, 0, 0.3)]
    (swing,) = swings(TWO, own, [0, 1, 0])
    assert (swing.place, swing.lost) == (0, pytest.approx(0.6))
    assert swings(TWO, [*own[:1], Evaluation("white", 6, 0, 0.3)], [0, 1] * 4) == []


@pytest.mark.parametrize(("place", "share"), [(0, 0.6), (2, 0.55), (3, 0.35), (1, 0.6), (9, None)])
def test_the_bar(place, share):
    """The mean of all that is said of the position, and the rest for the other side."""
    found = bar(TWO, expectations(TWO, SAID), place)
    assert found == (None if share is None else pytest.approx({0: share, 1: 1 - share}))


def test_where_bots_agree():
    assert agreed(SAID) == {2: "z"}
