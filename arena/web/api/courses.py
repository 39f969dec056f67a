"""Operations on courses."""

from __future__ import annotations

from typing import Annotated

from flask import abort
from pydantic import Field

from arena.courses import hand_ins, marking
from arena.courses.marking import CourseMarks
from arena.courses.report import report
from arena.ground.refusals import NotThere
from arena.models import Ladder, Scope, TaughtCourse
from arena.web import identity
from arena.web.api.course_shapes import CourseShape, LikenessReport
from arena.web.api.shapes import Shape
from arena.web.api.specification import operation
from arena.web.lookup import find_ladder, reading
from arena.web.permissions import demand_organiser
from arena.web.words import sentence

TAG = "courses"
MOST_PAIRS, USUAL_PAIRS, USUAL_LEAST = 1000, 50, 0.3


class AlikeQuery(Shape):
    """Which pairs are wanted."""

    most: Annotated[int, Field(ge=1, le=MOST_PAIRS)] = USUAL_PAIRS
    least: Annotated[float, Field(ge=0, le=1)] = USUAL_LEAST


def find(name: str, *, for_organisers: bool = False) -> tuple[Ladder, TaughtCourse]:
    """The ladder of a name that who asks sees, and the course that it is.

    Args:
        for_organisers: refuses others.
    """
    with reading() as session:
        ladder = find_ladder(session, name)
        if for_organisers:
            demand_organiser(ladder)
        try:
            return ladder, hand_ins.find_course(session, ladder)
        except NotThere as error:
            abort(404, sentence(error))


def its_marks(name: str) -> tuple[CourseMarks, bool]:
    """The marks of a course that who asks may see: those of all for organisers, else just their
    own; and whether it is an organiser.

    Nobody but organisers sees the tournament by which it is marked. So it is read by a session that
    sees all, once it is known who is told.
    """
    ladder, _ = find(name)
    account = identity.current()
    to_organiser = account is not None and account.organises(ladder)
    who = None if to_organiser else account.id if account else 0
    with identity.database().read() as session:
        course = session.get_one(TaughtCourse, ladder.id)
        return marking.marks_of(session, course, who), to_organiser


@operation("GET /ladders/<name>/course", CourseShape, tag=TAG)
def get_course(name: str) -> CourseShape:
    """A course with its rules; with all hand-ins and marks for its organisers, for a student with
    their own."""
    marks, to_organiser = its_marks(name)
    return CourseShape.told(marks, to_organiser=to_organiser)


@operation(
    "GET /ladders/<name>/course/alike",
    LikenessReport,
    tag=TAG,
    scope=Scope.ORGANISE,
    of_one=True,
)
def list_alike(name: str, query: AlikeQuery) -> LikenessReport:
    """Whose hand-ins have code in common, the most alike first, for the organisers of a course."""
    ladder, _ = find(name, for_organisers=True)
    with identity.database().read() as session:
        found = report(session, session.get_one(TaughtCourse, ladder.id))
        return LikenessReport.told(found, query.most, query.least)
