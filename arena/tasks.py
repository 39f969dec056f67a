"""The arena's own Celery app: the one serial recorder, and the tick.

A single process takes the messages of the queue ``results`` in their order (solo pool); of
several that are started all but one wait (`arena.claim`).
Everything that changes a match or a rating goes through it, so that ratings need no locks and
have an order. Messages are acknowledged late: one that was under way when the recorder died is
handled again, and changes nothing the second time. One that raises is logged and dropped.

What workers say of matches comes often, and where several such messages wait they are taken in
by one transaction: so a recorder that falls behind gets faster. If that fails each is taken in
alone, so that one message can't spoil another.
"""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

from celery import Celery, Task
from celery.signals import celeryd_after_setup, worker_init
from celery.worker import state
from sqlalchemy.orm import Session

from arena import health, rebuild, recording, scheduling, sittings, transport, workforce
from arena.claim import claim_connections
from arena.competitions import ranks
from arena.config import Settings, load
from arena.db import FAILED, Database, SchemaError
from arena.dispatch import WAKE, CeleryQueue, configure
from arena.inbox import TOGETHER, Inbox, Said
from arena.models import Worker
from arena.retention import forget_logs
from arena.visible import visible
from engine import jobs, reporting
from engine.every import Every
from engine.logs import about
from engine.record import RecordError

T = TypeVar("T")
Report = TypeVar("Report", reporting.MatchReport, reporting.CheckReport, reporting.MoveReport)

OFTEN: Mapping[str, Callable[[Any], recording.Told]] = {
    jobs.RECORD_MATCH: reporting.MatchReport.from_json,
    jobs.JOB_STARTED: reporting.Started.from_json,
    jobs.MATCH_PROGRESS: reporting.Progress.from_json,
}
"""The tasks that can be done together, and how each reads what it is told."""

PAUSES = (0.1, 1, 2, 4, 8)
"""Seconds before each new try of a transaction that the database failed."""

LOOK_SECONDS = 30.0
"""How often alarms are looked for, and ranks that are better than any before."""

log = logging.getLogger("arena.recorder")
for chatty in ("celery.worker.strategy", "celery.app.trace"):
    # They tell of every message; what became of one is told here.
    logging.getLogger(chatty).setLevel(logging.WARNING)


class Message(Task[Any, Any]):
    """A task that is what it says and nothing more.

    A worker may write to the queue of results, and Celery's messages can carry others that are to
    be sent when they are done: links, chains, chords. This process would send them with its own
    login, to the queue of matches too.
    """

    abstract = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        request = self.request
        request.callbacks = request.errbacks = request.chain = request.chord = None
        return self.run(*args, **kwargs)


app = Celery("arena", task_cls=Message)
settings: Settings = load()
transport.use()
configure(
    app,
    settings,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_default_queue=jobs.RESULTS_QUEUE,
)


@cache
def database() -> Database:
    """This process's database, which it alone records in."""
    found = Database(settings.database_url)
    claim_connections(found)
    return found


def _now() -> datetime:
    return datetime.now(UTC)


def _transact(do: Callable[[Session], T]) -> T:
    """Runs a transaction, again after a pause when the database failed it.

    A database that is away is waited for without end: the message in hand tells of a match that
    took long to play. One that takes writes again and still fails this one is not.
    """
    pauses, is_back = iter(PAUSES), False
    while True:
        try:
            with database().begin() as session:
                return do(session)
        except FAILED as error:
            pause = next(pauses, None)
            if pause is None:
                if is_back or _is_to_end():
                    raise
                is_back = not database().is_away()
                pause = PAUSES[0 if is_back else -1]
            problem = str(error).splitlines()[0]
            log.warning("the database failed, trying again in %s s: %s", pause, problem)
            time.sleep(pause)


def _is_to_end() -> bool:
    """Whether somebody asked this process to end; it keeps the exit code, which is mostly 0."""
    return any(code is not None for code in (state.should_stop, state.should_terminate))


