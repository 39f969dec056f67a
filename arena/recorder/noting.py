"""What workers say of how it stands, noted: who lives, who has which job, and how far it is.

Of each worker, and of each attempt at a job, the last of what was said counts. Leases are renewed
by one statement for each kind of job, however many there are; nothing of a competition is read or
locked for it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.ground.db import is_id
from arena.ground.locks import locking
from arena.ground.refusals import Refusal
from arena.models import Check, Competition, JobStatus, Match, Worker
from arena.schedule import leases, presence, workers
from arena.schedule.jobs import JOBS, Leased
from arena.schedule.leases import Fate
from arena.schedule.needs import unfit
from engine import jobs, reporting
from engine.reporting import Sign, SignOfLife

log = logging.getLogger("arena.recorder")


_CLOCKED = (
    sa.select(Competition.reference).where(Competition.id == Match.competition_id).scalar_subquery()
)


@dataclass(slots=True)
class _Word:
    """What is said of an attempt."""

    worker: str | None = None
    """Who says that it has it."""
    progress: reporting.Progress | None = None


def note(session: Session, signs: Sequence[Sign], settings: Settings, now: datetime) -> list[Fate]:
    """Notes what workers say, in one transaction, and tells for each what became of it."""
    lives: dict[str, SignOfLife] = {}
    words: dict[jobs.Lease, _Word] = {}
    for sign in signs:
        if isinstance(sign, SignOfLife):
            # One that was begun anew may be there twice, in any order.
            last = lives.setdefault(sign.worker, sign)
            lives[sign.worker] = sign if (sign.clock or 0) >= (last.clock or 0) else last
            continue
        word = words.setdefault(sign.lease, _Word())
        word.worker = sign.worker or word.worker
        if isinstance(sign, reporting.Progress):
            word.progress = sign
    names = lives.keys() | {word.worker for word in words.values() if word.worker}
    # Kept, so that each is found again without a query.
    query = sa.select(Worker).where(Worker.name.in_(names))
    known = {one.name: one for one in session.scalars(query)} if names else {}
    noted = _note_words(session, words, known, settings, now)
    alive = _note_lives(session, lives.values(), known, now)
    return [
        alive[sign.worker] if isinstance(sign, SignOfLife) else noted.get(sign.lease, Fate.STALE)
        for sign in signs
    ]


def _note_words(
    session: Session,
    words: Mapping[jobs.Lease, _Word],
    known: Mapping[str, Worker],
    settings: Settings,
    now: datetime,
) -> dict[jobs.Lease, Fate]:
    """Renews the leases that count, and keeps how far it is; of the others nothing is told."""
    by_job: dict[str, dict[int, list[jobs.Lease]]] = {}
    for lease in words:
        if is_id(lease.job):
            by_job.setdefault(lease.kind, {}).setdefault(lease.job, []).append(lease)
    fates: dict[jobs.Lease, Fate] = {}
    ends = now + timedelta(seconds=settings.lease_seconds)
    for name, kind in JOBS.items():
        if (its := by_job.get(name)) is None:
            continue
        columns: list[Any] = [kind.id, kind.status, kind.attempt, kind.ticket, kind.worker]
        columns.append((_CLOCKED if kind is Match else sa.false()).label("clocked"))
        issued = sa.select(*columns).where(kind.id.in_(its), kind.status == JobStatus.ISSUED)
        renewed: list[dict[str, Any]] = []
        to_look_at: list[jobs.Lease] = []
        for job in session.execute(locking(issued, kind)).all():
            for lease in its[job.id]:
                if not leases.counts(job, lease):
                    continue
                word = words[lease]
                who = word.worker or job.worker
                is_other = who != job.worker
                if is_other and not _may_take_up(known.get(who), settings, clocked=job.clocked):
                    to_look_at.append(lease)
                    continue
                told = _told(kind, word.progress)
                renewed.append({"id": job.id, "worker": who, "lease_ends": ends, **told})
                fates[lease] = Fate.NOTED
        if renewed:
            # Those that are alike are written by one statement.
            session.execute(sa.update(kind), sorted(renewed, key=len))
        for lease in to_look_at:
            fates[lease] = _take_up(session, lease, words[lease], known, settings, now)
    return fates


def _take_up(
    session: Session,
    lease: jobs.Lease,
    word: _Word,
    known: Mapping[str, Worker],
    settings: Settings,
    now: datetime,
) -> Fate:
    """Gives a lease that counts to a worker that may not have it."""
    job, who = leases.find_issued(session, lease), word.worker
    if job is None or who is None or not leases.take_up(job, who, known.get(who), settings, now):
        return Fate.STALE
    return Fate.NOTED


def _may_take_up(worker: Worker | None, settings: Settings, *, clocked: bool) -> bool:
    """Whether `leases.take_up` gives a worker a job; one that nobody knows yet, too."""
    if worker is None:
        return True
    if not workers.may_play(worker, settings.minimum_isolation):
        return False
    return not (clocked and unfit(worker))


def _told(kind: type[Leased], progress: reporting.Progress | None) -> dict[str, Any]:
    """How far a job is, as the columns of its row."""
    if progress is None:
        return {}
    if kind is Match:
        return {"progress": {"game": progress.game, "moves": list(progress.moves)}}
    if kind is Check:
        return {"findings": [finding.to_json() for finding in progress.findings]}
    return {}


def _note_lives(
    session: Session, signs: Iterable[SignOfLife], known: Mapping[str, Worker], now: datetime
) -> dict[str, Fate]:
    """Keeps who lives; invented names have an end."""
    fates: dict[str, Fate] = {}
    is_crowded = False
    for sign in signs:
        fates[sign.worker] = Fate.REFUSED
        if is_crowded and sign.worker not in known:
            continue
        try:
            workers.note_alive(session, sign, now)
        except Refusal as error:
            log.warning("a sign of life was dropped: %s", error)
            is_crowded = True  # as the next one would be, too
            continue
        presence.note(session, sign, now)
        fates[sign.worker] = Fate.NOTED
    return fates
