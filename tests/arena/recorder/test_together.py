"""What waits in the queue of results is taken in together, and spoils nothing of the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import redis
import sqlalchemy as sa
from sqlalchemy.orm import undefer

from arena.ground.db import Database
from arena.models import GameSeat, JobStatus, Ladder, Match
from arena.recorder import inbox, rebuild, tasks, writer
from arena.recorder.dispatch import WAKE
from arena.recorder.process import Recorder
from engine import jobs
from engine.timers import Every
from tests.arena.recorder.conftest import SEVERAL
from tests.arena.recorder.spoiling import (
    another_ticket,
    another_winner,
    games_of_another_kind,
    half_a_character,
    no_games,
)


def send(recorder: Recorder, task: str, *args: Any, **options: Any) -> None:
    """Sends a message to the queue of results."""
    recorder.writer.app.send_task(task, args, queue=jobs.RESULTS_QUEUE, **options)


def send_and_record(recorder: Recorder, *reports: dict[str, Any]) -> None:
    """Sends reports, and has the recorder handle what waits."""
    for data in reports:
        send(recorder, jobs.RECORD_MATCH, data)
    while recorder.tasks.turn():
        pass


def in_order(database: Database) -> list[int]:
    """The matches that are fixed, in the order of completion."""
    with database.read() as session:
        fixed = sa.select(Match.id).where(Match.status == JobStatus.FIXED)
        return list(session.scalars(fixed.order_by(Match.seq)))


def left(queue: redis.Redis) -> list[bytes]:
    """What the broker still has, but for the names of its queues."""
    return [key for key in queue.scan_iter() if not key.startswith(b"_kombu.binding")]


def test_what_waits_is_recorded_together(
    database: Database, recorder: Recorder, reports: Any, queue: redis.Redis
) -> None:
    """It is so in its order and by one transaction, and ratings made anew are the same."""
    order = [reports[index] for index in (3, 0, 5, 1, 4, 2)]
    send(recorder, jobs.RECORD_MATCH, order[0])
    for data in order[1:]:
        started = {"lease": data["lease"], "worker": "worker"}
        send(recorder, jobs.JOB_STARTED, started)
        send(recorder, jobs.MATCH_PROGRESS, {**started, "progress": PROGRESS})
        send(recorder, jobs.RECORD_MATCH, data)
    begun = []
    sa.event.listen(recorder.writer.database.engine, "begin", begun.append)
    assert recorder.tasks.turn()
    assert len(begun) == 2
    assert not recorder.tasks.turn()
    assert in_order(database) == [data["lease"]["job"] for data in order]
    assert left(queue) == []
    with database.read() as session:
        (ladder,) = session.scalars(sa.select(Ladder))
        assert rebuild.rebuild(session, ladder, write=False).equal


PROGRESS = {"game": 0, "moves": ["1:a1b1"], "findings": []}


def test_what_follows_soon_is_waited_for(
    database: Database, recorder: Recorder, reports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One alone is recorded at once; the next ones together, until somebody waits for an answer."""
    waited: list[float] = []
    to_come = [(jobs.RECORD_MATCH, reports[2]), (jobs.RECORD_MATCH, reports[3]), (WAKE,)]

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        send(recorder, *to_come[len(waited) - 1])

    # The inbox's alone: other threads of this process sleep as they do.
    monkeypatch.setattr(inbox, "time", SimpleNamespace(sleep=sleep))
    recorder.tasks.inbox._paced = Every(60.0)
    send(recorder, jobs.RECORD_MATCH, reports[0])
    recorder.tasks.turn()
    assert waited == []
    begun = []
    sa.event.listen(recorder.writer.database.engine, "begin", begun.append)
    send(recorder, jobs.RECORD_MATCH, reports[1])
    recorder.tasks.turn()
    assert waited == [inbox.GLANCE_SECONDS] * len(to_come)
    # Of the reports, and of what a person who waits brings about.
    assert len(begun) == 2
    assert in_order(database) == [data["lease"]["job"] for data in reports[:4]]


