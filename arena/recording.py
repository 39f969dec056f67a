"""A MatchResult becomes rows and ratings, once.

Everything here runs in the one serial recorder, each message in one transaction. A result is
taken if and only if its lease is the attempt that counts and the rules confirm every record;
then the match is fixed, its games are stored, and ratings move, in the order of completion.
Whatever is said twice, late or falsely changes nothing.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from arena import scheduling, workforce
from arena.competitions import strength_tests, tournaments
from arena.competitions.strength_tallies import duel
from arena.config import Settings
from arena.counters import Tally, tally
from arena.first_tests import admit, conclude
from arena.models import (
    Check,
    Competition,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    PlayedGame,
    StrengthTest,
    Tournament,
    VersionStatus,
    Worker,
)
from arena.ratings.book import RatingBook, RatingChange
from arena.ratings.result import GameResult
from arena.ratings.trueskill import Rating, TrueSkill
from arena.strength import outcome
from arena.suspension import suspend_if_faulty
from engine import jobs
from engine.match import points, race_ranks, shares_beaten
from engine.record import GameRecord, RecordError, replay

START_SECONDS = 0.1
"""What a game costs a worker besides its moves: processes, boxes, messages."""


class Outcome(StrEnum):
    """What became of a message."""

    FIXED = "fixed"
    STALE = "stale, ignored"
    REFUSED = "refused"
    FORGED = "forged, refused"
    ROLLED_BACK = "rolled back"


def pack(record: GameRecord) -> bytes:
    """A record as it is stored: JSON, compressed."""
    text = json.dumps(record.to_json(), separators=(",", ":"), ensure_ascii=False)
    return zlib.compress(text.encode())


def unpack(stored: bytes) -> GameRecord:
    """The record that `pack` stored."""
    return GameRecord.from_json(json.loads(zlib.decompress(stored)))


def record_match(session: Session, report: jobs.MatchReport, now: datetime) -> Outcome:
    """Fixes a match with its games and ratings, if this attempt is the one that counts."""
    match = scheduling.find_issued(session, report.lease)
    if not isinstance(match, Match):
        return _refuse(session, report, now)
    # Whoever makes its ratings anew, or voids a match of it, waits until this one is counted.
    match.competition = session.get_one(
        Competition, match.competition_id, with_for_update=True, populate_existing=True
    )
    scheduling.read_places(session, [match])
    if problem := contradiction(match, report):
        name = match.worker or report.worker
        workforce.note_falsehood(session, name, workforce.label(match), problem, now)
        scheduling.roll_back(match, f"{report.worker}: {problem}"[:2000], failed=True)
        return Outcome.REFUSED
    workforce.note_success(session, match, match.worker or report.worker)
    match.status, match.seq, match.fixed = JobStatus.FIXED, _NEXT_SEQ, now
    match.played_by = report.worker[:120]
    match.ticket = match.lease_ends = match.worker = match.progress = None
    match.problem = ""
    _store(session, match, report, now)
    if isinstance(match.competition, Tournament):
        tournaments.settle(session, match.competition, now)
    elif isinstance(match.competition, StrengthTest):
        found = outcome(match.competition.variant, report.games)
        strength_tests.count(session, match, found, now)
        conclude(session, match.competition, now)
    return Outcome.FIXED


_ANY = aliased(Match)
_NEXT_SEQ = sa.select(sa.func.coalesce(sa.func.max(_ANY.seq), 0) + 1).scalar_subquery()
"""The next place in the order of completion, found by the statement that takes it."""


def _refuse(
    session: Session, report: jobs.MatchReport | jobs.CheckReport, now: datetime
) -> Outcome:
    """What a report is whose lease does not count: late, or an invention."""
    lease = report.lease
    problem = scheduling.forgery(session, lease)
    if problem is None:
        return Outcome.STALE
    job = f"{lease.kind[:20]} {lease.job}"
    workforce.note_falsehood(session, report.worker[:120], job, f"reported {job}: {problem}", now)
    return Outcome.FORGED


def contradiction(match: Match, report: jobs.MatchReport) -> str | None:
    """Why a report can't be of this match; None if the rules confirm all of it."""
    spec = scheduling.spec_of(match)
    if len(report.games) != spec.games or len(report.logs) != spec.games:
        return f"{len(report.games)} games were reported of a match of {spec.games}"
    for number, record in enumerate(report.games):
        names = tuple(spec.entrants[entrant] for entrant in spec.seating(number))
        expected = (spec.variant, spec.game_seed(number), names, spec.time, len(spec.opening))
        told = (record.variant, record.seed, record.players, record.time, record.opening)
        if told != expected or record.moves[: len(spec.opening)] != spec.opening:
            return f"game {number + 1} is not the one that was issued"
        if len(report.logs[number]) != spec.variant.seats:
            return f"game {number + 1} has {len(report.logs[number])} logs"
        try:
            replay(record)
        except RecordError as error:
            return f"game {number + 1} is refuted by the rules: {error}"
    return None


