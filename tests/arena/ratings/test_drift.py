"""Equal bots keep equal ratings, in every arrangement of seats and sides that a game has."""

from __future__ import annotations

from random import Random

import pytest

from arena.ratings.book import RatingBook
from arena.ratings.result import GameResult
from arena.ratings.trueskill import TrueSkill
from engine.games import GAMES

Arrangement = tuple[tuple[int, ...], tuple[int, ...]]
"""The side and the entrant of each seat."""


def arrangements() -> dict[Arrangement, str]:
    """Those of all variants that games offer, each with a variant that has it."""
    found: dict[Arrangement, str] = {}
    for game in GAMES.singles.values():
        for variant in game.offered:
            # In a race everybody plays alone, and two are rated as in a game of two seats.
            race = variant.seats == 1
            key = ((0, 1), (0, 1)) if race else (variant.side_of, variant.entrant_of)
            found.setdefault(key, str(variant))
    return found


@pytest.mark.parametrize("arrangement", arrangements(), ids=arrangements().values())
@pytest.mark.parametrize("draws", [0.0, 0.2])
def test_equal_bots_stay_where_they_began(arrangement: Arrangement, draws: float) -> None:
    """Thousands of games by the lot, from every rotation of the seats: all stay near 25.

    Near is four times what a rating's sigma converges to, and the mean of all moves no more once
    sigmas are alike: while they differ, the first games move it by a unit or two in one against
    two. Games of more than two sides take the package a thousand times as long, so there are
    fewer of them.
    """
    sides, seats = arrangement
    random = Random(25)
    count = len(set(sides))
    bots = max(seats) + 1
    book = RatingBook[int](TrueSkill(draw_probability=draws or 0.05))
    games = 6000 if count == 2 else 300
    means = []
    for game in range(games):
        places = random.sample(range(1, count + 1), count)
        if random.random() < draws:
            places = [1] * count
        entrants = tuple((entrant + game) % bots for entrant in seats)
        book.apply(GameResult(entrants, sides, tuple(places[side] for side in sides)))
        means.append(sum(book[bot].mu for bot in range(bots)) / bots)
    assert abs(means[-1] - means[games // 3]) < 0.2
    assert abs(means[-1] - 25) < 2
    for bot in range(bots):
        assert abs(book[bot].mu - 25) < 4
        assert book[bot].sigma < 2.5
