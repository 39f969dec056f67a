"""What organisers do with tournaments: make one, pause it, open it again."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask_wtf import FlaskForm
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response
from wtforms import (
    BooleanField,
    Field,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.validators import Length, NumberRange, Optional

from arena.competitions import tournaments
from arena.competitions.tournaments import CompetitionLimits, TournamentError, TournamentPlan
from arena.formats.catalogue import FORMATS
from arena.formats.settings import FormatError
from arena.models import CompetitionState, Ladder, Scope, Tournament
from arena.web import queries
from arena.web.forms import NEEDED, NOTE_LENGTH_MAX, WholeNumber
from arena.web.identity import database, needs, signed_in
from arena.web.lookup import find_tournament, reading
from arena.web.words import sentence

organising_tournaments = Blueprint("organising_tournaments", __name__)

REFUSED = 422
LARGEST_SEED = 2**48 - 1


class TournamentForm(FlaskForm):
    """A tournament to be made; the settings of formats are added below."""

    name = StringField("Name", [NEEDED, Length(max=80)], render_kw={"autocomplete": "off"})
    title = StringField("Title", [Length(max=120, message="At most %(max)d characters.")])
    format = SelectField(
        "Format", choices=[SelectChoice(key, kind.title) for key, kind in FORMATS.items()]
    )
    ladder = SelectField("Ladder", validate_choice=False)
    bots = TextAreaField("Bots", [Length(max=20_000)], render_kw={"rows": 2})
    as_given = BooleanField("Seed them in this order, not by their ratings")
    top = WholeNumber("Only the first so many", [Optional(), NumberRange(2, 1000)])
    seed = WholeNumber("Seed", [Optional(), NumberRange(0, LARGEST_SEED)])
    note = TextAreaField("Note", [Length(max=NOTE_LENGTH_MAX)], render_kw={"rows": 2})
    paused = BooleanField("Let it wait: its field can change until you open it")

    @property
    def of_formats(self) -> list[Field]:
        """The fields of formats' settings."""
        return [self[key] for key in SETTINGS]


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
for _key in SETTINGS:
    _label = _key.replace("_", " ").capitalize()
    _yes_or_no = any(
        kind.settings[_key].yes_or_no for kind in FORMATS.values() if _key in kind.settings
    )
    _field = BooleanField(_label) if _yes_or_no else WholeNumber(_label, [Optional()])
    setattr(TournamentForm, _key, _field)


@organising_tournaments.route("/new-tournament", methods=["GET", "POST"])
@needs(Scope.ORGANISE)
def create() -> Any:
    """Makes a tournament of bots of a ladder."""
    form = TournamentForm()
    with reading() as session:
        form.ladder.choices = [
            SelectChoice(one.name, one.title) for one in queries.ladders(session)
        ]
    if request.method == "GET":
        form.ladder.data = request.args.get("ladder", "")
    if not form.validate_on_submit():
        return _form(form)
    try:
        with database().begin() as session:
            made = _create(session, form)
            name, title = made.name, made.title
    except (TournamentError, FormatError) as error:
        return _form(form, sentence(error))
    then = "waits until you open it" if form.paused.data else "begins as soon as a worker is free"
    flash(f"{title} {then}.")
    return redirect(url_for("tournaments.tournament", name=name))


def _form(form: TournamentForm, problem: str = "") -> tuple[str, int]:
    page = render_template("new_tournament.html", form=form, problem=problem, SETTINGS=SETTINGS)
    return page, REFUSED if form.errors or problem else 200


def _create(session: Session, form: TournamentForm) -> Tournament:
    """Makes what the form asks for.

    Raises:
        TournamentError, FormatError: it can't be.
    """
    ladder = session.scalar(sa.select(Ladder).where(Ladder.name == form.ladder.data))
    if ladder is None:
        raise TournamentError("choose one of the ladders")
    names = re.findall(r"[^\s,]+", form.bots.data or "")
    if names:
        field = tournaments.named_versions(session, names)
        if not form.as_given.data:
            field = tournaments.seeded_by(session, ladder, field)
    else:
        field = tournaments.field_of(session, ladder)
    # A box that is not ticked says nothing, and neither does an empty field; a zero does.
    given = {key: form[key].data for key in SETTINGS}
    settings = {key: int(one) for key, one in given.items() if one is not None and one is not False}
    plan = TournamentPlan(
        form.name.data or "",
        ladder.variant,
        ladder.time,
        form.format.data,
        title=(form.title.data or "").strip(),
        settings=settings,
        openings=ladder.openings,
        limits=CompetitionLimits.of(ladder),
        seed=form.seed.data or 0,
        note=(form.note.data or "").strip(),
        paused=form.paused.data,
    )
    return tournaments.create(
        session, plan, field[: form.top.data], datetime.now(UTC), signed_in().actor
    )


@organising_tournaments.post("/tournaments/<name>/state")
@needs(Scope.ORGANISE)
def change_state(name: str) -> Response:
    """Pauses a tournament, or opens it again."""
    asked = request.form.get("state", "")
    if asked not in (CompetitionState.OPEN, CompetitionState.PAUSED):
        abort(400, "A tournament is opened or paused.")
    with database().begin() as session:
        found = find_tournament(session, name)
        try:
            tournaments.set_state(
                session, found, CompetitionState(asked), datetime.now(UTC), signed_in().actor
            )
        except TournamentError as error:
            abort(409, sentence(error))
        title = found.title
    flash(f"{title} is {asked}.")
    return redirect(url_for("tournaments.tournament", name=name))
