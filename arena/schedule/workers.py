"""The workers: which of them are given work, and which are set aside.

A worker gives a sign of life every few seconds. When it fails at a job, either of them may be
what is wrong, and another worker finds out: until one has tried, the job is not blamed for
failing again at the first. A job that another did speaks against who failed at it. A worker is
set aside when it fails once more after jobs enough speak against it and none was done between;
so bots with which nobody can play set nobody aside, however many they are, and the last worker
stays. It is not told: it may still take jobs from the queue, more and more slowly while it
fails. But its slots are not counted, a job that it takes up is issued anew at once, and what it
says of that one is stale. So it costs some time and spoils nothing until somebody has mended and
readmitted it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.deeds import By, Deed, Done, asked
from arena.ground.config import ISOLATION
from arena.ground.db import count_rows, is_lately
from arena.ground.locks import lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import ALIVE_SECONDS, Match, Question, Scope, Sitting, Worker
from arena.schedule.jobs import Leased
from arena.schedule.needs import met_by, needs_of_job
from engine import jobs
from engine.games import GAMES
from engine.guesses import instead
from engine.reporting import LONGEST_NAME, SignOfLife
from engine.shelf import Edition
from engine.translation import N_, gettext

ENOUGH = 3
"""So many jobs that speak against a worker, one after the other, set it aside."""
REMEMBERED = 20
"""Jobs that a worker failed at, the last ones."""
MOST_WORKERS, MOST_SLOTS = 4000, 1024
"""What is believed at most: how many names are kept, and how many matches each says to play at
once."""
MOST_MATCHES = 10_000
"""The most matches that all workers are given at the same time; each that is issued is a row and a
message."""
GONE_SECONDS = 24 * 60 * 60.0
"""How long a worker is not heard of until it may be forgotten, if there is no room for another."""


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that a worker failed at."""

    job: str
    """What it was, e.g. ``match 17``."""
    against: bool = False
    """Whether it speaks against the worker: another did it since, or no job can make a worker say
    what this one said.
    """


def is_distrusted(failed: Sequence[FailedJob]) -> bool:
    """Whether the jobs that a worker failed at since it last did one speak against the worker."""
    return len({job.job for job in failed if job.against}) >= ENOUGH


def note_alive(session: Session, sign: SignOfLife, now: datetime) -> Worker:
    """Keeps a worker's sign of life.

    Names are not proven, so that there is no end of them unless it is made here.

    Returns:
        The worker.

    Raises:
        Refusal: it is a new one, and as many are known and not long gone as are kept.
    """
    worker = session.get(Worker, sign.worker)
    if worker is None:
        _make_room(session, sign.worker, now)
        worker = Worker(name=sign.worker, failed=[], problem="", set_aside=None)
        session.add(worker)
    worker.last_seen = now
    worker.slots = min(sign.slots, MOST_SLOTS)
    worker.isolation = sign.isolation
    worker.languages = list(sign.languages)
    worker.games = None if sign.games is None else list(sign.games)
    worker.at_home = sign.at_home is not None
    worker.platforms = list(sign.platforms)
    worker.format = sign.format
    worker.measure = None if sign.measure is None else sign.measure.to_json()
    worker.cores = sign.cores
    worker.clock_ahead = None if sign.clock is None else sign.clock - now.timestamp()
    return worker


def _make_room(session: Session, name: str, now: datetime) -> None:
    """Forgets who is long gone, if that is what it takes to know another worker.

    One that is set aside is not forgotten: it would come back as if nothing had been.
    """
    if count_rows(session, Worker) < MOST_WORKERS:
        return
    long_gone = ~is_lately(Worker.last_seen, timedelta(seconds=GONE_SECONDS), now)
    session.execute(sa.delete(Worker).where(long_gone, Worker.set_aside.is_(None)))
    if count_rows(session, Worker) >= MOST_WORKERS:
        raise Refusal(
            f"there are {MOST_WORKERS} workers already, so {name!r} is not one of them: if nobody "
            "started so many, somebody invents them; see who has a login (arena acl)"
        )


def living(session: Session, now: datetime) -> list[Worker]:
    """The workers that gave a sign of life lately, by name."""
    return list(session.scalars(sa.select(Worker).where(_lately(now)).order_by(Worker.name)))


def _lately(now: datetime) -> sa.ColumnElement[bool]:
    return is_lately(Worker.last_seen, timedelta(seconds=ALIVE_SECONDS), now)


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
    """Whether a worker is given jobs, and if not why, in words that are English everywhere."""
    if worker.set_aside is not None:
        return N_("set aside")
    # The last thing that one says which was told to end.
    if not worker.slots:
        return N_("stopped")
    if not is_there(worker, now):
        return N_("gone")
    if worker.format != jobs.FORMAT:
        return N_("of another release")
    return N_("too weak") if is_too_weak(worker, minimum_isolation) else N_("at work")


