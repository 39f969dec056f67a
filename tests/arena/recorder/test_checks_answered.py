"""What a check that passed says of the others: of its bot, of its game, and of its worker."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from arena.ground.db import Database
from arena.models import Check, Entrant, JobStatus, Worker
from arena.recorder import recording
from arena.schedule.leases import Fate
from engine.reporting import Finding
from tests.arena.bots.test_submissions import (
    NOW,
    furnished,
    issued,
    ladder,
    person,
    report,
    take_in,
    worker,
)

SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
KNOWN = [Finding(True, "looked at before").to_json()]
OPEN, FIXED = JobStatus.OPEN, JobStatus.FIXED

OTHERS: list[tuple[str, str, JobStatus, bool]] = [
    ("deep", "clobber-5x6", OPEN, True),
    # What was looked at already stays as it came out, and other games and bots are still to come.
    ("deep", "clobber-5x6", FIXED, False),
    ("deep", "oxoxo", OPEN, False),
    ("other", "clobber-5x6", OPEN, False),
]


@SQLITE
@pytest.mark.parametrize(("bot", "place", "status", "answered"), OTHERS)
def test_a_check_answers_those_that_wait_for_its_game(
    database: Database, bot: str, place: str, status: JobStatus, answered: bool
) -> None:
    """They say where it passed, and its bot stands on their ladders, too."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        ada = person(session)
        take_in(session, ada, "deep")
        (job,) = issued(session)
        take_in(session, ada, bot, "a" if bot == "deep" else "b", ladder=ladder(session, place))
        other = session.scalars(sa.select(Check).order_by(Check.id.desc())).first()
        assert other is not None
        other.status, other.findings = status, KNOWN
        session.flush()
        assert recording.record_check(session, report(job, True), NOW) is Fate.FIXED
        session.flush()
        words = f"passed on {ladder(session).title}"
        assert other.findings == ([Finding(True, words).to_json()] if answered else KNOWN)
        assert other.status is (FIXED if answered else status)
        query = sa.select(Entrant).order_by(Entrant.id)
        stands = [one.competition.name for one in session.scalars(query)]
        assert stands == ["clobber-6x7", *([place] if answered else [])]


@SQLITE
@pytest.mark.parametrize("kept", [True, False])
def test_a_check_is_a_success_of_its_worker(database: Database, kept: bool) -> None:
    """Whatever came out: what it failed at before was not its fault. To say it again is stale."""
    with database.begin() as session:
        furnished(session)
        worker(session)
        take_in(session, person(session), "deep")
        (job,) = issued(session)
        known = session.get_one(Worker, "w")
        known.failed = [{"job": "check 99", "against": False}]
        session.flush()
        assert recording.record_check(session, report(job, kept), NOW) is Fate.FIXED
        assert known.failed == []
        assert session.scalars(sa.select(Check)).one().log == "the log"
        assert recording.record_check(session, report(job, not kept), NOW) is Fate.STALE
        entered = session.scalars(sa.select(Entrant)).all()
        assert len(entered) == kept
