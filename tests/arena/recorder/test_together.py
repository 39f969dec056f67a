"""What waits in the queue of results is taken in together, and spoils nothing of the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import pytest
import redis
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from arena import inbox, rebuild
from arena.db import Database
from arena.dispatch import WAKE
from arena.health import TICK_MARK
from arena.models import JobStatus, Ladder, Mark, Match
from engine import jobs
from tests.arena.recorder.conftest import SEVERAL, the_match
from tests.arena.recorder.spoiling import (
    another_ticket,
    another_winner,
    games_of_another_kind,
    half_a_character,
    no_games,
)


def send(recorder: ModuleType, task: str, *args: Any, **options: Any) -> None:
    """Sends a message to the queue of results."""
    recorder.app.send_task(task, args, queue=jobs.RESULTS_QUEUE, **options)


def in_order(database: Database) -> list[int]:
    """The matches that are fixed, in the order of completion."""
    with database.read() as session:
        fixed = sa.select(Match.id).where(Match.status == JobStatus.FIXED)
        return list(session.scalars(fixed.order_by(Match.seq)))


def left(queue: redis.Redis) -> list[bytes]:
    """What the broker still has, but for the names of its queues."""
    return [key for key in queue.scan_iter() if not key.startswith(b"_kombu.binding")]


def test_what_waits_is_recorded_together(
    database: Database, recorder: ModuleType, reports: Any, queue: redis.Redis
) -> None:
    """In its order and by one transaction; as ratings made anew from the games say, too."""
    order = [reports[index] for index in (3, 0, 5, 1, 4, 2)]
    for data in order[1:]:
        started = {"lease": data["lease"], "worker": "worker"}
        send(recorder, jobs.JOB_STARTED, started)
        send(recorder, jobs.MATCH_PROGRESS, {**started, "progress": PROGRESS})
        send(recorder, jobs.RECORD_MATCH, data)
    begun = []
    sa.event.listen(recorder.database().engine, "begin", begun.append)
    recorder.record_match(order[0])
    assert len(begun) == 1
    assert in_order(database) == [data["lease"]["job"] for data in order]
    assert left(queue) == []
    with database.read() as session:
        (ladder,) = session.scalars(sa.select(Ladder))
        assert rebuild.rebuild(session, ladder, write=False).equal


PROGRESS = {"game": 0, "moves": ["1:a1b1"], "findings": []}


def test_what_follows_soon_is_waited_for(
    database: Database, recorder: ModuleType, reports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One alone is recorded at once; the next ones together, until somebody waits for an answer."""
    waited: list[float] = []
    to_come = [(jobs.RECORD_MATCH, reports[2]), (jobs.RECORD_MATCH, reports[3]), (WAKE,)]

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        send(recorder, *to_come[len(waited) - 1])

    monkeypatch.setattr(inbox.time, "sleep", sleep)
    monkeypatch.setattr(inbox, "PACE_SECONDS", 60.0)
    recorder.record_match(reports[0])
    assert waited == []
    begun = []
    sa.event.listen(recorder.database().engine, "begin", begun.append)
    recorder.record_match(reports[1])
    assert waited == [inbox.GLANCE_SECONDS] * len(to_come)
    # Of the reports, and of what a person who waits brings about.
    assert len(begun) == 2
    assert in_order(database) == [data["lease"]["job"] for data in reports[:4]]


