"""Who plays in a tournament, and whether it is called off: forms for organisers and owners."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from arena.competitions import tournament_fields, tournaments
from arena.competitions.calling_off import call_off as call_off_tournament
from arena.competitions.tournament_fields import entrants_of, has_begun
from arena.competitions.tournaments import TournamentError
from arena.formats.settings import FormatError
from arena.models import Entrant, EntrantState, Scope
from arena.web.forms import CallOffForm
from arena.web.identity import Account, database, needs, signed_in
from arena.web.lookup import find_tournament, reading
from arena.web.words import sentence

changing_tournaments = Blueprint("changing_tournaments", __name__)

REFUSED = 422


def may_withdraw(who: Account, entrant: Entrant) -> bool:
    """Whether it is for somebody to take an entrant out of its tournament."""
    mine = who.may(Scope.SUBMIT) and who.owns(entrant.version.bot)
    return mine or who.may(Scope.ORGANISE)


def demand_may_withdraw(entrant: Entrant) -> None:
    """Refuses who may not take an entrant out of its tournament."""
    if not may_withdraw(signed_in(), entrant):
        abort(403, f"{entrant.version.label} is for its owner or an organiser to withdraw.")


@changing_tournaments.get("/tournaments/<name>/change")
@needs(Scope.SUBMIT)
def change(name: str) -> tuple[str, int]:
    """What somebody can decide about a tournament."""
    return _page(name, CallOffForm(formdata=None), "")


def _page(name: str, form: CallOffForm, problem: str) -> tuple[str, int]:
    who = signed_in()
    with reading() as session:
        found = find_tournament(session, name)
        mine = [
            one
            for one in entrants_of(session, found)
            if one.state is not EntrantState.RETIRED and may_withdraw(who, one)
        ]
    if not mine and not who.may(Scope.ORGANISE):
        abort(403, "You have no bot in this tournament.")
    page = render_template(
        "change_tournament.html",
        tournament=found,
        begun=has_begun(found),
        mine=mine,
        form=form,
        problem=problem,
    )
    return page, REFUSED if form.errors or problem else 200


def _back(name: str, words: str) -> Response:
    flash(words)
    return redirect(url_for("tournaments.tournament", name=name))


@changing_tournaments.post("/tournaments/<name>/enter")
@needs(Scope.ORGANISE)
def enter(name: str) -> Any:
    """Enters bots in a tournament that has not begun."""
    names = re.findall(r"[^\s,]+", request.form.get("bots", ""))
    try:
        with database().begin() as session:
            found = find_tournament(session, name)
            versions = tournaments.named_versions(session, names)
            if not versions:
                raise TournamentError("name at least one bot")
            now = datetime.now(UTC)
            tournament_fields.enter(session, found, versions, now, signed_in().actor)
            labels = ", ".join(one.label for one in versions)
    except (TournamentError, FormatError) as error:
        return _page(name, CallOffForm(formdata=None), sentence(error))
    return _back(name, f"Entered: {labels}.")


@changing_tournaments.post("/tournaments/<name>/withdraw")
@needs(Scope.SUBMIT)
def withdraw(name: str) -> Any:
    """Takes a bot out of a tournament."""
    who, ask = signed_in(), request.form
    try:
        with database().begin() as session:
            found, now = find_tournament(session, name), datetime.now(UTC)
            bot, note = ask.get("bot", ""), ask.get("note", "")
            entrant = tournament_fields.find_entrant(session, found, bot)
            demand_may_withdraw(entrant)
            label = entrant.version.label
            begun = tournament_fields.withdraw(session, found, entrant, note, now, who.actor)
    except (TournamentError, FormatError) as error:
        return _page(name, CallOffForm(formdata=None), sentence(error))
    return _back(name, f"{label} is {'withdrawn' if begun else 'no more in the field'}.")


@changing_tournaments.post("/tournaments/<name>/call-off")
@needs(Scope.ORGANISE)
def call_off(name: str) -> Any:
    """Calls a tournament off, with a note for everybody."""
    form, problem = CallOffForm(), ""
    if form.validate_on_submit():
        try:
            with database().begin() as session:
                found, now = find_tournament(session, name), datetime.now(UTC)
                call_off_tournament(session, found, form.note.data or "", now, signed_in().actor)
                title = found.title
        except TournamentError as error:
            problem = sentence(error)
        else:
            return _back(name, f"{title} is called off.")
    return _page(name, form, problem)
