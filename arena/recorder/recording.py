"""A MatchResult becomes rows and ratings, once.

Everything here runs in the one recorder of a competition, a message or a few that came together
in one transaction. A result is taken if and only if its lease is the attempt that counts and the
rules confirm every record; then the match is fixed, its games are stored, and ratings move, in the
order of completion. Whatever is said twice, late or falsely changes nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import zip_longest

import sqlalchemy as sa
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified, set_committed_value

from arena.bots.first_tests import admit, answer, conclude
from arena.bots.lost_bundles import suspend_lost
from arena.bots.notifications import tell_check
from arena.bots.suspension import suspend_if_faulty
from arena.competitions.kind import AnyKind
from arena.competitions.kinds import kind_of
from arena.ground.config import Settings
from arena.ground.locks import locking
from arena.lists.rows import Days
from arena.models import (
    Check,
    Competition,
    FormerName,
    JobStatus,
    Match,
    VersionStatus,
    Worker,
)
from arena.ratings.book import RatingBook, RatingChange
from arena.ratings.result import GameResult
from arena.ratings.trends import Trends
from arena.ratings.trueskill import Rating, TrueSkill
from arena.recorder.completion import take_places
from arena.recorder.storage import PlayedMatch, Tally, store, tally
from arena.schedule import builds, leases, workers
from arena.schedule.jobs import Leased, read_places, spec_of
from arena.schedule.requests import tell_requested
from engine import jobs, reporting
from engine.match import race_ranks
from engine.plurals import counted
from engine.protocol import demand_sayable
from engine.record import GameRecord, RecordError, demand_in_time, other_rules, replay
from engine.rules_trail import at

log = logging.getLogger("arena.recorder")


def take_in(
    session: Session,
    reports: Sequence[reporting.MatchReport],
    settings: Settings,
    now: datetime,
) -> list[leases.Fate]:
    """Takes in what workers report of matches, in its order and in one transaction.

    Of each comes what would come of it alone, by fewer statements: what they are about is read
    and locked at once, and the games of all matches are stored at the end.

    Raises:
        JobError: a report is of a worker that never gave a sign of life.
    """
    batch = _Batch(session, reports, settings, now)
    fates = [batch.record(one) for one in reports]
    batch.finish()
    return fates


class _Batch:
    """The matches that are spoken of, and those that are fixed but not stored yet."""

    def __init__(
        self,
        session: Session,
        reports: Sequence[reporting.MatchReport],
        settings: Settings,
        now: datetime,
    ) -> None:
        self._session, self._settings, self._now = session, settings, now
        self._jobs = leases.find_all(session, [one.lease for one in reports])
        found = [self._present(one.lease) for one in reports]
        matches = list({job.id: job for job in found if isinstance(job, Match)}.values())
        _lock_competitions(session, matches)
        self._places = iter(
            take_places(session, len(matches), alone=settings.shards == 1) if matches else ()
        )
        read_places(session, matches, to_change=True)
        names = {one.worker for one in reports} | {one.worker for one in matches if one.worker}
        # Kept, so that each is found again without a query.
        known = sa.select(Worker).where(Worker.name.in_(names))
        self._workers = {one.name: one for one in session.scalars(known)} if names else {}
        self._played: list[PlayedMatch] = []
        self._days = Days()

    def store(self) -> None:
        """Stores the games of the matches that were fixed."""
        store(self._session, self._played, self._days)
        self._played.clear()

    def finish(self) -> None:
        """Stores what is left, and what is noted of all together."""
        self.store()
        self._session.flush()
        self._days.write(self._session.connection())

    def _present(self, lease: jobs.Lease) -> Leased | None:
        """The job of a lease, if that is still the attempt that counts."""
        job = self._jobs.get((lease.kind, lease.job))
        return job if job is not None and leases.counts(job, lease) else None

    def record(self, report: reporting.MatchReport) -> leases.Fate:
        """Fixes a match with its games and ratings, if this attempt is the one that counts."""
        session, now = self._session, self._now
        if report.worker not in self._workers:
            raise jobs.JobError(f"there is no worker {report.worker!r}")
        match = self._present(report.lease)
        if not isinstance(match, Match):
            job = self._jobs.get((report.lease.kind, report.lease.job))
            return _refuse(session, report, job, now)
        with at(match.competition.game, f"taking in match {match.id}"):
            return self._record_match(match, report)

    def _record_match(self, match: Match, report: reporting.MatchReport) -> leases.Fate:
        session, now = self._session, self._now
        # Of a short match nobody may have said that it was taken up.
        if match.worker is None:
            known = self._workers[report.worker]
            if not leases.take_up(match, report.worker, known, self._settings, now):
                return leases.Fate.STALE
        assert match.worker is not None
        if other := next(filter(None, map(other_rules, report.games)), ""):
            # The game was changed here, or there, meanwhile: nobody's fault.
            leases.roll_back(match, f"{report.worker}: {other}", failed=False)
            return leases.Fate.ROLLED_BACK
        clocked = match.competition.reference
        if any(game.time.reference is not clocked for game in report.games):
            # An organiser changed that meanwhile: nobody's fault either.
            leases.roll_back(match, "it was played by another clock than is kept now", failed=False)
            return leases.Fate.ROLLED_BACK
        report = called_as_now(session, match, report)
        if problem := contradiction(match, report):
            label = workers.label(match)
            workers.note_falsehood(session, match.worker, label, problem, now)
            leases.roll_back(match, f"{report.worker}: {problem}", failed=True)
            return leases.Fate.REFUSED
        workers.note_success(session, match, match.worker)
        leases.fix(match)
        match.seq, match.fixed, match.played_by = next(self._places), now, report.worker
        played = _play_out(match, report, now)
        self._played.append(played)
        if match.requester_id is not None:
            tell_requested(session, match, now)
        kind = kind_of(match.competition)
        if not (kind.follows_up or (match.rated and played.faulty)):
            return leases.Fate.FIXED
        # What follows looks at what is stored.
        self.store()
        kind.follow_up(session, match, report.games, now)
        conclude(session, match.competition, now)
        if match.rated:
            # Who played on to the end can only have come further from it.
            entrants = {place.entrant_id: place.entrant for place in match.places}
            for entrant in played.faulty:
                suspend_if_faulty(session, entrants[entrant], now)
        return leases.Fate.FIXED


def _lock_competitions(session: Session, matches: Sequence[Match]) -> None:
    """Locks the competitions of matches: whoever makes their ratings anew, or voids a match of
    them, waits until these are counted."""
    if not matches:
        return
    its = Competition.id.in_({match.competition_id for match in matches})
    found = session.scalars(locking(sa.select(Competition).where(its), Competition, anew=True))
    competitions = {one.id: one for one in found}
    for match in matches:
        set_committed_value(match, "competition", competitions[match.competition_id])


def _refuse(
    session: Session,
    report: reporting.MatchReport | reporting.CheckReport,
    job: Leased | None,
    now: datetime,
) -> leases.Fate:
    """What a report is whose lease does not count: late, or an invention."""
    problem = leases.forgery(session, job, report.lease)
    if problem is None:
        return leases.Fate.STALE
    label = f"{report.lease.kind[:20]} {report.lease.job}"
    words = f"reported {label}: {problem}"
    workers.note_falsehood(session, report.worker[:120], label, words, now)
    return leases.Fate.FORGED


_CALLED = re.compile(r"(?P<bot>\S+) v(?P<number>[0-9]+)(?P<more>.*)", re.DOTALL)
"""What a player is called (see `arena.models.entrants.player_label`)."""


def called_as_now(
    session: Session, match: Match, report: reporting.MatchReport
) -> reporting.MatchReport:
    """A report that calls those as they are called now who were renamed or deleted meanwhile, or
    stand in their own names."""
    labels = {place.label: place.entrant.version.bot for place in match.places}
    if all(name in labels for record in report.games for name in record.players):
        return report
    spec = spec_of(match)
    if len(report.games) != spec.games:
        return report

    @cache
    def was(label: str, name: str) -> bool:
        bot, called = labels[label], _CALLED.fullmatch(name)
        now = called and _CALLED.fullmatch(f"it{label.removeprefix(bot.name)}")
        if called is None or now is None or called["more"] != now["more"]:
            return False
        its = FormerName.lower_name == called["bot"].lower(), FormerName.bot_id == bot.id
        had = session.scalar(sa.select(FormerName).where(*its))
        numbers = had and had.versions or {}
        is_it = numbers.get(called["number"], int(called["number"])) == int(now["number"])
        return bot.deleted is not None or (had is not None and is_it)

    # Seat by seat, as two whose names are gone can't be told apart by them.
    games = []
    for number, record in enumerate(report.games):
        seated = (spec.entrants[entrant] for entrant in spec.seating(number))
        pairs = zip_longest(record.players, seated)
        players = (
            now if name and now and name not in labels and was(now, name) else name
            for name, now in pairs
        )
        games.append(replace(record, players=tuple(filter(None, players))))
    return replace(report, games=tuple(games))


def contradiction(match: Match, report: reporting.MatchReport) -> str | None:
    """Why a report can't be of this match; None if the rules confirm all of it."""
    spec = spec_of(match)
    if len(report.games) != spec.games:
        return f"{counted(len(report.games), 'game')} reported of a match of {spec.games}"
    if len(report.logs) != spec.games:
        logs = counted(len(report.logs), "game")
        return f"the logs of {logs} reported of a match of {spec.games}"
    for number, record in enumerate(report.games):
        names = tuple(spec.entrants[entrant] for entrant in spec.seating(number))
        expected = (
            spec.variant,
            spec.game_seed(number),
            names,
            spec.time,
            spec.controls(number),
            len(spec.opening),
            spec.told(number),
        )
        told = (
            record.variant,
            record.seed,
            record.players,
            record.time,
            record.times,
            record.opening,
            record.chosen,
        )
        if told != expected or record.moves[: len(spec.opening)] != spec.opening:
            return f"game {number + 1} is not the one that was issued"
        if len(report.logs[number]) != spec.variant.seats:
            return f"game {number + 1} has {len(report.logs[number])} logs"
        try:
            demand_sayable(record)
            replay(record)
            if not match.at_home:
                demand_in_time(record)
        except RecordError as error:
            return f"game {number + 1} is refuted by the rules: {error}"
    return None


