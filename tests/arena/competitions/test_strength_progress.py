"""How a strength test went, from games that were played."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from arena.competitions.strength_progress import last_game, lost_by_fault, pace, path
from arena.competitions.strength_tallies import standing_of
from arena.models import GameSeat, Match, PlayedGame
from engine.game import Termination
from tests.arena.competitions.strength_simulation import StrengthSimulation


def test_the_path_of_the_llr_is_that_of_what_counts(arena: StrengthSimulation) -> None:
    """It ends where the test stands, also without a worker and with it again, and as it grows."""
    number = arena.create(elo1=5.0)
    arena.alive()
    arena.tick()
    for seconds in (4, 3):
        arena.run(seconds)
        for excluded in ({}, {"one": "its clock"}, {}):
            with arena.database.begin() as session:
                test = arena.test(session, number)
                test.excluded = excluded
                stands = standing_of(session, test)
                found = path(session, test, stands)
                assert found[0] == (0, 0.0)
                assert found[-1] == (stands.matches, pytest.approx(stands.llr))
                assert [at for at, _ in found] == sorted({at for at, _ in found})
    with arena.database.read() as session:
        test = arena.test(session, number)
        moments = session.scalars(sa.select(Match.fixed).where(Match.fixed.is_not(None))).all()
        games, seconds_gone = pace(session, test, arena.now, 2) or (0, 0.0)
        # So many as came after the oldest, since it did.
        assert games == 2 * (len(moments) - 1)
        assert timedelta(seconds=seconds_gone) == arena.now - min(moments)
        assert pace(session, test, arena.now + timedelta(hours=2), 2) is None
        assert last_game(session, test) == session.scalar(sa.select(sa.func.max(PlayedGame.id)))
        assert lost_by_fault(session, test) == []


def test_games_that_faults_ended_are_named(arena: StrengthSimulation) -> None:
    """The last first; one that was given up is none of them."""
    number = arena.create(elo1=5.0)
    arena.alive()
    arena.tick()
    arena.run(3)
    with arena.database.begin() as session:
        games = session.scalars(sa.select(PlayedGame.id).order_by(PlayedGame.id)).all()[:3]
        ends = (Termination.CRASH, Termination.RESIGN, Termination.TIMEOUT)
        for game, fault in zip(games, ends, strict=True):
            session.get_one(GameSeat, (game, 0)).fault = fault
        found = lost_by_fault(session, arena.test(session, number))
        assert [(one.game, one.fault) for one in found] == [
            (games[2], Termination.TIMEOUT),
            (games[0], Termination.CRASH),
        ]
        assert all(one.label in ("bot-0 v1", "bot-1 v1") for one in found)
