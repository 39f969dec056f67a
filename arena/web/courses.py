"""The pages of courses: what is handed in, its marks, and whose work is alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flask import Blueprint, Response, abort, render_template, request, url_for
from wtforms import TextAreaField

from arena.bots.stored_files import read, tar_of_folders
from arena.courses.course_deeds import ChooseHandIn, MarkCourse, PublishMarks, SetCourse
from arena.courses.marking import CourseMarks, Marked
from arena.courses.report import report, side_by_side
from arena.courses.similarity import MOST_BYTES, Passage
from arena.deeds import Done
from arena.models import Scope, TaughtCourse
from arena.web import identity
from arena.web.api.courses import MOST_PAIRS, USUAL_LEAST, find, its_marks
from arena.web.deeds import DeedForm, add_deed, form_of
from arena.web.downloads import Download
from arena.web.exports import csv_answer
from arena.web.forms import later
from arena.web.identity import keep_to_itself, settings
from arena.web.lookup import find_ladder, reading
from arena.web.permissions import needs
from engine.plurals import time_span
from engine.translation import N_, gettext

courses = Blueprint("courses", __name__)

MOST_LINES, MOST_FRAGMENTS = 200, 50
"""How much is shown of a fragment, and of a pair."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The characters with which a cell begins that spreadsheets would compute."""
CourseForm = form_of(
    SetCourse,
    marks=TextAreaField(
        later(N_("Marks, a rule on each line: bot, share of the games, points")),
        render_kw={"rows": 6, "placeholder": "greedy 50% 10\nlate 1d -10%", "spellcheck": "false"},
    ),
)


class Excerpt(NamedTuple):
    """The lines of a passage."""

    passage: Passage
    lines: list[tuple[int, str]]
    """Each with its number."""


@courses.get("/ladders/<name>/course")
def of(name: str) -> Response:
    """A course: its rules for everybody, all hand-ins for organisers, for students their own."""
    return Response(_page(name))


def _page(name: str, form: DeedForm | None = None, problem: str = "") -> str:
    with reading() as session:
        ladder = find_ladder(session, name)
        is_course = session.get(TaughtCourse, ladder.id) is not None
        account = identity.current()
        if not is_course and not (account and account.organises(ladder)):
            abort(404, gettext("%(name)s is no course.", name=ladder.title))
    marks, to_organiser = its_marks(name) if is_course else (None, True)
    return render_template(
        "course.html",
        ladder=ladder,
        marks=marks,
        organiser=to_organiser,
        time_span=time_span,
        told=to_organiser or (marks is not None and marks.course.published),
        form=form or CourseForm(formdata=None, **(_filled(marks.course) if marks else {})),
        problem=problem,
    )


def _filled(course: TaughtCourse) -> dict[str, Any]:
    until = course.late_until
    return {
        "references": " ".join(course.references),
        "marks": course.marks,
        "cycles": course.cycles,
        "late_until": f"{until:%Y-%m-%dT%H:%MZ}" if until else "",
        "given": " ".join(course.given),
    }


@courses.get("/ladders/<name>/course.csv")
@needs(Scope.ORGANISE, of_one=True)
def grades(name: str) -> Response:
    """All hand-ins with their marks, for grading."""
    find(name, for_organisers=True)
    marks, _ = its_marks(name)
    head = ["name", "mail", "bot", "version", "handed_in", "late_by_seconds"]
    rules = [_title(number, marks) for number in range(len(marks.table.rules))]
    columns = [*head, *rules, "taken_off", "mark", "final"]
    return keep_to_itself(
        csv_answer([_row(one, rules, marks.final) for one in marks.students], columns)
    )


def _title(number: int, marks: CourseMarks) -> str:
    rule = marks.table.rules[number]
    share = "share" if rule.share is None else f"{rule.share:.4g}"
    return f"{number + 1}: {rule.reference} {share} {rule.points:g}"


