"""Bots that fault in most of their games."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots.submissions import enter
from arena.bots.suspension import why_suspended
from arena.competitions.pairings import Pairing
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Entrant, EntrantState, Ladder, User
from arena.recorder import recording
from arena.schedule import leases, matchmaking
from engine import jobs, reporting
from engine.game import Termination
from engine.match import play_match
from engine.player import CrashError
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START, LotPlayer, Simulation, give_sign
from tests.engine.players import Scripted

CRASH, TIMEOUT, RESIGN = Termination.CRASH, Termination.TIMEOUT, Termination.RESIGN


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ([], None),
        ([CRASH] * 5, None),
        (
            [CRASH] * 6,
            "6 of its last 6 games ended by its own fault: crash (6); the last was game 20",
        ),
        ([None] * 5 + [CRASH] * 5, None),
        (
            [TIMEOUT, None, TIMEOUT, None, CRASH, CRASH, CRASH, None, None, CRASH],
            "6 of its last 10 games ended by its own fault: crash (4), timeout (2); "
            "the last was game 20",
        ),
        (
            [None, RESIGN, *[CRASH] * 6],
            "6 of its last 8 games ended by its own fault: crash (6); the last was game 18",
        ),
        ([None] * 10 + [CRASH] * 10, None),
        ([RESIGN] * 10, None),
        ([RESIGN] * 5 + [CRASH] * 5, None),
    ],
    ids=[
        "no games",
        "too few to tell",
        "crashed from the first",
        "half of them",
        "most of them, in several ways",
        "not in the last ones",
        "mended since",
        "to resign is to play",
        "resignations beside crashes",
    ],
)
def test_most_of_the_last_games_suspend(last: list[Termination | None], reason: str | None) -> None:
    """Six of the last ten games, the newest first, which is game 20; the reason is for the bot's
    owner."""
    assert why_suspended(dict(zip(range(20, 0, -1), last, strict=False))) == reason


def crashes(session: Session, requester: User | None = None) -> EntrantState:
    """Plays a match of two games in which the first bot crashes, and tells how it stands then."""
    ladder = session.scalars(sa.select(Ladder)).one()
    first, second = session.scalars(sa.select(Entrant).order_by(Entrant.id)).all()
    pairing = Pairing((first.id, second.id))
    match = matchmaking.make(session, ladder, pairing, START, requester=requester)
    job = issued(session, match, Settings(), START)
    assert isinstance(job, jobs.Job)
    gone = CrashError("gone")
    result = play_match(job.spec, lambda place: LotPlayer() if place else Scripted(start=gone))
    report = reporting.MatchReport(job.lease, "w", result.games, result.logs)
    told = recording.take_in(session, [report], Settings(), START)
    assert told == [leases.Fate.FIXED]
    return first.state


def test_only_rated_games_since_a_bot_came_back_count(database: Database) -> None:
    """What anybody may ask for suspends nobody, and who was brought back begins anew."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with database.begin() as session:
        give_sign(session, "w", START, slots=1)
        somebody = session.scalars(sa.select(User)).first()
        asked = [crashes(session, somebody) for _ in range(4)]
        rated = [crashes(session) for _ in range(3)]
        assert [*asked, *rated[:2]] == [EntrantState.ACTIVE] * 6
        assert rated[2] is EntrantState.SUSPENDED
        first = session.scalars(sa.select(Entrant).order_by(Entrant.id)).first()
        assert first is not None
        assert first.reason.startswith("6 of its last 6 games ended by its own fault: crash (6)")
        enter(session, session.scalars(sa.select(Ladder)).one(), first.version, START)
        assert crashes(session) is EntrantState.ACTIVE
