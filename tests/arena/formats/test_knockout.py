"""Knockouts: brackets counted by hand, and what they promise of fields of any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from arena.formats.fixtures import Fixture, Result
from arena.formats.knockout import Knockout, seeding
from tests.arena.formats.simulation import play, play_out


def best_first(a: int, b: int) -> int:
    """The favourite wins."""
    return min(a, b)


def play_ties(
    knockout: Knockout, field: list[int], winner: Callable[[int, int], int] = best_first
) -> list[Result]:
    """All results if every game is won by whom `winner` says."""
    results: list[Result] = []
    while due := knockout.fixtures(field, results):
        for fixture in due:
            a, b = fixture.entrants
            share = float(winner(a, b) == a)
            results.append(Result(fixture, ((share, 1 - share),)))
    return results


STRAYS: dict[str, tuple[Knockout, dict[int, tuple[int, int]], list[tuple[int, int]]]] = {
    # By hand: four meet as 1-4 and 2-3, then the winners, 1-2. Then 4 has beaten 1 after all.
    "another winner": (Knockout(), {1: (1, 4)}, [(1, 2)]),
    "and the match for the third place": (
        Knockout(third_place=True),
        {1: (1, 4)},
        [(1, 2), (3, 4)],
    ),
    # Round 2 is 1-2 above and 3-4 below; who plays after it is not known yet.
    "on both sides of a double bracket": (
        Knockout(double=True),
        {1: (1, 4)},
        [(1, 2), (3, 4)],
    ),
    "the same winner": (Knockout(), {}, []),
}


@pytest.mark.parametrize(("knockout", "flipped", "strays"), STRAYS.values(), ids=STRAYS)
def test_whoever_goes_on_instead_leaves_strays(
    knockout: Knockout, flipped: dict[int, tuple[int, int]], strays: list[tuple[int, int]]
) -> None:
    """While a tie is due again later rounds stand; they are strays once another goes on."""
    field = [1, 2, 3, 4]
    results = play_ties(knockout, field)
    assert knockout.strays(field, results) == []
    again = [
        Result(result.fixture, ()) if result.fixture.entrants == (1, 4) else result
        for result in results
    ]
    assert knockout.strays(field, again) == []
    anew = [
        Result(result.fixture, tuple(game[::-1] for game in result.games))
        if result.fixture.entrants == flipped.get(result.fixture.round)
        else result
        for result in results
    ]
    found = knockout.strays(field, anew)
    assert sorted(tuple(sorted(fixture.entrants)) for fixture in found) == strays
    # Further on others may show, as soon as it is known who meets there.
    end = anew
    while due := knockout.fixtures(field, end):
        end = [*end, *(Result(fixture, ((1.0, 0.0),)) for fixture in due)]
        strange = knockout.strays(field, end)
        end = [result for result in end if result.fixture not in strange]
    assert len(knockout.places(field, end)) == 4


def test_a_stray_shows_before_its_round_is_known() -> None:
    """8 has beaten 1 after all, and meets 4; whom 3 meets is open, as 2 against 7 is due again."""
    won, lost = ((1.0, 0.0),), ((0.0, 1.0),)
    first = {(1, 8): lost, (4, 5): won, (2, 7): (), (3, 6): won}
    second = {(1, 4): won, (2, 3): won}
    results = [
        Result(Fixture(number, pair), games)
        for number, ties in enumerate((first, second), 1)
        for pair, games in ties.items()
    ]
    assert Knockout().strays(list(range(1, 9)), results) == [Fixture(2, (1, 4))]


def test_seeds_stand_as_usual() -> None:
    """The usual bracket of eight: 1-8, 4-5, 2-7, 3-6, so that 1 and 2 meet in the final."""
    assert [seed + 1 for seed in seeding(8)] == [1, 8, 4, 5, 2, 7, 3, 6]


@pytest.mark.parametrize(
    ("size", "first_round", "byes"),
    [
        (5, [(4, 5)], [1, 2, 3]),
        (6, [(4, 5), (3, 6)], [1, 2]),
        (7, [(4, 5), (2, 7), (3, 6)], [1]),
        (8, [(1, 8), (4, 5), (2, 7), (3, 6)], []),
    ],
)
def test_the_best_seeds_have_byes(
    size: int, first_round: list[tuple[int, int]], byes: list[int]
) -> None:
    """Counted by hand: places 6 to 8 of the bracket of eight are empty, and so on."""
    field = list(range(1, size + 1))
    ties = Knockout().ties(field, [])
    assert [tie.sides for tie in ties if tie.round == 1 and None not in tie.sides] == first_round
    shown = Knockout().byes(field, [])
    assert sorted(bye.fixture.entrants[0] for bye in shown) == byes
    assert all(bye.points == (0,) for bye in shown)
    # Who has a bye may already know its next opponent, and then plays on.
    assert {fixture.entrants for fixture in Knockout().fixtures(field, [])} >= set(first_round)


def test_favourites_meet_in_order() -> None:
    """If the better seed always wins, 1 to 4 are in the semi-finals, and end as seeded."""
    knockout, field = Knockout(third_place=True), list(range(1, 17))
    results = play_ties(knockout, field)
    ties = knockout.ties(field, results)
    semi_finals = [tie.sides for tie in ties if tie.stage == "semi-final"]
    assert semi_finals == [(1, 4), (2, 3)]
    assert [tie.sides for tie in ties if tie.stage == "third place"] == [(3, 4)]
    places = knockout.places(field, results)
    assert [places[seed] for seed in field] == [1, 2, 3, 4, 5, 5, 5, 5, *[9] * 8]


@pytest.mark.parametrize(
    ("open_tie", "places"),
    [
        # By hand: four end as seeded, and one match is not played yet.
        ((1, 4), {3: 3}),
        ((3, 4), {1: 1, 2: 2}),
        ((1, 2), {3: 3, 4: 4}),
    ],
    ids=["a semi-final", "the third place", "the final"],
)
def test_a_place_does_not_wait_for_the_ties_beside_it(
    open_tie: tuple[int, int], places: dict[int, int]
) -> None:
    """Who is out, or has won, has the place that is final, whoever else plays on."""
    field = [1, 2, 3, 4]
    knockout = Knockout(third_place=open_tie != (1, 4))
    results = play_ties(knockout, field)
    rest = [result for result in results if result.fixture.entrants != open_tie]
    if open_tie == (1, 4):
        rest = [result for result in rest if result.fixture.round == 1]
    assert knockout.places(field, rest) == places


@pytest.mark.parametrize("size", [3, 6, 11])
@pytest.mark.parametrize("double", [False, True])
def test_a_place_once_known_stands(size: int, double: bool) -> None:
    """It does in whatever order ties are played."""
    field = list(range(1, size + 1))
    knockout = Knockout(double=double, third_place=not double)
    random = Random(size)
    results: list[Result] = []
    known: list[dict[int, int]] = []
    while due := knockout.fixtures(field, results):
        results.append(play(random.choice(due), random))
        known.append(knockout.places(field, results))
    assert sorted(known[-1]) == field
    assert all(places.items() <= known[-1].items() for places in known)


def test_double_elimination_of_four_by_hand() -> None:
    """2 loses to 3 at first, comes back through the losers' rounds and needs two finals.

    1-4 and 2-3 (3 wins); 4-2 among the losers, 1-3 among the winners; 3 comes down to 2, who
    beats it, and then 1 twice.
    """
    expected = {(1, 4), (3, 2), (1, 3), (2, 4), (2, 3), (2, 1), (2, 1)}
    knockout, field = Knockout(double=True), [1, 2, 3, 4]
    beats = {}

    def winner(a: int, b: int) -> int:
        key = frozenset((a, b))
        beats[key] = beats.get(key, 0) + 1
        if key == {2, 3} and beats[key] == 1:
            return 3
        return 2 if 2 in key else min(key)

    results = play_ties(knockout, field, winner)
    ties = knockout.ties(field, results)
    stages = [(tie.stage, tie.winner, tie.loser) for tie in ties]
    assert {(won, lost) for _, won, lost in stages} == expected
    assert stages[-2:] == [("final", 2, 1), ("second final", 2, 1)]
    assert knockout.places(field, results) == {2: 1, 1: 2, 3: 3, 4: 4}


def test_the_stages_of_double_elimination() -> None:
    """Eight have, after each winners' round but the first, two for those who have lost once."""
    stages = Counter(tie.stage for tie in Knockout(double=True).ties(list(range(8)), []))
    winners = {"winners' round 1": 4, "winners' round 2": 2, "winners' round 3": 1}
    losers = {f"losers' round {number}": ties for number, ties in enumerate((2, 2, 1, 1), 1)}
    assert stages == {**winners, **losers, "final": 1, "second final": 1}


