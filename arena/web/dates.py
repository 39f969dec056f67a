"""Dates of competitions on pages: how they are told, and the page on which organisers set them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from wtforms import StringField

from arena.competitions.date_deeds import RemoveDate, SetDate
from arena.competitions.date_settings import (
    MOST_IN_DIVISION,
    PERIOD_WORDS,
    PERIODS,
    USUAL_IN_FINAL,
    USUAL_RESERVE,
)
from arena.competitions.dates import (
    TITLES,
    WORDS,
    dates_of,
    moment_words,
    read_moment,
)
from arena.competitions.kinds import kind_of
from arena.competitions.round_deeds import NameBoss
from arena.competitions.rounds import bosses_of
from arena.deeds import Done
from arena.formats.catalogue import FORMATS
from arena.ground.refusals import Refusal
from arena.models import DateKind, Scope
from arena.web.deeds import DeedForm, add_deed, form_of, sent
from arena.web.identity import began
from arena.web.lookup import find_competition, reading
from arena.web.permissions import demand_organiser, needs
from arena.web.words import sentence
from engine.match import entrants_needed
from engine.translation import gettext

dates = Blueprint("dates", __name__)

SETTINGS = ("top", "format", "reserve", "keep", "every", "size", "moves")
"""The fields of dates' settings; those of a format stand in one, as KEY=VALUE."""
DateForm = form_of(SetDate, settings=StringField())


def minutes(moment: datetime | str) -> str:
    """A moment, or what was typed as one, as a field has it, in UTC."""
    if isinstance(moment, str):
        try:
            moment = read_moment(moment)
        except Refusal:
            return ""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M}"


def given_dates() -> dict[str, str]:
    """The dates with which a form was sent that makes a competition, by what happens."""
    given = ((what, request.form.get(f"date-{what}", "").strip()) for what in map(str, DateKind))
    return {what: at for what, at in given if at}


FILTERS = {"utc": moment_words, "minutes": minutes, "sentence": sentence}
GLOBALS = {
    "clock": began,
    "given_dates": given_dates,
    "DATE_TITLES": TITLES,
    "PERIOD_WORDS": PERIOD_WORDS,
    "DATE_WORDS": WORDS,
    "FORMAT_TITLES": {name: kind.title for name, kind in FORMATS.items()},
}


@dates.route("/competitions/<name>/dates", methods=["GET", "POST"])
@needs(Scope.ORGANISE, of_one=True)
def of(name: str) -> Any:
    """The dates of a ladder or a tournament, to be set, moved and removed."""
    form = DateForm()
    if request.method == "GET":
        return _page(name, form, "")
    settings = {key: text for key in SETTINGS if (text := request.form.get(key, "").strip())}
    for word in request.form.get("more", "").replace(",", " ").split():
        key, _, text = word.partition("=")
        settings[key] = text
    form["at"].data = request.form.get(f"at-{request.form.get('what')}", "")
    there = {"name": name}
    return sent(SetDate, form, again=_page, then=_there, there=there, settings=settings)


def _there(_: Done, name: str) -> str:
    return url_for("dates.of", name=name)


def _page(name: str, form: DeedForm, problem: str) -> str:
    wrong = problem or " ".join(error for errors in form.errors.values() for error in errors)
    with reading() as session:
        found = find_competition(session, name)
        demand_organiser(found)
        kinds = kind_of(found).dates
        if not kinds:
            abort(404, gettext("%(name)s has no dates.", name=found.title))
        there = {str(one.what): one for one in dates_of(session, found)}
        more = {
            what: " ".join(f"{key}={value}" for key, value in its.settings["settings"].items())
            for what, its in there.items()
            if "settings" in its.settings
        }
        seats = 2 if found.variant.seats == 1 else entrants_needed(found.variant)
        return render_template(
            "dates.html",
            competition=found,
            kinds=[str(kind) for kind in kinds],
            dates=there,
            formats=[key for key, kind in FORMATS.items() if seats in kind.for_seats],
            more=more,
            bosses=bosses_of(session, found) if DateKind.ROUND in kinds else {},
            asked={**request.form, "at": form["at"].data} if wrong else {},
            problem=wrong,
            PERIODS=PERIODS,
            MOST_IN_DIVISION=MOST_IN_DIVISION,
            USUAL_IN_FINAL=USUAL_IN_FINAL,
            USUAL_RESERVE=USUAL_RESERVE,
        )


add_deed(dates, "/competitions/<name>/dates/remove", RemoveDate, then=_there)
add_deed(dates, "/competitions/<name>/bosses", NameBoss, then=_there)
