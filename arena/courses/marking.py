"""How hand-ins are marked: a tournament against the reference bots, and what follows from it.

It begins by itself after the deadline, and again when the time for late hand-ins is over, once all
checks have ended of what came by then; and when something comes later that began to be sent in
time. It is a private tournament of the organisers: a student who
saw its table would see the marks of all.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.competitions import members, tournaments
from arena.competitions.fields import proven
from arena.competitions.founding import free_name
from arena.competitions.players import NamedPlayer, named_players
from arena.competitions.tournaments import TournamentPlan, call_off
from arena.courses.hand_ins import HandIn, Student, deadline_of, students, waits
from arena.courses.marks import CourseMark, MarkTable, read_table
from arena.ground.bot_names import read_player
from arena.ground.db import At, database_time
from arena.ground.locks import lock
from arena.ground.refusals import Refusal
from arena.ground.texts import cut
from arena.models import (
    BotVersion,
    Check,
    CompetitionDate,
    CompetitionState,
    DateKind,
    Entrant,
    Ladder,
    Meeting,
    MemberRole,
    Membership,
    TaughtCourse,
    Tournament,
    VersionStatus,
    Visibility,
)
from engine.game import GameError
from engine.match import entrants_needed
from engine.seeds import derive
from engine.translation import ENGLISH, gettext, speaking

ANEW = "it is marked anew"
LATELY = timedelta(days=1)
"""Checks that ended longer ago are no news."""

log = logging.getLogger("arena.recorder.courses")


class Marked(NamedTuple):
    """A student with the mark that they get."""

    student: Student
    won: Mapping[str, float]
    """The share of the games that the hand-in won against each reference bot that it has met."""
    mark: CourseMark | None
    """None of whoever has handed in nothing, and as long as nothing is played."""


class CourseMarks(NamedTuple):
    """How a course stands."""

    course: TaughtCourse
    deadline: datetime | None
    table: MarkTable
    marking: Tournament | None
    students: list[Marked]

    @property
    def final(self) -> bool:
        """Whether all is played by which hand-ins are marked."""
        return self.marking is not None and self.marking.state is CompetitionState.CLOSED


def table_of(references: list[str], text: str) -> MarkTable:
    """The rules of a course; they name a bot as it was given, or without version and options.

    Raises:
        Refusal: they can't be read.
    """
    names = {name.lower(): name for name in references}
    bots = [read_player(name).name.lower() for name in references]
    short = {bot: name for bot, name in zip(bots, references, strict=True) if bots.count(bot) == 1}
    return read_table(text, short | names)


def marks_of(session: Session, course: TaughtCourse, user_id: int | None = None) -> CourseMarks:
    """All students with their marks by now.

    Args:
        session: one that sees the marking, which only organisers do.
        user_id: only this one.
    """
    table = table_of(course.references, course.marks)
    marking = course.marking_id and session.get(Tournament, course.marking_id)
    its_students = students(session, course, user_id)
    versions = {one.counts.version.id for one in its_students if one.counts}
    won = _won(session, course, marking, versions) if marking else {}
    found = []
    for student in its_students:
        counts = student.counts
        its = won.get(counts.version.id) if counts else None
        mark = table.mark(its, counts.late) if counts and its else None
        found.append(Marked(student, its or {}, mark))
    return CourseMarks(course, deadline_of(session, course), table, marking or None, found)


def _won(
    session: Session, course: TaughtCourse, marking: Tournament, versions: Collection[int]
) -> dict[int, dict[str, float]]:
    """What share each of some versions has won against each reference bot, by the version.

    No other is looked at: how long it takes tells a student nothing of others.
    """
    query = sa.select(Entrant.id, Entrant.number, Entrant.version_id)
    first = len(course.references)
    query = query.where(
        Entrant.competition_id == marking.id,
        sa.or_(Entrant.number <= first, Entrant.version_id.in_(versions)),
    )
    entrants = {one.id: one for one in session.execute(query)}
    own = [one.id for one in entrants.values() if one.number > first]
    met = sa.select(Meeting).where(
        Meeting.competition_id == marking.id,
        sa.or_(Meeting.first_id.in_(own), Meeting.second_id.in_(own)),
    )
    won: dict[int, dict[str, float]] = {entrants[one].version_id: {} for one in own}
    for meeting in session.scalars(met):
        one, other = entrants[meeting.first_id], entrants[meeting.second_id]
        points = meeting.wins + meeting.draws / 2
        if one.number <= first:
            one, other, points = other, one, meeting.games - points
        if meeting.games:
            won[one.version_id][course.references[other.number - 1]] = points / meeting.games
    return won


def due(now: At, lately: At) -> sa.Select[TaughtCourse, bool]:
    """The courses of which something is to be marked at a moment, and whether that is what was
    late.

    Args:
        lately: since when checks that ended are news.
    """
    late = sa.and_(TaughtCourse.marked < TaughtCourse.late_until, TaughtCourse.late_until <= now)
    return (
        sa.select(TaughtCourse, late)
        .join(CompetitionDate, CompetitionDate.competition_id == TaughtCourse.ladder_id)
        .where(
            CompetitionDate.what == DateKind.FREEZE,
            CompetitionDate.at <= now,
            sa.or_(TaughtCourse.marked.is_(None), late, _has_more(now, lately)),
        )
    )


def begin_due(session: Session) -> str | None:
    """Begins the next marking that is due; gives of which ladder, None if none is.

    What can't be begun is told to the organisers, who do it themselves once they have mended it.
    """
    now = database_time(session)
    query = due(now, now - LATELY).order_by(TaughtCourse.ladder_id)
    for course, is_late in session.execute(query).all():
        is_first, late_until = course.marked is None, course.late_until
        until = deadline_of(session, course)
        if not is_first and late_until is not None and late_until <= now:
            until = late_until
        assert until is not None
        if waits(session, course, until):
            continue
        lock(session, course.ladder)
        session.refresh(course)
        if (course.marked is None) is not is_first:
            continue  # somebody has just done it, or changed its rules
        course.problem = ""
        # What is late is no reason to play all again if nothing of it counts.
        if is_first or _is_unmarked(session, course, until):
            try:
                with session.begin_nested(), speaking(ENGLISH):
                    begin(session, course, now, audit.ARENA)
            except (Refusal, GameError) as error:
                course.problem = str(error)
                log.warning("the course %s is not marked: %s", course.ladder.name, error)
        course.marked = until if is_first or is_late else now
        session.flush()
        return course.ladder.name
    return None


def _has_more(now: At, lately: At) -> sa.ColumnElement[bool]:
    """The condition that a course, with its deadline, has more to mark than when it was marked.

    It has if a check has ended since of what came after the deadline and yet in time, as what began
    to be sent before; or of what came late, once the time for that is over.
    """
    known = sa.select(Entrant.version_id).where(Entrant.competition_id == TaughtCourse.marking_id)
    began = sa.func.coalesce(Check.began, Check.created)
    in_time = began <= CompetitionDate.at
    late = sa.and_(TaughtCourse.late_until <= now, began <= TaughtCourse.late_until)
    return sa.exists().where(
        Check.ended > lately,
        Check.ladder_id == TaughtCourse.ladder_id,
        Check.enters,
        Check.cancelled == "",
        Check.ended > TaughtCourse.marked,
        sa.or_(in_time, late),
        Check.version_id == BotVersion.id,
        BotVersion.status == VersionStatus.READY,
        BotVersion.id.not_in(known),
    )


def _is_unmarked(session: Session, course: TaughtCourse, until: datetime) -> bool:
    """Whether something counts, or may be chosen to, that came by then and that the last marking
    has not."""
    its = sa.select(Entrant.version_id).where(Entrant.competition_id == course.marking_id)
    known = set(session.scalars(its))
    return any(
        one.at <= until and one.version.id not in known
        for one in _to_mark(students(session, course))
    )


def _to_mark(its_students: Collection[Student]) -> list[HandIn]:
    """What they have handed in that can play."""
    return [
        one
        for student in its_students
        for one in (student.in_time, student.late)
        if one is not None
        and one.version.status is VersionStatus.READY
        and not one.version.is_at_home
    ]


def begin(session: Session, course: TaughtCourse, now: datetime, actor: audit.Actor) -> Tournament:
    """Has all that is handed in play against the reference bots; what was under way is called off.

    Raises:
        Refusal: nothing is handed in, or a reference bot can't play, or is another one by now.
    """
    ladder = course.ladder
    drop(session, course, now, actor)
    references = references_of(session, ladder, course.references)
    for name, one in zip(course.references, references, strict=True):
        if course.bot_ids[name] != one.version.bot_id:
            raise Refusal(
                gettext(
                    "%(bot)s is another bot than when it was chosen: set the rules anew", bot=name
                )
            )
    versions = {one.version.id: one.version for one in _to_mark(students(session, course))}
    taken = {one.version.id for one in references}
    field = [NamedPlayer(version) for number, version in versions.items() if number not in taken]
    if not field:
        raise Refusal(gettext("nothing is handed in that could be marked"))
    plan = TournamentPlan(
        free_name(session, ladder.name, "-marking"),
        ladder.variant,
        ladder.time,
        "gauntlet",
        title=f"{cut(ladder.title, 100)}: marking",
        settings={"candidates": len(references), "cycles": _cycles(course)},
        openings=ladder.openings_words,
        limits=ladder.limits,
        seed=derive(ladder.seed, "marking", course.marking_id or 0) % 2**48,
        visibility=Visibility.PRIVATE,
    )
    made = tournaments.create(session, plan, [*references, *field], now, actor)
    _let_in(session, ladder, made, now)
    course.marking_id = made.id
    session.flush()
    return made


def _cycles(course: TaughtCourse) -> int:
    """How often each meets each: in a race more would come out the same."""
    return 1 if course.ladder.variant.seats == 1 else course.cycles


def demand_for_two(ladder: Ladder) -> None:
    """Refuses a game in which a hand-in does not meet one reference bot alone.

    Raises:
        Refusal: it is one for more.
    """
    variant = ladder.variant
    if variant.seats > 1 and entrants_needed(variant) != 2:
        raise Refusal(
            gettext(
                "%(name)s is no ladder of a game for two: it can't be a course", name=ladder.name
            )
        )


def drop(session: Session, course: TaughtCourse, now: datetime, actor: audit.Actor) -> None:
    """Has what was marked count no more; what is under way is called off."""
    if course.marking_id is not None:
        before = session.get_one(Tournament, course.marking_id)
        if before.state is not CompetitionState.CLOSED:
            call_off(session, before, ANEW, now, actor)
    course.marking_id = None


def _let_in(session: Session, ladder: Ladder, made: Tournament, now: datetime) -> None:
    """Has the organisers of a course organise its marking."""
    there = {one.user_id for one in members.members_of(session, made)}
    for one in members.members_of(session, ladder):
        if one.role is MemberRole.ORGANISER and one.user_id not in there:
            its = {"competition_id": made.id, "user_id": one.user_id}
            session.add(Membership(role=MemberRole.ORGANISER, joined=now, **its))
    session.flush()


def references_of(session: Session, ladder: Ladder, names: list[str]) -> list[NamedPlayer]:
    """The reference bots of a course.

    Raises:
        Refusal: one is not there, can't play this game, or is named twice.
    """
    found = named_players(session, names)
    able = proven(session, ladder.game, [one.version for one in found])
    for one in found:
        if one.version.id not in able:
            raise Refusal(
                gettext(
                    "%(bot)s has not proved that it can play %(game)s: enter it on a ladder of it",
                    bot=one.label,
                    game=ladder.game,
                )
            )
    if len({one.label for one in found}) < len(found):
        raise Refusal(gettext("a reference bot is named twice"))
    return found
