"""How organisers make a tournament: a form with the settings of all formats."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, render_template, request, url_for
from wtforms import BooleanField, Field, SelectChoice, SelectField, TextAreaField
from wtforms.validators import Optional

from arena.competitions.tournament_deeds import CreateTournament
from arena.deeds import Done
from arena.formats.catalogue import FORMATS
from arena.models import Scope
from arena.web import queries
from arena.web.deeds import DeedForm, form_of, sent
from arena.web.forms import WholeNumber
from arena.web.identity import needs
from arena.web.lookup import reading

organising_tournaments = Blueprint("organising_tournaments", __name__)


def _settings() -> dict[str, str]:
    """The settings of all formats, each with words that say which of them have it."""
    found: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for kind in FORMATS.values():
        for key, setting in kind.settings.items():
            found.setdefault(key, []).append(kind.title)
            words.setdefault(key, setting.words)
    return {key: f"{', '.join(titles)}: {words[key]}." for key, titles in found.items()}


SETTINGS = _settings()


def _setting(key: str) -> Field:
    label = key.replace("_", " ").capitalize()
    kinds = [kind.settings[key] for kind in FORMATS.values() if key in kind.settings]
    if any(kind.yes_or_no for kind in kinds):
        return BooleanField(label)
    return WholeNumber(label, [Optional()])


TournamentForm = form_of(
    CreateTournament,
    format=SelectField(
        "Format", choices=[SelectChoice(key, kind.title) for key, kind in FORMATS.items()]
    ),
    ladder=SelectField("Ladder", validate_choice=False),
    bots=TextAreaField("Bots", render_kw={"rows": 2}),
    note=TextAreaField("Note", render_kw={"rows": 2}),
    **{key: _setting(key) for key in SETTINGS},
)


@organising_tournaments.route("/new-tournament", methods=["GET", "POST"])
@needs(Scope.ORGANISE)
def create() -> Any:
    """Makes a tournament of bots of a ladder."""
    form = TournamentForm()
    with reading() as session:
        form["ladder"].choices = [
            SelectChoice(one.name, one.title) for one in queries.ladders(session)
        ]
    if request.method == "GET":
        form["ladder"].data = request.args.get("ladder", "")
        return _page(form, "")
    # A box that is not ticked says nothing, and neither does an empty field; a zero does.
    settings = {
        key: int(form[key].data)
        for key in SETTINGS
        if form[key].data is not None and form[key].data is not False
    }
    return sent(CreateTournament, form, again=_page, then=_there, settings=settings)


def _page(form: DeedForm, problem: str) -> str:
    return render_template("new_tournament.html", form=form, problem=problem, SETTINGS=SETTINGS)


def _there(done: Done) -> str:
    return url_for("tournaments.tournament", name=done.answer.name)
