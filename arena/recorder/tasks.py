"""The recorder: the one process that takes in what workers say, and makes and issues matches.

It takes the messages of the queue ``results`` in their order; of several recorders that are started
all but one wait (`arena.recorder.claim`). Everything that changes a match or a rating goes through
it, so that ratings need no locks and have an order. A message stays in the queue until it is
handled: one that was under way when the recorder died is handled again, and changes nothing the
second time. One that raises is logged and dropped, and counted against who sent it.

What workers say of matches comes often, and where several such messages wait they are taken in
by one transaction: so a recorder that falls behind gets faster. If that fails each is taken in
alone, so that one message can't spoil another.

Between messages it ticks by a clock of its own, so that no queue is too long for it: what outlived
its lease is rolled back, matches are made and issued, alarms are looked for.
"""

from __future__ import annotations

import gc
import logging
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

import redis
from celery import Celery
from kombu.exceptions import OperationalError
from sqlalchemy import event
from sqlalchemy.orm import Session

from arena import sittings
from arena.competitions import ranks
from arena.ground.config import Settings, load
from arena.ground.db import FAILED, Database, SchemaError
from arena.ground.texts import cut
from arena.models import Worker
from arena.operation import health, indexes, queues
from arena.operation.retention import forget_logs
from arena.operation.watchdog import Pulse
from arena.recorder import rebuild, recording
from arena.recorder.claim import ClaimError, claim_broker, claim_connections
from arena.recorder.dispatch import WAKE, CeleryQueue, configure
from arena.recorder.inbox import TOGETHER, Inbox, Said
from arena.schedule import leases, workers
from arena.signing import arena_id
from engine import jobs, reporting
from engine.jobs import Batch
from engine.logs import about, use_json
from engine.protocol import visible
from engine.record import RecordError
from engine.timers import Every

T = TypeVar("T")
Report = TypeVar("Report", reporting.MatchReport, reporting.CheckReport, reporting.MoveReport)

OFTEN: Mapping[str, Callable[[Any], recording.Told]] = {
    jobs.RECORD_MATCH: reporting.MatchReport.from_json,
    jobs.JOB_STARTED: reporting.Started.from_json,
    jobs.MATCH_PROGRESS: reporting.Progress.from_json,
    jobs.WORKER_ALIVE: reporting.SignOfLife.from_json,
}
"""The tasks that can be done together, and how each reads what it is told."""

PAUSES = (0.1, 1, 2, 4, 8)
"""Seconds before each new try of a transaction that the database failed."""

LOOK_SECONDS = 30.0
"""How often alarms are looked for, and ranks that are better than any before."""
INDEXES_SECONDS = 600.0
"""How often it is seen that the database has all its indexes."""
WAIT_SECONDS = 1.0
"""For a message, at most: then it is seen whether this process is to end."""

log = logging.getLogger("arena.recorder")

app = Celery("arena")
settings: Settings = load()
configure(app, settings)
pulse = Pulse()

counted: Counter[str] = Counter()
"""What happened since it was last written down (see `arena.schedule.occurrences`)."""


class ProcessEnding(Exception):
    """This process is to end, and the message in hand stays in the queue."""


class _Asked:
    """Whether somebody asked this process to end."""

    to_end = False


@cache
def database() -> Database:
    """This process's database, which it alone records in."""
    found = Database(settings.database_url)
    claim_connections(found, meanwhile=pulse.beat)
    # Whoever gets answers goes on, however long all of them take.
    event.listen(found.engine, "before_cursor_execute", pulse.beat)
    return found


def _now() -> datetime:
    return datetime.now(UTC)


def _transact(do: Callable[[Session], T]) -> T:
    """Runs a transaction, again after a pause when the database failed it.

    A database that is away is waited for without end: the message in hand tells of a match that
    took long to play. One that takes writes again and still fails this one is not.

    Raises:
        ProcessEnding: the database failed it, and this process is to end.
    """
    pauses, is_back = iter(PAUSES), False
    while True:
        try:
            with database().begin() as session:
                return do(session)
        except FAILED as error:
            pause = next(pauses, None)
            if pause is None:
                if _Asked.to_end:
                    raise ProcessEnding from error
                if is_back:
                    raise
                is_back = not database().is_away()
                pause = PAUSES[0 if is_back else -1]
            problem = str(error).splitlines()[0]
            log.warning("the database failed, trying again in %s s: %s", pause, problem)
            pulse.beat()
            time.sleep(pause)


