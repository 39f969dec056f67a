"""What counts only until it is said anew: the last of each is noted, and no report waits for it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
import redis
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import JobStatus, Match, Worker
from arena.recorder import noting, signs
from arena.recorder.process import Recorder
from arena.schedule import occurrences
from arena.schedule.leases import Fate
from engine import jobs
from engine.messages import pack
from engine.reporting import Progress, SignOfLife, Started
from tests.arena.recorder.test_together import in_order, send

SETTINGS = Settings()
SECOND = timedelta(seconds=1)
TAKEN = f"{jobs.SIGNS}.taken"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signs are taken at each turn."""
    monkeypatch.setattr(signs, "PACE_SECONDS", 0.0)
    monkeypatch.setattr(signs, "SHARE", 1e9)


def lease_of(report: dict[str, Any]) -> jobs.Lease:
    return jobs.Lease.from_json(report["lease"])


def say(queue: redis.Redis, lease: jobs.Lease, *said: Started | Progress) -> None:
    """A worker says something of a job, in its field."""
    for one in said:
        task = jobs.JOB_STARTED if isinstance(one, Started) else jobs.MATCH_PROGRESS
        queue.hset(jobs.SIGNS, lease.field, pack(task, one.to_json()))


def live(queue: redis.Redis, field: str, sign: SignOfLife) -> None:
    queue.hset(jobs.SIGNS, field, pack(jobs.WORKER_ALIVE, sign.to_json()))


def matches(database: Database) -> dict[int, Match]:
    with database.read() as session:
        return {one.id: one for one in session.scalars(sa.select(Match))}


def test_the_last_of_each_is_noted(
    database: Database, recorder: Recorder, queue: redis.Redis, reports: Any
) -> None:
    """By one transaction for all workers and leases; a word of how far it is tells of the beginning
    that it replaced. What is not of the attempt that counts changes nothing."""
    begun: list[Any] = []
    before = matches(database)
    first, second, third, *_ = map(lease_of, reports)
    say(queue, first, Started(first, "worker"), Progress(first, 0, ("1:a1b1",), (), "worker"))
    say(queue, first, Progress(first, 1, ("1:a1b1", "2:b2a2"), (), "worker"))
    say(queue, second, Started(second, "worker"))
    say(queue, third, Progress(jobs.Lease("match", third.job, third.attempt, "guessed")))
    live(queue, "a", SignOfLife("worker", 4, "good"))
    live(queue, "b", SignOfLife("another", 2, "good"))
    sa.event.listen(recorder.writer.database.engine, "begin", begun.append)
    assert not recorder.tasks.turn()
    assert len(begun) == 1
    assert recorder.writer.counted == {"noted": 4}
    assert queue.exists(jobs.SIGNS, TAKEN) == 0
    found = matches(database)
    assert [found[one.job].worker for one in (first, second, third)] == ["worker", "worker", None]
    assert found[first.job].progress == {"game": 1, "moves": ["1:a1b1", "2:b2a2"]}
    assert found[second.job].progress is None
    for one in found.values():
        was = before[one.id].lease_ends
        assert one.lease_ends is not None
        assert was is not None
        is_told = one.id in (first.job, second.job)
        expected = datetime.now(UTC) + SECOND * SETTINGS.lease_seconds if is_told else was
        assert abs(one.lease_ends - expected) < 20 * SECOND
        assert (one.lease_ends == was) is not is_told
    with database.read() as session:
        slots = {one.name: one.slots for one in session.scalars(sa.select(Worker))}
    assert slots == {"worker": 4, "another": 2}


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "fate", "status"),
    [
        ({"set_aside": None}, Fate.NOTED, JobStatus.ISSUED),
        ({"set_aside": datetime.now(UTC)}, Fate.STALE, JobStatus.OPEN),
        ({"isolation": "none"}, Fate.STALE, JobStatus.OPEN),
    ],
    ids=["sound", "set aside", "too weak"],
)
@pytest.mark.parametrize("progress", [True, False])
def test_who_is_given_no_jobs_takes_none_up(
    database: Database,
    reports: Any,
    spoil: dict[str, Any],
    fate: Fate,
    status: JobStatus,
    progress: bool,
) -> None:
    """Another gets it at once, whichever word tells of the beginning."""
    lease = lease_of(reports[0])
    said = Progress(lease, worker="worker") if progress else Started(lease, "worker")
    with database.begin() as session:
        session.execute(sa.update(Worker).values(**spoil))
    with database.begin() as session:
        assert noting.note(session, [said], SETTINGS, datetime.now(UTC)) == [fate]
    assert matches(database)[lease.job].status is status


