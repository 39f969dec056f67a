"""What every format promises, tried on each of them."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest

from arena.formats.balanced import Balanced
from arena.formats.fixtures import Fixture, Format, Result
from arena.formats.knockout import Knockout
from arena.formats.round_robin import Gauntlet, RoundRobin
from arena.formats.swiss import Swiss
from tests.arena.formats.simulation import play, play_out

FORMATS: dict[str, Format] = {
    "round robin": RoundRobin(),
    "double round robin": RoundRobin(cycles=2),
    "gauntlet": Gauntlet(candidates=2),
    "swiss": Swiss(3, seed=4),
    "knockout": Knockout(legs=3, third_place=True),
    "double elimination": Knockout(double=True),
    "three seats": Balanced(seats=3, rounds=5),
    "four seats": Balanced(seats=4, rounds=5),
}
each = pytest.mark.parametrize("tournament", FORMATS.values(), ids=list(FORMATS))
sizes = pytest.mark.parametrize("size", [7, 16, 33])


@each
@sizes
def test_it_ends_and_names_each_fixture_once(tournament: Format, size: int) -> None:
    """Fixtures are between different entrants of the field, and no two are the same."""
    field = [100 + number for number in range(size)]
    results = play_out(tournament, field, seed=1)
    fixtures = [result.fixture for result in results]
    assert len(fixtures) == len(set(fixtures))
    for fixture in fixtures:
        assert len(set(fixture.entrants)) == len(fixture.entrants) >= 2
        assert set(fixture.entrants) <= set(field)
        assert fixture.round >= 1


@each
@sizes
def test_it_goes_on_wherever_it_was_interrupted(tournament: Format, size: int) -> None:
    """Some at a time, in any order: what is due only loses what was played.

    And nothing changes if what is set is passed along with the results, in another order.
    """
    field, random = list(range(1, size + 1)), Random(size)
    results: list[Result] = []
    due = tournament.fixtures(field, results)
    while due:
        results += [play(fixture, random) for fixture in random.sample(due, 1 + len(due) // 4)]
        played = {result.fixture for result in results}
        before = [fixture for fixture in due if fixture not in played]
        due = tournament.fixtures(field, results)
        assert set(before) <= set(due)
        known = [*map(Result, due), *results]
        random.shuffle(known)
        assert sorted(map(_key, tournament.fixtures(field, known))) == sorted(map(_key, due))


def _key(fixture: Fixture) -> tuple[int, tuple[int, ...], int]:
    return fixture.round, fixture.entrants, fixture.leg


@each
@sizes
def test_byes_are_of_those_who_are_in_no_fixture(tournament: Format, size: int) -> None:
    """Nobody plays and sits out in one round, or sits out twice."""
    field = list(range(1, size + 1))
    results = play_out(tournament, field, seed=2)
    busy: defaultdict[int, set[int]] = defaultdict(set)
    for result in results:
        busy[result.fixture.round] |= set(result.fixture.entrants)
    byes = [bye.fixture for bye in tournament.byes(field, results)]
    assert len(set(byes)) == len(byes)
    for bye in byes:
        assert bye.is_bye
        assert bye.entrants[0] not in busy[bye.round]


@each
def test_it_refuses_bad_fields(tournament: Format) -> None:
    """Too small, or somebody twice."""
    with pytest.raises(ValueError, match="needs at least"):
        tournament.fixtures([1], [])
    with pytest.raises(ValueError, match="named twice"):
        tournament.fixtures([1, 2, 3, 4, 1], [])


def test_a_result_has_points_for_everybody() -> None:
    """Points for another number of entrants are a mistake; those given add up."""
    with pytest.raises(ValueError, match="2 entrants need as many points, not 1"):
        Result(Fixture(1, (1, 2)), ((1.0,),))
    assert Result(Fixture(1, (1, 2)), ((1.0, 0.0), (0.5, 0.5))).points == (1.5, 0.5)
