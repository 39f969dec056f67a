"""Standings against published tables and definitions, and a few counted by hand."""

from __future__ import annotations

from random import Random

import pytest

from arena.formats.fixtures import Fixture, Result
from arena.formats.round_robin import RoundRobin
from arena.formats.score import Score
from arena.formats.standings import Table, crosstable, standings
from arena.formats.swiss import Swiss
from arena.ratings.bradley_terry import fit
from arena.ratings.result import GameResult
from tests.arena.formats.simulation import play_out


def game(round_: int, one: int, other: int, share: float) -> Result:
    """One game and what the first one got of it."""
    return Result(Fixture(round_, (one, other)), ((share, 1 - share),))


def bye(round_: int, entrant: int, share: float = 1.0) -> Result:
    return Result(Fixture(round_, (entrant,)), ((share,),))


A, B, C, D = 1, 2, 3, 4
# Sensei's Library, "Sonneborn-Berger": a double round robin, A 4 (11), B 4 (9), C 3 (6), D 1 (4).
SENSEI = [
    *(game(1, A, other, 1) for other in (B, C, D)),
    game(2, A, B, 0),
    game(2, A, C, 1),
    game(2, A, D, 0),
    game(1, B, C, 1),
    game(1, B, D, 1),
    game(2, B, C, 0),
    game(2, B, D, 1),
    game(1, C, D, 1),
    game(2, C, D, 1),
]


def test_sonneborn_berger_of_a_published_table() -> None:
    """The points, the sums and the order are those of the source."""
    rows = standings(Table([D, C, B, A], SENSEI), ["sonneborn-berger"])
    assert [(row.entrant, row.points, row.tie_breaks[0]) for row in rows] == [
        (A, 4, 11),
        (B, 4, 9),
        (C, 3, 6),
        (D, 1, 4),
    ]
    assert [row.place for row in rows] == [1, 2, 3, 4]
    assert {row.games for row in rows} == {6}


# Four entrants, three rounds. A beats B and D and draws with C; B beats C and draws with D; C
# beats D. Points: A 2.5, B 1.5, C 1.5, D 0.5.
SMALL = [
    game(1, A, B, 1),
    game(1, C, D, 1),
    game(2, A, C, 0.5),
    game(2, B, D, 0.5),
    game(3, A, D, 1),
    game(3, B, C, 1),
]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        # Of all others: 6 points less one's own.
        ("buchholz", {A: 3.5, B: 4.5, C: 4.5, D: 5.5}),
        # A: 1.5 + 0.5 + 1.5 / 2; B: 1.5 + 0.5 / 2; C: 0.5 + 2.5 / 2; D: 1.5 / 2.
        ("sonneborn-berger", {A: 2.75, B: 1.75, C: 1.75, D: 0.75}),
        # Only B and C are level, and B has beaten C.
        ("head-to-head", {A: 0, B: 1, C: 0, D: 0}),
        ("wins", {A: 2, B: 1, C: 1, D: 0}),
    ],
)
def test_tie_breaks_by_hand(name: str, values: dict[int, float]) -> None:
    """Each on the same small table."""
    rows = standings(Table([A, B, C, D], SMALL), [name])
    assert {row.entrant: row.tie_breaks[0] for row in rows} == values


def test_the_first_tie_break_that_differs_decides() -> None:
    """B and C are level in Sonneborn-Berger, and B has beaten C."""
    for seed in range(10):
        table = Table([C, B, A, D], SMALL, seed=seed)
        rows = standings(table, ["sonneborn-berger", "head-to-head"])
        assert [row.entrant for row in rows] == [A, B, C, D]


def test_head_to_head_needs_all_games() -> None:
    """Of three who are level two have not met, so what the others did to them does not count."""
    results = [game(1, A, B, 1), game(2, B, C, 1), game(3, C, D, 1)]
    rows = standings(Table([A, B, C, D], results), ["head-to-head"])
    assert [row.tie_breaks[0] for row in rows if row.points == 1] == [0, 0, 0]


