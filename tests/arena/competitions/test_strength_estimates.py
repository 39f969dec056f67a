"""What tests on the site are likely to take, by what a ladder's games were like."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from arena.competitions.strength_deeds import CreateTest
from arena.competitions.strength_estimates import TestEstimate, estimate
from arena.ground.refusals import Refusal
from arena.models import Ladder, PlayedGame
from engine.clock import TimeControl
from tests.arena.competitions.strength_simulation import StrengthSimulation


@pytest.fixture
def arena(arena: StrengthSimulation) -> StrengthSimulation:
    """Its ladder has played 50 matches of two games in 400 seconds, 5 of 80 results draws."""
    arena.create()
    arena.alive()
    arena.tick()
    arena.run(12)
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.time, ladder.matches_made, ladder.worker_seconds = TimeControl(move_ms=50), 50, 400.0
        ladder.ties, ladder.neighbours = 5, 80
        session.execute(sa.update(PlayedGame).values(competition_id=ladder.id, plies=20))
    return arena


def found(arena: StrengthSimulation, ladder: str = "ladder-0", **values: object) -> TestEstimate:
    with arena.database.read() as session:
        its = ladder if "game" not in values else ""
        deed = CreateTest("any", "any", ladder=its, **values)  # type: ignore[arg-type]
        return estimate(session, deed.wanted(session), its)


TIMES = [
    # 400 seconds in 50 matches of two games; ten moves each of 50 ms.
    ({}, 4.0),
    ({"move": 100}, 8.0),
    # 1 s and ten times 0.05 s are three times what ten moves of 50 ms are.
    ({"time": "1+0.05"}, 12.0),
    # Of a game alone the ladder of its variant tells; a quarter of a second a move is five times.
    ({"game": "clobber size=4x4", "move": 250}, 20.0),
    ({"game": "clobber size=5x6"}, None),
]


REFUSED = [
    ({"alpha": 2.0}, "alpha and beta"),
    ({"elo0": 20.0}, "elo0 must be less"),
    ({"max_games": 31}, "needs 32 games or more"),
    ({"game": "puzzle"}, "a game of one seat"),
    ({"games": 10, "model": "logistic"}, "leave out model"),
]


def test_it_goes_by_the_ladders_games(arena: StrengthSimulation, subtests: pytest.Subtests) -> None:
    """The share of draws, with 20 results at the usual one beside; hours by the time of a game.
    What can't be tested is refused in the words with which the test would be.
    """
    for values, seconds in TIMES:
        with subtests.test(str(values)):
            expected = found(arena, **values)
            # 5 and 1 of 80 and 20.
            assert expected.draws == pytest.approx(0.05 if seconds is None else 0.06)
            assert expected.game_seconds == (seconds and pytest.approx(seconds))
            hours = expected.hours(900)
            assert hours == (seconds and pytest.approx(seconds / 4))
    for values, words in REFUSED:
        with subtests.test(words), pytest.raises(Refusal, match=words):
            found(arena, **values)
