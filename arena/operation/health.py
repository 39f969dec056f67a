"""How an arena is: what waits, who works, and what went wrong.

One function reads it all, for the operator's page, /metrics and `arena top`; what of it somebody
should look at is `arena.operation.alarms`. The numbers of games are of the last minutes and read
from the newest games only, so that they cost the same however many games there are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.ground.db import count_rows, is_lately
from arena.models import (
    Check,
    Competition,
    GameSeat,
    JobStatus,
    Mark,
    Match,
    PlayedGame,
    Worker,
)
from arena.present import maintenance
from arena.schedule import occurrences, shards, speeds, workers
from arena.schedule.needs import unfit
from arena.schedule.occurrences import Occurrences
from engine.game import Termination
from engine.plurals import counted
from engine.translation import gettext

TICK_MARK = "last tick"
SINCE_MARK = "at work since"

HEARD_MARK = "heard until"
"""The last moment up to which the recorder has handled all that was said."""
BROKER_MARK = "problem of the broker"
BACKUP_MARK = "last backup"
LOST_MARK = "lost indexes"
REPLICA_MARK = "problem of the replica"
DUMP_MARK = "problem of the dump"
COLD_MARK = "problem of cold records"
JUDGING_MARK = "problem of judging"
PLACING_MARK = "problem of final tables"
WINDOW = timedelta(minutes=5)
NEWEST = 5000
"""How many of the newest games are looked at."""

LATE_TICKS = 30.0
"""Seconds without a tick after which the recorder must be away, or not able to write."""
BEHIND = 60.0
"""Seconds for which a message may wait before that is an alarm."""


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
    """The time since its last sign of life."""
    is_there: bool
    """Whether that was lately; who is not there may be forgotten."""
    failed: int
    """Jobs one after the other, up to now."""
    problem: str
    speed: tuple[float, float] | None
    """How fast it is for programs in Python and for others, the reference machine being 1; None if
    it does not say."""
    unfit: str
    """Why it plays no match by the reference machine's clock; empty if it does."""
    doubt: str
    """Why its speed is not believed; empty if nothing speaks against it."""

    @property
    def silence(self) -> str:
        """How long ago its last sign of life was, in words."""
        return ago(self.silent_seconds)


@dataclass(frozen=True, slots=True)
class Health:
    """How an arena is at a moment."""

    matches: Jobs
    checks: Jobs
    workers: tuple[WorkerHealth, ...]
    games_a_minute: dict[str, float]
    """Games of the last five minutes, by competition; what played nothing is left out."""
    faults: dict[str, int]
    """Faults of the last five minutes, by kind."""
    tick_seconds: float | None
    """The time since the recorder's last tick; None if there was none ever."""
    behind_seconds: float | None
    """How long the oldest message has waited to be handled; None if nobody ever looked."""
    occurrences: Occurrences
    backup_seconds: float | None
    """The time since the last backup by `arena backup`; None if there was none."""
    maintenance: Mapping[str, str] | None
    """When it began, by whom, and what is told beside; None if it is not under way."""

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON's types; of what happened, how often it ever did."""
        return asdict(self) | {"occurrences": dict(self.occurrences.ever)}


def note_tick(
    session: Session,
    now: datetime,
    heard: datetime | None = None,
    happened: Mapping[str, int] | None = None,
    held: Collection[int] = (0,),
) -> None:
    """A recorder is there, and can write.

    Args:
        heard: up to when it has handled all that was said; None if it can't know yet.
        happened: what happened since the last tick, and how often.
        held: the shards that it has.
    """
    told = {_of_shard(TICK_MARK, shard): now for shard in sorted(held)}
    if heard is not None:
        told |= {_of_shard(HEARD_MARK, shard): heard for shard in sorted(held)}
    # By one statement, and kept for whoever asks for one of them below.
    marks = sa.select(Mark).where(Mark.key.in_([*told, occurrences.MARK]))
    known = {mark.key: mark for mark in session.scalars(marks)}
    for shard in sorted(held):
        silent = _seconds_since(session, _of_shard(TICK_MARK, shard), now)
        if silent is None or abs(silent) > LATE_TICKS:
            session.merge(Mark(key=_of_shard(SINCE_MARK, shard), value=now.isoformat()))
    for key, moment in told.items():
        if key in known:
            known[key].value = moment.isoformat()
        else:
            session.add(Mark(key=key, value=moment.isoformat()))
    occurrences.note(session, happened or {}, now)


def heard(session: Session) -> datetime | None:
    """The moment up to which the recorder of the first shard has handled all that was said to it,
    which signs of all jobs are; None if nobody knows."""
    mark = session.get(Mark, HEARD_MARK)
    return datetime.fromisoformat(mark.value) if mark else None


def note(session: Session, mark: str, problem: str) -> None:
    """What the recorder finds wrong with something, in words; empty if nothing.

    Args:
        mark: `BROKER_MARK`, `LOST_MARK` (of the database), `REPLICA_MARK`, `DUMP_MARK`,
            `COLD_MARK`, `JUDGING_MARK` or `PLACING_MARK`.
    """
    session.merge(Mark(key=mark, value=problem))


