"""The arena's own Celery app: the one serial recorder, and the tick.

A single process takes the messages of the queue ``results`` one after the other (solo pool).
Everything that changes a match or a rating goes through it, so that ratings need no locks and
have an order. Messages are acknowledged late: one that was under way when the recorder died is
handled again, and changes nothing the second time.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from functools import cache
from typing import Any

from celery import Celery

from arena import recording, scheduling
from arena.config import Settings, load
from arena.db import Database
from arena.dispatch import CeleryQueue, configure
from engine import jobs
from engine.record import RecordError

log = logging.getLogger("arena.recorder")

app = Celery("arena")
settings: Settings = load()
configure(
    app,
    settings.broker,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_default_queue=jobs.RESULTS_QUEUE,
)


@cache
def database() -> Database:
    """This process's database."""
    return Database(settings.database_url)


def _now() -> datetime:
    return datetime.now(UTC)


def _fill() -> None:
    """Issues what there is room for, so that no worker waits for the next tick."""
    now = _now()
    with database().begin() as session:
        issued = list(scheduling.fill(session, settings, now))
    CeleryQueue(app, settings).send(issued, now)


@app.task(name=jobs.RECORD_MATCH)
def record_match(data: dict[str, Any]) -> None:
    """A worker played a match."""
    try:
        report = jobs.MatchReport.from_json(data)
    except (jobs.JobError, RecordError) as error:
        _refuse(data, str(error))
        return
    with database().begin() as session:
        outcome = recording.record_match(session, report, _now())
    log.info("match %s, attempt %s: %s", report.lease.job, report.lease.attempt, outcome)
    _fill()


@app.task(name=jobs.RECORD_CHECK)
def record_check(data: dict[str, Any]) -> None:
    """A worker checked a bot."""
    try:
        report = jobs.CheckReport.from_json(data)
    except jobs.JobError as error:
        _refuse(data, str(error))
        return
    with database().begin() as session:
        outcome = recording.record_check(session, report, _now())
    log.info("check %s, attempt %s: %s", report.lease.job, report.lease.attempt, outcome)
    _fill()


@app.task(name=jobs.RECORD_VOID)
def record_void(data: dict[str, Any]) -> None:
    """A worker could not do a job, through no bot's fault."""
    _refuse(data, str(data.get("problem", ""))[:2000])
    _fill()


def _refuse(data: dict[str, Any], problem: str) -> None:
    try:
        lease = jobs.Lease.from_json(data.get("lease"))
    except jobs.JobError as error:
        log.warning("a message without a lease was dropped: %s", error)
        return
    with database().begin() as session:
        outcome = recording.record_void(session, lease, problem)
    log.warning("%s %s, attempt %s: %s: %s", lease.kind, lease.job, lease.attempt, outcome, problem)


@app.task(name=jobs.JOB_STARTED)
def job_started(data: dict[str, Any]) -> None:
    """A worker took a job up."""
    lease = jobs.Lease.from_json(data["lease"])
    with database().begin() as session:
        scheduling.take_up(session, lease, str(data["worker"]), settings, _now())


@app.task(name=jobs.MATCH_PROGRESS)
def match_progress(data: dict[str, Any]) -> None:
    """A worker is still at a job; a match may say how far it is."""
    lease = jobs.Lease.from_json(data["lease"])
    with database().begin() as session:
        recording.record_progress(session, lease, data.get("progress"), settings, _now())


@app.task(name=jobs.WORKER_ALIVE)
def worker_alive(data: dict[str, Any]) -> None:
    """A worker gives a sign of life."""
    with database().begin() as session:
        recording.record_alive(session, data, _now())


@app.task(name="arena.tick")
def tick() -> None:
    """Rolls back, makes and issues matches; harmless when it runs twice."""
    now = _now()
    with database().begin() as session:
        issued = scheduling.schedule(session, settings, now)
    CeleryQueue(app, settings).send(issued, now)
