"""The forms of tournaments: one is made, its field is changed, it is paused or called off."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from wtforms import BooleanField, Field, SelectChoice, SelectField, TextAreaField
from wtforms.validators import InputRequired, Optional

from arena.competitions.fields import entrants_of
from arena.competitions.tournament_deeds import (
    CallOffTournament,
    ChangeTournament,
    CreateTournament,
    EnterTournament,
    WithdrawFromTournament,
    may_withdraw,
)
from arena.competitions.tournament_fields import has_begun
from arena.deeds import Done
from arena.formats.catalogue import FORMATS, settings_of_all
from arena.formats.settings import FormatSetting
from arena.models import EntrantState, Scope
from arena.web import queries
from arena.web.deeds import DeedForm, add_deed, form_of, sent
from arena.web.forms import WholeNumber
from arena.web.identity import needs, signed_in
from arena.web.lookup import find_tournament, reading

tournament_forms = Blueprint("tournament_forms", __name__)


SETTINGS = {
    key: f"{', '.join(FORMATS[name].title for name in names)}: {setting.words}."
    for key, (setting, names) in settings_of_all().items()
}
"""The settings of all formats, each with words that say which of them have it."""


def _setting(key: str, setting: FormatSetting) -> Field:
    label = key.replace("_", " ").capitalize()
    return BooleanField(label) if setting.yes_or_no else WholeNumber(label, [Optional()])


TournamentForm = form_of(
    CreateTournament,
    format=SelectField(
        "Format", choices=[SelectChoice(key, kind.title) for key, kind in FORMATS.items()]
    ),
    ladder=SelectField("Ladder", validate_choice=False),
    bots=TextAreaField("Bots", render_kw={"rows": 2}),
    note=TextAreaField("Note", render_kw={"rows": 2}),
    **{key: _setting(key, setting) for key, (setting, _) in settings_of_all().items()},
)


@tournament_forms.route("/new-tournament", methods=["GET", "POST"])
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
        return _new_page(form, "")
    # A box that is not ticked says nothing, and neither does an empty field; a zero does.
    settings = {
        key: int(form[key].data)
        for key in SETTINGS
        if form[key].data is not None and form[key].data is not False
    }
    return sent(CreateTournament, form, again=_new_page, then=_made, settings=settings)


def _new_page(form: DeedForm, problem: str) -> str:
    return render_template("new_tournament.html", form=form, problem=problem, SETTINGS=SETTINGS)


def _made(done: Done) -> str:
    return url_for("tournaments.tournament", name=done.answer.name)


CallOffForm = form_of(
    CallOffTournament,
    confirmed=BooleanField(
        "It is over for ever, and nobody wins it",
        [InputRequired("A tournament that was called off never goes on: tick that this is meant.")],
    ),
)


@tournament_forms.get("/tournaments/<name>/change")
@needs(Scope.SUBMIT)
def change(name: str) -> str:
    """What somebody can decide about a tournament."""
    return _change_page(name, CallOffForm(formdata=None), "")


def _change_page(name: str, form: DeedForm, problem: str) -> str:
    who = signed_in()
    with reading() as session:
        found = find_tournament(session, name)
        mine = [
            one
            for one in entrants_of(session, found)
            if one.state is not EntrantState.RETIRED and may_withdraw(who.by(), one)
        ]
    if not mine and not who.may(Scope.ORGANISE):
        abort(403, "You have no bot in this tournament.")
    return render_template(
        "change_tournament.html",
        tournament=found,
        begun=has_begun(found),
        mine=mine,
        form=form,
        problem=problem,
    )


def _again(name: str, form: DeedForm, problem: str) -> str:
    """The page after a form whose fields are not those of `CallOffForm`: all is said above."""
    problem = problem or " ".join(error for errors in form.errors.values() for error in errors)
    return _change_page(name, CallOffForm(formdata=None), problem)


def _changed(_: Done, name: str) -> str:
    return url_for("tournaments.tournament", name=name)


def _add(what: str, deed: Any, **how: Any) -> None:
    add_deed(tournament_forms, f"/tournaments/<name>/{what}", deed, then=_changed, **how)


_add("state", ChangeTournament)
_add("enter", EnterTournament, again=_again)
_add("withdraw", WithdrawFromTournament, again=_again)
_add("call-off", CallOffTournament, again=_change_page, form=CallOffForm)