def results_of(
    records: Sequence[GameRecord],
    entrants: Sequence[int],
    match_seatings: Sequence[Sequence[int]],
    kind: AnyKind,
) -> list[GameResult[int]]:
    """What a match says about its entrants: a result a game, and a single one for a race.

    Args:
        entrants: the ids of the match's entrants, by their places.
        match_seatings: for each game the place of the entrant in each seat.
        kind: of the match's competition.
    """
    if records[0].variant.seats == 1:
        return [GameResult(tuple(entrants), tuple(range(len(entrants))), race_ranks(records))]
    return [
        kind.result([entrants[place] for place in seating], record.variant.side_of, record.ranks)
        for record, seating in zip(records, match_seatings, strict=True)
    ]


def _play_out(match: Match, report: reporting.MatchReport, now: datetime) -> PlayedMatch:
    """Moves the ratings and counters by a match, and says what is to be stored of it."""
    spec = spec_of(match)
    ids = [place.entrant_id for place in match.places]
    seatings = [spec.seating(number) for number in range(spec.games)]
    kind = kind_of(match.competition)
    # On request a version may meet itself with other options, which tells nothing of entrants.
    results = results_of(report.games, ids if match.counts else range(len(ids)), seatings, kind)
    changes = _rate(match, results, kind) if match.rated else None
    # More time than there was is not believed: it would starve the other matches of a ladder.
    there_was = max(0.0, (now - match.created).total_seconds())
    took = min(report.seconds, there_was)
    match.competition.worker_seconds += took
    if match.at_home:
        # It took no slot that others could have had.
        match.competition.head_start -= took
    faults = [
        (ids[seatings[number][fault.seat]], fault.termination)
        for number, record in enumerate(report.games)
        for fault in record.faults
    ]
    tallied = tally(results, faults, games=len(report.games)) if match.counts else None
    if tallied:
        _count(match, tallied, now)
    faulty = sorted({entrant for entrant, _ in faults})
    return PlayedMatch(match, report, seatings, results, changes, tallied, faulty)


