"""Round robins and gauntlets, against published tables and what they promise."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from arena.formats.fixtures import Fixture
from arena.formats.round_robin import GauntletFormat, RoundRobin, berger_table

# FIDE handbook, C.05 annex 1: who is named first has the first seat.
BERGER = {
    4: "1-4 2-3 / 4-3 1-2 / 2-4 3-1",
    6: "1-6 2-5 3-4 / 6-4 5-3 1-2 / 2-6 3-1 4-5 / 6-5 1-4 2-3 / 3-6 4-2 5-1",
    8: (
        "1-8 2-7 3-6 4-5 / 8-5 6-4 7-3 1-2 / 2-8 3-1 4-7 5-6 / 8-6 7-5 1-4 2-3 / "
        "3-8 4-2 5-1 6-7 / 8-7 1-6 2-5 3-4 / 4-8 5-3 6-2 7-1"
    ),
    10: (
        "1-10 2-9 3-8 4-7 5-6 / 10-6 7-5 8-4 9-3 1-2 / 2-10 3-1 4-9 5-8 6-7 / "
        "10-7 8-6 9-5 1-4 2-3 / 3-10 4-2 5-1 6-9 7-8 / 10-8 9-7 1-6 2-5 3-4 / "
        "4-10 5-3 6-2 7-1 8-9 / 10-9 1-8 2-7 3-6 4-5 / 5-10 6-4 7-3 8-2 9-1"
    ),
}


@pytest.mark.parametrize(("size", "table"), BERGER.items())
def test_tables_are_those_of_berger(size: int, table: str) -> None:
    """Pairs, seats and the order of the rounds are FIDE's."""
    ours = " / ".join(
        " ".join(f"{a + 1}-{b + 1}" for a, b in pairs) for pairs in berger_table(size)
    )
    assert ours == table


@pytest.mark.parametrize("size", [3, 5, 7, 9])
def test_an_odd_field_plays_the_next_table_without_the_last(size: int) -> None:
    """FIDE: whoever would meet the highest number of the larger table has a bye."""
    whole = berger_table(size + 1)
    assert berger_table(size) == [[pair for pair in pairs if size not in pair] for pairs in whole]


@pytest.mark.parametrize(("size", "cycles"), [*product([2, 7, 16, 33], [1, 2, 3]), (200, 1)])
def test_everybody_meets_everybody_evenly(size: int, cycles: int) -> None:
    """Once a cycle, at most one fixture a round, and as often in the one seat as in the other."""
    entrants = list(range(1, size + 1))
    tournament = RoundRobin(cycles)
    fixtures = tournament.fixtures(entrants, [])
    meetings = Counter(frozenset(fixture.entrants) for fixture in fixtures)
    assert len(meetings) == size * (size - 1) // 2
    assert set(meetings.values()) == {cycles}
    seated = Counter((fixture.round, one) for fixture in fixtures for one in fixture.entrants)
    assert set(seated.values()) == {1}
    balance = Counter(dict.fromkeys(entrants, 0))
    for fixture in fixtures:
        balance[fixture.entrants[0]] += 1
        balance[fixture.entrants[1]] -= 1
    assert max(map(abs, balance.values())) <= cycles % 2
    byes = Counter(bye.fixture.entrants[0] for bye in tournament.byes(entrants, []))
    assert byes == (dict.fromkeys(entrants, cycles) if size % 2 else {})


def test_seats_are_exchanged_in_every_other_cycle() -> None:
    """And change back in the third one."""
    fixtures = RoundRobin(4).fixtures([7, 9], [])
    assert [fixture.entrants for fixture in fixtures] == [(7, 9), (9, 7), (7, 9), (9, 7)]


def test_a_gauntlet_of_two_candidates() -> None:
    """Counted by hand: each meets each of the field once, nobody is in two fixtures a round."""
    fixtures = GauntletFormat(candidates=2).fixtures([10, 20, 1, 2, 3], [])
    rounds = [(fixture.round, frozenset(fixture.entrants)) for fixture in fixtures]
    assert rounds == [
        (1, {10, 1}),
        (1, {20, 2}),
        (2, {10, 2}),
        (2, {20, 3}),
        (3, {10, 3}),
        (3, {20, 1}),
    ]


@pytest.mark.parametrize(("candidates", "size"), [(1, 7), (3, 16), (20, 33), (3, 5)])
def test_gauntlets_are_even(candidates: int, size: int) -> None:
    """In two cycles everybody sits as often first as second against each opponent."""
    entrants = list(range(size))
    tournament = GauntletFormat(candidates, cycles=2)
    fixtures = tournament.fixtures(entrants, [])
    assert Counter(fixture.entrants for fixture in fixtures) == {
        pair: 1
        for candidate in range(candidates)
        for other in range(candidates, size)
        for pair in ((candidate, other), (other, candidate))
    }
    seated = Counter((fixture.round, one) for fixture in fixtures for one in fixture.entrants)
    assert set(seated.values()) == {1}


def test_candidates_wait_where_they_outnumber_the_field() -> None:
    """Three against two take three rounds, in each of which one candidate has a bye."""
    byes = GauntletFormat(candidates=3).byes([1, 2, 3, 4, 5], [])
    assert [bye.fixture for bye in byes] == [Fixture(1, (3,)), Fixture(2, (2,)), Fixture(3, (1,))]
