"""The games of a match as formats and ratings take them, whatever number of seats a bot holds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from arena.competitions.tournament_matches import read_match
from arena.formats.fixtures import Fixture, Result
from arena.models import JobStatus
from arena.ratings.result import GameResult

# For each game its seats, each with the bot's number, its share of the rivals beaten, its rank.
CASES = {
    "two seats": (
        (3, 1),
        (0, 1),
        [[(3, 1.0, 1), (1, 0.0, 2)], [(1, 0.5, 1), (3, 0.5, 1)]],
        ((1.0, 0.0), (0.5, 0.5)),
        [((3, 1), (0, 1), (1, 2)), ((1, 3), (0, 1), (1, 1))],
    ),
    "two seats of each side for each bot": (
        (1, 2),
        (0, 1, 0, 1),
        [[(1, 1.0, 1), (2, 0.0, 2), (1, 1.0, 1), (2, 0.0, 2)]],
        ((1.0, 0.0),),
        [((1, 2, 1, 2), (0, 1, 0, 1), (1, 2, 1, 2))],
    ),
    "one against two": (
        (1, 2, 3),
        (0, 1, 1),
        [[(2, 0.0, 2), (3, 1.0, 1), (1, 1.0, 1)]],
        ((1.0, 0.0, 1.0),),
        [((2, 3, 1), (0, 1, 1), (2, 1, 1))],
    ),
    "a race, of which the runs are one result": (
        (2, 1),
        (0,),
        [[(2, 0.0, 2)], [(1, 1.0, 1)]],
        ((0.0, 1.0),),
        [((2, 1), (0, 1), (2, 1))],
    ),
    "not played yet": ((1, 2), (0, 1), [], (), []),
}


@pytest.mark.parametrize(
    ("entrants", "sides", "games", "points", "results"), CASES.values(), ids=CASES
)
def test_a_match_is_read(
    entrants: tuple[int, ...],
    sides: tuple[int, ...],
    games: list[list[tuple[int, float, int]]],
    points: tuple[tuple[float, ...], ...],
    results: list[tuple[tuple[int, ...], ...]],
) -> None:
    """Points stand in the order of the fixture, results for ratings in that of the seats."""
    fixture = Fixture(1, entrants)
    rows = [
        [SimpleNamespace(number=n, points=share, rank=rank) for n, share, rank in game]
        for game in games
    ]
    found = read_match(17, JobStatus.FIXED, fixture, rows, sides)
    assert found.result == Result(fixture, points)
    assert list(found.games) == [GameResult(*result) for result in results]