def _rate(
    match: Match, results: Sequence[GameResult[int]], kind: AnyKind
) -> list[tuple[RatingChange[int], ...]]:
    """Moves the ratings of a match's entrants, and says how, for each result and its places."""
    entrants = list({place.entrant_id: place.entrant for place in match.places}.values())
    book = RatingBook(
        TrueSkill(draw_probability=kind.draw_probability(match.competition)),
        {e.id: Rating(e.mu, e.sigma) for e in entrants},
    )
    trends = Trends({e.id: e.trend for e in entrants})
    changes = [book.apply(result) for result in results]
    for change in changes:
        trends.note(change)
    for entrant in entrants:
        entrant.mu, entrant.sigma = book[entrant.id].mu, book[entrant.id].sigma
        entrant.trend = trends[entrant.id]
    return changes


_COUNTED = ("wins", "draws", "losses", "points", "faults")
"""What is written of every entrant, though it may stay the same: rows of which the same columns are
written are written by one statement."""


def _count(match: Match, found: Tally, now: datetime) -> None:
    """Adds what is counted of a match to its competition and its entrants."""
    competition = match.competition
    for place in match.places:
        entrant = place.entrant
        found.entrants[place.entrant_id].add_to(entrant)
        entrant.last_game = now
        for column in _COUNTED:
            flag_modified(entrant, column)
    competition.games += found.games
    competition.neighbours += found.neighbours
    competition.ties += found.ties
    competition.last_game = now


