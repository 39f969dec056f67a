"""How an arena is: what waits, who works, what went wrong, and what somebody should look at.

One function reads it all, for the operator's page, /metrics, `arena top` and the log. The
numbers of games are of the last minutes and read from the newest games only, so that they cost
the same however many games there are.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import workforce
from arena.competitions.ladder_settings import CHANGED
from arena.competitions.ladders import UNPLAYABLE, why_no_match
from arena.config import Settings
from arena.lost_bundles import lost_versions
from arena.models import (
    AuditEntry,
    Check,
    Competition,
    CompetitionState,
    GameSeat,
    JobStatus,
    Ladder,
    Mark,
    Match,
    PlayedGame,
    Worker,
)
from arena.visible import visible
from engine.counting import counted
from engine.game import Termination

log = logging.getLogger("arena.health")

TICK_MARK = "last tick"
SINCE_MARK = "at work since"
ALARMS_MARK = "alarms"
WINDOW = timedelta(minutes=5)
NEWEST = 5000
"""Of the games so many are looked at, the newest."""
MISSED = timedelta(days=7)
"""A worker that vanished is missed for so long."""
LATE_TICKS = 30.0
"""Seconds without a tick after which the recorder or the beat must be away."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """How many matches, or checks, stand where."""

    open: int
    issued: int
    overdue: int
    """Issued, with a lease that has run out: rolled back by the next tick."""
    set_aside: int


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """What is known of a worker."""

    name: str
    state: str
    slots: int
    isolation: str
    silent_seconds: float
    """Since its last sign of life."""
    is_there: bool
    """Whether that was lately; who is not there may be forgotten."""
    failed: int
    """Jobs one after the other, up to now."""
    problem: str

    @property
    def silence(self) -> str:
        """How long ago its last sign of life was, in words."""
        return f"{_since(self.silent_seconds)} ago"


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that somebody should look at."""

    kind: str
    """``idle ladder``, ``set aside``, ``lost bundle``, ``differs``, ``worker``, ``recorder``."""
    subject: str
    words: str


@dataclass(frozen=True, slots=True)
class Health:
    """How an arena is at a moment."""

    matches: Jobs
    checks: Jobs
    workers: tuple[WorkerHealth, ...]
    games_a_minute: dict[str, float]
    """Of the last five minutes, by competition; what played nothing is left out."""
    faults: dict[str, int]
    """Of the last five minutes, by kind."""
    tick_seconds: float | None
    """Since the recorder's last tick; None if there was none ever."""
    alarms: tuple[Alarm, ...]

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON's types."""
        return asdict(self)


def note_tick(session: Session, now: datetime) -> None:
    """The recorder is there, and has come as far as this tick."""
    silent = _silent_seconds(session, now)
    if silent is None or silent > LATE_TICKS:
        session.merge(Mark(key=SINCE_MARK, value=now.isoformat()))
    session.merge(Mark(key=TICK_MARK, value=now.isoformat()))


def look(session: Session, settings: Settings, now: datetime) -> Health:
    """How the arena is now."""
    games, faults = _lately(session, now)
    workers = tuple(_worker(one, settings, now) for one in _workers(session))
    silent = _silent_seconds(session, now)
    matches, checks = _jobs(session, Match, now), _jobs(session, Check, now)
    alarms = (
        *_idle_ladders(session, settings, now),
        *_trouble(session, matches, checks, silent),
        *_lost(session, workers, silent, now),
    )
    return Health(matches, checks, workers, games, faults, silent, alarms)


def log_alarms(session: Session, settings: Settings, now: datetime) -> None:
    """Writes each alarm to the log when it comes up, and once more when it is over."""
    found = look(session, settings, now).alarms
    # A line each, whatever a worker calls itself.
    alarms = {visible(f"{one.kind}: {one.subject}", but=""): one for one in found}
    mark = session.get(Mark, ALARMS_MARK)
    known = set(mark.value.splitlines()) if mark else set()
    for key in alarms.keys() - known:
        words = visible(alarms[key].words, but="")
        log.warning("alarm: %s", words, extra={"alarm": alarms[key].kind})
    for key in known - alarms.keys():
        log.warning("the alarm is over: %s", key, extra={"alarm": key.partition(":")[0]})
    if known != alarms.keys():
        session.merge(Mark(key=ALARMS_MARK, value="\n".join(sorted(alarms))))


def _silent_seconds(session: Session, now: datetime) -> float | None:
    """Since the recorder's last tick; None if there was none ever."""
    tick = session.get(Mark, TICK_MARK)
    return (now - datetime.fromisoformat(tick.value)).total_seconds() if tick else None


def _jobs(session: Session, kind: type[Match] | type[Check], now: datetime) -> Jobs:
    counts = {
        status: session.scalar(
            sa.select(sa.func.count()).select_from(kind).where(kind.status == status)
        )
        or 0
        for status in (JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE)
    }
    overdue = sa.select(sa.func.count()).select_from(kind)
    overdue = overdue.where(kind.status == JobStatus.ISSUED, kind.lease_ends < now)
    return Jobs(
        counts[JobStatus.OPEN],
        counts[JobStatus.ISSUED],
        session.scalar(overdue) or 0,
        counts[JobStatus.SET_ASIDE],
    )