def results_of(
    records: Sequence[GameRecord],
    entrants: Sequence[int],
    match_seatings: Sequence[Sequence[int]],
    *,
    duels: bool = False,
) -> list[GameResult[int]]:
    """What a match says about its entrants: a result a game, and a single one for a race.

    Args:
        entrants: the ids of the match's entrants, by their places.
        match_seatings: for each game the place of the entrant in each seat.
        duels: whether two share out the seats, each on several sides maybe.
    """
    if records[0].variant.seats == 1:
        return [GameResult(tuple(entrants), tuple(range(len(entrants))), race_ranks(records))]
    made = duel if duels else GameResult
    return [
        made(tuple(entrants[place] for place in seating), record.variant.side_of, record.ranks)
        for record, seating in zip(records, match_seatings, strict=True)
    ]


def _store(session: Session, match: Match, report: jobs.MatchReport, now: datetime) -> None:
    spec = scheduling.spec_of(match)
    entrants = {place.entrant_id: place.entrant for place in match.places}
    ids = [place.entrant_id for place in match.places]
    seatings = [spec.seating(number) for number in range(spec.games)]
    results = results_of(
        report.games, ids, seatings, duels=isinstance(match.competition, StrengthTest)
    )
    changes = _rate(match, entrants.values(), results) if match.rated else None
    faulty = [
        ids[seatings[number][fault.seat]]
        for number, record in enumerate(report.games)
        for fault in record.faults
    ]
    match.competition.worker_seconds += sum(
        ply.wall_us or 0 for record in report.games for ply in record.plies
    ) / 1e6 + START_SECONDS * len(report.games)
    if match.counts:
        _count(session, match, tally(results, faulty, games=len(report.games)), now)
    _store_games(session, match, report, seatings, results, changes)
    if match.rated:
        # Who played on to the end can only have come further from it.
        for entrant in sorted(set(faulty)):
            suspend_if_faulty(session, entrants[entrant], now)


def _store_games(
    session: Session,
    match: Match,
    report: jobs.MatchReport,
    seatings: Sequence[Sequence[int]],
    results: Sequence[GameResult[int]],
    changes: Sequence[Sequence[RatingChange[int]]] | None,
) -> None:
    """Stores the games and their seats, each kind of row by one statement.

    Args:
        seatings: for each game the place of the entrant in each seat.
        results: one for each game, or a single one for a race.
        changes: of the ratings, for each result and its places; None if nothing was rated.
    """
    games = [
        {
            "match_id": match.id,
            "competition_id": match.competition_id,
            "number": number,
            "termination": record.termination,
            "plies": len(record.plies),
            "finished": match.fixed,
            "digest": record.digest(),
            "record": pack(record),
        }
        for number, record in enumerate(report.games)
    ]
    # By the connection, which spares each row the session's bookkeeping.
    connection = session.connection()
    seats = []
    race = len(results) != len(report.games)
    for number, game_id in enumerate(connection.scalars(_INSERT_GAMES, games)):
        record, told = report.games[number], 0 if race else number
        result, change = results[told], changes[told] if changes else None
        shares = (
            shares_beaten(result.sides, result.ranks)
            if race
            else points(record.variant, record.ranks)
        )
        faults = {fault.seat: fault.termination for fault in record.faults}
        for seat, place in enumerate(seatings[number]):
            rated = change[place if race else seat] if change else None
            seats.append(
                {
                    "game_id": game_id,
                    "seat": seat,
                    "entrant_id": match.places[place].entrant_id,
                    "score": record.scores[seat],
                    "rank": result.ranks[place] if race else record.ranks[seat],
                    "points": shares[place if race else seat],
                    "fault": faults.get(seat),
                    "cpu_us": sum(ply.cpu_us or 0 for ply in record.plies if ply.seat == seat),
                    "mu_before": rated and rated.before.mu,
                    "sigma_before": rated and rated.before.sigma,
                    "mu_after": rated and rated.after.mu,
                    "sigma_after": rated and rated.after.sigma,
                    "log": report.logs[number][seat],
                }
            )
    connection.execute(_INSERT_SEATS, seats)


_INSERT_GAMES = sa.insert(PlayedGame).returning(PlayedGame.id, sort_by_parameter_order=True)
_INSERT_SEATS = sa.insert(GameSeat)


def _rate(
    match: Match, entrants: Iterable[Entrant], results: Sequence[GameResult[int]]
) -> list[tuple[RatingChange[int], ...]]:
    """Moves the ratings of a ladder's entrants, and says how, for each result and its places."""
    ladder = match.competition
    assert isinstance(ladder, Ladder)
    entrants = list(entrants)
    book = RatingBook(
        TrueSkill(draw_probability=ladder.draw_probability),
        {e.id: Rating(e.mu, e.sigma) for e in entrants},
    )
    changes = [book.apply(result) for result in results]
    for entrant in entrants:
        entrant.mu, entrant.sigma = book[entrant.id].mu, book[entrant.id].sigma
    return changes


