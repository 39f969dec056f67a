"""Divisions: who is in which, and who rises and falls; counted by hand."""

from __future__ import annotations

import pytest

from arena.formats.divisions import DivisionResult, divided, moved


@pytest.mark.parametrize(
    ("order", "size", "divisions"),
    [
        ([], 3, []),
        ([1], 3, [[1]]),
        ([1, 2, 3, 4, 5, 6], 3, [[1, 2, 3], [4, 5, 6]]),
        ([1, 2, 3, 4, 5, 6, 7], 3, [[1, 2, 3], [4, 5, 6], [7]]),
        # The second has gone: whoever is first below fills up, division by division.
        ([1, 3, 4, 5, 6, 7], 3, [[1, 3, 4], [5, 6, 7]]),
    ],
)
def test_an_order_is_cut(order: list[int], size: int, divisions: list[list[int]]) -> None:
    assert divided(order, size) == divisions


@pytest.mark.parametrize(
    ("order", "size", "fewest", "divisions"),
    [
        ([], 3, 2, []),
        ([1], 3, 2, [[1]]),
        ([1, 2, 3, 4, 5, 6, 7], 3, 2, [[1, 2, 3], [4, 5, 6, 7]]),
        ([1, 2, 3, 4, 5, 6, 7, 8], 3, 2, [[1, 2, 3], [4, 5, 6], [7, 8]]),
        ([1, 2, 3, 4, 5, 6, 7, 8], 3, 3, [[1, 2, 3], [4, 5, 6, 7, 8]]),
        ([1, 2, 3, 4, 5, 6, 7, 8], 7, 2, [[1, 2, 3, 4, 5, 6, 7, 8]]),
        # One alone plays the boss.
        ([1, 2, 3, 4], 3, 1, [[1, 2, 3], [4]]),
    ],
)
def test_too_few_that_are_left_join_those_above(
    order: list[int], size: int, fewest: int, divisions: list[list[int]]
) -> None:
    assert divided(order, size, fewest) == divisions


THREE = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
"""Three divisions by the places of a round."""


@pytest.mark.parametrize(
    ("divisions", "moves", "bosses", "unplayed", "after"),
    [
        (THREE, 0, {}, (), THREE),
        (THREE, 1, {}, (), [[1, 2, 3, 5], [4, 6, 7, 9], [8, 10, 11, 12]]),
        (THREE, 2, {}, (), [[1, 2, 5, 6], [3, 4, 9, 10], [7, 8, 11, 12]]),
        # Nobody in the second has beaten its boss: the first stays as it is.
        (THREE, 1, {2: set()}, (), [[1, 2, 3, 4], [5, 6, 7, 9], [8, 10, 11, 12]]),
        # The second of them has: it rises alone, and one falls.
        (THREE, 2, {2: {6, 7}}, (), [[1, 2, 3, 6], [4, 5, 9, 10], [7, 8, 11, 12]]),
        # Who has beaten it, but is not among the first, stays.
        (THREE, 1, {2: {6, 7}}, (), [[1, 2, 3, 4], [5, 6, 7, 9], [8, 10, 11, 12]]),
        # Out of the first nobody falls below those who are called off, nor into them.
        (THREE, 1, {}, (2,), THREE),
        (THREE, 1, {}, (3,), [[1, 2, 3, 5], [4, 6, 7, 8], [9, 10, 11, 12]]),
        # The last is smaller, down to one and none.
        ([[1, 2, 3, 4], [5, 6]], 2, {}, (), [[1, 2, 5, 6], [3, 4]]),
        ([[1, 2, 3, 4], [5]], 2, {}, (), [[1, 2, 3, 5], [4]]),
        ([[1, 2, 3, 4], []], 2, {}, (), [[1, 2, 3, 4], []]),
        ([[1, 2, 3, 4]], 2, {}, (), [[1, 2, 3, 4]]),
        # In the second three have retired: who rises does not fall besides.
        ([[1, 2, 3, 4], [5], [9, 10, 11, 12]], 2, {}, (), [[1, 2, 3, 5], [4], [9, 10, 11, 12]]),
        ([[1], [5, 6, 7, 8]], 2, {}, (), [[5], [1, 6, 7, 8]]),
        ([[], [5, 6]], 1, {}, (), [[], [5, 6]]),
        ([], 1, {}, (), []),
    ],
)
def test_who_rises_and_falls(
    divisions: list[list[int]],
    moves: int,
    bosses: dict[int, set[int]],
    unplayed: tuple[int, ...],
    after: list[list[int]],
) -> None:
    """The first and the last of each do; sizes stay."""
    results = [
        DivisionResult(order, number not in unplayed, bosses.get(number))
        for number, order in enumerate(divisions, 1)
    ]
    found = moved(results, moves)
    assert [sorted(one) for one in found] == [sorted(one) for one in after]
    assert [len(one) for one in found] == [len(one) for one in divisions]


def test_who_falls_comes_first_and_who_rises_last() -> None:
    """As they are told on the page, and seeded in the next round."""
    found = moved([DivisionResult(order) for order in THREE], 1)
    assert found == [[1, 2, 3, 5], [4, 6, 7, 9], [8, 10, 11, 12]]