def record_check(session: Session, report: reporting.CheckReport, now: datetime) -> leases.Fate:
    """Fixes the check of a version; one that passed is ready and enters its ladder."""
    job = leases.find(session, report.lease)
    if not isinstance(job, Check) or not leases.counts(job, report.lease):
        return _refuse(session, report, job, now)
    check = job
    workers.note_success(session, check, check.worker or report.worker)
    leases.fix(check)
    check.ended = now
    check.findings = [finding.to_json() for finding in report.findings]
    check.log = report.log
    if report.options is not None:
        check.version.options = list(report.options)
    tell_check(session, check, now)
    if not report.passed:
        if check.version.status is VersionStatus.CHECKING:
            check.version.status = VersionStatus.REFUSED
        return leases.Fate.FIXED
    check.version.status = VersionStatus.READY
    admit(session, check, now)
    # Who plays one variant of a game plays them all: its checks for others are answered too.
    others = sa.select(Check).where(
        Check.version_id == check.version_id, Check.status == JobStatus.OPEN
    )
    for other in session.scalars(others.order_by(Check.id)).all():
        if other.ladder.game == check.ladder.game:
            answer(session, other, check, now)
    return leases.Fate.FIXED


def record_build(session: Session, built: reporting.Built, now: datetime) -> leases.Fate:
    """Charges the build of a bot to its owner (see `arena.schedule.builds`).

    Raises:
        JobError: no such bot is of the job.
    """
    job = leases.find_issued(session, built.lease)
    if job is None:
        return leases.Fate.STALE
    builds.charge(session, job, built, now)
    return leases.Fate.NOTED


def record_void(
    session: Session,
    lease: jobs.Lease,
    problem: str,
    settings: Settings,
    now: datetime,
    *,
    worker: str | None = None,
    failed: bool = True,
    seconds: float = 0.0,
) -> leases.Fate:
    """Rolls a job back that its worker could not do.

    Args:
        worker: who says so; nobody may have said that the job was taken up.
        failed: whether it was tried; a worker of another release does not even know what it is.
        seconds: for how long it was tried, as far as its worker says so.
    """
    job = leases.find_issued(session, lease)
    if job is None:
        return leases.Fate.STALE
    if failed and job.worker is None and worker is not None:
        known = session.get(Worker, worker)
        if not leases.take_up(job, worker, known, settings, now):
            return leases.Fate.ROLLED_BACK
    played = job if failed and isinstance(job, Match) else None
    if played and suspend_lost(session, played, problem, settings.bundles, now):
        # Who left is waited for no more.
        kind_of(played.competition).end_or_reopen(session, played.competition, now)
        return leases.Fate.ROLLED_BACK
    if failed and job.worker is not None:
        failed = workers.note_failure(
            session, job, job.worker, problem, settings.minimum_isolation, now
        )
    if isinstance(job, Match):
        seconds = min(seconds, (now - job.created).total_seconds())
    leases.roll_back(job, problem, failed=failed, seconds=seconds)
    return leases.Fate.ROLLED_BACK