def test_the_lot_comes_last_and_from_the_seed() -> None:
    """Who is level in everything stands in an order that only the seed decides."""
    orders = {
        tuple(row.entrant for row in standings(Table([A, B, C], [], seed=seed)))
        for seed in range(60)
    }
    assert len(orders) == 6
    again = [row.entrant for row in standings(Table([C, B, A], [], seed=3))]
    assert again == [row.entrant for row in standings(Table([A, B, C], [], seed=3))]


@pytest.mark.parametrize(
    ("before", "round_", "share", "rounds", "points"),
    [
        # FIDE's handbook of 2020, C.02 13.15.2: two examples of nine rounds, each
        # after the round and at the end.
        (1.5, 3, 0, 3, 2.5),
        (1.5, 3, 0, 9, 5.5),
        (3.5, 6, 1, 6, 3.5),
        (3.5, 6, 1, 9, 5.0),
        # The manual of Vega, appendix I: a default win in round 3, an absence in round 7.
        (2, 3, 1, 9, 5),
        (4, 7, 0, 9, 6),
    ],
)
def test_the_virtual_opponent_of_a_bye(
    before: float, round_: int, share: float, rounds: int, points: float
) -> None:
    """Its points are those of the published examples."""
    shares = [1.0] * int(before) + [0.5] * int(2 * (before % 1))
    shares += [0.0] * (round_ - 1 - len(shares))
    results = [game(number, A, B, got) for number, got in enumerate(shares, 1)]
    results += [bye(round_, A, share), game(rounds, C, D, 1)]
    table = Table([A, B, C, D], results)
    assert table.virtual_opponent(bye(round_, A, share)) == points


@pytest.mark.parametrize("rounds", [(2, 3), (3, 2)])
def test_what_is_given_in_a_schedule_counts_as_if_played(rounds: tuple[int, int]) -> None:
    """Counted by hand: D beat C, then left; it does not matter when the others were to meet it."""
    played = [game(1, A, B, 1), game(1, C, D, 0), game(2, B, C, 1), game(3, A, C, 0)]
    given = [game(rounds[0], A, D, 1), game(rounds[1], B, D, 1)]
    table = Table([A, B, C, D], played, given=given)
    names = ["sonneborn-berger", "buchholz", "head-to-head", "wins"]
    rows = {row.entrant: row for row in standings(table, names)}
    found = {one: (row.points, row.games, *row.tie_breaks[:-1]) for one, row in rows.items()}
    assert found == {
        A: (2, 2, 3, 4, 0, 1),
        B: (2, 2, 2, 4, 0, 1),
        C: (1, 3, 2, 5, 0, 1),
        D: (1, 1, 1, 5, 0, 1),
    }
    assert [row.place for row in (rows[A], rows[B])] == [1, 2]
    assert crosstable(table, [A, D])[0][1] is None


def test_what_is_not_played_counts_for_nothing() -> None:
    """Neither a fixture that is still due nor a bye without points is in any sum."""
    played = [*SMALL, bye(4, A)]
    due = [Result(Fixture(5, (B, C))), Result(Fixture(5, (D,))), Result(Fixture(6, (A, D)))]
    names = ["buchholz", "sonneborn-berger", "head-to-head", "wins"]
    field = [A, B, C, D]
    assert standings(Table(field, [*played, *due]), names) == standings(Table(field, played), names)


def test_opponents_gain_nothing_from_byes() -> None:
    """Vega, appendix I: six points with a default win count 5.5 for the opponents."""
    results = [game(number, A, B, 1) for number in range(1, 6)] + [bye(6, A)]
    table = Table([A, B], results)
    assert table.points[A] == 6
    assert table.points_as_opponent()[A] == 5.5


def test_buchholz_with_a_bye_by_hand() -> None:
    """Three entrants, three rounds: A beats B, then B beats C, then A draws with C.

    Points with byes: A 2.5, B 2, C 1.5; without the half of the bye for opponents: 2, 1.5, 1.
    A: B 1.5 + C 1 + its bye in round 2, worth 1 before + 0 + 1/2 later = 4.
    B: A 2 + C 1 + its bye in round 3, worth 1 before = 4.
    C: B 1.5 + A 2 + its bye in round 1, worth 0 before + 1 later = 4.5.
    """
    results = [game(1, A, B, 1), game(2, B, C, 1), game(3, A, C, 0.5)]
    results += [bye(1, C), bye(2, A), bye(3, B)]
    rows = standings(Table([A, B, C], results), ["buchholz"])
    assert [(row.entrant, row.points, row.tie_breaks[0], row.games) for row in rows] == [
        (A, 2.5, 4, 2),
        (B, 2, 4, 2),
        (C, 1.5, 4.5, 2),
    ]


