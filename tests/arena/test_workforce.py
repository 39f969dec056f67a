"""Which workers are given work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from arena import recording, scheduling, workforce
from arena.audit import ARENA
from arena.config import Settings
from arena.db import Database
from arena.idle import why_nobody_works
from arena.models import AuditEntry, JobStatus, Match, Worker
from arena.workforce import FailedJob, WorkerError, is_distrusted
from engine import jobs
from tests.arena.simulator import CALM, Simulation

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def failed(*jobs: tuple[str, set[int]]) -> list[FailedJob]:
    return [FailedJob(name, frozenset(versions)) for name, versions in jobs]


@pytest.mark.parametrize(
    ("jobs", "distrusted"),
    [
        ([], False),
        ([("match 1", {1, 2}), ("match 2", {3, 4})], False),
        ([("match 1", {1, 2}), ("match 2", {3, 4}), ("match 3", {5, 6})], True),
        ([("match 1", {1, 2}), ("match 2", {1, 3}), ("match 3", {2, 3})], True),
        ([("match 1", {1, 2}), ("match 2", {1, 3}), ("match 3", {1, 4})], False),
        ([("match 1", {1, 2}), ("check 1", {1}), ("match 2", {1, 2}), ("match 3", {1, 3})], False),
        ([("match 1", {1, 2}), ("match 2", {3, 4}), ("match 1", {1, 2})], False),
    ],
    ids=[
        "none",
        "two",
        "three of different bots",
        "three that share no bot",
        "a bot that is in all",
        "a bot and its check",
        "one job twice",
    ],
)
def test_failures_speak_against_a_worker(
    jobs: list[tuple[str, set[int]]], distrusted: bool
) -> None:
    """Three different jobs in a row, unless one bot was in all of them."""
    assert is_distrusted(failed(*jobs)) is distrusted


@pytest.mark.parametrize(
    ("isolation", "minimum", "plays"),
    [
        ("full", "good", True),
        ("good", "good", True),
        ("reduced", "good", False),
        ("none", "none", True),
        ("none", "reduced", False),
        ("better than all", "none", False),
    ],
)
def test_a_worker_needs_boxes_as_good_as_asked(isolation: str, minimum: str, plays: bool) -> None:
    """What a worker says of itself counts only if the arena knows it."""
    worker = Worker(name="w", slots=1, isolation=isolation, set_aside=None, format=jobs.FORMAT)
    assert workforce.may_play(worker, minimum) is plays


def sign(session: sa.orm.Session, name: str, now: datetime = NOW) -> None:
    alive = {"worker": name, "slots": 2, "isolation": "good", "languages": []}
    recording.record_alive(session, alive, now)


def fail(session: sa.orm.Session, worker: str, count: int) -> None:
    """A worker fails at new matches one after the other."""
    settings = Settings()
    for _ in range(count):
        match = scheduling.make_match(session, NOW)
        assert match is not None
        job = scheduling.issue(session, match, settings, NOW)
        assert scheduling.take_up(session, job.lease, worker, settings, NOW)
        recording.record_void(session, job.lease, "no space left on device", NOW)
        match.status = JobStatus.SET_ASIDE


def test_a_worker_that_fails_at_everything_is_set_aside(database: Database) -> None:
    """Its slots count no more, another gets what it takes up, until somebody readmits it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with database.begin() as session:
        sign(session, "broken"), sign(session, "sound")
        assert workforce.slots(session, "good", NOW) == 4
        fail(session, "broken", 3)
        broken = session.get_one(Worker, "broken")
        assert broken.set_aside == NOW
        assert broken.problem == "no space left on device"
        assert workforce.slots(session, "good", NOW) == 2
        noted = session.scalars(sa.select(AuditEntry)).one()
        assert (noted.action, noted.subject) == ("set aside", "worker broken")
        match = scheduling.make_match(session, NOW)
        assert match is not None
        job = scheduling.issue(session, match, Settings(), NOW)
        assert not scheduling.take_up(session, job.lease, "broken", Settings(), NOW)
        assert (match.status, match.failures) == (JobStatus.OPEN, 0)
        again = scheduling.issue(session, match, Settings(), NOW)
        assert scheduling.take_up(session, again.lease, "sound", Settings(), NOW)
        workforce.readmit(session, ARENA, "broken", NOW)
        assert workforce.slots(session, "good", NOW) == 4
        with pytest.raises(WorkerError, match="is not set aside"):
            workforce.readmit(session, ARENA, "broken", NOW)
        with pytest.raises(WorkerError, match="there are: broken, sound"):
            workforce.readmit(session, ARENA, "brokn", NOW)


def test_a_job_done_between_clears_a_worker(database: Database) -> None:
    """Failures count only in a row."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with database.begin() as session:
        sign(session, "w")
        fail(session, "w", 2)
        workforce.note_success(session, "w")
        fail(session, "w", 2)
        assert session.get_one(Worker, "w").set_aside is None
        assert session.scalar(sa.select(sa.func.count()).select_from(Match)) == 4


@pytest.mark.parametrize(
    ("said", "plays"),
    [({"format": jobs.FORMAT}, True), ({"format": jobs.FORMAT + 1}, False), ({"format": 0}, False)],
)
def test_a_worker_of_another_release_gets_no_jobs(
    database: Database, said: dict[str, int], plays: bool
) -> None:
    """Its slots do not count, so that what it does not know waits for a worker that does."""
    alive = {"worker": "w", "slots": 2, "isolation": "good", "languages": [], **said}
    with database.begin() as session:
        recording.record_alive(session, alive, NOW)
        assert workforce.slots(session, "good", NOW) == (2 if plays else 0)
        worker = session.get_one(Worker, "w")
        assert workforce.state(worker, "good", NOW) == (
            "at work" if plays else "of another release"
        )
        assert (why_nobody_works(session, "good", NOW) is None) is plays


def test_who_is_not_heard_of_has_no_slots(database: Database) -> None:
    """Thirty seconds after its last sign of life."""
    with database.begin() as session:
        sign(session, "w")
        assert workforce.slots(session, "good", NOW + timedelta(seconds=30)) == 2
        assert workforce.slots(session, "good", NOW + timedelta(seconds=31)) == 0
