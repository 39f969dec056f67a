"""Which match is played next: issue, fix, rollback.

Theory of operation. A job (a match, the check of a bot, or a bot's move against a person) is
open, issued, fixed or set aside. Issuing hands it to whichever worker takes it first, with a new
attempt number, a random ticket and a lease: at first until somebody must have taken it up, then
renewed by the worker's signs of life. Whoever speaks of a job must name its present attempt and
ticket; all else is stale and ignored. What outlives its lease is rolled back: it is open again,
and will be issued as another attempt. So a worker may play a match twice, but only the attempt
that counts is ever fixed (`arena.recording`). A job that failed three times is set aside for the
operator.

Nothing here sends anything: functions return the jobs that were issued, and the caller sends
them once its transaction is committed (`arena.dispatch`). A crash between the two leaves a job
issued that nobody knows of; its lease runs out, and it is issued again.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby, islice
from operator import attrgetter
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload
from sqlalchemy.orm.attributes import set_committed_value

from arena import workforce
from arena.config import Settings
from arena.matchmaking import new_matches
from arena.models import (
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    Entrant,
    Job,
    JobStatus,
    Ladder,
    Match,
    Place,
    Sitting,
    SittingSeat,
    StrengthTest,
    Worker,
)
from arena.signing import bundle_location
from arena.strength import seatings
from arena.waiting import ASKED, open_checks, open_matches, open_moves, read_load
from engine import jobs
from engine.game import Variant
from engine.games import GAMES
from engine.match import MatchSpec, entrants_needed
from engine.record import GameRecord
from engine.sitting import position

FAILURES_ALLOWED = 2
"""A job that fails once more is set aside."""
LARGEST_ID = 2**31 - 1
"""What a database keeps as an id; to ask it for more is an error there."""
AHEAD = 2
"""Jobs issued for each slot of a living worker: one under way, one waiting."""


Leased = Match | Check | Sitting
L = TypeVar("L", bound=Leased)
KINDS: Mapping[str, type[Leased]] = {"match": Match, "check": Check, "move": Sitting}
"""What jobs are called in leases."""
AnyJob = jobs.Job | jobs.MoveJob


def schedule(session: Session, settings: Settings, now: datetime) -> list[AnyJob]:
    """Rolls back what is overdue, then issues open jobs, and new matches while slots are free.

    What is under way on a ladder that no longer plays is called off.

    Returns:
        The jobs issued; to be sent once the transaction is committed.
    """
    call_off(session)
    roll_back_overdue(session, now)
    return fill(session, settings, now)


def fill(session: Session, settings: Settings, now: datetime) -> list[AnyJob]:
    """Issues jobs until every living worker has enough.

    Bots' moves against people come first, in half of the slots at most, and are short. While
    somebody plays one slot is kept free for them, where there are two, and no match waits.
    Checks get half of the room at most while there are matches to play, so that a heap of
    uploads does not stop the ladders, and the other way round. So do matches on request.

    While nobody waits for any of these, matches are made several at a time, as soon as there
    is less than one waiting for every other slot: much of what that takes is done only once.

    Returns:
        The jobs issued; to be sent once the transaction is committed.
    """
    slots = workforce.slots(session, settings.minimum_isolation, now)
    load = read_load(session, now)
    enough = max(1, slots - 1) if slots and load.somebody_plays else AHEAD * slots
    matches, checks = load.matches, load.checks
    nobody_waits = not (load.open_moves or load.open_checks or load.open_requests)
    if nobody_waits and matches + checks > slots + (enough - slots - 1) // 2:
        return []
    issued: list[Leased] = []

    def take(waiting: Iterable[Leased]) -> int:
        before = len(issued)
        for job in waiting:
            _lease(job, settings, now)
            issued.append(job)
        return len(issued) - before

    take(open_moves(session, min(load.open_moves, max(1, slots // 2) - load.moves, slots)))
    share = max(1, enough // 2)
    room = min(load.open_checks, share - checks, enough - matches - checks)
    checks += take(open_checks(session, room))
    room = min(load.open_matches, enough - matches - checks)
    matches += take(open_matches(session, room, ~ASKED))
    half = max(1, (enough - checks) // 2)
    room = min(load.open_requests, half - load.requests, enough - matches - checks)
    matches += take(open_matches(session, room, ASKED))
    new = new_matches(session, now, only=settings.only, trickle_seconds=settings.trickle_seconds)
    matches += take(islice(new, max(0, enough - matches - checks)))
    room = min(load.open_requests, enough - matches - checks)
    matches += take(open_matches(session, room, ASKED))
    room = min(load.open_checks, enough - matches - checks)
    take(open_checks(session, room))
    return _jobs(session, issued, settings, now)


def issue(session: Session, job: Leased, settings: Settings, now: datetime) -> AnyJob:
    """Hands a job out as a new attempt."""
    _lease(job, settings, now)
    (issued,) = _jobs(session, [job], settings, now)
    return issued


def _lease(job: Leased, settings: Settings, now: datetime) -> None:
    job.status = JobStatus.ISSUED
    job.attempt += 1
    job.ticket = secrets.token_hex(16)
    job.lease_ends = now + timedelta(seconds=settings.take_up_seconds)


def _jobs(
    session: Session, leased: Sequence[Leased], settings: Settings, now: datetime
) -> list[AnyJob]:
    """What is told of jobs to their workers."""
    session.flush()
    read_places(session, [job for job in leased if isinstance(job, Match)])
    return [_job(session, job, settings, now) for job in leased]


def _job(session: Session, job: Leased, settings: Settings, now: datetime) -> AnyJob:
    if isinstance(job, Sitting):
        return _move_job(session, job, settings, now)
    spec, versions = _match_spec(job) if isinstance(job, Match) else _check_spec(job)
    return jobs.Job(
        lease_of(job),
        spec,
        tuple(_files(session, version, settings, now) for version in versions),
        _grant(_competition(job)),
        settings.lease_seconds,
    )


_PLACES = (
    sa.select(Place)
    .where(Place.match_id.in_(sa.bindparam("matches", expanding=True)))
    .order_by(Place.match_id, Place.number)
    .options(
        joinedload(Place.entrant, innerjoin=True)
        .joinedload(Entrant.version, innerjoin=True)
        .joinedload(BotVersion.bot, innerjoin=True)
    )
)


def read_places(session: Session, matches: Sequence[Match]) -> None:
    """Reads by one query who plays matches, and all that their jobs tell of them."""
    if not matches:
        return
    found = session.scalars(_PLACES, {"matches": [match.id for match in matches]}).all()
    places = {key: list(its) for key, its in groupby(found, attrgetter("match_id"))}
    for match in matches:
        set_committed_value(match, "places", places.get(match.id, []))


def _move_job(
    session: Session, sitting: Sitting, settings: Settings, now: datetime
) -> jobs.MoveJob:
    game = GameRecord.from_json(sitting.game)
    seat = session.get_one(SittingSeat, (sitting.id, position(game).to_move))
    assert seat.version is not None, "it is the person's turn"
    return jobs.MoveJob(
        lease_of(sitting),
        game,
        _files(session, seat.version, settings, now),
        _grant(sitting.ladder),
        settings.lease_seconds,
    )


def lease_of(job: Leased) -> jobs.Lease:
    """The lease of a job's present attempt."""
    assert job.ticket is not None
    kind = next(name for name, kind in KINDS.items() if isinstance(job, kind))
    return jobs.Lease(kind, job.id, job.attempt, job.ticket)


