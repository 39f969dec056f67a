"""How an arena is: what waits, who works, what went wrong, and what somebody should look at.

One function reads it all, for the operator's page, /metrics, `arena top` and the log. The
numbers of games are of the last minutes and read from the newest games only, so that they cost
the same however many games there are.
"""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots.lost_bundles import lost_versions
from arena.bots.runtimes import lost
from arena.competitions.ladder_settings import CHANGED
from arena.competitions.ladders import UNPLAYABLE, Ladders
from arena.ground.config import Settings
from arena.ground.db import count_rows, is_lately
from arena.models import (
    ALIVE_SECONDS,
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
from arena.operation.jobs_under_way import JobUnderWay
from arena.operation.maintenance import ENDED
from arena.operation.queues import Queues
from arena.operation.sender_health import unsent
from arena.present import maintenance
from arena.schedule import occurrences, shards, speeds, workers
from arena.schedule.idle import why_nobody_can, why_nobody_keeps, why_not_made
from arena.schedule.needs import COLUMNS, Needs, unfit
from arena.schedule.occurrences import Occurrences
from engine.game import Termination
from engine.games import GAMES
from engine.plurals import counted
from engine.protocol import visible
from engine.translation import N_, gettext, ngettext, translated

log = logging.getLogger("arena.operation.health")

TICK_MARK = "last tick"
SINCE_MARK = "at work since"
ALARMS_MARK = "alarms"
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
MISSED = timedelta(days=7)
"""A worker that vanished is missed for so long."""
LATE_TICKS = 30.0
"""Seconds without a tick after which the recorder must be away, or not able to write."""
BEHIND = 60.0
"""Seconds for which a message may wait before that is an alarm."""
WRONG_CLOCK = 60.0
"""Seconds by which a worker's clock may be wrong before that is an alarm."""
MOST_UNTAKEN = 5
"""Jobs that may be lost within some minutes before that is an alarm: with a worker that is killed
go those that it has just taken."""


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
class Alarm:
    """Something that somebody should look at."""

    kind: str
    """``idle ladder``, ``set aside``, ``lost bundle``, ``differs``, ``worker``, ``recorder``,
    ``broker``, ``clock``, ``speed``, ``messages``, ``not taken up``, ``indexes``, ``game``,
    ``runtime``, ``dump``, ``cold records``, ``judging`` or ``sender``.
    """
    subject: str
    words: str


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
    occurrences: dict[str, int]
    """How often each thing ever happened (see `arena.schedule.occurrences`)."""
    backup_seconds: float | None
    """The time since the last backup by `arena backup`; None if there was none."""
    maintenance: Mapping[str, str] | None
    """When it began, by whom, and what is told beside; None if it is not under way."""
    alarms: tuple[Alarm, ...]

    def as_json(self, queues: Queues, jobs: Sequence[JobUnderWay]) -> dict[str, Any]:
        """All of it as JSON's types, with what the broker says, and what is under way."""
        told = [asdict(one) for one in jobs]
        waiting = {"queues": queues.waiting, "broker": queues.problem}
        return {**asdict(self), **waiting, "under_way": told}


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
        return _silence(silent)
    behind = _most_seconds(session, HEARD_MARK, now) or 0.0
    return _lateness(behind) if behind > BEHIND else ""


def _silence(silent: float) -> str:
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


def _lateness(behind: float) -> str:
    return gettext(
        "the recorder is %(seconds)s s behind with what workers say", seconds=f"{behind:.0f}"
    )


def look(session: Session, settings: Settings, now: datetime) -> Health:
    """All of it, as the database has it, with what somebody should look at."""
    games, faults = _lately(session, now)
    ratios = speeds.ratios(session)
    known = tuple(_worker(one, ratios.get(one.name), settings, now) for one in _workers(session))
    silent = _silent_seconds(session, now)
    behind = _most_seconds(session, HEARD_MARK, now)
    backup = _seconds_since(session, BACKUP_MARK, now)
    found = occurrences.read(session, now)
    matches, checks = _jobs(session, Match, now), _jobs(session, Check, now)
    maintained = maintenance(session)
    alarms = (
        *([] if maintained else _idle_ladders(session, settings, now)),
        *_trouble(session, matches, checks),
        *_of_recorder(found, silent, behind),
        *_lost(session, known, silent, behind, now),
        *_clocks(session, behind, now),
        *_speeds(session, known),
        *_games(session, settings, now),
        *_lost_runtimes(session, settings),
        *(Alarm("sender", *told) for told in unsent(session, settings, now)),
    )
    ever, told = dict(found.ever), maintained.as_json() if maintained else None
    return Health(
        matches,
        checks,
        known,
        games,
        faults,
        silent,
        behind,
        ever,
        backup,
        told,
        alarms,
    )


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
    """The time since the recorder's last tick, the longest of several; None if none ever was."""
    return _most_seconds(session, TICK_MARK, now)


def _most_seconds(session: Session, key: str, now: datetime) -> float | None:
    """The time since what is marked of each shard, the longest; None if nothing is of any."""
    found = _seconds_of_shards(session, key, now)
    return max(found, key=abs) if found else None


def _seconds_at_work(session: Session, now: datetime) -> float | None:
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


def _idle_ladders(session: Session, settings: Settings, now: datetime) -> list[Alarm]:
    """Open ladders that could play and have not for long.

    One that was changed lately has its time to play from then on, for it may have been paused.
    """
    alarming = timedelta(seconds=settings.alarm_seconds)
    before = now - alarming
    since = _seconds_at_work(session, now)
    if since is not None and since < settings.alarm_seconds:
        return []  # An arena that was off has had no time to play yet.
    over = sa.select(AuditEntry.id).where(AuditEntry.action == ENDED, AuditEntry.at >= before)
    if session.scalar(over.limit(1)) is not None:
        return []  # Nor has one that was under maintenance.
    rests = sa.and_(
        Ladders().at_rest(now, settings.trickle_seconds),
        # Which may be why nothing is played there.
        ~sa.exists().where(Match.competition_id == Ladder.id, Match.status == JobStatus.SET_ASIDE),
    )
    quiet = sa.select(Ladder).where(
        Ladder.state == CompetitionState.OPEN,
        ~rests,
        ~is_lately(sa.func.coalesce(Ladder.last_game, Ladder.created), alarming, now),
        ~sa.exists().where(
            AuditEntry.subject == sa.literal("ladder ").concat(Ladder.name),
            AuditEntry.action == CHANGED,
            AuditEntry.at >= before,
        ),
    )
    if settings.only:
        quiet = quiet.where(Ladder.named(settings.only))
    could_play = (None, translated(UNPLAYABLE))
    return [
        Alarm(
            "idle ladder",
            ladder.name,
            gettext(
                "no game was played on the ladder %(ladder)s for %(minutes)s minutes, though it "
                "could play",
                ladder=ladder.name,
                minutes=f"{settings.alarm_seconds / 60:.0f}",
            ),
        )
        for ladder in session.scalars(quiet.order_by(Ladder.id))
        if Ladders().why_idle(session, ladder, now, settings.trickle_seconds) in could_play
    ]


def _trouble(session: Session, matches: Jobs, checks: Jobs) -> list[Alarm]:
    found = []
    if aside := matches.set_aside:
        said = ngettext(
            "%(number)s match is set aside after failing three times",
            "%(number)s matches are set aside after failing three times",
            aside,
            number=aside,
        )
        found.append(Alarm("set aside", "matches", said))
    if aside := checks.set_aside:
        said = ngettext(
            "%(number)s check is set aside after failing three times",
            "%(number)s checks are set aside after failing three times",
            aside,
            number=aside,
        )
        found.append(Alarm("set aside", "checks", said))
    for version in lost_versions(session):
        said = gettext(
            "the files of %(bot)s are lost or damaged, and it is suspended: restore "
            "bundles/%(digest)s from a backup, or have its owner submit it again",
            bot=version.label,
            digest=version.digest,
        )
        found.append(Alarm("lost bundle", version.label, said))
    differs = sa.select(Competition).where(Competition.alarm != "").order_by(Competition.id)
    for one in session.scalars(differs):
        found.append(Alarm("differs", one.name, f"{one.name}: {one.alarm}"))
    for kind, mark in (
        ("broker", BROKER_MARK),
        ("indexes", LOST_MARK),
        ("replica", REPLICA_MARK),
        ("dump", DUMP_MARK),
        ("cold records", COLD_MARK),
        ("judging", JUDGING_MARK),
        ("final tables", PLACING_MARK),
    ):
        told = session.get(Mark, mark)
        if told is not None and told.value:
            found.append(Alarm(kind, kind, told.value))
    return found


def _of_recorder(
    happened: Occurrences, silent: float | None, behind: float | None
) -> Iterator[Alarm]:
    """Whether it is there and in time, and what came to it that should not."""
    if silent is not None and abs(silent) > LATE_TICKS:
        yield Alarm("recorder", "recorder", _silence(silent))
    elif behind is not None and behind > BEHIND:
        yield Alarm("recorder", "recorder", _lateness(behind))
    lately = happened.lately
    odd = {kind: lately[kind] for kind in ODD if lately.get(kind)}
    if odd:
        words = ", ".join(f"{count} {translated(kind)}" for kind, count in odd.items())
        said = gettext(
            "among the messages of the last minutes were some that no worker of ours sends, or too "
            "many: %(messages)s; the recorder's log tells of them",
            messages=words,
        )
        yield Alarm("messages", "messages", said)
    if lately.get(occurrences.UNTAKEN, 0) >= MOST_UNTAKEN:
        said = gettext(
            "%(number)s jobs of the last minutes were taken from the queue, and nobody said to "
            "have them: a worker hangs or loses them",
            number=lately[occurrences.UNTAKEN],
        )
        yield Alarm("not taken up", "jobs", said)


ODD = occurrences.UNREADABLE, occurrences.DROPPED, N_("forged")
"""What is counted of messages if something is wrong with who sends them."""


def _clocks(session: Session, behind: float | None, now: datetime) -> Iterator[Alarm]:
    """Workers whose clocks are wrong. Nothing is decided by them, but their logs are of no use."""
    for worker in workers.living(session, now):
        ahead = worker.clock_ahead
        # What is said comes late, by what it waited in the queue.
        if ahead is None or -WRONG_CLOCK - (behind or 0.0) <= ahead <= WRONG_CLOCK:
            continue
        its = {"worker": worker.name, "time": _since(abs(ahead))}
        if ahead > 0:
            said = gettext(
                "the clock of the worker %(worker)s is %(time)s ahead: set it by NTP", **its
            )
        else:
            said = gettext(
                "the clock of the worker %(worker)s is %(time)s behind: set it by NTP", **its
            )
        yield Alarm("clock", worker.name, said)


def _speeds(session: Session, known: Sequence[WorkerHealth]) -> Iterator[Alarm]:
    """Workers that play no match by the reference machine's clock though there are such, and those
    whose speed is not believed."""
    is_wanted = session.scalar(
        sa.select(
            sa.exists().where(Competition.reference, Competition.state == CompetitionState.OPEN)
        )
    )
    for one in known:
        if one.state != "at work":
            continue
        if is_wanted and one.unfit:
            said = gettext(
                "the worker %(worker)s plays no match by the reference machine's clock: %(reason)s",
                worker=one.name,
                reason=one.unfit,
            )
            yield Alarm("speed", one.name, said)
        if one.doubt:
            said = gettext(
                "the speed of the worker %(worker)s is not to be believed: %(reason)s",
                worker=one.name,
                reason=one.doubt,
            )
            yield Alarm("speed", f"{one.name}, as it says", said)


def _games(session: Session, settings: Settings, now: datetime) -> Iterator[Alarm]:
    """Games that can't be loaded, and those that are to be played and that nobody has."""
    for name, reason in GAMES.faults.items():
        said = gettext("the game %(game)s can't be loaded: %(reason)s", game=name, reason=reason)
        yield Alarm("game", name, said)
    if not any(worker.slots for worker in workers.living(session, now)):
        return
    wanted = sa.select(*COLUMNS).where(Competition.state == CompetitionState.OPEN).distinct()
    for needs in sorted(Needs(*row) for row in session.execute(wanted)):
        if needs.game in GAMES.faults:
            continue
        subject = f"{needs.game} of several processes" if needs.several else needs.game
        subject += " by the reference clock" if needs.clocked else ""
        if words := why_nobody_can(session, needs, settings, now):
            yield Alarm("game", subject, words.rstrip("."))
        elif words := why_nobody_keeps(session, needs, settings, now):
            yield Alarm("runtime", subject, words.rstrip("."))
    # There are few variants, though there may be many ladders.
    variant = Competition.game, sa.cast(Competition.options, sa.Text)
    is_open = Competition.state == CompetitionState.OPEN
    for game, options in session.execute(sa.select(*variant).where(is_open).distinct()):
        if words := why_not_made(GAMES.find(game, json.loads(options))):
            its = sa.select(Competition.name).order_by(Competition.id)
            its = its.where(is_open, variant[0] == game, variant[1] == options)
            for name in session.scalars(its):
                yield Alarm("game", name, words.rstrip("."))


def _lost_runtimes(session: Session, settings: Settings) -> Iterator[Alarm]:
    """Runtimes whose files are gone, though bots have them."""
    for runtime, count in lost(session, settings):
        yield Alarm(
            "runtime",
            runtime.name,
            ngettext(
                "the file of the runtime %(runtime)s is lost, which %(versions)s version of a bot "
                "needs: restore runtimes/%(digest)s from a backup",
                "the file of the runtime %(runtime)s is lost, which %(versions)s versions of bots "
                "need: restore runtimes/%(digest)s from a backup",
                count,
                runtime=runtime.name,
                versions=count,
                digest=runtime.digest,
            ),
        )


def _lost(
    session: Session,
    known: Sequence[WorkerHealth],
    silent: float | None,
    behind: float | None,
    now: datetime,
) -> Iterator[Alarm]:
    """Workers that are given no jobs, and those that vanished without having been stopped.

    Signs of life are written down by the recorder: if it was away, so was everybody.
    """
    since = _seconds_at_work(session, now)
    listens = since is None or since > ALIVE_SECONDS
    listens = listens and (silent is None or abs(silent) <= LATE_TICKS)
    listens = listens and (behind is None or behind <= ALIVE_SECONDS / 2)
    for one in known:
        if one.state in ("set aside", "of another release", "too weak"):
            its = {"worker": one.name, "state": translated(one.state)}
            if one.problem:
                said = gettext(
                    "the worker %(worker)s is given no jobs, it is %(state)s: %(problem)s",
                    **its,
                    problem=one.problem,
                )
            else:
                said = gettext("the worker %(worker)s is given no jobs, it is %(state)s", **its)
            yield Alarm("worker", one.name, said)
        elif one.state == "gone" and listens and one.silent_seconds < MISSED.total_seconds():
            yield Alarm(
                "worker",
                one.name,
                gettext(
                    "the worker %(worker)s vanished %(ago)s: start it again, or if it is gone for "
                    "good, %(command)s",
                    worker=one.name,
                    ago=one.silence,
                    command=f"arena worker forget {shlex.quote(one.name)}",
                ),
            )


def ago(seconds: float) -> str:
    """How long ago something was, in words."""
    return gettext("%(time)s ago", time=_since(seconds))


def _since(seconds: float) -> str:
    if seconds >= 2 * 86_400:
        return counted(int(seconds / 86_400), "day")
    if seconds >= 2 * 3600:
        return counted(int(seconds / 3600), "hour")
    if seconds >= 2 * 60:
        return counted(int(seconds / 60), "minute")
    return f"{seconds:.0f} s"
