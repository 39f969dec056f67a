"""Balanced schedules for games of three and four seats, measured."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations

import pytest

from arena.formats.balanced import Balanced, rounds_to_meet, rounds_until_met, schedule

FIELDS = [(seats, size) for seats in (3, 4) for size in (5, 7, 9, 16, 33)]


@pytest.mark.parametrize(
    ("size", "seats", "rounds"),
    [
        (15, 3, 7),  # Kirkman's schoolgirls walk in threes for a week, each pair once
        (9, 3, 4),  # the affine plane of order 3
        (16, 4, 5),  # the affine plane of order 4
        (28, 4, 9),  # a unital: 63 fours
        (7, 2, 7),  # a round robin with byes
    ],
)
def test_rounds_in_which_everybody_can_meet(size: int, seats: int, rounds: int) -> None:
    """Known designs in which each pair meets just once."""
    assert rounds_to_meet(size, seats) == rounds


@pytest.mark.parametrize(
    ("size", "seats", "rounds"),
    [
        (4, 3, 3),  # each table leaves one out, and has three of the six pairs: C(4, 3, 2) = 3
        (5, 4, 3),  # C(5, 4, 2) = 3 (La Jolla Covering Repository)
        (6, 4, 3),  # C(6, 4, 2) = 3
        (9, 3, 4),  # the affine plane of order 3
        (16, 4, 5),  # the affine plane of order 4
    ],
)
def test_rounds_until_everybody_has_met(size: int, seats: int, rounds: int) -> None:
    """One table a round: no fewer cover all pairs. Several: known designs."""
    assert rounds_until_met(size, seats, 1) == rounds


@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("size", [4, 5, 7, 8, 11, 14])
def test_everybody_has_met_after_those_rounds(size: int, seats: int) -> None:
    """And somebody has not, one round before."""
    rounds = rounds_until_met(size, seats, 2)

    def pairs(rounds: int) -> set[tuple[int, ...]]:
        tables = (table for tables in schedule(size, seats, rounds, 2) for table in tables)
        return {pair for table in tables for pair in combinations(sorted(table), 2)}

    assert pairs(rounds) == set(combinations(range(size), 2))
    assert rounds == 1 or pairs(rounds - 1) < pairs(rounds)


@pytest.mark.long
@pytest.mark.parametrize(("seats", "size"), [*FIELDS, (3, 200), (4, 200)])
def test_rounds_are_full_and_seats_even(seats: int, size: int) -> None:
    """At any time games and seats differ by one at most, and as few sit out as can be."""
    rounds = rounds_to_meet(size, seats, 3) if size < 100 else 6
    games = [0] * size
    sat = [[0] * seats for _ in range(size)]
    for tables in schedule(size, seats, rounds, 1):
        seated = [place for table in tables for place in table]
        assert len(seated) == len(set(seated)) == size // seats * seats
        for table in tables:
            for seat, place in enumerate(table):
                games[place] += 1
                sat[place][seat] += 1
        assert max(games) - min(games) <= 1
        assert all(max(row) - min(row) <= 1 for row in sat)


@pytest.mark.long
@pytest.mark.parametrize(("seats", "size"), FIELDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_everybody_meets_everybody_about_equally(seats: int, size: int, seed: int) -> None:
    """With three meetings a pair on average, most have three and hardly any is two off.

    Where there is one table only, who meets whom is decided by who sits out, and the spread is
    a little wider.
    """
    met = Counter(dict.fromkeys(combinations(range(size), 2), 0))
    for tables in schedule(size, seats, rounds_to_meet(size, seats, 3), seed):
        for table in tables:
            met.update(combinations(sorted(table), 2))
    allowed = 1 if size >= 2 * seats else 2
    assert 3 - allowed <= min(met.values())
    assert max(met.values()) <= 3 + allowed
    near = sum(count in (2, 3, 4) for count in met.values())
    assert near >= 0.95 * len(met)


def test_nobody_meets_twice_in_a_few_rounds_of_many() -> None:
    """Of two hundred each meets 18 others in six rounds of four."""
    pairs = Counter(
        pair
        for tables in schedule(200, 4, 6, 1)
        for table in tables
        for pair in combinations(sorted(table), 2)
    )
    assert len(pairs) == 6 * 50 * 6
    assert set(pairs.values()) == {1}


def test_it_is_made_quickly_and_once() -> None:
    """Two hundred entrants take less than a second, and asking again takes nothing."""
    began = time.process_time()
    first = schedule(200, 3, 6, 77)
    assert time.process_time() - began < 1
    assert schedule(200, 3, 6, 77) is first


def test_the_seed_decides() -> None:
    """Another seed gives another schedule."""
    assert schedule(9, 3, 4, 1) != schedule(9, 3, 4, 2)


def test_who_is_left_over_sits_out_in_turn() -> None:
    """Seven at tables of three: one sits out, and in seven rounds everybody does once."""
    field = list(range(1, 8))
    byes = Balanced(3, 7).byes(field, [])
    assert sorted(bye.fixture.entrants[0] for bye in byes) == field
    assert {bye.points for bye in byes} == {(0,)}


def test_bad_schedules_are_refused() -> None:
    """One line says what is wrong."""
    assert Balanced(2, 1).fixtures([1, 2], [])
    with pytest.raises(ValueError, match="at least 4 entrants, not 3"):
        Balanced(4, 3).fixtures([1, 2, 3], [])