def test_the_crosstable_has_one_order_on_both_axes() -> None:
    """Counted by hand from the double round robin above."""
    table = Table([A, B, C, D], SENSEI)
    cells = crosstable(table, [A, B, C, D])
    assert cells[0] == [None, Score(1, 0, 1), Score(2, 0, 0), Score(1, 0, 1)]
    assert cells[3] == [Score(1, 0, 1), Score(0, 0, 2), Score(0, 0, 2), None]
    assert [sum(cell.points for cell in row if cell) for row in cells] == [4, 4, 3, 1]


def test_games_of_three_count_against_each_opponent() -> None:
    """A is before B and C, who share the rest; voided fixtures are nothing."""
    seats = Fixture(1, (A, B, C))
    table = Table([A, B, C], [Result(seats, ((1.0, 0.25, 0.25),)), Result(Fixture(2, (C, A, B)))])
    assert table.points == {A: 1, B: 0.25, C: 0.25}
    assert crosstable(table, [A, B, C]) == [
        [None, Score(1, 0, 0), Score(1, 0, 0)],
        [Score(0, 0, 1), None, Score(0, 1, 0)],
        [Score(0, 0, 1), Score(0, 1, 0), None],
    ]


def test_allies_do_not_meet() -> None:
    """A is alone and wins, then B and C win together as one and as ally, each against A alone."""
    seats = Fixture(1, (A, B, C))
    results = [Result(seats, ((1.0, 0.0, 0.0), (0.0, 1.0, 1.0)))]
    games = [
        GameResult((A, B, C), (0, 1, 1), (1, 2, 2)),
        GameResult((A, B, C), (0, 1, 1), (2, 1, 1)),
    ]
    table = Table([A, B, C], results, games=games)
    assert table.points == {A: 1, B: 1, C: 1}
    assert crosstable(table, [A, B, C]) == [
        [None, Score(1, 0, 1), Score(1, 0, 1)],
        [Score(1, 0, 1), None, None],
        [Score(1, 0, 1), None, None],
    ]


def test_thirds_are_the_same_in_any_order() -> None:
    """A and B come first, second and third of four once each, which the last bit would not say."""
    places = {1: 1.0, 2: 2 / 3, 3: 1 / 3, 4: 0.0}
    assert places[1] + places[3] + places[2] != places[1] + places[2] + places[3]
    results = []
    for one, order in ((A, (1, 3, 2)), (B, (1, 2, 3))):
        for round_, place in enumerate(order, 1):
            others = [share for other, share in places.items() if other != place]
            seats = Fixture(round_, (one, one + 2, one + 4, one + 6))
            results.append(Result(seats, ((places[place], *others),)))
    field = list(range(1, 9))
    tables = [standings(Table(field, results, seed=seed), ["wins"]) for seed in range(20)]
    assert {row.points for rows in tables for row in rows if row.entrant in (A, B)} == {2}
    assert {tuple(r.entrant for r in rows if r.entrant in (A, B)) for rows in tables} == {
        (A, B),
        (B, A),
    }


def test_points_a_game_decide_where_some_have_more_games() -> None:
    """The candidate A of a gauntlet has beaten B, and lost to C and D, twice each.

    So it has 2 points of 6 games, C and D 2 of 2, and B none.
    """
    results = [game(1, A, B, 1), game(1, A, C, 0), game(1, A, D, 0)]
    results += [game(2, A, B, 1), game(2, A, C, 0), game(2, A, D, 0)]
    rows = standings(Table([A, B, C, D], results), by_share=True)
    assert {row.entrant for row in rows[:2]} == {C, D}
    assert [(row.entrant, row.points, row.games) for row in rows[2:]] == [(A, 2, 6), (B, 0, 2)]


