"""Places in games of more than two sides."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.match import shares_beaten
from engine.places import added, mean_place, ordinal, placed, results_head, results_words


@pytest.mark.parametrize(
    ("sides", "ranks", "counts", "mean"),
    [
        ((0, 1, 2, 3), (1, 2, 3, 4), [1, 0, 0, 0], 1.0),
        ((0, 1, 2, 3), (4, 2, 3, 1), [0, 0, 0, 1], 4.0),
        # Two who are both second have places 2 and 3 between them, and four who are first all.
        ((0, 1, 2, 3), (2, 1, 2, 4), [0, 1, 0, 0], 2.5),
        ((0, 1, 2, 3), (1, 1, 1, 1), [1, 0, 0, 0], 2.5),
        ((0, 1, 2), (3, 1, 2), [0, 0, 1], 3.0),
        # Of two sides, each with two seats, and of one alone, there are no places.
        ((0, 1, 0, 1), (1, 2, 1, 2), [], 1.0),
        ((0,), (1,), [], None),
    ],
)
def test_the_places_of_the_first_seat(
    sides: Sequence[int], ranks: Sequence[int], counts: list[int], mean: float | None
) -> None:
    """Its rank says the place, and its share of the points the mean."""
    assert placed(sides, ranks[0]) == counts
    if mean is not None:
        share = shares_beaten(sides, ranks)[0]
        assert mean_place(share, len(set(sides))) == pytest.approx(mean)


def test_places_add_up() -> None:
    """Nothing and something, too."""
    assert added([], [0, 1, 0]) == added([0, 1, 0], []) == [0, 1, 0]
    assert added([2, 0, 1], [0, 1, 0]) == [2, 1, 1]


def test_results_in_words() -> None:
    """As places where there are more than two sides."""
    assert (results_head(2), results_words(3, 1, 2)) == ("W-D-L", "3-1-2")
    assert (results_head(4), results_words(3, 1, 2, [3, 1, 0, 2])) == (
        "1st-2nd-3rd-4th",
        "3-1-0-2",
    )
    assert list(map(ordinal, (11, 12, 13, 21, 102))) == ["11th", "12th", "13th", "21st", "102nd"]
