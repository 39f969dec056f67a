"""What organisers do with ladders: make one, change it, open, pause, freeze or close it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask_wtf import FlaskForm
from werkzeug.wrappers import Response
from wtforms import Field, SelectField, StringField

from arena.competitions import ladder_settings
from arena.competitions.ladder_settings import SETTINGS, LadderError
from arena.models import CompetitionState, Ladder, Scope
from arena.web.forms import NEEDED
from arena.web.identity import database, needs, signed_in
from arena.web.lookup import find_ladder, reading
from arena.web.words import sentence
from engine.game import Game, OptionError
from engine.games import GAMES

organising_ladders = Blueprint("organising_ladders", __name__)

REFUSED = 422
LABELS = {
    "draws": "Draws",
    "weight": "Share of the workers",
    "time": "Time a game",
    "move": "Time a move",
    "charge": "Clocks count",
    "bundle": "Files",
    "log": "Standard error",
}
"""What the fields are called, where that is not just the setting's name."""
SHOWN = "shown-"
"""What the names of fields begin with that say what was there before."""
OPTION = "option-"
"""What the names of a game's options begin with in a form, apart from those of settings."""


def _field(key: str) -> Any:
    """The field of a setting; every rule of it is the setting's own."""
    label, its = LABELS.get(key, key.capitalize()), SETTINGS[key]
    if its.choices:
        return SelectField(label, choices=list(its.choices), default=its.default)
    # Milliseconds a move are the default only as long as no time a game is given.
    return StringField(label, default="" if key == "move" else its.default)


class LadderForm(FlaskForm):
    """The settings of a ladder but its state; each field has the setting's name."""

    @property
    def chosen(self) -> dict[str, str]:
        """What was typed, by the settings' names; an empty field says nothing."""
        texts = {key: (self[key].data or "").strip() for key in SETTINGS if key in self}
        return {key: text for key, text in texts.items() if text or key in ("title", "note")}

    @property
    def shown(self) -> dict[str, str]:
        """What the fields held when the page was asked for, by the names of those that say it."""
        return {
            f"{SHOWN}{key}": request.form.get(f"{SHOWN}{key}", self[key].object_data or "")
            for key in SETTINGS
            if key in self
        }

    @property
    def changed(self) -> dict[str, str]:
        """What was typed over what was shown, so that nobody undoes what another changed."""
        return {
            key: text
            for key, text in self.chosen.items()
            if text != request.form.get(f"{SHOWN}{key}")
        }


for _key in SETTINGS:
    if _key != "state":
        setattr(LadderForm, _key, _field(_key))


class NewLadderForm(LadderForm):
    """A ladder to be made."""

    name = StringField("Name", [NEEDED], render_kw={"autocomplete": "off"})

    @property
    def options(self) -> list[Field]:
        """The fields of the game's options."""
        return [field for field in self if field.name.startswith(OPTION)]


def _form_of(game: Game) -> type[NewLadderForm]:
    """The form for a ladder of a game, with a field for each of its options."""
    fields = {
        f"{OPTION}{key}": StringField(key.capitalize(), default=option.default)
        for key, option in game.options.items()
    }
    return type("NewLadderForm", (NewLadderForm,), fields)


@organising_ladders.get("/new-ladder")
@needs(Scope.ORGANISE)
def choose_game() -> str:
    """Asks of which game the ladder is to be."""
    return render_template("new_ladder.html", games=GAMES, game=None)


@organising_ladders.route("/new-ladder/<game>", methods=["GET", "POST"])
@needs(Scope.ORGANISE)
def create(game: str) -> Any:
    """Makes a ladder of a game."""
    chosen = GAMES.get(game) or abort(404, f"There is no game {game}.")
    form = _form_of(chosen)()
    problem = ""
    if form.validate_on_submit():
        try:
            return redirect(url_for("pages.leaderboard", name=_create(chosen, form)))
        except (LadderError, OptionError) as error:
            problem = sentence(error)
    page = render_template(
        "new_ladder.html", games=GAMES, game=chosen, form=form, problem=problem, SETTINGS=SETTINGS
    )
    return page, REFUSED if form.errors or problem else 200


def _create(game: Game, form: NewLadderForm) -> str:
    """Makes what the form asks for, and gives its name.

    Raises:
        LadderError, OptionError: it can't be.
    """
    variant = game.variant(
        **{
            field.name.removeprefix(OPTION): field.data.strip()
            for field in form.options
            if field.data
        }
    )
    chosen = {key: text for key, text in form.chosen.items() if text}
    with database().begin() as session:
        made = ladder_settings.create(
            session, signed_in().actor, form.name.data or "", variant, chosen, datetime.now(UTC)
        )
        flash(f"{made.title} is open: it plays as soon as two bots have entered.")
        return made.name


@organising_ladders.route("/ladders/<name>/settings", methods=["GET", "POST"])
@needs(Scope.ORGANISE)
def change(name: str) -> Any:
    """Changes what of a ladder may be changed."""
    with reading() as session:
        found = find_ladder(session, name)
    form = LadderForm(data={key: its.show(found) for key, its in SETTINGS.items()})
    for key in stays(found):
        del form[key]
    problem = ""
    if form.validate_on_submit():
        try:
            return _changed(name, form.changed)
        except LadderError as error:
            problem = sentence(error)
    return _page(found, form, problem)


def stays(ladder: Ladder) -> list[str]:
    """The settings of a ladder that can't be changed any more."""
    if ladder.state is CompetitionState.CLOSED:
        return [key for key in SETTINGS if key not in ("title", "note", "state")]
    return [key for key, its in SETTINGS.items() if its.stays and ladder.matches_made]


def _changed(name: str, chosen: Mapping[str, str]) -> Response:
    """Changes a ladder, and says on its page what is different.

    Raises:
        LadderError: it can't be so.
    """
    with database().begin() as session:
        found = find_ladder(session, name)
        words = ladder_settings.change(session, signed_in().actor, found, chosen, datetime.now(UTC))
    flash("; ".join(words) or "Nothing is different: it was so before.")
    return redirect(url_for("pages.leaderboard", name=name))


@organising_ladders.post("/ladders/<name>/state")
@needs(Scope.ORGANISE)
def change_state(name: str) -> Any:
    """Opens, pauses or freezes a ladder, or closes it if that is confirmed."""
    with reading() as session:
        found = find_ladder(session, name)
    state = request.form.get("state", "")
    problem = ""
    if state == CompetitionState.CLOSED and not request.form.get("confirmed"):
        problem = "A closed ladder is never opened again: tick that this is meant."
    else:
        try:
            return _changed(name, {"state": state})
        except LadderError as error:
            problem = sentence(error)
    form = LadderForm(formdata=None, data={key: its.show(found) for key, its in SETTINGS.items()})
    for key in stays(found):
        del form[key]
    return _page(found, form, problem)


def _page(ladder: Ladder, form: LadderForm, problem: str) -> tuple[str, int]:
    page = render_template(
        "change_ladder.html",
        ladder=ladder,
        form=form,
        problem=problem,
        fixed={key: SETTINGS[key] for key in stays(ladder)},
        LABELS=LABELS,
        SETTINGS=SETTINGS,
    )
    return page, REFUSED if form.errors or problem else 200