@celeryd_after_setup.connect
def take_over(**_: Any) -> None:
    """Waits until this is the one recorder, before it takes a message that another could handle."""
    try:
        _transact(lambda session: session.connection())
        database().demand_schema()
    except SchemaError as error:
        print(f"this recorder records nothing: {error}", file=sys.stderr, flush=True)
        raise SystemExit(3) from None
    # What is there now stays: to go through it for garbage again and again would be a tenth of
    # the work of recording.
    gc.collect()
    gc.freeze()


@worker_init.connect
def obey_these_alone(**_: Any) -> None:
    """Knows only the tasks below: Celery's own, such as celery.group, send what they are told."""
    for own in [name for name in app.tasks if name.startswith("celery.")]:
        app.tasks.unregister(own)


def _fill() -> None:
    """Issues what there is room for, so that no worker waits for the next tick."""
    now = _now()
    issued = _transact(lambda session: scheduling.fill(session, settings, now))
    CeleryQueue(app, settings).send(issued, now)


_looking = Every(LOOK_SECONDS)
_upkeep = rebuild.Upkeep(settings.check_seconds)


@cache
def inbox() -> Inbox:
    """What waits in the queue of results."""
    return Inbox(app, OFTEN)


def _take(task: str, *data: Any) -> None:
    """Handles a message, and with it what else waits."""
    waiting = [Said(task, data, {}), *inbox().gather(TOGETHER - len(data))]
    together: list[tuple[Said, Sequence[recording.Told]]] = []
    try:
        for said in waiting:
            if told := _read(said):
                together.append((said, told))
                continue
            _take_in(together)
            together = []
            _handle(said)
        _take_in(together)
    except FAILED:
        # What is not handled yet comes again at once, rather than when the broker misses it.
        inbox().close()
        raise


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
    told = [one for _, its in messages for one in its]
    reports = any(isinstance(one, reporting.MatchReport) for one in told)
    now = _now()

    def do(session: Session) -> tuple[list[recording.Outcome], list[jobs.Batch]]:
        outcomes = recording.take_in(session, told, settings, now)
        return outcomes, scheduling.fill(session, settings, now) if reports else []

    try:
        outcomes, issued = _transact(do)
    except Exception as error:
        if isinstance(error, FAILED) and (len(messages) == 1 or _is_to_end()):
            raise
        for said, _ in messages:
            _handle(said)
        return
    for said, _ in messages:
        said.acknowledge()
    for one, outcome in zip(told, outcomes, strict=True):
        if isinstance(one, reporting.MatchReport):
            _say(one, outcome)
    CeleryQueue(app, settings).send(issued, now)


def _handle(said: Said) -> None:
    """Handles a message alone; one that raises is dropped."""
    try:
        if said.task == jobs.RECORD_MATCH:
            for data in said.args:
                _record(data, reporting.MatchReport.from_json, _store_match)
        elif read := OFTEN.get(said.task):
            told = [read(data) for data in said.args]
            _transact(lambda session: recording.take_in(session, told, settings, _now()))
        else:
            app.tasks[said.task].run(*said.args, **said.named)
    except FAILED:
        raise
    except Exception:
        log.exception("a message for %s was dropped", said.task)
    said.acknowledge()


def _store_match(
    session: Session, report: reporting.MatchReport, now: datetime
) -> recording.Outcome:
    (outcome,) = recording.take_in(session, [report], settings, now)
    return outcome


def _store_known(
    session: Session,
    report: Report,
    store: Callable[[Session, Report, datetime], recording.Outcome],
) -> recording.Outcome:
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
    store: Callable[[Session, Report, datetime], recording.Outcome],
) -> None:
    try:
        report = read(data)
        outcome = _transact(lambda session: _store_known(session, report, store))
    except FAILED:
        raise
    except (jobs.JobError, RecordError) as error:
        _refuse(data, str(error))
    except Exception as error:
        # The message is gone for good, so that it can't trip up the recorder again and again.
        # What it was about is played again, and after some failures the operator is shown why.
        log.exception("a report could not be recorded")
        _refuse(data, f"it could not be recorded: {error!r}"[:2000])
    else:
        _say(report, outcome)
    _fill()