def note_backup(session: Session, now: datetime) -> None:
    """Notes that a backup was written."""
    session.merge(Mark(key=BACKUP_MARK, value=now.isoformat()))


def why_not_recording(session: Session, now: datetime) -> str:
    """Why nothing is written down now, or only late, in words; empty if it is.

    The recorder writes at each tick, so that a disk that is full or read-only is seen here.
    """
    silent = _silent_seconds(session, now)
    if silent is None:
        return gettext("the recorder has not begun yet")
    if abs(silent) > LATE_TICKS:
        return silence_words(silent)
    behind = _most_seconds(session, HEARD_MARK, now) or 0.0
    return lateness_words(behind) if behind > BEHIND else ""


def silence_words(silent: float) -> str:
    """What is said of a recorder without a tick for so many seconds."""
    if silent < 0:
        return gettext(
            "the recorder's last tick is of %(seconds)s s to come: a clock was set back",
            seconds=f"{-silent:.0f}",
        )
    return gettext(
        "the recorder was not heard of for %(seconds)s s: it is stopped, hangs, or its database "
        "takes no writes",
        seconds=f"{silent:.0f}",
    )


def lateness_words(behind: float) -> str:
    """What is said of a recorder that is so many seconds behind."""
    return gettext(
        "the recorder is %(seconds)s s behind with what workers say", seconds=f"{behind:.0f}"
    )


def look(session: Session, settings: Settings, now: datetime) -> Health:
    """All of it, as the database has it."""
    games, faults = _lately(session, now)
    ratios = speeds.ratios(session)
    known = tuple(_worker(one, ratios.get(one.name), settings, now) for one in _workers(session))
    maintained = maintenance(session)
    return Health(
        _jobs(session, Match, now),
        _jobs(session, Check, now),
        known,
        games,
        faults,
        _silent_seconds(session, now),
        _most_seconds(session, HEARD_MARK, now),
        occurrences.read(session, now),
        _seconds_since(session, BACKUP_MARK, now),
        maintained.as_json() if maintained else None,
    )


def _silent_seconds(session: Session, now: datetime) -> float | None:
    """The time since the recorder's last tick, the longest of several; None if none ever was."""
    return _most_seconds(session, TICK_MARK, now)


def _most_seconds(session: Session, key: str, now: datetime) -> float | None:
    """The time since what is marked of each shard, the longest; None if nothing is of any."""
    found = _seconds_of_shards(session, key, now)
    return max(found, key=abs) if found else None


def seconds_at_work(session: Session, now: datetime) -> float | None:
    """How long all shards have been recorded without a pause; None if none ever was."""
    return min(_seconds_of_shards(session, SINCE_MARK, now), default=None)


def _seconds_of_shards(session: Session, key: str, now: datetime) -> list[float]:
    keys = [_of_shard(key, shard) for shard in range(shards.count(session))]
    found = [_seconds_since(session, one, now) for one in keys]
    return [seconds for seconds in found if seconds is not None]


def _of_shard(key: str, shard: int) -> str:
    """The key of a mark of each shard: the first's is that of an arena that has only one."""
    return f"{key} of shard {shard}" if shard else key


def _seconds_since(session: Session, key: str, now: datetime) -> float | None:
    mark = session.get(Mark, key)
    return (now - datetime.fromisoformat(mark.value)).total_seconds() if mark else None


def _jobs(session: Session, kind: type[Match] | type[Check], now: datetime) -> Jobs:
    def those(*which: sa.ColumnElement[bool]) -> int:
        return count_rows(session, kind, *which)

    issued = kind.status == JobStatus.ISSUED
    return Jobs(
        those(kind.status == JobStatus.OPEN),
        those(issued),
        those(issued, kind.lease_ends < now),
        those(kind.status == JobStatus.SET_ASIDE),
    )


def _workers(session: Session) -> Sequence[Worker]:
    return session.scalars(sa.select(Worker).order_by(Worker.name)).all()


def _worker(worker: Worker, ratio: float | None, settings: Settings, now: datetime) -> WorkerHealth:
    its = worker.measure
    return WorkerHealth(
        worker.name,
        workers.state(worker, settings.minimum_isolation, now),
        worker.slots,
        worker.isolation,
        max(0.0, (now - worker.last_seen).total_seconds()),
        workers.is_there(worker, now),
        len(worker.failed),
        worker.problem,
        (its["interpreted"], its["compiled"]) if its else None,
        "" if worker.at_home else unfit(worker),
        speeds.doubt(ratio),
    )


def _lately(session: Session, now: datetime) -> tuple[dict[str, float], dict[str, int]]:
    """Games a minute by competition, and faults by kind."""
    newest = session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0
    recent = (PlayedGame.id > newest - NEWEST, is_lately(PlayedGame.finished, WINDOW, now))
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


def ago(seconds: float) -> str:
    """How long ago something was, in words."""
    return gettext("%(time)s ago", time=span_words(seconds))


def span_words(seconds: float) -> str:
    """How long a time is, in words."""
    if seconds >= 2 * 86_400:
        return counted(int(seconds / 86_400), "day")
    if seconds >= 2 * 3600:
        return counted(int(seconds / 3600), "hour")
    if seconds >= 2 * 60:
        return counted(int(seconds / 60), "minute")
    return f"{seconds:.0f} s"