def test_what_does_not_follow_is_not_waited_for(
    database: Database, recorder: ModuleType, reports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not beyond the pace."""
    monkeypatch.setattr(inbox, "PACE_SECONDS", 0.5)
    began = time.monotonic()
    recorder.record_match(reports[0])
    recorder.record_match(reports[1])
    assert 0.5 <= time.monotonic() - began < 10
    assert in_order(database) == [data["lease"]["job"] for data in reports[:2]]


@pytest.mark.parametrize(
    "spoil", [half_a_character, no_games, games_of_another_kind, another_ticket, another_winner]
)
def test_a_spoilt_report_spoils_no_other(
    database: Database, recorder: ModuleType, reports: Any, queue: redis.Redis, spoil: Any
) -> None:
    """Whatever comes together with it is recorded, once."""
    spoil(reports[2])
    for data in reports[1:] * 2:
        send(recorder, jobs.RECORD_MATCH, data)
    recorder.record_match(reports[0])
    numbers = [data["lease"]["job"] for data in reports]
    assert in_order(database) == [*numbers[:2], *numbers[3:]]
    assert left(queue) == []


def test_what_is_no_message_spoils_no_other(
    database: Database, recorder: ModuleType, reports: Any, queue: redis.Redis
) -> None:
    """A worker's login may write anything into the queue."""
    queue.lpush(jobs.RESULTS_QUEUE, "no JSON")
    recorder.record_match(reports[0])
    for task in ("arena.no_such_task", "celery.group", jobs.RECORD_VOID, jobs.JOB_STARTED):
        send(recorder, task, 1, 2, 3)
    send(recorder, jobs.RECORD_MATCH, serializer="yaml")
    send(recorder, jobs.RECORD_MATCH, {"half": "a message"})
    send(recorder, jobs.RECORD_MATCH, reports[2])
    recorder.record_match(reports[1])
    assert in_order(database) == [data["lease"]["job"] for data in reports[:3]]
    assert left(queue) == []


def test_a_tick_that_is_too_late_is_none(
    database: Database, recorder: ModuleType, reports: Any
) -> None:
    """A recorder that was away must not find a heap of them; one that is in time is done."""
    for seconds, marks in ((-1, 0), (60, 1)):
        send(recorder, "arena.tick", expires=datetime.now(UTC) + timedelta(seconds=seconds))
        recorder.record_match(reports.pop())
        with database.read() as session:
            assert len(session.scalars(sa.select(Mark).where(Mark.key == TICK_MARK)).all()) == marks


def test_what_is_not_handled_stays_the_brokers(
    database: Database, recorder: ModuleType, reports: Any, queue: redis.Redis
) -> None:
    """What the recorder took and did not acknowledge comes again."""
    for data in reports:
        send(recorder, jobs.RECORD_MATCH, data)
    taken = list(recorder.inbox().take(SEVERAL - 1))
    assert len(taken) == queue.hlen("unacked.results") == SEVERAL - 1
    recorder.inbox().close()
    assert queue.llen(jobs.RESULTS_QUEUE) == SEVERAL
    recorder.tick()
    recorder.record_match(reports[0])
    assert sorted(in_order(database)) == sorted(data["lease"]["job"] for data in reports)
    assert left(queue) == []


@contextmanager
def refused_by_the_database(database: Database, data: dict[str, Any]) -> Iterator[None]:
    """Has it fail whatever stores the games of a match, as for want of memory."""
    statements = f"""
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION SQLSTATE '53200'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON game FOR EACH ROW
            WHEN (NEW.match_id = {data["lease"]["job"]}) EXECUTE FUNCTION fail()"""
    with database.begin() as session:
        session.execute(sa.text(statements))
    yield
    with database.begin() as session:
        session.execute(sa.text("DROP FUNCTION fail CASCADE"))


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_what_the_database_fails_spoils_no_other(
    database: Database,
    recorder: ModuleType,
    reports: Any,
    queue: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What came before it is recorded, and what was to follow is the broker's again, at once."""
    monkeypatch.setattr(recorder, "PAUSES", (0.01,))
    numbers = [data["lease"]["job"] for data in reports]
    for data in reports[1:]:
        send(recorder, jobs.RECORD_MATCH, data)
    with refused_by_the_database(database, reports[2]):
        with pytest.raises(OperationalError):
            recorder.record_match(reports[0])
        assert in_order(database) == numbers[:2]
        assert queue.llen(jobs.RESULTS_QUEUE) == SEVERAL - 2
    recorder.record_match(reports[2])
    assert sorted(in_order(database)) == numbers
    assert left(queue) == []


def test_a_broker_that_is_away_keeps_nothing_from_being_recorded(
    database: Database, recorder: ModuleType, report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The message that is there is handled."""
    recorder.app.conf.broker_url = "redis+socket:///nowhere"
    recorder.record_match(report())
    assert "nothing more was taken from the queue of results" in caplog.text
    assert the_match(database).status is JobStatus.FIXED