def test_what_follows_by_another_way_is_heard(
    database: Database, recorder: Recorder, queue: redis.Redis, reports: Any
) -> None:
    """Nothing is rolled back before what was said until then is handled, both ways."""
    now = datetime.now(UTC)
    late = now + 1000 * SECOND
    lease, told = lease_of(reports[0]), recorder.tasks
    say(queue, lease, Progress(lease, worker="worker"))
    told.inbox.look(late)
    assert told.heard(late) is None  # nobody has looked at the signs yet
    assert told.signs.take(late)
    assert told.heard(late) is None  # they are in hand
    told.signs.done()
    assert told.heard(late) == late
    say(queue, lease, Progress(lease, worker="worker"))
    assert told.signs.take(late + SECOND)
    told.inbox.look(late + SECOND)
    assert told.heard(late + SECOND) == late
    told.signs.done()
    assert told.heard(late + 2 * SECOND) == late + SECOND
    assert told.signs.take(late + 3 * SECOND) == []
    assert told.heard(late + 4 * SECOND) == late + SECOND  # as far as the queue is


def test_a_recorder_goes_on_with_what_one_before_had_taken(
    database: Database, recorder: Recorder, queue: redis.Redis, reports: Any
) -> None:
    """And then with what was said since."""
    leases_ = [lease_of(one) for one in reports[:2]]
    say(queue, leases_[0], Started(leases_[0], "worker"))
    queue.rename(jobs.SIGNS, TAKEN)
    say(queue, leases_[1], Started(leases_[1], "worker"))
    for _ in range(2):
        recorder.tasks.turn()
    found = matches(database)
    assert [found[one.job].worker for one in leases_] == ["worker", "worker"]
    assert queue.exists(jobs.SIGNS, TAKEN) == 0


def test_nonsense_is_held_against_whom_it_names(
    database: Database, recorder: Recorder, queue: redis.Redis, reports: Any
) -> None:
    """And spoils no other sign; what is too long is not read."""
    lease = lease_of(reports[0])
    say(queue, lease, Started(lease, "worker"))
    live(queue, "honest", SignOfLife("another", 2, "good"))
    nonsense = {
        "a": b"no message",
        "b": pack(jobs.WORKER_ALIVE, {"worker": "worker", "slots": "many"}),
        "c": pack(jobs.RECORD_MATCH, reports[1]),
        "d": b"x" * (signs.LONGEST + 1),
        "e": pack(jobs.MATCH_PROGRESS),
    }
    queue.hset(jobs.SIGNS, mapping=nonsense)
    recorder.tasks.turn()
    assert matches(database)[lease.job].worker == "worker"
    assert recorder.writer.counted == {"noted": 2, "unreadable": len(nonsense)}
    assert in_order(database) == []
    with database.read() as session:
        failed = session.get_one(Worker, "worker").failed
    assert {one["job"] for one in failed} == {
        f"message {task}" for task in (jobs.WORKER_ALIVE, jobs.RECORD_MATCH)
    }


