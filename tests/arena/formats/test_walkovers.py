"""Whoever is withdrawn in the midst of a tournament holds nobody up, in any format."""

from __future__ import annotations

from random import Random

import pytest

from arena.formats.fixtures import Fixture, Result
from arena.formats.knockout import Knockout
from arena.formats.round_robin import RoundRobin
from arena.formats.swiss import Swiss
from arena.formats.walkovers import as_byes, as_forfeits, earned, last_round, still_set, walkovers
from tests.arena.formats.newcomers import Danish
from tests.arena.formats.simulation import play


def test_what_is_given_for_a_walkover() -> None:
    """A match won for who is there; where both have left, nothing to either."""
    form, field = RoundRobin(), [1, 2, 3]
    # Berger's table for three: 2-3, 1-2, 3-1.
    given = walkovers(form, field, [], {3: 1}, games=2)
    assert [(one.fixture.entrants, one.games) for one in given] == [
        ((2, 3), ((1.0, 0.0),) * 2),
        ((3, 1), ((0.0, 1.0),) * 2),
    ]
    assert [one.points for one in walkovers(form, field, [], {1: 2, 2: 0}, games=1)] == [
        (0.0, 1.0),
        (0.0, 0.0),
        (1.0, 0.0),
    ]
    assert [one.fixture.entrants for one in as_byes(given)] == [(2,), (1,)]


def test_who_leaves_a_match_of_three_forfeits_it_alone() -> None:
    """The others were to meet each other as well, so that nothing is given to them."""
    left = Result(Fixture(4, (1, 2, 3), 1), ((1.0, 0.0, 1.0),) * 3)
    assert as_forfeits([left], {2: 1}) == [Result(Fixture(4, (2,), 1), ((0.0,),) * 3)]


def test_what_is_under_way_is_given_to_nobody() -> None:
    """Of three who meet each other the last leaves while it plays against the second, and sits
    out the second round."""
    form, field, playing = RoundRobin(), [1, 2, 3], [Fixture(1, (2, 3))]
    given = walkovers(form, field, [Result(playing[0])], {3: 1}, games=1, playing=playing)
    assert [one.fixture.entrants for one in given] == [(3, 1)]
    assert last_round(3, [playing[0], Fixture(3, (3, 1))], [Result(playing[0])], playing) == 2


FINAL = Result(Fixture(2, (2, 4), 1), ((1.0, 0.0),))


@pytest.mark.parametrize(
    ("after", "last", "points", "place"),
    [
        pytest.param([], 1, (0.0, 1.0), 2, id="before the final"),
        pytest.param([FINAL], 1, (0.0, 1.0), 2, id="after a leg of it"),
        pytest.param([], 0, (0.0, 0.0), 3, id="before that round"),
    ],
)
def test_who_went_on_by_a_walkover_and_left_later_keeps_its_place(
    after: list[Result], last: int, points: tuple[float, float], place: int
) -> None:
    """The entrant 1 left before it met 4, and then 4 did."""
    knockout, field = Knockout(legs=3), [1, 2, 3, 4]
    semi_final = [
        Result(Fixture(1, (2, 3), 1), ((1.0, 0.0),)),
        Result(Fixture(1, (3, 2), 2), ((0.0, 1.0),)),
    ]
    results = [*semi_final, *after]
    given = walkovers(knockout, field, results, {1: 0, 4: last}, games=1)
    assert knockout.strays(field, [*results, *given]) == []
    places = knockout.places(field, [*results, *given])
    assert (places[2], places[4]) == (1, place)
    assert next(one.points for one in given if one.fixture.entrants == (1, 4)) == points


@pytest.mark.parametrize("last", [{1: 0, 2: 0}, {1: 2, 2: 1}])
def test_who_have_both_left_are_given_nothing(last: dict[int, int]) -> None:
    """Whether they left before the round, or after it and it is due again."""
    (given,) = walkovers(Swiss(1), [1, 2], [Result(Fixture(1, (1, 2)))], last, games=1)
    assert given.games == ((0.0, 0.0),)


@pytest.mark.parametrize("later", [{}, {2: 2}, {2: 2, 3: 2}])
def test_those_who_were_given_a_match_of_three_keep_it(later: dict[int, int]) -> None:
    """The first left before the second round, and the others after it."""
    danish, game = Danish(2, seats=3), ((1.0, 0.5, 0.0),)
    results = [Result(Fixture(1, (1, 2, 3)), game), Result(Fixture(2, (1, 2, 3)))]
    (given,) = walkovers(danish, [1, 2, 3], results, {1: 1, **later}, games=1)
    assert given.points == (0.0, 1.0, 1.0)


PLAYED = Result(Fixture(1, (1, 2)), ((1.0, 0.0),))
GIVEN = Result(Fixture(2, (3, 1)), ((0.0, 1.0),))
BYE = Result(Fixture(3, (1,)), ((1.0,),))