@pytest.mark.parametrize("size", [2, 3, 7, 16, 33, 200])
@pytest.mark.parametrize("double", [False, True])
def test_everybody_goes_out_as_agreed(size: int, double: bool) -> None:
    """All but the winner lose once, or twice; so many ties are played, and byes are the rest."""
    field = list(range(1, size + 1))
    knockout = Knockout(double=double, extra_legs=20)
    results = play_out(knockout, field, seed=size)
    ties = knockout.ties(field, results)
    assert all(tie.decided for tie in ties)
    losses = Counter(tie.loser for tie in ties if tie.loser is not None)
    places = knockout.places(field, results)
    champion = next(iter(places))
    assert places[champion] == 1
    assert sorted(places) == field
    lives = 2 if double else 1
    assert {losses[one] for one in field if one != champion} == {lives}
    assert losses[champion] < lives
    busy = Counter((tie.round, side) for tie in ties for side in tie.sides if side is not None)
    assert set(busy.values()) == {1}


def leg(number: int, share: float) -> Result:
    """A leg of 1 against 2, and the share of 1, who sits first in odd legs."""
    if number % 2:
        return Result(Fixture(1, (1, 2), number), ((share, 1 - share),))
    return Result(Fixture(1, (2, 1), number), ((1 - share, share),))


