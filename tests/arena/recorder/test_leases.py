"""Leases by the arena's clock: what waits, is taken in silence, or was given before a restore."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import JobStatus, Match, Worker
from arena.operation.queues import keys_of
from arena.recorder import noting, recording
from arena.recorder.inbox import Backlog
from arena.recorder.process import Recorder
from arena.schedule import leases, matchmaking, workers
from engine import jobs, reporting
from engine.messages import pack, unpack
from tests.arena.issuing import issued
from tests.arena.recorder.conftest import the_match
from tests.arena.simulator import CALM, Simulation, give_sign, report_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def job(database: Database) -> jobs.Job:
    """A match that was issued to a worker a moment ago."""
    simulation = Simulation(database, 0, CALM)
    simulation.furnish([("clobber", {"size": "4x4"})], bots=2)
    with database.begin() as session:
        give_sign(session, "worker", NOW, slots=1)
        match = next(matchmaking.new_matches(session, NOW))
        job = issued(session, match, simulation.settings, NOW)
    assert isinstance(job, jobs.Job)
    return job


SETTINGS = Settings()


@pytest.mark.parametrize(("taken", "status"), [(True, JobStatus.ISSUED), (False, JobStatus.ISSUED)])
def test_a_lease_ends_though_the_clock_was_set_back(
    database: Database, job: jobs.Job, taken: bool, status: JobStatus
) -> None:
    """As if it had been given then: the arena's clock was two days ahead when it was."""
    then = NOW - timedelta(days=2)
    if taken:
        with database.begin() as session:
            noting.note(session, [reporting.Started(job.lease, "worker")], SETTINGS, NOW)
    longest = max(SETTINGS.lease_seconds, SETTINGS.take_up_seconds) * SECOND
    for later, expected in ((0 * SECOND, status), (longest + SECOND, JobStatus.OPEN)):
        with database.begin() as session:
            leases.roll_back_overdue(session, SETTINGS, then + later, then + later)
        assert the_match(database).status is expected


def test_who_was_heard_before_the_clock_was_set_back_is_not_there(
    database: Database, job: jobs.Job
) -> None:
    """A worker that has ended since would have slots for two days."""
    with database.begin() as session:
        assert workers.slots(session, "good", NOW) == 1
        assert workers.slots(session, "good", NOW - timedelta(days=2)) == 0


def test_what_may_have_been_said_is_waited_for(database: Database, job: jobs.Job) -> None:
    """A recorder that is behind rolls nothing back of which a report may lie in the queue."""
    late = NOW + SETTINGS.take_up_seconds * SECOND + SECOND
    with database.begin() as session:
        assert not leases.roll_back_overdue(session, SETTINGS, NOW, late)
        assert leases.roll_back_overdue(session, SETTINGS, late, late) == {"not taken up": 1}


@pytest.mark.parametrize(
    ("withdrawn", "count", "words"),
    [
        (True, {"waited": 1}, "it waited in vain for a worker"),
        (False, {"not taken up": 1}, "no worker took it up"),
        (None, {}, ""),
    ],
    ids=["it waited", "somebody took it", "the broker is away"],
)
def test_who_took_a_job_in_silence_is_told_from_nobody(
    database: Database, job: jobs.Job, withdrawn: bool | None, count: dict[str, int], words: str
) -> None:
    """And while nobody knows it is left as it is."""
    late = NOW + SETTINGS.take_up_seconds * SECOND + SECOND
    taken_out = None if withdrawn is None else {job.lease.attempt_of} if withdrawn else set()
    with database.begin() as session:
        found = leases.roll_back_overdue(session, SETTINGS, late, late, taken_out)
        assert found == count
    match = the_match(database)
    assert (match.problem, match.failures) == (words, 0)


def test_what_waits_too_long_is_taken_out_of_the_queue(
    database: Database, recorder: Recorder, queue: redis.Redis, job: jobs.Job
) -> None:
    """No worker's clock throws it away, and none plays what counts no longer."""
    (key, *_) = keys_of(jobs.MATCHES_QUEUE)
    queue.lpush(key, pack(jobs.PLAY_MATCH, job.to_json()), b"no message")
    with database.begin() as session:
        session.execute(sa.update(Worker).values(slots=0))  # so that nothing else is issued
    recorder.tasks.turn()  # all that was said is heard
    recorder.tick()
    match = the_match(database)
    assert (match.status, match.problem) == (JobStatus.OPEN, "it waited in vain for a worker")
    assert recorder.writer.counted["waited"] == 1
    assert queue.lrange(key, 0, -1) == []


