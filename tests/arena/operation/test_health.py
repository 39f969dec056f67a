"""How an arena is, as it is counted."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import sqlalchemy as sa

from arena.models import (
    GameSeat,
    JobStatus,
    Match,
    PlayedGame,
)
from arena.operation import alarms, health
from arena.operation.health import look
from engine.game import Termination
from tests.arena.operation.conftest import SETTINGS


def test_a_healthy_arena(played: SimpleNamespace) -> None:
    """What it does is counted as the tables have it, and nothing is an alarm."""
    with played.database.begin() as session:
        health.note_tick(session, played.now - timedelta(seconds=3))
    with played.database.read() as session:
        found = look(session, SETTINGS, played.now)
        games = session.scalar(sa.select(sa.func.count()).select_from(PlayedGame))
        issued = session.scalar(
            sa.select(sa.func.count()).select_from(Match).where(Match.status == JobStatus.ISSUED)
        )
    assert alarms.find(session, SETTINGS, played.now, found) == ()
    assert found.games_a_minute == {"ladder-0": games / 5}
    assert found.matches.issued == issued
    assert found.tick_seconds == 3
    assert [(one.name, one.state, one.slots) for one in found.workers] == [
        ("one", "at work", 2),
        ("two", "at work", 2),
    ]


def test_faults_are_counted_by_their_kinds(played: SimpleNamespace) -> None:
    """To resign is none."""
    with played.database.begin() as session:
        session.execute(sa.update(GameSeat).values(fault=None))
        seats = session.scalars(sa.select(GameSeat).limit(3)).all()
        for seat, kind in zip(seats, ("crash", "crash", "resign"), strict=True):
            seat.fault = Termination(kind)
    with played.database.read() as session:
        assert look(session, SETTINGS, played.now).faults == {"crash": 2}