def slots(session: Session, minimum_isolation: str, now: datetime) -> int:
    """How many matches the workers that are given jobs can play at the same time."""
    return Hands.of(session, minimum_isolation, now).slots


@dataclass(frozen=True, slots=True)
class Hands:
    """How many matches the workers that are given jobs can play at the same time; what home workers
    can is in `arena.schedule.presence`."""

    slots: int
    by_needs: Mapping[str, int]
    """Those of workers that meet a need, by its words (`arena.schedule.needs`)."""
    each: Sequence[tuple[int, Collection[str], Collection[str]]] = ()
    """All slots of the workers that are alike, the needs that they meet, and the platforms of their
    runtimes."""

    @classmethod
    def of(cls, session: Session, minimum_isolation: str, now: datetime) -> Hands:
        """The hands of an arena.

        That is asked for whenever something was reported, so no row of a worker is made an object.
        """
        described: list[Any] = [Worker.slots, Worker.isolation, Worker.format, Worker.cores]
        described += [sa.cast(one, sa.Text) for one in (Worker.games, Worker.platforms)]
        described.append(sa.cast(Worker.measure, sa.Text))
        given = _lately(now), Worker.set_aside.is_(None), ~Worker.at_home
        here = tuple(GAMES.editions())
        alike: Counter[tuple[frozenset[str], frozenset[str]]] = Counter()
        for row in session.execute(sa.select(*described).where(*given)):
            if what := _able(minimum_isolation, here, *row):
                alike[what] += row.slots
        by_needs: Counter[str] = Counter()
        for (met, _), count in alike.items():
            by_needs.update(dict.fromkeys(met, count))
        most = {words: min(count, MOST_MATCHES) for words, count in by_needs.items()}
        each = [(count, *what) for what, count in alike.items()]
        return cls(min(alike.total(), MOST_MATCHES), most, each)

    def slots_for(self, words: str, platforms: Collection[str]) -> int:
        """Those of workers that meet a need, and keep runtimes for all these platforms."""
        return min(
            MOST_MATCHES,
            sum(
                slots
                for slots, met, kept in self.each
                if slots and words in met and set(platforms) <= set(kept)
            ),
        )

    def slots_keeping(self, platform: str) -> int:
        """Those of workers that keep runtimes for a platform, whatever games they have."""
        return sum(slots for slots, _, kept in self.each if platform in kept)

    @property
    def platforms(self) -> set[str]:
        """The platforms of the runtimes that somebody keeps."""
        return {platform for slots, _, kept in self.each if slots for platform in kept}


@lru_cache(maxsize=4 * MOST_WORKERS)
def _able(
    minimum_isolation: str,
    _here: tuple[Edition, ...],
    slots: int,
    isolation: str,
    known_format: int,
    cores: int | None,
    *texts: str | None,
) -> tuple[frozenset[str], frozenset[str]] | None:
    """The needs that a worker meets that is as a row describes it, and the platforms of its
    runtimes; None if it is given no jobs. What is here besides are the editions of games."""
    games, platforms, measure = (None if text is None else json.loads(text) for text in texts)
    worker = Worker(
        slots=slots, isolation=isolation, format=known_format, cores=cores, games=games,
        platforms=platforms, measure=measure, set_aside=None,
    )  # fmt: skip
    if not may_play(worker, minimum_isolation):
        return None
    return frozenset(met_by(worker)), frozenset(platforms or ())


def note_success(session: Session, job: Leased, name: str) -> None:
    """A worker did a job: what it failed at before was not its fault, and this is not the job's."""
    worker = session.get(Worker, name)
    if worker is not None and worker.failed:
        worker.failed = []
    if not job.failures:
        return
    for other in session.scalars(sa.select(Worker).where(Worker.name != name)):
        known = _failed(other)
        told = [replace(one, against=True) if one.job == label(job) else one for one in known]
        if told != known:
            _remember(other, told)


def note_failure(
    session: Session,
    job: Leased,
    name: str,
    problem: str,
    minimum_isolation: str,
    now: datetime,
) -> bool:
    """A worker failed at a job through no bot's fault; it may be set aside for it.

    Returns:
        Whether this tells anything new of the job; False if it failed there before, and another
        worker is still to try it.
    """
    worker = session.get(Worker, name)
    again = worker is not None and label(job) in {one.job for one in _failed(worker)}
    _hold_against(session, name, FailedJob(label(job)), problem, now)
    return not again or not any(
        other.name != name
        and other.slots
        and other.at_home is job_is_at_home(job)
        and may_play(other, minimum_isolation)
        and needs_of_job(job).words in met_by(other)
        and label(job) not in {one.job for one in _failed(other)}
        for other in living(session, now)
    )