@cache
def inbox() -> Inbox:
    """What waits in the queue of results."""
    return Inbox(settings.broker, OFTEN, counted)


def _send(issued: Sequence[Batch], now: datetime) -> None:
    """Sends what was issued; what the broker does not take is issued again when its lease ends."""
    try:
        CeleryQueue(app, settings).send(issued, now)
    except (OperationalError, redis.RedisError) as error:
        log.warning("the broker took no jobs: %.200s", error)


def _fill() -> None:
    """Issues what there is room for, so that no worker waits for the next tick."""
    now = _now()
    _send(_transact(lambda session: leases.fill(session, settings, now)), now)


_looking = Every(LOOK_SECONDS)
_looking_for_indexes = Every(INDEXES_SECONDS)
_upkeep = rebuild.Upkeep(settings.check_seconds)


def turn() -> bool:
    """Handles what waits, as much as is handled together; False if nothing does.

    Raises:
        ProcessEnding: this process is to end, and what is not handled stays in the queue.
    """
    together: list[tuple[Said, Sequence[recording.Told]]] = []
    try:
        waiting = inbox().gather(TOGETHER)
        for said in waiting:
            if told := _read(said):
                together.append((said, told))
                continue
            _take_in(together)
            together = []
            _handle(said)
        _take_in(together)
    finally:
        inbox().let_go()
    return bool(waiting)


def _read(said: Said) -> Sequence[recording.Told]:
    """What a message says that can be handled with others; nothing if it can't be."""
    try:
        told = [OFTEN[said.task](data) for data in said.args]
    except Exception:
        return []
    return told if len(told) <= jobs.MOST_MATCHES else []


def _take_in(messages: Sequence[tuple[Said, Sequence[recording.Told]]]) -> None:
    """Handles messages by one transaction, or each alone if that fails.

    Matches for workers that reported one are issued in it, too.
    """
    if not messages:
        return
    told = [one for _, its in messages for one in its]
    reports = any(isinstance(one, reporting.MatchReport) for one in told)
    now = _now()

    def do(session: Session) -> tuple[list[leases.Fate], list[Batch]]:
        outcomes = recording.take_in(session, told, settings, now)
        return outcomes, leases.fill(session, settings, now) if reports else []

    try:
        outcomes, issued = _transact(do)
    except ProcessEnding:
        raise
    except Exception:
        for said, _ in messages:
            _handle(said)
        return
    inbox().acknowledge(*(said for said, _ in messages))
    for one, outcome in zip(told, outcomes, strict=True):
        if isinstance(one, reporting.MatchReport):
            _say(one, outcome)
        else:
            _count(outcome)
    _send(issued, now)


def _handle(said: Said) -> None:
    """Handles a message alone; one that raises is dropped."""
    try:
        if said.task not in TASKS:
            raise jobs.JobError(f"there is no task {said.task!r}")
        if len(said.args) > jobs.MOST_MATCHES:
            raise jobs.JobError(f"it tells of {len(said.args)} jobs at once")
        TASKS[said.task](*said.args, **said.named)
    except ProcessEnding:
        raise
    except FAILED as error:
        # It took long to play, maybe; but a message that is tried for ever stops all others.
        problem = str(error).splitlines()[0]
        log.error("the database fails a message for %s, which is dropped: %s", said.task, problem)
    except Exception as error:
        _hold_against(said, error)
    inbox().acknowledge(said)


def _hold_against(said: Said, error: Exception) -> None:
    """Counts a message that no worker of ours says against the worker that it names."""
    inbox().refuse(error)
    first = said.args[0] if said.args else None
    name = first.get("worker") if isinstance(first, dict) else None
    if isinstance(name, str) and name:
        problem = f"said what can't be read of {said.task}: {_line(str(error))}"
        _transact(
            lambda session: workers.note_falsehood(
                session, name[: reporting.LONGEST_NAME], f"message {said.task}", problem, _now()
            )
        )


def _count(outcome: leases.Fate) -> None:
    counted[outcome.partition(",")[0]] += 1


def _store_match(session: Session, report: reporting.MatchReport, now: datetime) -> leases.Fate:
    (outcome,) = recording.take_in(session, [report], settings, now)
    return outcome