@pytest.mark.parametrize(
    ("due", "past", "last"),
    [
        ([Fixture(1, (1, 2))], [], 0),
        ([Fixture(2, (3, 1))], [PLAYED], 1),
        ([Fixture(1, (3, 4))], [PLAYED], 1),
        ([Fixture(2, (1, 3), 2)], [PLAYED, Result(Fixture(2, (3, 1), 1), ((0.0, 1.0),))], 1),
        ([], [PLAYED, GIVEN], 2),
        ([Fixture(3, (2, 3))], [PLAYED, GIVEN, BYE], 3),
        ([Fixture(1, (1, 2))], [GIVEN, BYE], 3),
        ([Fixture(1, (3, 4))], [PLAYED, Result(Fixture(2, (3, 1)))], 1),
        ([Fixture(3, (2, 3))], [PLAYED, GIVEN, Result(Fixture(3, (1,)))], 3),
        ([], [PLAYED, Result(Fixture(2, (3, 4)), ((1.0, 0.0),))], 1),
        ([Fixture(3, (1, 2))], [], 2),
        ([], [], 0),
    ],
    ids=[
        "none",
        "is to play",
        "waits",
        "in the midst of a tie",
        "given",
        "sits out",
        "is to play one of before anew",
        "is to play once others have played anew",
        "sits out for no points",
        "is out",
        "has nothing to play before",
        "has nothing to play",
    ],
)
def test_the_last_round_of_who_leaves(due: list[Fixture], past: list[Result], last: int) -> None:
    """It counts if there was nothing more to play in it."""
    assert last_round(1, due, past) == last


def test_a_swiss_lets_those_sit_out_who_have_left() -> None:
    """Of an odd field nobody else does, and it gives them nothing; a bye from before stands."""
    swiss, field, random = Swiss(3, withdrawn={1: 0}), [1, 2, 3, 4, 5], Random(1)
    results: list[Result] = []
    while due := swiss.fixtures(field, results):
        results += [play(fixture, random) for fixture in due]
    byes = swiss.byes(field, results)
    assert [bye.fixture for bye in byes] == [Fixture(number, (1,)) for number in (1, 2, 3)]
    for last, points in [(0, [0.0, 0.0, 0.0]), (1, [1.0, 0.0, 0.0]), (3, [1.0, 1.0, 1.0])]:
        assert [bye.points for bye in earned(byes, {1: last})] == [(one,) for one in points]
    assert earned(byes, {2: 0}) == byes


@pytest.mark.parametrize(
    ("paired", "given", "due", "out"),
    [
        pytest.param(1, [(1, 3)], [(4, 2)], 5, id="in the round"),
        pytest.param(0, [], [(2, 4), (5, 3)], 1, id="before it"),
    ],
)
def test_a_swiss_round_that_has_begun_stays_when_somebody_leaves(
    paired: int, given: list[tuple[int, int]], due: list[tuple[int, int]], out: int
) -> None:
    """It is that of five by hand (see test_swiss.py): 3 is given its match against 1, though 1
    would else have sat out instead of 5, and 2 to 5 met half of them away from each other."""
    swiss, field = Swiss(3, seed=1, withdrawn={1: paired}), [1, 2, 3, 4, 5]
    found = walkovers(swiss, field, [], {1: 0}, games=1)
    assert [(one.fixture.entrants, one.points) for one in found] == [
        (pair, (0.0, 1.0)) for pair in given
    ]
    assert [fixture.entrants for fixture in swiss.fixtures(field, found)] == due
    assert [bye.fixture for bye in swiss.byes(field, found)] == [Fixture(1, (out,))]


def test_what_is_void_is_given_once_somebody_in_it_left() -> None:
    """Also in a round that was set whole before something of the one before was to be played anew;
    and what is void otherwise is for nobody."""
    others = [Result(Fixture(1, (1, 3)), ((1.0, 0.0),)), Result(Fixture(1, (2, 4)))]
    void = [Result(Fixture(2, (2, 1))), Result(Fixture(2, (4, 3)))]
    given = Result(Fixture(2, (2, 1)), ((1.0, 0.0),))
    assert walkovers(Swiss(2), [1, 2, 3, 4], [*others, *void], {1: 1}, games=1) == [given]


def test_what_stays_set_of_void_matches() -> None:
    """What was made last, unless somebody in it has met, or is to meet, another one since."""
    voided = [(2, (1, 3)), (2, (3, 5)), (2, (6, 4)), (1, (3, 5))]
    results = [Result(Fixture(2, (2, 4))), Result(Fixture(1, (2, 4)), ((1.0, 0.0),))]
    found = still_set([Fixture(*one) for one in voided], results)
    assert found == [Result(Fixture(2, (1, 3))), Result(Fixture(1, (3, 5)))]