def _say(report: Report, outcome: recording.Outcome) -> None:
    """Tells what became of a report."""
    lease, worker = report.lease, report.worker
    bad = outcome in (recording.Outcome.REFUSED, recording.Outcome.FORGED)
    log.log(
        logging.WARNING if bad else logging.INFO,
        "%s %s, attempt %s of %s: %s",
        *(_line(lease.kind), lease.job, lease.attempt, _line(worker), outcome),
        extra={**about(lease), "worker": worker},
    )


@app.task(name=jobs.RECORD_MATCH)
def record_match(*data: dict[str, Any]) -> None:
    """A worker played a match, or several short ones."""
    _take(jobs.RECORD_MATCH, *data)


@app.task(name=jobs.RECORD_CHECK)
def record_check(data: dict[str, Any]) -> None:
    """A worker checked a bot."""
    _record(data, reporting.CheckReport.from_json, recording.record_check)


@app.task(name=jobs.RECORD_MOVE)
def record_move(data: dict[str, Any]) -> None:
    """A worker made a bot's move against a person."""
    _record(data, reporting.MoveReport.from_json, sittings.record_move)


@app.task(name=WAKE)
def wake() -> None:
    """A person waits for a bot's move: it is issued now rather than at the next tick."""
    _fill()


@app.task(name=jobs.RECORD_VOID)
def record_void(data: dict[str, Any]) -> None:
    """A worker could not do a job, through no bot's fault."""
    # Workers of the release before say "understood".
    failed = data.get("failed", data.get("understood")) is not False
    _refuse(data, str(data.get("problem", ""))[:2000], failed=failed)
    _fill()


def _refuse(data: Any, problem: str, *, failed: bool = True) -> None:
    try:
        lease = jobs.Lease.from_json(data.get("lease") if isinstance(data, dict) else data)
    except jobs.JobError as error:
        log.warning("a message without a lease was dropped: %s", error)
        return
    outcome = _transact(
        lambda session: recording.record_void(
            session, lease, problem, settings, _now(), failed=failed
        )
    )
    words = "%s %s, attempt %s: %s: %s"
    told = (_line(lease.kind), lease.job, lease.attempt, outcome, _line(problem))
    log.warning(words, *told, extra=about(lease))


def _line(text: str) -> str:
    """Words of a worker's, who may be anybody, as a part of one line of the log."""
    return visible(text[:2000], but="")


@app.task(name=jobs.JOB_STARTED)
def job_started(*data: dict[str, Any]) -> None:
    """A worker took a job up, or several."""
    _take(jobs.JOB_STARTED, *data)


@app.task(name=jobs.MATCH_PROGRESS)
def match_progress(data: dict[str, Any]) -> None:
    """A worker is still at a job; a match may say how far it is."""
    _take(jobs.MATCH_PROGRESS, data)


@app.task(name=jobs.WORKER_ALIVE)
def worker_alive(data: dict[str, Any]) -> None:
    """A worker gives a sign of life."""
    try:
        _transact(lambda session: workforce.note_alive(session, data, _now()))
    except workforce.WorkerError as error:
        log.warning("a sign of life was dropped: %s", _line(str(error)))


@app.task(name="arena.tick")
def tick() -> None:
    """Rolls back, makes and issues matches, looks after ratings; harmless when it runs twice."""
    now = _now()
    _transact(lambda session: health.note_tick(session, now))
    if _looking.is_due():
        _transact(lambda session: health.log_alarms(session, settings, now))
        _transact(lambda session: ranks.note_best(session, now))
    _transact(lambda session: sittings.give_up_abandoned(session, settings, now))
    _transact(lambda session: forget_logs(session, settings, now))
    issued = _transact(lambda session: scheduling.schedule(session, settings, now))
    CeleryQueue(app, settings).send(issued, now)
    # Last, since with many games they take longer than what was just issued may wait.
    # It opens sessions of its own; a database that goes away meanwhile is waited for, too.
    _transact(lambda _: _upkeep.go_on(database(), now))