def _store_known(
    session: Session,
    report: Report,
    store: Callable[[Session, Report, datetime], leases.Fate],
) -> leases.Fate:
    """Stores a report of a worker that gave a sign of life at least once.

    Raises:
        JobError: nobody knows it.
    """
    if session.get(Worker, report.worker) is None:
        raise jobs.JobError(f"there is no worker {report.worker!r}")
    return store(session, report, _now())


def _record(
    data: dict[str, Any],
    read: Callable[[dict[str, Any]], Report],
    store: Callable[[Session, Report, datetime], leases.Fate],
) -> None:
    try:
        report = read(data)
        outcome = _transact(lambda session: _store_known(session, report, store))
    except (*FAILED, ProcessEnding):
        raise
    except (jobs.JobError, RecordError) as error:
        _refuse(data, str(error))
    except Exception as error:
        # The message is gone for good, so that it can't trip up the recorder again and again.
        # What it was about is played again, and after some failures the operator is shown why.
        log.exception("a report could not be recorded")
        _refuse(data, f"it could not be recorded: {error!r}")
    else:
        _say(report, outcome)
        if outcome in CHANGING:
            _fill()


CHANGING = leases.Fate.FIXED, leases.Fate.REFUSED, leases.Fate.ROLLED_BACK
"""After these there may be room for other jobs."""


def _say(report: Report, outcome: leases.Fate) -> None:
    """Tells what became of a report."""
    _count(outcome)
    lease, worker = report.lease, report.worker
    bad = outcome in (leases.Fate.REFUSED, leases.Fate.FORGED)
    log.log(
        logging.WARNING if bad else logging.INFO,
        "%s %s, attempt %s of %s: %s",
        *(_line(lease.kind), lease.job, lease.attempt, _line(worker), outcome),
        extra={**about(lease), "worker": worker},
    )


def record_match(*data: dict[str, Any]) -> None:
    """A worker played a match, or several short ones."""
    for one in data:
        _record(one, reporting.MatchReport.from_json, _store_match)


def record_check(data: dict[str, Any]) -> None:
    """A worker checked a bot."""
    _record(data, reporting.CheckReport.from_json, recording.record_check)


def record_move(data: dict[str, Any]) -> None:
    """A worker made a bot's move against a person."""
    _record(data, reporting.MoveReport.from_json, sittings.record_move)


def record_build(data: dict[str, Any]) -> None:
    """A worker built a bot."""
    built = reporting.Built.from_json(data)
    _count(_transact(lambda session: recording.record_build(session, built, _now())))


def wake() -> None:
    """A person waits for a bot's move: it is issued now rather than at the next tick."""
    _fill()


def record_void(data: dict[str, Any]) -> None:
    """A worker could not do a job, through no bot's fault."""
    # Workers of the release before say "understood".
    failed = data.get("failed", data.get("understood")) is not False
    _refuse(data, str(data.get("problem", "")), failed=failed)


def _refuse(data: Any, problem: str, *, failed: bool = True) -> None:
    """Rolls back what a message is about.

    Raises:
        JobError: it does not say so.
    """
    lease = jobs.Lease.from_json(data.get("lease") if isinstance(data, dict) else data)
    outcome = _transact(
        lambda session: recording.record_void(
            session, lease, problem, settings, _now(), failed=failed
        )
    )
    _count(outcome)
    words = "%s %s, attempt %s: %s: %s"
    told = (_line(lease.kind), lease.job, lease.attempt, outcome, _line(problem))
    log.warning(words, *told, extra=about(lease))
    if outcome in CHANGING:
        _fill()


def _line(text: str) -> str:
    """Words of a worker's, who may be anybody, as a part of one line of the log."""
    return visible(cut(text), but="")


def _take_in_alone(task: str) -> Callable[..., None]:
    def take_in(*data: Any) -> None:
        told = [OFTEN[task](one) for one in data]
        for outcome in _transact(lambda s: recording.take_in(s, told, settings, _now())):
            _count(outcome)

    return take_in


TASKS: Mapping[str, Callable[..., None]] = {
    jobs.RECORD_MATCH: record_match,
    jobs.RECORD_CHECK: record_check,
    jobs.RECORD_MOVE: record_move,
    jobs.RECORD_VOID: record_void,
    jobs.BOT_BUILT: record_build,
    jobs.JOB_STARTED: _take_in_alone(jobs.JOB_STARTED),
    jobs.MATCH_PROGRESS: _take_in_alone(jobs.MATCH_PROGRESS),
    jobs.WORKER_ALIVE: _take_in_alone(jobs.WORKER_ALIVE),
    WAKE: wake,
    # The beat of a release before may still be there.
    "arena.tick": lambda: None,
}
"""What a message may be for."""


