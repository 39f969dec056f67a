"""What somebody should look at: of an arena's health, and of all else that it has.

Where it is asked for once, it is in the operator's page, in /metrics and in `arena top`; the
recorder writes each alarm to its log as it comes up, and as it is over.
"""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots.lost_bundles import lost_versions
from arena.bots.runtimes import lost
from arena.competitions.ladder_settings import CHANGED
from arena.competitions.ladders import UNPLAYABLE, Ladders
from arena.ground.config import Settings
from arena.ground.db import is_lately
from arena.models import (
    ALIVE_SECONDS,
    AuditEntry,
    Competition,
    CompetitionState,
    JobStatus,
    Ladder,
    Mark,
    Match,
)
from arena.operation import health
from arena.operation.health import Health, Jobs, WorkerHealth
from arena.operation.maintenance import ENDED
from arena.operation.sender_health import unsent
from arena.schedule import occurrences, workers
from arena.schedule.idle import why_nobody_can, why_nobody_keeps, why_not_made
from arena.schedule.needs import COLUMNS, Needs
from engine.games import GAMES
from engine.protocol import visible
from engine.translation import N_, gettext, ngettext, translated

log = logging.getLogger("arena.operation.alarms")

ALARMS_MARK = "alarms"
MISSED = timedelta(days=7)
"""A worker that vanished is missed for so long."""
WRONG_CLOCK = 60.0
"""Seconds by which a worker's clock may be wrong before that is an alarm."""
MOST_UNTAKEN = 5
"""Jobs that may be lost within some minutes before that is an alarm: with a worker that is killed
go those that it has just taken."""
ODD = occurrences.UNREADABLE, occurrences.DROPPED, N_("forged")
"""What is counted of messages if something is wrong with who sends them."""


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


def find(
    session: Session, settings: Settings, now: datetime, found: Health | None = None
) -> tuple[Alarm, ...]:
    """The alarms there are now.

    Args:
        found: how the arena is, for who has looked; by default it is looked at.
    """
    found = found or health.look(session, settings, now)
    return (
        *([] if found.maintenance else _idle_ladders(session, settings, now)),
        *_trouble(session, found.matches, found.checks),
        *_of_recorder(found),
        *_lost(session, found, now),
        *_clocks(session, found.behind_seconds, now),
        *_speeds(session, found.workers),
        *_games(session, settings, now),
        *_lost_runtimes(session, settings),
        *(Alarm("sender", *told) for told in unsent(session, settings, now)),
    )


def write_to_log(session: Session, settings: Settings, now: datetime) -> None:
    """Writes each alarm to the log when it comes up, and once more when it is over."""
    found = find(session, settings, now)
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


def _idle_ladders(session: Session, settings: Settings, now: datetime) -> list[Alarm]:
    """Open ladders that could play and have not for long.

    One that was changed lately has its time to play from then on, for it may have been paused.
    """
    alarming = timedelta(seconds=settings.alarm_seconds)
    before = now - alarming
    since = health.seconds_at_work(session, now)
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
        ("broker", health.BROKER_MARK),
        ("indexes", health.LOST_MARK),
        ("replica", health.REPLICA_MARK),
        ("dump", health.DUMP_MARK),
        ("cold records", health.COLD_MARK),
        ("judging", health.JUDGING_MARK),
        ("final tables", health.PLACING_MARK),
    ):
        told = session.get(Mark, mark)
        if told is not None and told.value:
            found.append(Alarm(kind, kind, told.value))
    return found


def _of_recorder(found: Health) -> Iterator[Alarm]:
    """Whether it is there and in time, and what came to it that should not."""
    silent, behind = found.tick_seconds, found.behind_seconds
    if silent is not None and abs(silent) > health.LATE_TICKS:
        yield Alarm("recorder", "recorder", health.silence_words(silent))
    elif behind is not None and behind > health.BEHIND:
        yield Alarm("recorder", "recorder", health.lateness_words(behind))
    lately = found.occurrences.lately
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


def _clocks(session: Session, behind: float | None, now: datetime) -> Iterator[Alarm]:
    """Workers whose clocks are wrong. Nothing is decided by them, but their logs are of no use."""
    for worker in workers.living(session, now):
        ahead = worker.clock_ahead
        # What is said comes late, by what it waited in the queue.
        if ahead is None or -WRONG_CLOCK - (behind or 0.0) <= ahead <= WRONG_CLOCK:
            continue
        its = {"worker": worker.name, "time": health.span_words(abs(ahead))}
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


def _lost(session: Session, found: Health, now: datetime) -> Iterator[Alarm]:
    """Workers that are given no jobs, and those that vanished without having been stopped.

    Signs of life are written down by the recorder: if it was away, so was everybody.
    """
    silent, behind = found.tick_seconds, found.behind_seconds
    since = health.seconds_at_work(session, now)
    listens = since is None or since > ALIVE_SECONDS
    listens = listens and (silent is None or abs(silent) <= health.LATE_TICKS)
    listens = listens and (behind is None or behind <= ALIVE_SECONDS / 2)
    for one in found.workers:
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
