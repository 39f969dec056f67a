"""Whole tournaments played by bots of known strengths, in no time."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from arena.formats.fixtures import Entrant, Fixture, Format, Result

DRAWS = 0.2


def play(fixture: Fixture, random: Random, *, games: int = 1) -> Result:
    """Games that of two the entrant of the lower number wins more often, sometimes drawn."""
    if len(fixture.entrants) > 2:
        others = len(fixture.entrants) - 1
        shares = [place / others for place in range(others + 1)]
        return Result(
            fixture, tuple(tuple(random.sample(shares, others + 1)) for _ in range(games))
        )
    a, b = fixture.entrants
    better = 0.5 + 0.4 * ((a < b) - (b < a))
    points = []
    for _ in range(games):
        share = 0.5 if random.random() < DRAWS else float(random.random() < better)
        points.append((share, 1 - share))
    return Result(fixture, tuple(points))


def play_out(
    tournament: Format, entrants: Sequence[Entrant], *, seed: int, games: int = 1
) -> list[Result]:
    """All results, in the order of play."""
    random = Random(seed)
    results: list[Result] = []
    while due := tournament.fixtures(entrants, results):
        results += [play(fixture, random, games=games) for fixture in due]
    return results
