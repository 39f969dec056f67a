"""What a worker is told of a job: its lease, what is to be played, and where the bots are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter

import sqlalchemy as sa
from sqlalchemy.orm import Session, contains_eager
from sqlalchemy.orm.attributes import set_committed_value

from arena.competitions.kinds import kind_of
from arena.ground.config import Settings
from arena.ground.locks import locking
from arena.models import (
    BotVersion,
    Check,
    Competition,
    Entrant,
    Match,
    Place,
    Question,
    Sitting,
    SittingSeat,
)
from arena.signing import bundle_location, runtime_location, sign_ticket
from engine import jobs
from engine.clock import TimeControl
from engine.game import Variant
from engine.games import GAMES
from engine.match import MatchSpec, entrants_needed
from engine.record import GameRecord
from engine.rules_trail import at
from engine.shelf import Missing
from engine.sitting import position

Leased = Match | Check | Sitting | Question
JOBS: Mapping[str, type[Leased]] = {
    "match": Match,
    "check": Check,
    "move": Sitting,
    "question": Question,
}
"""What jobs are called in leases."""


def jobs_of(
    session: Session, leased: Sequence[Leased], settings: Settings, now: datetime
) -> list[jobs.AnyJob]:
    """Jobs that were handed out, as their workers are told of them."""
    session.flush()
    read_places(session, [job for job in leased if isinstance(job, Match)])
    found = []
    for job in leased:
        competition = job.competition if isinstance(job, Match) else job.ladder
        with at(competition.game, f"making a job of {competition.name}"):
            found.append(_job(session, job, settings, now))
    return found


def _job(session: Session, job: Leased, settings: Settings, now: datetime) -> jobs.AnyJob:
    if isinstance(job, Sitting):
        return _move_job(session, job, settings, now)
    if isinstance(job, Question):
        return jobs.AskJob(
            _signed(session, job, settings),
            GameRecord.from_json(job.game),
            tuple(job.plies),
            _files(session, job.version, settings, now),
            _grant(job.ladder),
            settings.lease_seconds,
        )
    if isinstance(job, Match):
        spec, competition = spec_of(job), job.competition
        entrants = [place.entrant for place in job.places]
        files = [
            replace(_files(session, one.version, settings, now), threads=one.own_threads or None)
            for one in entrants
        ]
    else:
        spec, versions = _check_spec(job)
        competition = job.ladder
        files = [_files(session, version, settings, now) for version in versions]
    return jobs.Job(
        _signed(session, job, settings),
        spec,
        tuple(files),
        _grant(competition),
        settings.lease_seconds,
    )


_PLACES = (
    sa.select(Place)
    .join(Place.entrant)
    .join(Entrant.version)
    .join(BotVersion.bot)
    .where(Place.match_id.in_(sa.bindparam("matches", expanding=True)))
    .order_by(Place.entrant_id)
    .options(
        contains_eager(Place.entrant).contains_eager(Entrant.version).contains_eager(BotVersion.bot)
    )
)
_TO_CHANGE = locking(_PLACES, Entrant)


def read_places(session: Session, matches: Sequence[Match], *, to_change: bool = False) -> None:
    """Reads by one query who plays matches, and all that their jobs tell of them.

    Args:
        to_change: locks the entrants, in the order of their numbers.
    """
    if not matches:
        return
    query = _TO_CHANGE if to_change else _PLACES
    found = session.scalars(query, {"matches": [match.id for match in matches]}).all()
    order = sorted(found, key=attrgetter("match_id", "number"))
    places = {key: list(its) for key, its in groupby(order, attrgetter("match_id"))}
    for match in matches:
        set_committed_value(match, "places", places.get(match.id, []))


def _move_job(
    session: Session, sitting: Sitting, settings: Settings, now: datetime
) -> jobs.MoveJob:
    game = GameRecord.from_json(sitting.game)
    seat = session.get_one(SittingSeat, (sitting.id, position(game).to_move))
    assert seat.version is not None, "it is the person's turn"
    return jobs.MoveJob(
        _signed(session, sitting, settings),
        game,
        _files(session, seat.version, settings, now),
        _grant(sitting.ladder),
        settings.lease_seconds,
    )


def attempt_at(job: Leased) -> jobs.Attempt:
    """The present attempt at a job."""
    kind = next(name for name, kind in JOBS.items() if isinstance(job, kind))
    return kind, job.id, job.attempt


def _signed(session: Session, job: Leased, settings: Settings) -> jobs.Lease:
    """The lease of a job's present attempt, as its worker is told of it."""
    assert job.ticket is not None
    attempt = attempt_at(job)
    shard = job.competition_id % settings.shards if isinstance(job, Match) else 0
    return jobs.Lease(*attempt, sign_ticket(session, words_of(attempt), job.ticket), shard)


def words_of(attempt: jobs.Attempt) -> str:
    """An attempt, as it is signed."""
    kind, job, number = attempt
    return f"{kind} {job} {number}"


def _grant(competition: Competition) -> jobs.Grant:
    return jobs.Grant(
        competition.memory_bytes, competition.threads, competition.log_bytes, competition.processes
    )


def _files(
    session: Session, version: BotVersion, settings: Settings, now: datetime
) -> jobs.BotFiles:
    if version.is_at_home:
        return jobs.BotFiles("", "", at_home=version.id)
    runtime = None
    if version.runtime is not None:
        digest = version.runtime.digest
        where = runtime_location(session, settings, digest, now)
        runtime = jobs.RuntimeFiles(digest, where, version.runtime.platform)
    where = bundle_location(session, settings, version.digest, now)
    return jobs.BotFiles(version.digest, where, runtime)


def spec_of(match: Match) -> MatchSpec:
    """What is to be played in a match."""
    competition = match.competition
    own = [place.entrant.own_time for place in match.places]
    time = competition.time
    return MatchSpec(
        variant=variant_of(match),
        entrants=tuple(place.label for place in match.places),
        time=time,
        opening=tuple(match.opening),
        seed=match.seed,
        seatings=kind_of(competition).seatings(competition.variant),
        chosen=tuple(match.chosen or ()),
        times=tuple(TimeControl.read(one) if one else time for one in own) if any(own) else (),
    )


def variant_of(match: Match) -> Variant:
    """The variant of a match, with its lots drawn."""
    return GAMES.find(match.competition.game, match.options)


def is_made(job: Leased) -> bool:
    """Whether the variant of a job is made here; a bot's move tells of that by its game's rules."""
    if isinstance(job, Sitting):
        return True
    variant = variant_of(job) if isinstance(job, Match) else job.ladder.variant
    return not isinstance(variant, Missing)


def _check_spec(check: Check) -> tuple[MatchSpec, list[BotVersion]]:
    """A bot against itself, from the start of the ladder's game."""
    variant = check.ladder.variant.drawn(0)
    seats = entrants_needed(variant)
    return (
        MatchSpec(variant, (check.version.label,) * seats, check.ladder.time.stretched()),
        [check.version] * seats,
    )