def _workers(session: Session) -> Sequence[Worker]:
    return session.scalars(sa.select(Worker).order_by(Worker.name)).all()


def _worker(worker: Worker, settings: Settings, now: datetime) -> WorkerHealth:
    return WorkerHealth(
        worker.name,
        workforce.state(worker, settings.minimum_isolation, now),
        worker.slots,
        worker.isolation,
        max(0.0, (now - worker.last_seen).total_seconds()),
        workforce.is_there(worker, now),
        len(worker.failed),
        worker.problem,
    )


def _lately(session: Session, now: datetime) -> tuple[dict[str, float], dict[str, int]]:
    """Games a minute by competition, and faults by kind."""
    newest = session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0
    recent = (PlayedGame.id > newest - NEWEST, PlayedGame.finished > now - WINDOW)
    games = sa.select(Competition.name, sa.func.count()).join(
        PlayedGame, PlayedGame.competition_id == Competition.id
    )
    minutes = WINDOW.total_seconds() / 60
    played = {
        name: count / minutes
        for name, count in session.execute(games.where(*recent).group_by(Competition.name))
    }
    seats = sa.select(GameSeat.fault, sa.func.count()).join(
        PlayedGame, PlayedGame.id == GameSeat.game_id
    )
    # What is null is not equal to anything either.
    faulty = seats.where(*recent, GameSeat.fault != Termination.RESIGN).group_by(GameSeat.fault)
    return played, {str(fault): count for fault, count in session.execute(faulty)}


def _idle_ladders(session: Session, settings: Settings, now: datetime) -> list[Alarm]:
    """Open ladders that could play and have not for long.

    One that was changed lately has its time to play from then on, for it may have been paused.
    """
    before = now - timedelta(seconds=settings.alarm_seconds)
    since = session.get(Mark, SINCE_MARK)
    if since is not None and datetime.fromisoformat(since.value) > before:
        return []  # An arena that was off has had no time to play yet.
    quiet = sa.select(Ladder).where(
        Ladder.state == CompetitionState.OPEN,
        sa.func.coalesce(Ladder.last_game, Ladder.created) < before,
        ~sa.exists().where(
            AuditEntry.subject == sa.literal("ladder ").concat(Ladder.name),
            AuditEntry.action == CHANGED,
            AuditEntry.at >= before,
        ),
    )
    if settings.only:
        quiet = quiet.where(Ladder.name == settings.only)
    return [
        Alarm(
            "idle ladder",
            ladder.name,
            f"no game was played on the ladder {ladder.name} for "
            f"{settings.alarm_seconds / 60:.0f} minutes, though it could play",
        )
        for ladder in session.scalars(quiet.order_by(Ladder.id))
        if why_no_match(session, ladder, now, settings.trickle_seconds) in (None, UNPLAYABLE)
    ]


def _trouble(session: Session, matches: Jobs, checks: Jobs, silent: float | None) -> list[Alarm]:
    found = []
    for word, words, jobs in (("match", "matches", matches), ("check", "checks", checks)):
        if jobs.set_aside:
            aside = counted(jobs.set_aside, f"{word} is", f"{words} are")
            said = f"{aside} set aside after failing three times"
            found.append(Alarm("set aside", words, said))
    for version in lost_versions(session):
        said = (
            f"the files of {version.label} are lost or damaged, and it is suspended: restore "
            f"bundles/{version.digest} from a backup, or have its owner submit it again"
        )
        found.append(Alarm("lost bundle", version.label, said))
    differs = sa.select(Competition).where(Competition.alarm != "").order_by(Competition.id)
    for one in session.scalars(differs):
        found.append(Alarm("differs", one.name, f"{one.name}: {one.alarm}"))
    if silent is not None and silent > LATE_TICKS:
        said = f"the recorder was not heard of for {silent:.0f} s: is it there, and the beat?"
        found.append(Alarm("recorder", "recorder", said))
    return found


def _lost(
    session: Session, workers: Sequence[WorkerHealth], silent: float | None, now: datetime
) -> Iterator[Alarm]:
    """Workers that are given no jobs, and those that vanished without having been stopped.

    Signs of life are written down by the recorder: if it was away, so was everybody.
    """
    since = session.get(Mark, SINCE_MARK)
    heard = timedelta(seconds=workforce.ALIVE_SECONDS)
    listens = since is None or now - datetime.fromisoformat(since.value) > heard
    listens = listens and (silent is None or silent <= LATE_TICKS)
    for one in workers:
        if one.state in ("set aside", "of another release", "too weak"):
            said = f"the worker {one.name} is given no jobs, it is {one.state}"
            yield Alarm("worker", one.name, f"{said}: {one.problem}".rstrip(": "))
        elif one.state == "gone" and listens and one.silent_seconds < MISSED.total_seconds():
            yield Alarm(
                "worker",
                one.name,
                f"the worker {one.name} vanished {one.silence}: start it again, "
                f"or if it is gone for good, arena worker forget {shlex.quote(one.name)}",
            )


def _since(seconds: float) -> str:
    for unit, its in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * its:
            return counted(int(seconds / its), unit)
    return f"{seconds:.0f} s"