def _count(session: Session, match: Match, found: Tally, now: datetime) -> None:
    """Adds what is counted of a match to its competition, its entrants and their meetings."""
    competition = match.competition
    for place in match.places:
        entrant, its = place.entrant, found.entrants[place.entrant_id]
        entrant.games += its.games
        entrant.wins += its.wins
        entrant.draws += its.draws
        entrant.losses += its.losses
        entrant.points += its.points
        entrant.faults += its.faults
        entrant.last_game = now
    competition.games += found.games
    competition.neighbours += found.neighbours
    competition.ties += found.ties
    competition.last_game = now
    counted = [
        {"first_id": first, "second_id": second, "competition_id": competition.id, **asdict(both)}
        for (first, second), both in found.meetings.items()
    ]
    connection = session.connection()
    connection.execute(_add_to_meetings(connection.dialect.name), counted)


@cache
def _add_to_meetings(dialect: str) -> sa.Insert:
    """Adds to what is counted of a meeting, the first of two too."""
    statement: sqlite.Insert | postgresql.Insert
    statement = sqlite.insert(Meeting) if dialect == "sqlite" else postgresql.insert(Meeting)
    sums = {
        name: getattr(Meeting, name) + statement.excluded[name]
        for name in ("matches", "games", "wins", "draws")
    }
    return statement.on_conflict_do_update(
        index_elements=[Meeting.first_id, Meeting.second_id], set_=sums
    )


def record_check(session: Session, report: jobs.CheckReport, now: datetime) -> Outcome:
    """Fixes the check of a version; one that passed is ready and enters its ladder."""
    check = scheduling.find_issued(session, report.lease)
    if not isinstance(check, Check):
        return _refuse(session, report, now)
    workforce.note_success(session, check, check.worker or report.worker)
    check.status = JobStatus.FIXED
    check.ticket = check.lease_ends = check.worker = None
    check.problem = ""
    check.findings = [finding.to_json() for finding in report.findings]
    check.log = report.log
    if not report.passed:
        if check.version.status is VersionStatus.CHECKING:
            check.version.status = VersionStatus.REFUSED
        return Outcome.FIXED
    check.version.status = VersionStatus.READY
    admit(session, check, now)
    # Who plays one variant of a game plays them all: its checks for others are answered too.
    others = sa.select(Check).where(
        Check.version_id == check.version_id, Check.status == JobStatus.OPEN
    )
    for other in session.scalars(others.order_by(Check.id)).all():
        if other.ladder.game == check.ladder.game:
            other.status = JobStatus.FIXED
            words = f"passed on {check.ladder.title}"
            other.findings = [jobs.Finding(True, words).to_json()]
            admit(session, other, now)
    return Outcome.FIXED


def record_void(
    session: Session,
    lease: jobs.Lease,
    problem: str,
    settings: Settings,
    now: datetime,
    *,
    failed: bool = True,
) -> Outcome:
    """Rolls a job back that its worker could not do.

    Args:
        failed: whether it was tried; a worker of another release does not even know what it is.
    """
    job = scheduling.find_issued(session, lease)
    if job is None:
        return Outcome.STALE
    if failed and job.worker is not None:
        failed = workforce.note_failure(
            session, job, job.worker, problem, settings.minimum_isolation, now
        )
    scheduling.roll_back(job, problem, failed=failed)
    return Outcome.ROLLED_BACK


def record_progress(
    session: Session, lease: jobs.Lease, progress: Any, settings: Settings, now: datetime
) -> None:
    """Renews the lease of a job under way, and keeps how far it is for its page."""
    job = scheduling.find_issued(session, lease)
    if job is None:
        return
    job.lease_ends = now + timedelta(seconds=settings.lease_seconds)
    if isinstance(job, Match) and isinstance(progress, dict):
        job.progress = {
            "game": int(progress["game"]),
            "moves": [str(move) for move in progress["moves"]][:10_000],
        }
    if isinstance(job, Check) and isinstance(progress, dict):
        found = [jobs.Finding.from_json(one) for one in progress.get("findings", [])[:100]]
        job.findings = [finding.to_json() for finding in found]


def record_alive(session: Session, data: dict[str, Any], now: datetime) -> None:
    """Keeps a worker's sign of life."""
    name = str(data["worker"])[:120]
    worker = session.get(Worker, name) or Worker(name=name)
    worker.last_seen = now
    worker.slots = max(0, min(int(data["slots"]), 1024))
    worker.isolation = str(data["isolation"])[:20]
    worker.languages = [str(language) for language in data["languages"]][:100]
    worker.format = max(0, min(int(data.get("format", 1)), 10_000))
    session.add(worker)
