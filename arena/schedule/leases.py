"""Jobs and their leases: issue, fix, rollback.

Theory of operation. A job (a match, the check of a bot, or a bot's move against a person) is
open, issued, fixed or set aside. Issuing hands it to whichever worker takes it first, with a new
attempt number, a random ticket and a lease: at first until somebody must have taken it up, then
renewed by the worker's signs of life. Whoever speaks of a job must name its present attempt and
ticket; all else is stale and ignored. What outlives its lease is rolled back: it is open again,
and will be issued as another attempt. So a worker may play a match twice, but only the attempt
that counts is ever fixed (`arena.recorder.recording`). A job that failed three times is set aside
for the operator.

Which of them are issued is for `arena.schedule.allocation` to say. What was issued is sent once
that is committed. A crash between the two leaves a job issued that nobody knows of; its lease
runs out, and it is issued again.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.kinds import KINDS, kind_of, names_of
from arena.competitions.voids import make_void
from arena.ground.config import Settings
from arena.ground.db import is_id
from arena.ground.locks import locking
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    Entrant,
    EntrantState,
    JobStatus,
    Leasable,
    Match,
    Place,
    Worker,
)
from arena.schedule import workers
from arena.schedule.jobs import JOBS, Leased, attempt_at, words_of
from arena.schedule.needs import needs_of_job, unfit
from arena.schedule.occurrences import SILENT, UNTAKEN, WAITED
from arena.schedule.shards import ALL, Shards
from arena.signing import is_own_ticket
from engine import jobs

FAILURES_ALLOWED = 2
"""A job that fails once more is set aside."""


class Fate(StrEnum):
    """What became of what a worker said."""

    FIXED = "fixed"
    STALE = "stale, ignored"
    NOTED = "noted"
    REFUSED = "refused"
    FORGED = "forged, refused"
    ROLLED_BACK = "rolled back"


L = TypeVar("L", bound=Leased)


def issue(job: Leased, settings: Settings, now: datetime) -> None:
    """Hands a job out as a new attempt; `arena.schedule.jobs.jobs_of` tells a worker of it."""
    job.status = JobStatus.ISSUED
    job.attempt += 1
    job.ticket = secrets.token_hex(16)
    job.lease_ends = now + timedelta(seconds=settings.take_up_seconds)


def find_all(session: Session, leases: Iterable[jobs.Lease]) -> dict[tuple[str, int], Leased]:
    """The jobs that leases are of, locked, by their kinds and numbers; whether or not they count.

    Matches come first and each kind by its numbers, so that nobody waits for whom it holds up.
    """
    numbers: dict[str, set[int]] = {}
    for lease in leases:
        if is_id(lease.job):
            numbers.setdefault(lease.kind, set()).add(lease.job)
    found: dict[tuple[str, int], Leased] = {}
    for name, kind in JOBS.items():
        if name in numbers:
            for job in _lock_all(session, kind, kind.id.in_(numbers[name])):
                found[name, job.id] = job
    return found


def _lock_all(session: Session, kind: type[L], those: sa.ColumnElement[bool]) -> Sequence[L]:
    return session.scalars(locking(sa.select(kind).where(those), kind)).all()


def find(session: Session, lease: jobs.Lease) -> Leased | None:
    """The job that a lease is of, locked; whether or not it counts."""
    return find_all(session, [lease]).get((lease.kind, lease.job))


def find_issued(session: Session, lease: jobs.Lease) -> Leased | None:
    """The job of a lease, if that is still the attempt that counts; else None."""
    job = find(session, lease)
    return job if job is not None and counts(job, lease) else None


def counts(job: Leased | sa.Row[Any], lease: jobs.Lease) -> bool:
    """Whether a lease of a job, or of a row of its columns, is that of the attempt that counts."""
    return (
        job.status is JobStatus.ISSUED
        and job.attempt == lease.attempt
        and _knows_ticket(job, lease)
    )


def forgery(session: Session, job: Leased | None, lease: jobs.Lease) -> str | None:
    """Why a lease can never have been given out; None if it was, or may have been long ago.

    Who was given up for dead speaks of an attempt that counts no more, and means no harm. Nor does
    whoever speaks of one that this database does not know, or not any more, with a ticket of ours:
    it was restored from a backup, or lost the last that was written to it.

    Args:
        job: what it is of; None if there is no such job.
    """
    if is_own_ticket(session, words_of(lease.attempt_of), lease.ticket):
        return None
    if job is None:
        return "it was never made"
    if lease.attempt > job.attempt:
        return f"its attempt {lease.attempt} was never issued"
    is_current = job.status is JobStatus.ISSUED and job.attempt == lease.attempt
    return "the ticket is wrong" if is_current and not _knows_ticket(job, lease) else None


def _knows_ticket(job: Leased | sa.Row[Any], lease: jobs.Lease) -> bool:
    nonce = lease.ticket.partition(".")[0]
    return job.ticket is not None and secrets.compare_digest(job.ticket.encode(), nonce.encode())


def take_up(
    job: Leased, name: str, worker: Worker | None, settings: Settings, now: datetime
) -> bool:
    """A worker took an issued job: its lease now lives on signs of life.

    Args:
        worker: what is known of it; None if it never gave a sign of life.

    Returns:
        False if the worker is given no such jobs: then another gets this one.
    """
    if worker is not None and not workers.may_play(worker, settings.minimum_isolation):
        roll_back(job, f"{name} took it up, which is given no jobs", failed=False)
        return False
    if worker is not None and needs_of_job(job).clocked and (words := unfit(worker)):
        problem = f"{name} took it up, which plays by no reference clock: {words}"
        roll_back(job, problem, failed=False)
        return False
    job.worker = name
    job.lease_ends = now + timedelta(seconds=settings.lease_seconds)
    return True


def fix(job: Leasable) -> None:
    """The attempt that counts was reported: the job is done, and nobody has it any more."""
    job.end_lease(JobStatus.FIXED)


def roll_back(job: Leasable, problem: str, *, failed: bool, seconds: float = 0.0) -> None:
    """Opens an issued job again, or sets it aside if it failed too often.

    A check that was cancelled meanwhile is not tried again. A match that failed costs its
    competition as much of the workers' time as one that was played: it would else be the next
    one's turn for ever.

    Args:
        seconds: for how long it was tried, if that is known.
    """
    job.failures += failed
    if isinstance(job, Check) and job.cancelled:
        job.end_lease(JobStatus.VOID, job.cancelled)
        return
    enough = job.failures > FAILURES_ALLOWED
    job.end_lease(JobStatus.SET_ASIDE if enough else JobStatus.OPEN, problem)
    if isinstance(job, Match) and failed:
        usual = job.competition.match_seconds(under_way=0)
        job.competition.head_start += max(usual, seconds)


def played_no_more() -> sa.Select[Match]:
    """The matches that are not played yet in competitions that play no more."""
    still = sa.union_all(*(kind.play_no_more() for kind in KINDS.values()))
    return sa.select(Match).where(
        Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]), Match.competition_id.in_(still)
    )


def call_off(session: Session, shards: Shards = ALL) -> None:
    """Makes void what is not played yet in competitions that play no more: their tables stand."""
    unfinished = played_no_more().where(shards.having(Match.competition_id))
    for match in session.scalars(locking(unfinished, Match)):
        competition = match.competition
        word = kind_of(competition).word
        roll_back(match, f"the {word} is {competition.standing}", failed=False)
        match.status = JobStatus.VOID


def left_aside() -> sa.Select[Match]:
    """The matches that could not be played and are waited for, and somebody in them has left."""
    return (
        sa.select(Match)
        .join(Match.competition)
        .where(
            Match.status == JobStatus.SET_ASIDE,
            Competition.kind.in_(names_of(lambda kind: kind.waits)),
            Match.places.any(Place.entrant.has(Entrant.state == EntrantState.RETIRED)),
        )
    )


def of_deleted() -> sa.Select[Match]:
    """The matches that nobody can play, as the files of a bot in them are gone."""
    is_gone = Entrant.version.has(BotVersion.bot.has(Bot.deleted.is_not(None)))
    return sa.select(Match).where(
        Match.status.in_([JobStatus.OPEN, JobStatus.SET_ASIDE]),
        Match.places.any(Place.entrant.has(is_gone)),
    )


def forfeit(session: Session, now: datetime, shards: Shards = ALL) -> None:
    """Gives matches up that could not be played and are waited for, and somebody in them has left.

    Who is withdrawn plays what is under way to its end, if that comes to one.
    """
    is_ours = shards.having(Match.competition_id)
    for match in session.scalars(locking(left_aside().where(is_ours), Match)).all():
        make_void(session, match, f"somebody in it was withdrawn, and {match.problem}")
        kind_of(match.competition).end_or_reopen(session, match.competition, now)
    for match in session.scalars(locking(of_deleted().where(is_ours), Match)).all():
        make_void(session, match, "a bot in it was deleted")
        kind_of(match.competition).end_or_reopen(session, match.competition, now)


def roll_back_overdue(
    session: Session,
    settings: Settings,
    heard: datetime,
    now: datetime,
    withdrawn: Collection[jobs.Attempt] | None = (),
    shards: Shards = ALL,
) -> Counter[str]:
    """Rolls back every job that outlived its lease, and counts how they came back.

    A lease that ends later than any that is given now was given before the arena's clock was set
    back: it ends as if it were given now.

    Args:
        heard: up to when all that was said is handled; who may have spoken since is not overdue.
        withdrawn: what was taken out of the queue, in which it waited; None if nobody knows.
        shards: whose jobs; by default all.
    """
    latest = _latest(settings, now)
    count: Counter[str] = Counter()
    for job in _issued(session, shards, lambda kind: ~kind.lease_ends.between(heard, latest)):
        assert job.lease_ends is not None
        job.lease_ends = min(job.lease_ends, latest)
        if job.lease_ends >= heard:
            continue
        if job.worker is not None:
            count[SILENT] += 1
            roll_back(job, f"its worker {job.worker} was not heard of", failed=True)
        # What nobody took up is not the job's failure: there was no worker for it.
        elif withdrawn is not None:
            waited = attempt_at(job) in withdrawn
            count[WAITED if waited else UNTAKEN] += 1
            problem = "it waited in vain for a worker" if waited else "no worker took it up"
            roll_back(job, problem, failed=False)
    return count


def _latest(settings: Settings, now: datetime) -> datetime:
    """When a lease ends at the latest that is given now."""
    return now + timedelta(seconds=max(settings.lease_seconds, settings.take_up_seconds))


class Overdue(NamedTuple):
    """What there is to roll back."""

    any: bool
    """Whether any lease is over, or was given by a clock that was set back since."""
    untaken: bool
    """Whether a job waited too long for a worker to take it up."""


def overdue(
    session: Session, settings: Settings, heard: datetime, now: datetime, shards: Shards = ALL
) -> Overdue:
    """Whether `roll_back_overdue` finds something, by one statement that locks nothing."""
    its = [
        sa.select(kind.worker.is_(None), kind.lease_ends < heard).where(
            kind.status == JobStatus.ISSUED,
            ~kind.lease_ends.between(heard, _latest(settings, now)),
            _is_of(shards, kind),
        )
        for kind in JOBS.values()
    ]
    found = session.execute(sa.union(*its)).all()
    return Overdue(bool(found), (True, True) in [tuple(map(bool, row)) for row in found])


def standing(session: Session, heard: datetime) -> set[jobs.Attempt]:
    """The attempts that count, and are not overdue."""
    return {
        (name, number, attempt)
        for name, kind in JOBS.items()
        for number, attempt in session.execute(
            sa.select(kind.id, kind.attempt).where(
                kind.status == JobStatus.ISSUED, kind.lease_ends >= heard
            )
        )
    }


def roll_back_all(session: Session) -> int:
    """Rolls back every issued job: for an arena whose workers all ended with it."""
    issued = _issued(session, ALL, lambda _: sa.true())
    for job in issued:
        roll_back(job, "the arena was started anew", failed=False)
    return len(issued)


def _issued(
    session: Session, shards: Shards, which: Callable[[type[Leased]], sa.ColumnElement[bool]]
) -> list[Leased]:
    """The issued jobs of each kind of some shards for which something holds, locked."""
    return [
        job
        for kind in JOBS.values()
        for job in _lock_all(
            session,
            kind,
            sa.and_(kind.status == JobStatus.ISSUED, _is_of(shards, kind), which(kind)),
        )
    ]


def _is_of(shards: Shards, kind: type[Leased]) -> sa.ColumnElement[bool]:
    """The condition that a job of a kind is of some shards."""
    if issubclass(kind, Match):
        return shards.having(kind.competition_id)
    return sa.true() if shards.is_first else sa.false()
