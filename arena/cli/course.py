"""The command course: hand-ins that are marked by bots to beat, and compared."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import click
from sqlalchemy.orm import Session

from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read
from arena.competitions.founding import find_named
from arena.courses.hand_ins import find_course
from arena.courses.marking import marks_of
from arena.courses.report import report
from arena.ground.config import Settings
from arena.models import Ladder
from arena.web.api.course_shapes import CourseShape, LikenessReport
from engine.translation import N_


@click.group()
def course() -> None:
    """Have what a class hands in marked by bots to beat, and compared."""


@course.command("show")
@click.argument("name")
@on_arena
@as_json
def show_command(name: str, where: Where, in_json: bool) -> None:
    """List what was handed in to a course, with its marks. A server tells all to its organisers,
    and students what is their own.

    Example: arena course show ai-1
    """

    def here(session: Session, _: Settings) -> CourseShape:
        found = find_course(session, find_named(session, Ladder, name))
        return CourseShape.told(marks_of(session, found), to_organiser=True)

    found = read(where, f"/ladders/{quote(name, safe='')}/course", here)
    if in_json:
        click.echo(json.dumps(found))
        return
    show(
        found["students"],
        (N_("user"), N_("bot"), N_("version"), N_("late by"), N_("mark")),
        in_json=False,
        cells=_cells,
    )


def _cells(one: dict[str, Any]) -> dict[str, Any]:
    counts, mark = one["counts"] or {}, one["mark"]
    return {
        "user": one["user"],
        "bot": counts.get("bot", ""),
        "version": counts.get("version", ""),
        "late by": f"{counts['late_seconds'] / 3600:.1f} h" if counts.get("late_seconds") else "",
        "mark": f"{mark['points']:g}" if mark else "",
    }


@course.command("alike")
@click.argument("name")
@click.option("--most", type=click.IntRange(1, 1000), default=50, help="At most so many pairs.")
@click.option(
    "--least", type=click.FloatRange(0, 1), default=0.3, help="Those that have so much in common."
)
@on_arena
@as_json
def alike_command(name: str, most: int, least: float, where: Where, in_json: bool) -> None:
    """List whose hand-ins have code in common, the most alike first.

    Example: arena course alike ai-1 --least 0.5
    """

    def here(session: Session, _: Settings) -> LikenessReport:
        found = find_course(session, find_named(session, Ladder, name))
        return LikenessReport.told(report(session, found), most, least)

    path = f"/ladders/{quote(name, safe='')}/course/alike"
    found = read(where, path, here, most=most, least=least)
    if in_json:
        click.echo(json.dumps(found))
        return
    columns = (N_("first"), N_("second"), N_("share"), N_("prints"))
    show(
        found["pairs"],
        columns,
        in_json=False,
        cells=lambda one: {**one, "share": f"{one['share']:.0%}"},
    )


deeds.add_commands(course)