def test_what_counts_stays_in_the_queue(
    database: Database, recorder: Recorder, queue: redis.Redis
) -> None:
    """However wrong the clocks of workers are: the message names no time."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x4"})], bots=2)
    with database.begin() as session:
        give_sign(session, "worker", datetime.now(UTC), slots=1)
    recorder.tick()
    before = [queue.lrange(key, 0, -1) for key in keys_of(jobs.MATCHES_QUEUE)]
    assert sum(map(len, before)) > 0
    for raw in (raw for several in before for raw in several):
        assert b'"expires": null' in raw or b"expires" not in raw
        assert unpack(raw).task in (jobs.PLAY_MATCH, jobs.CHECK_BOT)
    recorder._roll_back(recorder.writer.settings, datetime.now(UTC), datetime.now(UTC), sweep=True)
    assert [queue.lrange(key, 0, -1) for key in keys_of(jobs.MATCHES_QUEUE)] == before


def restored(session: sa.orm.Session) -> None:
    """As from a backup that was made before the match was."""
    session.execute(sa.text("DELETE FROM place"))
    session.execute(sa.delete(Match))


def restored_before_the_attempt(session: sa.orm.Session) -> None:
    """The match was made, and not issued yet."""
    match = session.scalars(sa.select(Match)).one()
    match.end_lease(JobStatus.OPEN)
    match.attempt = 0


def restored_and_issued_again(session: sa.orm.Session) -> None:
    """The same attempt was given to somebody else."""
    restored_before_the_attempt(session)
    issued(session, session.scalars(sa.select(Match)).one(), SETTINGS, NOW)


def later(lease: jobs.Lease) -> jobs.Lease:
    return replace(lease, attempt=lease.attempt + 1)


def of_another(lease: jobs.Lease) -> jobs.Lease:
    return replace(lease, job=lease.job + 1)


def unsigned(lease: jobs.Lease) -> jobs.Lease:
    return replace(lease, ticket="0" * 32)


def signed_falsely(lease: jobs.Lease) -> jobs.Lease:
    return replace(lease, ticket=f"{'0' * 32}.{'0' * 32}")


@pytest.mark.long
@pytest.mark.parametrize(
    "restore", [restored, restored_before_the_attempt, restored_and_issued_again]
)
@pytest.mark.parametrize("forge", [None, later, of_another, unsigned, signed_falsely])
def test_a_report_from_before_a_restore_is_late_and_no_forgery(
    database: Database, job: jobs.Job, restore: Any, forge: Any
) -> None:
    """The ticket shows that it was given out, whatever the database knows; none can be invented."""
    report = report_of(job, "worker")
    with database.begin() as session:
        restore(session)
    if forge:
        report = replace(report, lease=forge(report.lease))
    with database.begin() as session:
        found = recording.take_in(session, [report], SETTINGS, NOW)
        assert found == [leases.Fate.FORGED if forge else leases.Fate.STALE]
        assert len(session.get_one(Worker, "worker").failed) == (1 if forge else 0)
        assert session.scalars(sa.select(Match.status)).all() in (
            [],
            [JobStatus.OPEN],
            [JobStatus.ISSUED],
        )


def test_up_to_when_all_is_heard() -> None:
    """How much waited when tells it; also of a broker that was emptied, or whose queue was cut."""
    backlog = Backlog()
    assert backlog.heard(NOW) is None
    backlog.note(5, NOW)
    assert backlog.heard(NOW) is None
    backlog.handled(3)
    backlog.note(4, NOW + SECOND)  # two of the first five, and two new ones
    backlog.handled(2)
    assert backlog.heard(NOW + SECOND) == NOW
    backlog.handled(2)
    assert backlog.heard(NOW + 9 * SECOND) == NOW + SECOND
    backlog.note(1000, NOW + 10 * SECOND)
    backlog.note(0, NOW + 20 * SECOND)
    assert backlog.heard(NOW + 20 * SECOND) == NOW + 20 * SECOND
    assert backlog.heard(NOW) == NOW  # the clock was set back