def _competition(job: Match | Check) -> Competition:
    return job.competition if isinstance(job, Match) else job.ladder


def _grant(competition: Competition) -> jobs.Grant:
    return jobs.Grant(competition.memory_bytes, competition.threads, competition.log_bytes)


def _files(
    session: Session, version: BotVersion, settings: Settings, now: datetime
) -> jobs.BotFiles:
    return jobs.BotFiles(version.digest, bundle_location(session, settings, version.digest, now))


def _match_spec(match: Match) -> tuple[MatchSpec, list[BotVersion]]:
    return spec_of(match), [place.entrant.version for place in match.places]


def spec_of(match: Match) -> MatchSpec:
    """What is to be played in a match."""
    competition = match.competition
    return MatchSpec(
        variant=variant_of(match),
        entrants=tuple(place.entrant.version.label for place in match.places),
        time=competition.time,
        opening=tuple(match.opening),
        seed=match.seed,
        seatings=seatings(competition.variant) if isinstance(competition, StrengthTest) else (),
    )


def variant_of(match: Match) -> Variant:
    """The variant of a match, with its lots drawn."""
    return GAMES[match.competition.game].variant(**match.options)


def _check_spec(check: Check) -> tuple[MatchSpec, list[BotVersion]]:
    """A bot against itself, from the start of the ladder's game."""
    variant = check.ladder.variant.drawn(0)
    seats = entrants_needed(variant)
    return (
        MatchSpec(variant, (check.version.label,) * seats, check.ladder.time),
        [check.version] * seats,
    )


def find_all(session: Session, leases: Iterable[jobs.Lease]) -> dict[tuple[str, int], Leased]:
    """The jobs that leases are of, locked, by their kinds and numbers; whether or not they count.

    Matches come first and each kind by its numbers, so that nobody waits for whom it holds up.
    """
    numbers: dict[str, set[int]] = {}
    for lease in leases:
        if 0 < lease.job <= LARGEST_ID:
            numbers.setdefault(lease.kind, set()).add(lease.job)
    found: dict[tuple[str, int], Leased] = {}
    for name, kind in KINDS.items():
        for job in _lock_all(session, kind, numbers.get(name, ())):
            found[name, job.id] = job
    return found


