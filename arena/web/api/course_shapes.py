"""What the API says of courses."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field

from arena.courses.hand_ins import HandIn
from arena.courses.marking import CourseMarks, Marked
from arena.courses.report import Report, UnreadFile
from arena.courses.similarity import Likeness
from arena.web.api.shapes import Shape


class HandInShape(Shape):
    """A version that was handed in."""

    bot: str
    version: int
    digest: str
    at: datetime = Field(description="When it began to be handed in.")
    late_seconds: float = Field(description="By how much it was late; 0 if it was in time.")

    @classmethod
    def told(cls, one: HandIn | None) -> Self | None:
        """The shape of a hand-in, if there is one."""
        return one and cls(
            bot=one.version.bot.name,
            version=one.version.number,
            digest=one.version.digest,
            at=one.at,
            late_seconds=one.late.total_seconds(),
        )


class MarkShape(Shape):
    """What mark a hand-in gets."""

    points: float
    by_rule: list[float] = Field(description="What each rule gave, in their order.")
    taken_off: float = Field(description="What share of all points being late took, from 0 to 1.")
    won: dict[str, float] = Field(
        description="What share of the games was won against each reference bot, from 0 to 1."
    )


class StudentShape(Shape):
    """What a student handed in, and their mark."""

    user: str
    mail: str | None = Field(
        description="The mail address of who has handed something in, for organisers."
    )
    in_time: HandInShape | None
    late: HandInShape | None = Field(description="The last that was late.")
    counts: HandInShape | None = Field(description="The one by which they are marked.")
    mark: MarkShape | None = Field(description="Null before there is one, or it is not published.")

    @classmethod
    def told(cls, one: Marked, *, to_organiser: bool, marked: bool) -> Self:
        """The shape of a student's hand-ins and mark.

        Args:
            marked: whether the mark is told.
        """
        mark = one.mark if marked else None
        return cls(
            user=one.student.user.name,
            mail=one.student.mail if to_organiser else None,
            in_time=HandInShape.told(one.student.in_time),
            late=HandInShape.told(one.student.late),
            counts=HandInShape.told(one.student.counts),
            mark=mark
            and MarkShape(
                points=mark.points,
                by_rule=list(mark.by_rule),
                taken_off=mark.taken_off,
                won=dict(one.won),
            ),
        )


class CourseShape(Shape):
    """A course: what is to be handed in until when, and what was."""

    ladder: str
    deadline: datetime | None
    late_until: datetime | None
    references: list[str]
    marks: str = Field(description="The rules, one a line.")
    best: float = Field(description="The best mark.")
    cycles: int
    given: list[str]
    published: bool = Field(description="Whether students see their own marks.")
    marking: str | None = Field(description="The tournament of the marking, for organisers.")
    final: bool | None = Field(
        description="Whether all is played by which hand-ins are marked; null if not told yet."
    )
    problem: str = Field(description="Why nothing is marked, for organisers.")
    students: list[StudentShape] = Field(
        description="All of them for organisers; for a student just themselves."
    )

    @classmethod
    def told(cls, marks: CourseMarks, *, to_organiser: bool) -> Self:
        """The shape of a course and its marks."""
        course, told = marks.course, to_organiser or marks.course.published
        return cls(
            ladder=course.ladder.name,
            deadline=marks.deadline,
            late_until=course.late_until,
            references=course.references,
            marks=course.marks,
            best=marks.table.most,
            cycles=course.cycles,
            given=course.given,
            published=course.published,
            marking=marks.marking.name if marks.marking and to_organiser else None,
            final=marks.final if told else None,
            problem=course.problem if to_organiser else "",
            students=[
                StudentShape.told(one, to_organiser=to_organiser, marked=told)
                for one in marks.students
            ],
        )


class LikenessShape(Shape):
    """How alike two hand-ins are."""

    first: str
    second: str
    share: float = Field(description="The larger of the next two.")
    of_first: float = Field(description="What share of the first stands in the second, 0 to 1.")
    of_second: float
    prints: int = Field(description="How many fingerprints they have in common.")


class UnreadShape(Shape):
    """A file that is not compared."""

    student: str
    file: str = Field(description="Empty for all of them.")
    why: str


class LikenessReport(Shape):
    """How alike the hand-ins of a course are."""

    compared: int
    waiting: int = Field(description="How many hand-ins are not read yet.")
    unread: list[UnreadShape]
    pairs: list[LikenessShape] = Field(description="The most alike first.")

    @classmethod
    def told(cls, found: Report, most: int, least: float) -> Self:
        """What travels of one: so many pairs that have so much in common."""
        pairs = [one for one in found.likenesses if one.share >= least][:most]
        return cls(
            compared=found.compared,
            waiting=found.waiting,
            unread=list(map(_unread, found.unread)),
            pairs=list(map(_alike, pairs)),
        )


def _unread(one: UnreadFile) -> UnreadShape:
    return UnreadShape(student=one.student, file=one.file, why=one.why)


def _alike(one: Likeness) -> LikenessShape:
    return LikenessShape(
        first=one.first,
        second=one.second,
        share=one.share,
        of_first=one.of_first,
        of_second=one.of_second,
        prints=one.prints,
    )