def _row(one: Marked, rules: Sequence[str], final: bool) -> dict[str, Any]:
    counts, mark = one.student.counts, one.mark
    row: dict[str, Any] = {"name": _cell(one.student.user.name)}
    row["mail"] = _cell(one.student.mail or "")
    if counts is not None:
        row |= {
            "bot": _cell(counts.version.bot.name),
            "version": counts.version.number,
            "handed_in": counts.at.isoformat(),
            "late_by_seconds": round(counts.late.total_seconds()),
        }
    if mark is not None:
        row |= dict(zip(rules, mark.by_rule, strict=True))
        row |= {"taken_off": round(mark.taken_off, 6), "mark": round(mark.points, 6)}
        row["final"] = "yes" if final else "no"
    return row


def _cell(text: str) -> str:
    """A text as no spreadsheet takes it for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


@courses.get("/ladders/<name>/course.tar")
@needs(Scope.ORGANISE, of_one=True)
def archive(name: str) -> Response:
    """Each student's files as they were handed in, a folder each; ``?late=yes`` for those by which
    they are marked."""
    ladder, _ = find(name, for_organisers=True)
    marks, _ = its_marks(name)
    late = request.args.get("late") == "yes"
    its = {
        one.student.user.name: one.student.counts if late else one.student.in_time
        for one in marks.students
    }
    folders = {who: one.version.digest for who, one in its.items() if one and one.version.digest}
    answer = Response(
        Download(tar_of_folders(settings().bundles, folders)), mimetype="application/x-tar"
    )
    answer.headers.set("Content-Disposition", "attachment", filename=f"{ladder.name}.tar")
    return keep_to_itself(answer)


@courses.get("/ladders/<name>/course/alike")
@needs(Scope.ORGANISE, of_one=True)
def alike(name: str) -> Response:
    """Whose hand-ins are alike; ``?first=NAME&second=NAME`` shows two of them side by side."""
    ladder, _ = find(name, for_organisers=True)
    names = [request.args.get(key, "")[:80] for key in ("first", "second")]
    with identity.database().read() as session:
        course = session.get_one(TaughtCourse, ladder.id)
        if all(names):
            found = side_by_side(session, course, *names)
            texts = _lines(found.first), _lines(found.second)
            shown = [
                (_excerpt(texts[0], one.first), _excerpt(texts[1], one.second))
                for one in found.fragments[:MOST_FRAGMENTS]
            ]
            page = render_template(
                "alike_pair.html",
                ladder=ladder,
                names=names,
                fragments=shown,
                more=len(found.fragments) - len(shown),
            )
            return keep_to_itself(Response(page))
        whole = report(session, course)
    least = min(max(request.args.get("least", 100 * USUAL_LEAST, type=float), 0.0), 100.0)
    pairs = [one for one in whole.likenesses if 100 * one.share >= least][:MOST_PAIRS]
    page = render_template("alike.html", ladder=ladder, report=whole, pairs=pairs, least=least)
    return keep_to_itself(Response(page))


def _lines(digest: str) -> Mapping[str, list[str]]:
    """The lines of each file of a bundle; none if it is not stored any more."""
    try:
        files = read(settings().bundles / digest, MOST_BYTES)
    except OSError:
        return {}
    return {name: one.content.decode("utf-8", "replace").split("\n") for name, one in files.items()}


def _excerpt(files: Mapping[str, list[str]], passage: Passage) -> Excerpt:
    lines = files.get(passage.file, [])
    last = min(passage.last, passage.first + MOST_LINES - 1, len(lines))
    return Excerpt(passage, [(n, lines[n - 1]) for n in range(passage.first, last + 1)])


def _there(_: Done, name: str) -> str:
    return url_for("courses.of", name=name)


add_deed(
    courses, "/ladders/<name>/course/set", SetCourse, then=_there, again=_page, form=CourseForm
)
add_deed(courses, "/ladders/<name>/course/mark", MarkCourse, then=_there)
add_deed(courses, "/ladders/<name>/course/publish", PublishMarks, then=_there)
add_deed(courses, "/ladders/<name>/course/choose", ChooseHandIn, then=_there)
