"""What is counted of a match."""

from __future__ import annotations

import pytest

from arena.ratings.result import GameResult
from arena.recorder.storage import EntrantTally, MeetingTally, Tally, tally
from engine.game import Termination


def test_a_pair_of_games() -> None:
    """Counted by hand: entrant 7 won the first game and drew the second, in which 9 crashed.

    That 9 gave the first one up is no fault.
    """
    found = tally(
        [GameResult((9, 7), (0, 1), (2, 1)), GameResult((7, 9), (0, 1), (1, 1))],
        [(9, Termination.RESIGN), (9, Termination.CRASH)],
        games=2,
    )
    assert found.entrants == {
        7: EntrantTally(games=2, wins=1, draws=1, losses=0, points=1.5, faults=0),
        9: EntrantTally(games=2, wins=0, draws=1, losses=1, points=0.5, faults=1),
    }
    assert found.meetings == {(7, 9): MeetingTally(matches=1, games=2, wins=1, draws=1)}
    assert (found.games, found.neighbours, found.ties) == (2, 2, 1)


def test_matches_add_up() -> None:
    """By hand: twice a pair as above in which both crashed, and once one that 9 won over 8."""
    pair = tally(
        [GameResult((9, 7), (0, 1), (2, 1)), GameResult((7, 9), (0, 1), (1, 1))],
        [(9, Termination.CRASH), (7, Termination.CRASH)],
        games=2,
    )
    won = tally(
        [GameResult((9, 8), (0, 1), (1, 2)), GameResult((8, 9), (0, 1), (2, 1))],
        [(8, Termination.TIMEOUT), (9, Termination.CRASH)],
        games=2,
    )
    found = Tally()
    for one in (pair, won, pair):
        found.add(one)
    assert found.entrants == {
        7: EntrantTally(games=4, wins=2, draws=2, losses=0, points=3.0, faults=2),
        8: EntrantTally(games=2, wins=0, draws=0, losses=2, points=0.0, faults=1),
        9: EntrantTally(games=6, wins=2, draws=2, losses=2, points=3.0, faults=3),
    }
    assert found.meetings == {
        (7, 9): MeetingTally(matches=2, games=4, wins=2, draws=2),
        (8, 9): MeetingTally(matches=1, games=2, wins=0, draws=0),
    }
    assert (found.games, found.neighbours, found.ties) == (6, 6, 2)


def test_places_of_three_sides_and_more_add_up() -> None:
    """Two games of four seats, and then one; games of two sides leave them empty."""
    four = (0, 1, 2, 3)
    found = Tally()
    for ranks in ([(1, 1, 3, 4), (2, 1, 4, 3)], [(4, 1, 2, 2)]):
        found.add(tally([GameResult((1, 2, 3, 4), four, one) for one in ranks], [], games=1))
    assert {number: one.places for number, one in found.entrants.items()} == {
        1: [1, 1, 0, 1],
        2: [3, 0, 0, 0],
        3: [0, 1, 1, 1],
        4: [0, 1, 1, 1],
    }
    teams = tally([GameResult((1, 2, 1, 2), (0, 1, 0, 1), (1, 3, 1, 3))], [], games=1)
    assert [one.places for one in teams.entrants.values()] == [[], []]


@pytest.mark.parametrize(
    ("entrants", "sides", "ranks", "counted", "neighbours", "ties"),
    [
        # Four seats: 1 and 2 share the win, 4 comes last.
        ((1, 2, 3, 4), (0, 1, 2, 3), (1, 1, 3, 4), "D 5/6, D 5/6, L 1/3, L 0/1", 3, 1),
        # One against two: the two win together, which is no draw.
        ((1, 2, 3), (0, 1, 1), (3, 1, 1), "L 0/1, W 1/1, W 1/1", 1, 0),
        # Who holds both seats of a team has one game.
        ((1, 2, 1, 2), (0, 1, 0, 1), (1, 3, 1, 3), "W 1/1, L 0/1", 1, 0),
    ],
    ids=["four seats", "one against two", "teams"],
)
def test_games_of_many_seats(
    entrants: tuple[int, ...],
    sides: tuple[int, ...],
    ranks: tuple[int, ...],
    counted: str,
    neighbours: int,
    ties: int,
) -> None:
    """Points are shares of opponents beaten, counted by hand; ties are between neighbours."""
    found = tally([GameResult(entrants, sides, ranks)], [], games=1)
    for (_, one), text in zip(sorted(found.entrants.items()), counted.split(", "), strict=True):
        kind, _, share = text.partition(" ")
        over, _, under = share.partition("/")
        assert (one.wins, one.draws, one.losses) == tuple(int(kind == letter) for letter in "WDL")
        assert one.points == pytest.approx(int(over) / int(under))
        assert one.games == 1
    assert (found.neighbours, found.ties) == (neighbours, ties)


def test_allies_do_not_meet() -> None:
    """2 and 3 beat 1 together: each has won a game against 1, and they none against each other."""
    found = tally([GameResult((1, 2, 3), (0, 1, 1), (2, 1, 1))], [], games=1)
    assert found.meetings == {
        (1, 2): MeetingTally(matches=1, games=1, wins=0),
        (1, 3): MeetingTally(matches=1, games=1, wins=0),
        (2, 3): MeetingTally(matches=1, games=0),
    }
