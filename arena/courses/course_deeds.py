"""What can be changed about courses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.competitions.dates import NO_SEASONS, find_date, moment_words, read_moment
from arena.competitions.founding import find_named
from arena.competitions.members import demand_root, membership
from arena.competitions.organised import OrganisedDeed
from arena.competitions.players import named_players
from arena.courses import marking
from arena.courses.hand_ins import deadline_of, demand_deadline, find_course, students
from arena.deeds import By, Done, asked
from arena.ground.locks import lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Check,
    DateKind,
    Entrant,
    Ladder,
    MemberRole,
    Membership,
    TaughtCourse,
    Topic,
    Tournament,
    User,
)
from arena.people.notifications import notify
from engine.translation import N_, gettext

MOST_REFERENCES, MOST_CYCLES, LONGEST_TABLE = 16, 100, 10_000
PUBLISHED = N_("the marks of %(title)s are published")


@dataclass(frozen=True)
class CourseDeed(OrganisedDeed):
    """Changes something about a course."""

    subject = "courses"
    kind = Ladder

    name: str = asked("The ladder's name")


@dataclass(frozen=True)
class SetCourse(CourseDeed):
    """Make a ladder a course, or change its rules: whom its members have to beat, and what mark
    that gives.

    The deadline is the ladder's date freeze. With other reference bots or cycles all is marked
    anew.
    """

    address = "POST /ladders/<name>/course"
    command = "course set NAME"
    example = "ai-1 --references greedy --marks 'greedy 50% 10'"
    lasting = (
        "A ladder that is a course stays one. With other reference bots, or another number of "
        "matches, all hand-ins are marked anew."
    )

    references: tuple[str, ...] = asked(
        "The bots to beat, of rising strength, as greedy or mcts:2:depth=8",
        label="Reference bots",
        most=MOST_REFERENCES,
    )
    marks: str = asked(
        "A rule on each line: a bot, the share of its games to be won, and points, as greedy 50% "
        "10; late 1d -10% for what being late takes off",
        label="Marks",
        most=LONGEST_TABLE,
    )
    cycles: int = asked(
        "How many matches each hand-in plays with each of them",
        label="Matches with each",
        default=10,
        least=1,
        most=MOST_CYCLES,
    )
    late_until: str = asked(
        "Until when hand-ins are taken that are late, as 2026-12-24T18:00Z; none are by default",
        label="Late ones are taken until (UTC)",
        default="",
        most=40,
    )
    given: tuple[str, ...] = asked(
        "Bots whose code everybody was given, which are left out when hand-ins are compared",
        label="Bots whose code everybody was given",
        default=(),
        most=100,
    )

    def do(self, session: Session, by: By) -> Done:
        ladder = find_named(session, Ladder, self.name)
        demand_root(session, ladder)
        marking.demand_for_two(ladder)
        lock(session, ladder)
        season = find_date(session, ladder, DateKind.SEASON)
        if season is not None and season.happened is None:
            raise Refusal(gettext(NO_SEASONS, name=ladder.name))
        references = list(self.references)
        its = marking.references_of(session, ladder, references)
        marking.table_of(references, self.marks)
        its += named_players(session, self.given)
        meant = {
            name: one.version.bot_id
            for name, one in zip([*references, *self.given], its, strict=True)
        }
        until = read_moment(self.late_until) if self.late_until.strip() else None
        found = session.get(TaughtCourse, ladder.id)
        if found is None:
            _demand_nothing_handed_in(session, ladder, by)
            found = TaughtCourse(ladder=ladder, marked=None, marking_id=None)
            session.add(found)
        elif (found.references, found.cycles) != (references, self.cycles) or any(
            meant[name] != found.bot_ids[name] for name in references
        ):
            found.marked = None
            marking.drop(session, found, by.now, by.actor)
        found.references, found.marks = references, self.marks
        found.cycles, found.given = self.cycles, list(self.given)
        found.late_until, found.bot_ids = until, meant
        deadline = deadline_of(session, found)
        if until is not None and deadline is not None and until <= deadline:
            raise Refusal(
                gettext(
                    "late hand-ins come after the deadline, which is on %(moment)s",
                    moment=moment_words(deadline),
                )
            )
        session.flush()
        words = ", ".join([*references, f"{self.cycles} cycles", f"late until {until or '-'}"])
        audit.note(session, by.actor, "set course", f"ladder {ladder.name}", words, now=by.now)
        return Done(gettext("the ladder %(name)s is a course", name=ladder.name))


@dataclass(frozen=True)
class MarkCourse(CourseDeed):
    """Mark what was handed in to a course anew, as with late hand-ins.

    This happens by itself at the deadline, and when the time for late hand-ins is over.
    """

    address = "POST /ladders/<name>/course/mark"
    command = "course mark NAME"
    example = "ai-1"
    answers = Tournament
    lasting = "The marking before does not count any more; if it is under way, it is called off."

    def do(self, session: Session, by: By) -> Done:
        ladder = find_named(session, Ladder, self.name)
        course = find_course(session, ladder)
        lock(session, ladder)  # who marks it at the same moment waits, and calls that one off
        session.refresh(course)
        demand_deadline(session, course, by.now)
        made = marking.begin(session, course, by.now, by.actor)
        course.marked, course.problem = by.now, ""
        said = gettext("what was handed in to %(name)s is being marked", name=ladder.name)
        return Done(said, made)


@dataclass(frozen=True)
class PublishMarks(CourseDeed):
    """Show each student of a course their own mark, or to nobody any more."""

    address = "POST /ladders/<name>/course/publish"
    command = "course publish NAME"
    example = "ai-1"

    off: bool = asked("Show them to nobody any more", default=False)

    def do(self, session: Session, by: By) -> Done:
        ladder = find_named(session, Ladder, self.name)
        course = find_course(session, ladder)
        lock(session, ladder)
        session.refresh(course)
        changes = course.published is self.off
        course.published = not self.off
        if changes:
            what = "hide marks" if self.off else "publish marks"
            audit.note(session, by.actor, what, f"ladder {ladder.name}", now=by.now)
        its = course.marking_id or 0
        if not self.off and course.announced != its:
            course.announced = its
            notify(
                session,
                {one.user.id for one in students(session, course)},
                PUBLISHED,
                {"title": ladder.title},
                f"/ladders/{ladder.name}/course",
                by.now,
                topic=Topic.LADDER,
            )
        said = (
            N_("the marks of %(name)s are shown to nobody but its organisers")
            if self.off
            else N_("each student of %(name)s sees their own mark")
        )
        undo = (replace(self, off=not self.off),) if changes else ()
        return Done(gettext(said, name=ladder.name), undo=undo)


@dataclass(frozen=True)
class ChooseHandIn(CourseDeed):
    """Choose whether a student is marked by a late hand-in, though there is one in time."""

    address = "POST /ladders/<name>/course/choose"
    command = "course choose NAME USER"
    example = "ai-1 ada --late"

    user: str = asked("The student", label="Student", most=80)
    late: bool = asked("Mark them by the late one", default=False)

    def do(self, session: Session, by: By) -> Done:
        ladder = find_named(session, Ladder, self.name)
        course = find_course(session, ladder)
        lock(session, ladder)
        session.refresh(course)
        user = _student(session, ladder, self.user)
        before = user.id in course.late_counts
        if before is not self.late:
            others = [one for one in course.late_counts if one != user.id]
            course.late_counts = [*others, user.id] if self.late else others
            which = "late" if self.late else "in time"
            words = f"{user.name}, {which}"
            audit.note(
                session, by.actor, "choose hand-in", f"ladder {ladder.name}", words, now=by.now
            )
        said = (
            N_("%(user)s is marked by the late hand-in")
            if self.late
            else N_("%(user)s is marked by the hand-in that was in time")
        )
        undo = () if before is self.late else (replace(self, late=before),)
        return Done(gettext(said, user=user.name), undo=undo)


def _demand_nothing_handed_in(session: Session, ladder: Ladder, by: By) -> None:
    """Refuses a ladder on which there are bots already of others than its organisers: who hands in
    to a course gives its organisers the files, and can know so before.

    Raises:
        Refusal: it is one.
    """
    organise = sa.select(Membership.user_id).where(
        Membership.competition_id == ladder.id, Membership.role == MemberRole.ORGANISER
    )
    handed_in = sa.select(Check.version_id).where(Check.ladder_id == ladder.id, Check.enters)
    entered = sa.select(sa.func.coalesce(BotVersion.masks_id, BotVersion.id)).join(Entrant)
    entered = entered.where(Entrant.competition_id == ladder.id)
    others = (
        sa.select(BotVersion.id)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(
            BotVersion.id.in_(sa.union(handed_in, entered)),
            User.name != HOUSE,
            User.id != by.actor.id if by.actor.id is not None else sa.true(),
            User.id.not_in(organise),
        )
    )
    if not by.at_machine and session.scalar(others.limit(1)) is not None:
        raise Refusal(
            gettext(
                "there are bots on %(name)s already, and who handed them in did not give their "
                "files to its organisers, as one does to a course: make it of a new ladder",
                name=ladder.name,
            )
        )


def _student(session: Session, ladder: Ladder, name: str) -> User:
    """A student of a course by their name.

    Raises:
        NotThere: nobody is called so there.
    """
    user = session.scalar(sa.select(User).where(User.named(name)))
    its = user and membership(session, ladder, user)
    if user is None or its is None or its.role is not MemberRole.MEMBER:
        raise NotThere(
            gettext("%(name)s has no student %(user)s", name=ladder.name, user=name[:80])
        )
    return user