def test_nobody_gains_a_tie_break_by_more_games() -> None:
    """All have half the points of their games, of which the candidate A has thrice as many.

    A has won 2 of 6 games, B and C 1 of 2, D none.
    """
    results = [game(1, A, B, 1), game(1, A, C, 1), game(1, A, D, 0.5)]
    results += [game(2, A, B, 0), game(2, A, C, 0), game(2, A, D, 0.5)]
    rows = standings(Table([A, B, C, D], results), ["wins"], by_share=True)
    assert {row.entrant for row in rows[:2]} == {B, C}
    assert [row.entrant for row in rows[2:]] == [A, D]


def test_who_met_oftener_gains_nothing_among_those_who_are_level() -> None:
    """A and B met twice, C each of them once, and all have half the points of their games."""
    results = [game(1, A, B, 1), game(2, A, B, 0), game(3, A, C, 0.5), game(4, B, C, 0.5)]
    rows = standings(Table([A, B, C], results), ["head-to-head"], by_share=True)
    assert [row.tie_breaks[0] for row in rows] == [0.5, 0.5, 0.5]


def test_strengths_stand_beside_the_points() -> None:
    """They are those of the games, and a bye is none."""
    rows = standings(Table([A, B, C], [game(1, A, B, 1), bye(1, C)]))
    expected = fit([GameResult((A, B), (0, 1), (1, 2))])
    assert {row.entrant: row.strength for row in rows} == {**expected, C: None}


def test_results_in_any_order_stand_alike() -> None:
    """The same table comes from shuffled results, and points add up to the games and byes."""
    field = list(range(1, 8))
    swiss = Swiss(4, games=2)
    results = play_out(swiss, field, seed=2, games=2)
    results += swiss.byes(field, results)
    names = ["buchholz", "sonneborn-berger", "head-to-head", "wins"]
    rows = standings(Table(field, results), names)
    assert sum(row.points for row in rows) == 4 * (3 * 2 + 2)
    Random(0).shuffle(results)
    shuffled = standings(Table(field, results), names)
    assert [(row.entrant, row.points, row.tie_breaks) for row in rows] == [
        (row.entrant, row.points, row.tie_breaks) for row in shuffled
    ]


def test_two_hundred_entrants_are_quickly_ranked() -> None:
    """Places are all different, and so many results are no burden."""
    field = list(range(1, 201))
    results = play_out(RoundRobin(), field[:60], seed=1)
    rows = standings(Table(field, results), ["sonneborn-berger", "head-to-head"])
    assert [row.place for row in rows] == field


def test_nobody_is_above_another_by_a_last_digit() -> None:
    """Tenths that are added up in another order come to another sum; a lot decides then."""
    points = {C: 0.1, D: 0.2, 5: 0.3}
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    results = [
        game(1 + (place if one == A else 2 - place), one, other, 1 - share / 2)
        for one in (A, B)
        for place, (other, share) in enumerate(points.items())
    ]
    found = standings(Table([A, B, C, D, 5], results), ["buchholz"])
    first, second = found[:2]
    assert {first.entrant, second.entrant} == {A, B}
    assert first.tie_breaks[0] == second.tie_breaks[0] == 0.6


def test_who_leaves_after_a_good_start_is_not_first() -> None:
    """Of three who were to meet in four rounds one wins the first, and another all, which it can
    since the first leaves. Three games are a match: by points over what was planned 3/12 and 9/9.
    """
    rest = [Result(Fixture(round_, (A,)), ((0.0,),) * 3) for round_ in (2, 3, 4)]
    won = [Result(Fixture(1, (A, C, D)), ((1.0, 0.5, 0.0),) * 3)]
    won += [Result(Fixture(round_, (B, C, D)), ((1.0, 0.5, 0.0),) * 3) for round_ in (2, 3, 4)]
    rows = standings(Table([A, B, C, D], won, given=rest), ["wins"], by_share=True)
    told = [(row.entrant, row.points, row.games, row.unplayed, row.share) for row in rows]
    assert told == [(B, 9, 9, 0, 1), (C, 6, 12, 0, 0.5), (A, 3, 3, 9, 0.25), (D, 0, 12, 0, 0)]
    # Tie-breaks that add up are divided by the same: A beat two in each of three games of twelve.
    assert rows[2].tie_breaks[0] == 0.5