def note_falsehood(session: Session, name: str, job: str, problem: str, now: datetime) -> None:
    """A worker said of a job what it can't know, or what the rules refute.

    Names are not proven: whoever may write to the queue of results may use another's.

    Args:
        job: its label.
    """
    _hold_against(session, name, FailedJob(job, against=True), problem, now)


def job_is_at_home(job: Leased) -> bool:
    """Whether a home worker has a job."""
    return not isinstance(job, Sitting | Question) and job.at_home


def label(job: Leased) -> str:
    """What a job is called among those that a worker failed at."""
    if isinstance(job, Match):
        return f"match {job.id}"
    if isinstance(job, Sitting):
        return f"move of game {job.id} of a person"
    if isinstance(job, Question):
        return f"question {job.id}"
    return f"check {job.id}"


def _failed(worker: Worker) -> list[FailedJob]:
    return [FailedJob(entry["job"], entry["against"]) for entry in worker.failed]


def _remember(worker: Worker, failed: Sequence[FailedJob]) -> None:
    worker.failed = [asdict(job) for job in failed[-REMEMBERED:]]


def _hold_against(session: Session, name: str, job: FailedJob, problem: str, now: datetime) -> None:
    worker = session.get(Worker, name)
    if worker is None:
        return
    lock(session, worker)  # another recorder may be at it, too
    if worker.set_aside is not None:
        return
    known = {one.job: one for one in _failed(worker)}
    before = known.pop(job.job, job)
    failed = [*known.values(), replace(job, against=job.against or before.against)]
    _remember(worker, failed)
    worker.problem = problem
    if is_distrusted(failed) and _others_work(session, name, now):
        worker.set_aside = now
        words = ", ".join(one.job for one in failed)
        audit.note(
            session, ARENA, "set aside", f"worker {name}", f"failed {words}: {problem}", now=now
        )


def _others_work(session: Session, name: str, now: datetime) -> bool:
    """Whether the arena would still have a worker of its kind without this one."""
    its = session.get_one(Worker, name)
    return any(
        other.name != name
        and other.at_home is its.at_home
        and other.slots
        and other.set_aside is None
        and other.format == jobs.FORMAT
        for other in living(session, now)
    )


def is_there(worker: Worker, now: datetime) -> bool:
    """Whether a worker gave a sign of life lately; one that is to end does until it has ended.

    One of a time to come was given before the arena's clock was set back.
    """
    return abs(now - worker.last_seen) <= timedelta(seconds=ALIVE_SECONDS)


def _find(session: Session, name: str) -> Worker:
    worker = session.get(Worker, name)
    if worker is None:
        names = session.scalars(sa.select(Worker.name).order_by(Worker.name))
        raise NotThere(
            gettext(
                "there is no worker %(name)r; %(instead)s",
                name=name,
                instead=instead(name[:200], names),
            )
        )
    return worker


@dataclass(frozen=True)
class WorkerDeed(Deed):
    """Changes what is known of a worker."""

    scope = Scope.ORGANISE
    subject = "arena"

    worker: str = asked("The worker's name", most=LONGEST_NAME)


@dataclass(frozen=True)
class ReadmitWorker(WorkerDeed):
    """Give a worker jobs again that was set aside."""

    address = "POST /workers/readmit"
    command = "worker readmit WORKER"
    example = "machine-2"
    adds = True

    def do(self, session: Session, by: By) -> Done:
        worker = _find(session, self.worker)
        if worker.set_aside is None:
            raise Refusal(gettext("the worker %(worker)s is not set aside", worker=worker.name))
        worker.set_aside, worker.failed, worker.problem = None, [], ""
        audit.note(session, by.actor, "readmit", f"worker {worker.name}", now=by.now)
        return Done(gettext("the worker %(worker)s gets jobs again", worker=worker.name))


@dataclass(frozen=True)
class ForgetWorker(WorkerDeed):
    """Take a worker off the list that is not there any more."""

    address = "POST /workers/forget"
    command = "worker forget WORKER"
    example = "machine-2"
    adds = True  # one that is there again says so, and is known again

    def do(self, session: Session, by: By) -> Done:
        worker = _find(session, self.worker)
        if is_there(worker, by.now):
            if worker.slots:
                words = gettext(
                    "the worker %(worker)s is there: stop it first, or it comes back at once",
                    worker=worker.name,
                )
            else:
                words = gettext(
                    "the worker %(worker)s is just being stopped, and may still play: forget it "
                    "%(seconds)s seconds after it has ended",
                    worker=worker.name,
                    seconds=f"{ALIVE_SECONDS:.0f}",
                )
            raise Refusal(words)
        session.delete(worker)
        audit.note(session, by.actor, "forget", f"worker {worker.name}", now=by.now)
        return Done(gettext("the worker %(worker)s is forgotten", worker=worker.name))
