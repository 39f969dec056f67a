"""What each student of a course has handed in: in time, and late.

Theory of operation. A student is a member who is no organiser; theirs are the bots that they owned
at the deadline, and those of a team to which they belonged then; of what is late, when it was
handed in. What counts is a function of rows that stay: the version that was handed in last by the
deadline and passed its check, or an older one that was fielded again after it. So it is the same
whenever somebody asks, and a check that ends after the deadline changes nothing but that it is
known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from arena.competitions.dates import find_date
from arena.ground.db import database_time
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    DateKind,
    Entrant,
    FormerMember,
    JobStatus,
    MemberRole,
    Membership,
    TaughtCourse,
    TeamMember,
    User,
)
from engine.translation import gettext


class HandIn(NamedTuple):
    """A version that was handed in."""

    version: BotVersion
    at: datetime
    late: timedelta
    """How late it was; nothing if it was in time."""


class _Having(NamedTuple):
    """A time in which somebody has the bots of an owner, from one moment until before another."""

    user_id: int
    since: datetime = datetime.min.replace(tzinfo=UTC)
    until: datetime = datetime.max.replace(tzinfo=UTC)


class Student(NamedTuple):
    """What somebody has handed in."""

    user: User
    in_time: HandIn | None
    late: HandIn | None
    """The last that was late."""
    takes_late: bool
    """Whether the organiser has chosen that this one counts, though there is one in time."""

    @property
    def counts(self) -> HandIn | None:
        """The one by which they are marked; None if they have handed in nothing."""
        if self.late is not None and (self.takes_late or self.in_time is None):
            return self.late
        return self.in_time

    @property
    def mail(self) -> str | None:
        """Their address, for organisers: of whoever has handed something in, since anybody can be
        made a member."""
        return self.user.mail if self.in_time or self.late else None


def find_course(session: Session, ladder: Competition) -> TaughtCourse:
    """The course that a ladder is.

    Raises:
        NotThere: it is none.
    """
    found = session.get(TaughtCourse, ladder.id)
    if found is None:
        raise NotThere(gettext("%(name)s is no course", name=ladder.name))
    return found


def deadline_of(session: Session, course: TaughtCourse) -> datetime | None:
    """When what is handed in has to be there; None if nobody has said."""
    date = find_date(session, course.ladder, DateKind.FREEZE)
    return date.at if date else None


def demand_deadline(session: Session, course: TaughtCourse, now: datetime) -> datetime:
    """The deadline of a course, which is past.

    Raises:
        Refusal: it is not, or there is none.
    """
    deadline = deadline_of(session, course)
    if deadline is None or deadline > now:
        raise Refusal(
            gettext(
                "%(name)s is marked from its deadline on: that is its date freeze",
                name=course.ladder.name,
            )
        )
    return deadline


def students(session: Session, course: TaughtCourse, user_id: int | None = None) -> list[Student]:
    """All students of a course by their names, with what they have handed in.

    Before the deadline that is what would count if it were now.

    Args:
        user_id: only this one.
    """
    its = sa.select(User).join(Membership, Membership.user_id == User.id)
    its = its.where(
        Membership.competition_id == course.ladder_id, Membership.role == MemberRole.MEMBER
    )
    if user_id is not None:
        its = its.where(User.id == user_id)
    people = session.scalars(its.order_by(User.lower_name)).all()
    deadline = deadline_of(session, course)
    whose = deadline or database_time(session)
    owners = _owners(session, [one.id for one in people])
    moments: dict[int, list[tuple[datetime, BotVersion]]] = defaultdict(list)
    for at, version in _moments(session, course, list(owners)):
        bot, by = version.bot, max(at, whose)
        if bot.owned is None or bot.owned <= by:
            for one in owners[bot.owner_id]:
                if one.since <= by < one.until:
                    moments[one.user_id].append((at, version))
    return [_student(course, deadline, one, moments[one.id]) for one in people]


def waits(session: Session, course: TaughtCourse, until: datetime) -> bool:
    """Whether something was handed in by a moment of which the check is not over."""
    query = sa.select(Check.id).where(
        Check.ladder_id == course.ladder_id,
        Check.enters,
        Check.cancelled == "",
        Check.status.in_((JobStatus.OPEN, JobStatus.ISSUED)),
        sa.func.coalesce(Check.began, Check.created) <= until,
    )
    return session.scalar(query.limit(1)) is not None


def _student(
    course: TaughtCourse,
    deadline: datetime | None,
    user: User,
    moments: Sequence[tuple[datetime, BotVersion]],
) -> Student:
    in_time = late = None
    for at, version in sorted(moments, key=lambda one: (one[0], one[1].id)):
        if deadline is None or at <= deadline:
            in_time = HandIn(version, at, timedelta(0))
        elif in_time is not None and in_time.version.id == version.id:
            late = None  # they have come back to it
        else:
            late = HandIn(version, at, at - deadline)
    return Student(user, in_time, late, user.id in course.late_counts)


def _owners(session: Session, people: Sequence[int]) -> dict[int, list[_Having]]:
    """Whose bots some people have, their own and those of teams, by the id of the person or the
    team that owns bots."""
    found = {one: [_Having(one)] for one in people}
    now = sa.select(TeamMember).where(TeamMember.user_id.in_(people))
    for member in session.scalars(now):
        its = _Having(member.user_id, member.joined)
        found.setdefault(member.team_id, []).append(its)
    former = sa.select(FormerMember).where(FormerMember.user_id.in_(people))
    for once in session.scalars(former):
        its = _Having(once.user_id, once.joined, once.left)
        found.setdefault(once.team_id, []).append(its)
    return found


def _moments(
    session: Session, course: TaughtCourse, owners: Sequence[int]
) -> Iterator[tuple[datetime, BotVersion]]:
    """When each version of somebody's was handed in for a course, or fielded again."""
    of_them = Bot.owner_id.in_(owners)
    checks = (
        sa.select(Check)
        .join(Check.version)
        .join(BotVersion.bot)
        .where(Check.ladder_id == course.ladder_id, Check.enters, Check.cancelled == "", of_them)
        .options(joinedload(Check.version).joinedload(BotVersion.bot))
    )
    checked = set()
    for check in session.scalars(checks):
        if check.passed:
            checked.add(check.version_id)
            yield check.began or check.created, check.version
    # On an anonymous ladder it is their masks that are entered.
    real = aliased(BotVersion)
    entrants = (
        sa.select(Entrant, real)
        .join(Entrant.version)
        .join(real, real.id == sa.func.coalesce(BotVersion.masks_id, BotVersion.id))
        .join(Bot, Bot.id == real.bot_id)
        .where(Entrant.competition_id == course.ladder_id, ~Entrant.is_tried, of_them)
        .options(joinedload(real.bot))
    )
    for entrant, version in session.execute(entrants):
        if version.id not in checked:  # it was tried there, and entered without another
            yield entrant.entered, version
        for at in entrant.returned_at:
            yield datetime.fromisoformat(at), version