def tick() -> None:
    """Rolls back, makes and issues matches, looks after ratings; harmless when it runs twice."""
    now = _now()
    _claim_broker()
    inbox().look(now)
    heard = inbox().backlog.heard(now)
    happened = dict(counted)
    counted.clear()
    _transact(lambda session: health.note_tick(session, now, heard, happened))
    looking = _looking.is_due()
    if looking:
        broker = queues.look(settings.broker)
        words = broker.problem or broker.risk
        _transact(lambda session: health.note(session, health.BROKER_MARK, words))
        _transact(lambda session: health.log_alarms(session, settings, now))
        _transact(lambda session: ranks.note_best(session, now))
    if _looking_for_indexes.is_due():
        _transact(_note_lost_indexes)
    _transact(lambda session: sittings.give_up_abandoned(session, settings, now))
    _transact(lambda session: forget_logs(session, settings, now))
    if heard is not None:
        _roll_back(heard, now, sweep=looking)
    issued = _transact(lambda session: leases.schedule(session, settings, now))
    _send(issued, now)
    # Last, since with many games they take longer than what was just issued may wait.
    # It opens sessions of its own; a database that goes away meanwhile is waited for, too.
    _transact(lambda _: _upkeep.go_on(database(), now))


def _note_lost_indexes(session: Session) -> None:
    missing = indexes.words(indexes.lost(session.connection()))
    health.note(session, health.LOST_MARK, missing)


def _roll_back(heard: datetime, now: datetime, *, sweep: bool) -> None:
    """Rolls back what is overdue, and takes what does not count any more out of the queue."""
    withdrawn: set[jobs.Attempt] | None = set()
    if sweep or _transact(lambda session: leases.is_any_overdue(session, heard)):
        standing = _transact(lambda session: leases.standing(session, heard))
        withdrawn = CeleryQueue(app, settings).withdraw(standing)
    counted.update(
        _transact(lambda s: leases.roll_back_overdue(s, settings, heard, now, withdrawn))
    )


@cache
def _arena() -> str:
    """The arena's id, which stays."""
    return _transact(arena_id)


def _claim_broker() -> None:
    """Keeps other arenas off the broker; one that is away is claimed when it is there again.

    Raises:
        ClaimError: another has it.
    """
    if settings.broker:
        with suppress(redis.RedisError), queues.connect(settings.broker) as client:
            claim_broker(client, _arena())


def _take_over() -> None:
    """Waits until this is the one recorder, before it reads a message that another could handle.

    Raises:
        SchemaError: the database is not of this release.
        ClaimError: another arena is at work on the broker.
    """
    _transact(lambda session: session.connection())
    database().demand_schema()
    _claim_broker()
    inbox().begin()
    # What is there now stays: to go through it for garbage again and again would be a tenth of
    # the work of recording.
    gc.collect()
    gc.freeze()


def main() -> int:
    """Records until SIGTERM; what keeps it from that is one line."""

    def stop(_number: int, _frame: object) -> None:
        _Asked.to_end = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, stop)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    if settings.log == "json":
        use_json(logging.getLogger())
    try:
        _take_over()
        log.info("the recorder is ready")
        pulse.ready()
        _record_on()
    except (SchemaError, ClaimError) as error:
        print(f"this recorder records nothing: {error}", file=sys.stderr, flush=True)
        return REFUSED
    except ProcessEnding:
        log.warning("the recorder ends; what it has not written down stays in the queue")
    finally:
        inbox().close()
        database().close()
    return 0


def _record_on() -> None:
    """Handles messages and ticks until this process is to end."""
    ticking = Every(settings.tick_seconds)
    while not _Asked.to_end:
        pulse.beat()
        if ticking.is_due():
            _guarded(tick)
        if not _guarded(turn):
            inbox().wait(min(WAIT_SECONDS, max(0.0, ticking.remaining())))


def _guarded(do: Callable[[], bool | None]) -> bool | None:
    """Does something, and writes down what was not foreseen, so that all else goes on."""
    try:
        return do()
    except (ProcessEnding, ClaimError):
        raise
    except Exception:
        log.exception("this should not have happened")
        time.sleep(PAUSES[0])
        return None


REFUSED = 3
"""The exit code of a process that can't do its work here (see `arena.operation.supervisor`)."""

if __name__ == "__main__":
    sys.exit(main())