def test_what_does_not_follow_is_not_waited_for(
    database: Database, recorder: Recorder, reports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not beyond the pace."""
    recorder.tasks.inbox._paced = Every(0.5)
    began = time.monotonic()
    for data in reports[:2]:
        send(recorder, jobs.RECORD_MATCH, data)
        recorder.tasks.turn()
    assert 0.5 <= time.monotonic() - began < 10
    assert in_order(database) == [data["lease"]["job"] for data in reports[:2]]


@pytest.mark.parametrize("spoil", [no_games, games_of_another_kind, another_ticket, another_winner])
def test_a_spoilt_report_spoils_no_other(
    database: Database, recorder: Recorder, reports: Any, queue: redis.Redis, spoil: Any
) -> None:
    """Whatever comes together with it is recorded, once."""
    spoil(reports[2])
    send_and_record(recorder, reports[0], *reports[1:] * 2)
    numbers = [data["lease"]["job"] for data in reports]
    assert in_order(database) == [*numbers[:2], *numbers[3:]]
    assert left(queue) == []


def test_what_no_database_keeps_of_a_log_is_left_out(
    database: Database, recorder: Recorder, reports: Any
) -> None:
    """The match counts, and its page can be shown; PostgreSQL keeps no NUL, and nobody a half."""
    half_a_character(reports[0])
    reports[0]["logs"][0][1] = "one\x00two"
    send_and_record(recorder, reports[0])
    assert in_order(database) == [reports[0]["lease"]["job"]]
    with database.read() as session:
        seats = session.scalars(sa.select(GameSeat).options(undefer(GameSeat.log))).all()
    assert sorted(filter(None, (seat.log for seat in seats))) == ["one\ufffdtwo", "\ufffd"]


def test_what_is_no_message_spoils_no_other(
    database: Database, recorder: Recorder, reports: Any, queue: redis.Redis
) -> None:
    """A worker's login may write anything into the queue."""
    queue.lpush(jobs.RESULTS_QUEUE, "no JSON")
    send_and_record(recorder, reports[0])
    for task in ("arena.no_such_task", "celery.group", jobs.RECORD_VOID, jobs.JOB_STARTED):
        send(recorder, task, 1, 2, 3)
    send(recorder, jobs.RECORD_MATCH, serializer="yaml")
    send(recorder, jobs.RECORD_MATCH, {"half": "a message"})
    send_and_record(recorder, reports[1], reports[2])
    assert in_order(database) == [data["lease"]["job"] for data in reports[:3]]
    assert left(queue) == []
    assert recorder.writer.counted["unreadable"] == 7


def test_what_is_not_handled_stays_the_brokers(
    database: Database, recorder: Recorder, reports: Any, queue: redis.Redis
) -> None:
    """What the recorder took and did not acknowledge comes again."""
    for data in reports:
        send(recorder, jobs.RECORD_MATCH, data)
    taken = list(recorder.tasks.inbox.take(SEVERAL - 1))
    assert len(taken) == SEVERAL - 1
    assert queue.llen(jobs.RESULTS_QUEUE) == SEVERAL
    recorder.tasks.inbox.let_go()
    send_and_record(recorder)
    assert in_order(database) == [data["lease"]["job"] for data in reports]
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
    recorder: Recorder,
    reports: Any,
    queue: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All others are recorded; it is dropped, and its match played again when its lease ends."""
    monkeypatch.setattr(writer, "PAUSES", (0.01,))
    numbers = [data["lease"]["job"] for data in reports]
    with refused_by_the_database(database, reports[2]):
        send_and_record(recorder, *reports)
    assert in_order(database) == numbers[:2] + numbers[3:]
    assert left(queue) == []


def test_a_broker_that_is_away_is_waited_for(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With a line about it; there is nothing to be done meanwhile."""
    away = inbox.Inbox(
        "redis+socket:///nowhere", jobs.RESULTS_QUEUE, tasks.OFTEN, recorder.writer.counted
    )
    monkeypatch.setitem(recorder.tasks._inboxes, 0, away)
    assert not recorder.tasks.turn()
    away.wait(0.01)
    recorder.tick()
    assert "the broker does not give its queue of results" in caplog.text
