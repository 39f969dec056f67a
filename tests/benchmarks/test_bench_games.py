"""What the benchmark of the games plays is what it says."""

from random import Random

import pytest

from engine.games import GAMES
from tests.benchmarks.bench_games import (
    checked_moves,
    fast_playout,
    new_openings,
    random_game,
    rates,
    text_playout,
)

VARIANTS = [game.offered[0] for game in GAMES.singles.values()]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_game_is_played_to_its_end(variant):
    """Every move that is measured is a legal one, and none is missing."""
    state, moves = random_game(variant, Random(1))
    for move in moves:
        assert state.is_legal(move)
        state = state.play(move)
    assert state.to_move is None


def test_a_rate_is_work_by_cpu_time():
    """One job that counts ten times as much as another that does the same is ten times as fast."""

    def job(number):
        def work():
            sum(range(20_000))
            return number

        return work

    measured = rates({("one", ""): job(1), ("ten", ""): job(10)}, 0.05)
    assert measured["ten", ""] / measured["one", ""] == pytest.approx(10, rel=0.7)


def test_every_job_does_its_work():
    """Each is counted by what it did: games, moves or openings."""
    variant = GAMES["clobber"].variant(size="5x6")
    assert text_playout(variant)() == fast_playout(variant)() == new_openings(variant)() == 1
    assert 1 < checked_moves(variant, 1)() <= variant.max_plies