@pytest.mark.parametrize("heavy", [1 << 30, 0], ids=["fetched together", "fetched few at once"])
def test_no_more_is_read_at_once_than_there_is_room_for(
    queue: redis.Redis, monkeypatch: pytest.MonkeyPatch, heavy: int
) -> None:
    """However long signs are; those in hand are so many bytes and one more, and each comes once."""
    monkeypatch.setattr(signs, "HEAVY_BYTES", heavy)
    monkeypatch.setattr(signs, "TOGETHER_BYTES", 100_000)
    said = {f"{number}": pack("say", number, "x" * (number % 7 * 5000)) for number in range(300)}
    queue.hset(jobs.SIGNS, mapping=said)
    longest, refused = max(map(len, said.values())), list[Exception]()
    address = f"redis+socket://{queue.get_connection_kwargs()['path']}"
    found, came = signs.Signs(address, jobs.SIGNS, Counter(), refused.append), list[int]()
    try:
        while len(came) < len(said):
            piece = found.take(datetime.now(UTC))
            assert 0 < sum(len(one.raw) for one in piece) <= 100_000 + longest
            assert len(found._fetched) <= (signs.AT_ONCE if heavy else 3 * signs.FEW)
            came += [int(one.args[0]) for one in piece]
            found.done()
    finally:
        found.close()
    assert sorted(came) == list(range(300))
    assert refused == []
    assert not queue.exists(jobs.SIGNS, TAKEN)


def test_of_one_that_was_begun_anew_the_later_sign_counts(sqlite_database: Database) -> None:
    """The last of the one that ended says that it has no slots; they may come in any order."""
    now = datetime.now(UTC)
    told = [SignOfLife("one", slots, "good", clock=clock) for slots, clock in ((4, 2e9), (0, 1e9))]
    for said in (told, told[::-1]):
        with sqlite_database.begin() as session:
            assert noting.note(session, said, SETTINGS, now) == [Fate.NOTED] * 2
            assert session.get_one(Worker, "one").slots == 4


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_results_and_ticks_wait_for_no_signs(
    database: Database,
    recorder: Recorder,
    queue: redis.Redis,
    reports: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many there are, and however many old ones lie in the queue of results: all that is
    reported is recorded meanwhile, and the tick comes in time. Of what is too much some is dropped,
    and the arena's own is heard when it is said again."""
    monkeypatch.undo()
    monkeypatch.setattr(signs, "MOST", 1000)
    settings = replace(recorder.writer.own_settings, tick_seconds=0.5)
    junk = pack(jobs.MATCH_PROGRESS, {"lease": lease_of(reports[0]).to_json(), "progress": {}})
    unknown = Progress(jobs.Lease("match", 10**6, 1, "ticket")).to_json()
    stale = pack(jobs.MATCH_PROGRESS, unknown)

    def flood() -> None:
        queue.hset(jobs.SIGNS, mapping={f"{n}": junk if n % 2 else stale for n in range(5000)})
        queue.lpush(jobs.RESULTS_QUEUE, *[stale] * 2000)

    def is_over() -> bool:
        left = queue.exists(jobs.SIGNS, TAKEN, jobs.RESULTS_QUEUE)
        return not left and len(in_order(database)) == len(reports)

    class Ticking(Recorder):
        """One that ends when nothing is left, and notes when it ticks."""

        def tick(self, *, whole: bool = True) -> None:
            ticks.append(time.process_time())
            if len(ticks) < 3:
                flood()
            super().tick(whole=whole)
            self.writer.is_to_end = is_over()

    ticks: list[float] = []
    ticking = Ticking(settings)
    flood()
    for report in reports:
        send(recorder, jobs.RECORD_MATCH, report)
    try:
        ticking.record_on()
    finally:
        ticking.close()
    # By what this process has used, as others may use the machine meanwhile.
    assert max(after - before for before, after in pairwise(ticks)) < settings.tick_seconds + 1
    with database.read() as session:
        assert occurrences.read(session, datetime.now(UTC)).ever["dropped"] > 5000
