"""The workers: which of them are given work, and which are set aside.

A worker gives a sign of life every few seconds. It is set aside when it fails at one job after
the other while no bot is in all of them, which would then be what is wrong. It is not told: it
may still take jobs from the queue, more and more slowly while it fails. But its slots are not
counted, a job that it takes up is issued anew at once, and what it says of that one is stale.
So it costs some time and spoils nothing until somebody has mended and readmitted it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA, Actor
from arena.config import ISOLATION
from arena.models import Check, Match, Sitting, Worker
from engine import jobs

ALIVE_SECONDS = 30.0
"""A worker that was not heard of for so long is dead."""
FAILURES_IN_A_ROW = 3
"""A worker that fails at so many different jobs one after the other is set aside."""


class WorkerError(ValueError):
    """What can't be done to a worker; one sentence that says why."""


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that a worker failed at."""

    job: str
    """What it was, e.g. ``match 17``."""
    versions: frozenset[int]
    """The bot versions in it, by their ids."""


def is_distrusted(failed: Sequence[FailedJob]) -> bool:
    """Whether the jobs that a worker failed at one after the other speak against the worker.

    They do if they are several, and no one bot was in all of them.
    """
    different = {job.job: job.versions for job in failed}
    if len(different) < FAILURES_IN_A_ROW:
        return False
    return not frozenset.intersection(*different.values())


def living(session: Session, now: datetime) -> list[Worker]:
    """The workers that gave a sign of life lately, by name."""
    recent = now - timedelta(seconds=ALIVE_SECONDS)
    return list(
        session.scalars(sa.select(Worker).where(Worker.last_seen >= recent).order_by(Worker.name))
    )


def may_play(worker: Worker, minimum_isolation: str) -> bool:
    """Whether a worker is given jobs.

    It is, unless it is set aside, of a release that does not know these jobs, or its boxes are
    weaker than the arena asks for.
    """
    return (
        worker.set_aside is None
        and worker.format == jobs.FORMAT
        and not is_too_weak(worker, minimum_isolation)
    )


def is_too_weak(worker: Worker, minimum_isolation: str) -> bool:
    """Whether a worker's boxes are weaker than the arena asks for."""
    if worker.isolation not in ISOLATION:
        return True
    return ISOLATION.index(worker.isolation) > ISOLATION.index(minimum_isolation)


def state(worker: Worker, minimum_isolation: str, now: datetime) -> str:
    """Whether a worker is given jobs, and if not why, in words."""
    if worker.set_aside is not None:
        return "set aside"
    if worker.format != jobs.FORMAT:
        return "of another release"
    if is_too_weak(worker, minimum_isolation):
        return "too weak"
    return "at work" if worker.last_seen >= now - timedelta(seconds=ALIVE_SECONDS) else "gone"


def slots(session: Session, minimum_isolation: str, now: datetime) -> int:
    """How many matches the workers that are given jobs can play at the same time."""
    return sum(one.slots for one in living(session, now) if may_play(one, minimum_isolation))


def note_success(session: Session, name: str) -> None:
    """A worker did a job: what it failed at before was not its fault."""
    worker = session.get(Worker, name)
    if worker is not None and worker.failed:
        worker.failed = []


def note_failure(
    session: Session, job: Match | Check | Sitting, name: str, problem: str, now: datetime
) -> None:
    """A worker failed at a job through no bot's fault; it may be set aside for it."""
    if isinstance(job, Match):
        label, versions = f"match {job.id}", {place.entrant.version_id for place in job.places}
    elif isinstance(job, Sitting):
        bots = {seat.version_id for seat in job.seats if seat.version_id is not None}
        label, versions = f"move of game {job.id} of a person", bots
    else:
        label, versions = f"check {job.id}", {job.version_id}
    _hold_against(session, name, FailedJob(label, frozenset(versions)), problem, now)


def note_forgery(session: Session, name: str, job: str, problem: str, now: datetime) -> None:
    """A worker said something of a job that it can't know; it counts as a failure.

    Names are not proven: whoever may write to the queue of results may use another's.
    """
    _hold_against(session, name, FailedJob(job, frozenset()), problem, now)


def _hold_against(session: Session, name: str, job: FailedJob, problem: str, now: datetime) -> None:
    worker = session.get(Worker, name)
    if worker is None or worker.set_aside is not None:
        return
    others = [entry for entry in worker.failed if entry["job"] != job.job]
    worker.failed = [*others, {"job": job.job, "versions": sorted(job.versions)}][-20:]
    worker.problem = problem[:2000]
    if is_distrusted([FailedJob(f["job"], frozenset(f["versions"])) for f in worker.failed]):
        worker.set_aside = now
        failed = ", ".join(entry["job"] for entry in worker.failed)
        audit.note(
            session, ARENA, "set aside", f"worker {name}", f"failed {failed}: {problem}", now=now
        )


def readmit(session: Session, actor: Actor, name: str, now: datetime) -> None:
    """Gives a worker jobs again that was set aside.

    Raises:
        WorkerError: there is no such worker, or it is not set aside.
    """
    worker = session.get(Worker, name)
    if worker is None:
        names = ", ".join(session.scalars(sa.select(Worker.name).order_by(Worker.name)))
        raise WorkerError(f"there is no worker {name!r}; there are: {names or 'none'}")
    if worker.set_aside is None:
        raise WorkerError(f"the worker {name} is not set aside")
    worker.set_aside, worker.failed, worker.problem = None, [], ""
    audit.note(session, actor, "readmit", f"worker {name}", now=now)