@pytest.mark.parametrize(
    ("shares", "due", "winner"),
    [
        ({}, [1, 2], None),
        ({1: 1}, [2], None),
        ({2: 1}, [1], None),
        ({1: 0.5}, [2, 3], None),
        ({1: 1, 2: 1}, [], 1),
        ({1: 1, 2: 0.5}, [3], None),
        ({1: 0, 2: 0}, [], 2),
        ({1: 1, 2: 0, 3: 0.5}, [4], None),
        ({1: 1, 2: 0, 3: 0.5, 4: 0}, [], 2),
        ({1: 1, 2: 0, 3: 0.5, 4: 0.5}, [5], None),
        ({1: 1, 2: 0, 3: 0.5, 4: 0.5, 5: 0.5}, [], 1),
    ],
)
def test_best_of_three(shares: dict[int, float], due: list[int], winner: int | None) -> None:
    """Only legs that are certain are due; then two further ones, and then the better seed."""
    knockout = Knockout(legs=3, extra_legs=2)
    results = [leg(number, share) for number, share in shares.items()]
    assert [fixture.leg for fixture in knockout.fixtures([1, 2], results)] == due
    (tie,) = knockout.ties([1, 2], results)
    assert tie.winner == winner
    assert tie.score[0] == sum(shares.values())


@pytest.mark.parametrize(
    ("shares", "due", "winner", "strays"),
    [
        ({1: 0.5, 2: 1}, [], 1, []),
        ({2: 1}, [1], None, []),
        ({1: 0.5, 3: 0}, [2], None, []),
        ({3: 0}, [1], None, []),
        ({1: 0, 2: 1}, [], 2, [2]),
        ({1: 0.5, 2: 1, 3: 0}, [], 1, [3]),
    ],
)
def test_a_further_leg_counts_if_those_before_it_left_the_tie_level(
    shares: dict[int, float], due: list[int], winner: int | None, strays: list[int]
) -> None:
    """One before it that was made void is due again; if that decides, the further one goes."""
    knockout = Knockout(extra_legs=2)
    results = [leg(number, share) for number, share in shares.items()]
    assert [fixture.leg for fixture in knockout.fixtures([1, 2], results)] == due
    (tie,) = knockout.ties([1, 2], results)
    assert tie.winner == winner
    assert [fixture.leg for fixture in knockout.strays([1, 2], results)] == strays


def test_better_seeds_sit_first_in_odd_legs() -> None:
    """Whatever the numbers of the entrants are."""
    fixtures = Knockout(legs=4).fixtures([9, 3], [])
    assert [fixture.entrants for fixture in fixtures] == [(9, 3), (3, 9), (9, 3)]


def test_a_third_place_in_double_elimination_is_refused() -> None:
    """One line says what is wrong."""
    with pytest.raises(ValueError, match="losers' final"):
        Knockout(double=True, third_place=True)
