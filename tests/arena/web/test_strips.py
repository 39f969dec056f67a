"""What stands below a replay, against values and times that are set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from arena.web.strips import evaluations, incidents, point_strips, value_strips
from engine.clock import TimeControl
from engine.game import Termination
from engine.games import find_variant
from engine.record import Fault, GameRecord, Ply
from engine.referee import play_game
from tests.engine.players import PLENTY, FirstMove

CLOBBER = find_variant("clobber", ["size=4x3"])
PUBLISHED = "a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x b4x b3<> b1<>"
"""The game of Mijnlieff that its rules come with."""
BLOKUS = find_variant("blokus", ["mode=classic", "corners=fixed"])


def record_of(
    plies: Sequence[tuple[int, Mapping[str, float]]],
    variant=CLOBBER,
    time: TimeControl = PLENTY,
    faults: Sequence[Fault] = (),
) -> GameRecord:
    """A game of so many plies of the first seats in turn: of each its milliseconds, and numbers."""
    like = play_game(CLOBBER, [FirstMove(), FirstMove()], time=PLENTY)
    made = [
        Ply(number % 2, "a1a2", 1000 * ms, 1000 * ms, values=values)
        for number, (ms, values) in enumerate(plies)
    ]
    return replace(like, variant=variant, time=time, plies=tuple(made), faults=tuple(faults))


@pytest.mark.parametrize(
    ("variant", "moves", "low", "high", "last"),
    [
        # Squares of pieces that are left count less than nothing: of 89 one has gone, and two.
        (BLOKUS, ("blue:a20", "yellow:t20,t19"), -89, -87, "Blue -88, Yellow -87, Red -89"),
        # The published game, which ends by 4 to 1.
        (find_variant("mijnlieff", []), PUBLISHED.split(), 0, 4, "White 4 and Black 1"),
        (find_variant("puzzle", ["task=tetrominoes"]), ("red:a1,a2,a3,b1",), 0, 4, "Solver 4"),
        (CLOBBER, ("a2a1",), 0, 0, ""),
    ],
    ids=str,
)
def test_points_after_each_ply(variant, moves, low, high, last) -> None:
    """By hand, from the start to the last ply; and nothing where no points are counted."""
    state, plies = variant.initial(), []
    for move in moves:
        plies.append(Ply(state.to_move, move, 0, 0))
        state = state.play(move)
    record = replace(record_of(()), variant=variant, plies=tuple(plies), opening=0)
    record = replace(record, players=("one",) * variant.seats)
    strips = point_strips(record, 1)
    if not last:
        assert strips == []
        return
    (strip,) = strips
    assert strip.note.startswith(last)
    assert f"from {low} to {high}; in the end {last}" in str(strip.picture)
    lines = re.findall(r'points="([^"]*)"', str(strip.picture))
    assert [len(line.split()) for line in lines] == [len(moves) + 1] * variant.seats


def said(*values: float | None) -> list[tuple[int, Mapping[str, float]]]:
    return [(1, {} if value is None else {"eval": value}) for value in values]


@pytest.mark.parametrize(
    ("variant", "values", "points", "most"),
    [
        # Shares, by hand: half a game is a draw, and Black's 0.75 is White's 0.25.
        (CLOBBER, (0.75, 0.75, 1, 0), [(0.25, 0.5), (-0.25, 0.5)], (0.5, 0.5)),
        # Other numbers have their own nought, each bot its own scale.
        (CLOBBER, (3, 3, -1, 0.5), [(3, -1), (-3, -0.5)], (3, 3)),
        (CLOBBER, (0.2, None, 0.4, None), [(-0.3, -0.1)], (0.5,)),
        # Among several sides each sees it from its own.
        (BLOKUS, (0.75, 0.25), [(0.25,), (-0.25,)], (0.5, 0.5)),
        # One hundred at the end leaves the others as they are: 3 times 1.5.
        (CLOBBER, (2, None) * 9 + (3, None) * 2 + (-100, None), [(2,) * 9 + (3, 3, -100)], (4.5,)),
        (CLOBBER, (0, None) * 11 + (100, None), [(0,) * 11 + (100,)], (100,)),
        (CLOBBER, (0, None, 0, None), [(-0.5, -0.5)], (0.5,)),
    ],
)
def test_evaluations_from_one_side(variant, values, points, most) -> None:
    """A share is measured from a half, the second side's is turned, and far ones are cut."""
    found = evaluations(record_of(said(*values), variant))
    assert [tuple(value for _, value in one.points) for one in found] == [
        pytest.approx(one) for one in points
    ]
    assert tuple(one.most for one in found) == most


def test_a_strip_for_each_bot_that_says_what_it_thinks() -> None:
    """Clipped and of one side, as is said; the other numbers have one for both."""
    plies = [(1, {"eval": 0.75, "depth": 3}), (1, {"eval": 2, "depth": 4})]
    plies += [(1, {"eval": 1, "depth": 5}), (1, {"eval": 2})] + 9 * [(1, {}), (1, {"eval": 2})]
    plies += [(1, {}), (1, {"eval": 50})]
    titles = [(one.title, one.note) for one in value_strips(record_of(plies), 0)]
    assert titles == [
        ("eval of White", "0 to 1, as White sees it"),
        ("eval of Black", "-3 to 3, as White sees it; clipped, up to 50"),
        ("depth", "3 to 5"),
    ]
    white = str(value_strips(record_of(plies), 0)[0].picture)
    # From 17 of 20 above the middle of 40 down, by hand; a ply is 1000 / 24 wide.
    assert 'points="20.8,11.5 104.2,3.0"' in white
    assert re.search(r'class="even" x2="1000" y1="20.0"', white)


MOVE, CLOCK = TimeControl(move_ms=100), TimeControl(time_ms=1000, inc_ms=0)
CRASH = Fault(1, 4, Termination.CRASH, "exit 1")


@pytest.mark.parametrize(
    ("times", "control", "wanted"),
    [
        ((79, 1, 79, 1), MOVE, []),
        # Moves that follow each other are one mark, whatever the other does meanwhile.
        ((80, 1, 95, 90, 10, 1, 99), MOVE, [(1, 3, "White"), (4, 4, "Black"), (7, 7, "White")]),
        # Of a clock it is what is left: 800 of 1000, then 159 and 160 of 200.
        ((799, 1, 1), CLOCK, []),
        ((800, 1, 159), CLOCK, [(1, 1, "White")]),
        ((800, 1, 160), CLOCK, [(1, 3, "White")]),
    ],
)
def test_moves_that_took_nearly_all_their_time(times, control, wanted) -> None:
    """They are marked from 80 % on of what there was for the move."""
    found = incidents(record_of([(ms, {}) for ms in times], time=control))
    assert [(one.first, one.last, one.seat) for one in found] == wanted
    assert {one.kind for one in found} <= {"time"}


def test_faults_and_changes_of_sign_are_incidents() -> None:
    """They are in the position where they are seen; a nought is no change of its own."""
    plies = said(1, -1, 0, -2, -1, -1)
    found = incidents(record_of(plies, faults=[CRASH]))
    assert [(one.kind, one.first, one.words) for one in found] == [
        ("fault", 4, "Black: crash"),
        ("turn", 5, "White, eval: another is ahead"),
    ]
