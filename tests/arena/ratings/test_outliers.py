"""Workers whose results differ: the distribution, and who is marked and who is not."""

from random import Random

import pytest

from arena.ratings.outliers import Series, chi_squared_tail, homogeneity, outliers


@pytest.mark.parametrize(
    ("value", "freedom", "tail"),
    # Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.8.
    [
        (3.84146, 1, 0.05),
        (5.99147, 2, 0.05),
        (9.48773, 4, 0.05),
        (7.81473, 3, 0.05),
        (13.2767, 4, 0.01),
        (10.8276, 1, 0.001),
        (18.4668, 4, 0.001),
        (18.3070, 10, 0.05),
        (43.7730, 30, 0.05),
        (0.0, 3, 1.0),
    ],
)
def test_the_tail_of_chi_squared(value: float, freedom: int, tail: float) -> None:
    """As tables have it."""
    assert chi_squared_tail(value, freedom) == pytest.approx(tail, rel=2e-4)


def test_a_table_by_hand() -> None:
    """20 and 30 against 30 and 20: 25 expected in each of four cells, 4 * 5^2 / 25 = 4."""
    assert homogeneity([20, 30], [30, 20]) == pytest.approx(chi_squared_tail(4, 1))
    # Rare cells are put together: here all are one, which says nothing.
    assert homogeneity([1, 1, 1], [1, 1, 1]) == 1
    assert homogeneity([0, 0], [9, 9]) == 1
    # The rare last cell goes with its neighbour.
    assert homogeneity([20, 29, 1], [30, 20, 0]) == pytest.approx(chi_squared_tail(4, 1))


EVEN = [15, 20, 30, 20, 15]
SHIFTED = [25, 26, 27, 14, 8]


def drawn(shares: list[int], matches: int, random: Random, faults: float = 0.01) -> Series:
    counts = [0] * len(shares)
    for cell in random.choices(range(len(shares)), shares, k=matches):
        counts[cell] += 1
    return Series(counts, 2 * matches, sum(random.random() < faults for _ in range(2 * matches)))


def test_equal_workers_are_hardly_ever_marked() -> None:
    """Of 300 series of eight workers one in a thousand may have a mark: three would be many."""
    random = Random(7)
    marked = sum(
        bool(outliers({str(n): drawn(EVEN, 60 + 40 * n, random) for n in range(8)}))
        for _ in range(300)
    )
    assert marked <= 3


@pytest.mark.parametrize("odd", [Series([0] * 5, 0, 0), None, "faults"])
def test_an_odd_worker_is_marked_and_the_others_are_not(odd: Series | str | None) -> None:
    """One with other scores, or other faults; not one that has played nothing yet."""
    random = Random(3)
    series = {str(n): drawn(EVEN, 400, random) for n in range(4)}
    if odd is None:
        series["odd"] = drawn(SHIFTED, 400, random)
    elif odd == "faults":
        series["odd"] = drawn(EVEN, 400, random, faults=0.1)
    else:
        assert isinstance(odd, Series)
        series["odd"] = odd
    assert set(outliers(series)) == (set() if isinstance(odd, Series) else {"odd"})


def test_beside_a_very_odd_worker_the_others_are_not_marked() -> None:
    """Though each of them differs from the rest as long as that one is a part of it."""
    random = Random(5)
    series = {str(n): drawn(EVEN, 800, random) for n in range(3)}
    series["odd"] = drawn([60, 20, 10, 6, 4], 800, random, faults=0.3)
    assert set(outliers(series)) == {"odd"}


def test_of_two_the_one_with_fewer_matches_is_marked() -> None:
    """Who of two is odd can't be told; the test loses less so."""
    few, many = Series([5, 10, 60, 110, 115], 600, 0), Series([60, 80, 120, 80, 60], 800, 0)
    assert set(outliers({"a": many, "b": few})) == {"b"}
    assert set(outliers({"a": few, "b": many})) == {"a"}


def test_how_likely_chance_makes_a_difference_in_faults() -> None:
    """10 and 40 faults in 100 games: 25 and 75 are expected, 2 * 15^2 / 25 + 2 * 15^2 / 75 = 24."""
    few, many = Series([25, 25], 100, 10), Series([30, 30], 100, 40)
    assert outliers({"few": few, "many": many}) == {"few": pytest.approx(chi_squared_tail(24, 1))}


def test_one_worker_has_nobody_to_differ_from() -> None:
    """Nor has none."""
    assert outliers({}) == outliers({"one": Series([5, 5], 10, 9)}) == {}