def _lock_all(session: Session, kind: type[L], numbers: Collection[int]) -> Sequence[L]:
    those = sa.select(kind).where(kind.id.in_(numbers)).order_by(kind.id).with_for_update()
    return session.scalars(those).all() if numbers else ()


def find(session: Session, lease: jobs.Lease) -> Leased | None:
    """The job that a lease is of, locked; whether or not it counts."""
    return find_all(session, [lease]).get((lease.kind, lease.job))


def find_issued(session: Session, lease: jobs.Lease) -> Leased | None:
    """The job of a lease, if that is still the attempt that counts; else None."""
    job = find(session, lease)
    return job if job is not None and counts(job, lease) else None


def counts(job: Leased, lease: jobs.Lease) -> bool:
    """Whether a lease of a job is that of the attempt that counts."""
    return (
        job.status is JobStatus.ISSUED
        and job.attempt == lease.attempt
        and _knows_ticket(job, lease)
    )


def forgery(job: Leased | None, lease: jobs.Lease) -> str | None:
    """Why a lease can never have been given out; None if it was, or may have been long ago.

    Who was given up for dead speaks of an attempt that counts no more, and means no harm.

    Args:
        job: what it is of; None if there is no such job.
    """
    if job is None:
        return "it was never made"
    if lease.attempt > job.attempt:
        return f"its attempt {lease.attempt} was never issued"
    present = job.status is JobStatus.ISSUED and job.attempt == lease.attempt
    return "the ticket is wrong" if present and not _knows_ticket(job, lease) else None


def _knows_ticket(job: Leased, lease: jobs.Lease) -> bool:
    return job.ticket is not None and secrets.compare_digest(
        job.ticket.encode(), lease.ticket.encode()
    )


def take_up(
    job: Leased, name: str, worker: Worker | None, settings: Settings, now: datetime
) -> bool:
    """A worker took an issued job: its lease now lives on signs of life.

    Args:
        worker: what is known of it; None if it never gave a sign of life.

    Returns:
        False if the worker is given no jobs: then another gets this one.
    """
    if worker is not None and not workforce.may_play(worker, settings.minimum_isolation):
        roll_back(job, f"{name} took it up, which is given no jobs", failed=False)
        return False
    job.worker = name
    job.lease_ends = now + timedelta(seconds=settings.lease_seconds)
    return True


def roll_back(job: Job, problem: str, *, failed: bool) -> None:
    """Opens an issued job again, or sets it aside if it failed too often."""
    job.failures += failed
    job.problem = problem
    enough = job.failures > FAILURES_ALLOWED
    job.status = JobStatus.SET_ASIDE if enough else JobStatus.OPEN
    job.ticket = job.lease_ends = job.worker = None
    if isinstance(job, Match):
        job.progress = None


def call_off(session: Session) -> None:
    """Makes void what is not played yet on ladders that play no more: their tables stand."""
    still = sa.select(Ladder.id).where(
        Ladder.state.in_([CompetitionState.FROZEN, CompetitionState.CLOSED])
    )
    unfinished = sa.select(Match).where(
        Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]), Match.competition_id.in_(still)
    )
    for match in session.scalars(unfinished.order_by(Match.id).with_for_update()):
        roll_back(match, f"the ladder is {match.competition.state}", failed=False)
        match.status = JobStatus.VOID


def roll_back_overdue(session: Session, now: datetime) -> int:
    """Rolls back every job that outlived its lease, and says how many."""
    overdue = [job for job in _issued(session) if job.lease_ends and job.lease_ends < now]
    for job in overdue:
        # What nobody took up is not the job's failure: there was no worker for it.
        taken = job.worker is not None
        problem = f"its worker {job.worker} was not heard of" if taken else "no worker took it up"
        roll_back(job, problem, failed=taken)
    return len(overdue)


def roll_back_all(session: Session) -> int:
    """Rolls back every issued job: for an arena whose workers all ended with it."""
    issued = _issued(session)
    for job in issued:
        roll_back(job, "the arena was started anew", failed=False)
    return len(issued)


def _issued(session: Session) -> list[Leased]:
    """Every issued job, locked; there are only a few for each worker."""
    matches = sa.select(Match).where(Match.status == JobStatus.ISSUED).order_by(Match.id)
    checks = sa.select(Check).where(Check.status == JobStatus.ISSUED).order_by(Check.id)
    moves = sa.select(Sitting).where(Sitting.status == JobStatus.ISSUED).order_by(Sitting.id)
    return [
        *session.scalars(matches.with_for_update()),
        *session.scalars(checks.with_for_update()),
        *session.scalars(moves.with_for_update()),
    ]
