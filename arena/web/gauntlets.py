"""The pages of gauntlets: the list, a live page for each, and the form that makes one."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, jsonify, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WsgiResponse
from wtforms import SelectChoice, SelectField

from arena.competitions.comparisons import approval_of, may_change
from arena.competitions.fields import entrants_of
from arena.competitions.gauntlet_deeds import CreateGauntlet, StopGauntlet
from arena.competitions.gauntlets import Gauntlet, standing, told, verdict
from arena.deeds import Done
from arena.models import CompetitionState, Ladder, Scope
from arena.web.api.gauntlet_shapes import GauntletShape
from arena.web.competitions import list_page
from arena.web.deeds import DeedForm, add_deed, form_of, sent
from arena.web.forms import later
from arena.web.identity import current
from arena.web.live_parts import Whose, live_part, part
from arena.web.lookup import find_gauntlet, reading
from arena.web.permissions import needs
from arena.web.traces import of_competition
from engine.translation import N_, gettext

gauntlets = Blueprint("gauntlets", __name__)


@gauntlets.get("/gauntlets")
def listing() -> str:
    """Lists the gauntlets."""
    with reading() as session:
        wanted = sa.select(Gauntlet)
        return list_page(session, gettext("Gauntlets"), wanted, lambda _: gettext("Gauntlet"))


@gauntlets.get("/gauntlets/<name>")
def gauntlet(name: str) -> str:
    """How a gauntlet stands: both bots, the field, and the difference."""
    with reading() as session:
        found, account = find_gauntlet(session, name), current()
        by = account.by() if account else None
        return render_template(
            "gauntlet.html",
            mine=by is not None and may_change(by, found),
            approval=approval_of(session, found, by),
            **_stands(session, found),
        )


@gauntlets.get("/gauntlets/<name>/live")
@live_part(Whose.ALL)
def live(name: str) -> WsgiResponse:
    """The part of that page that changes while games are played."""
    with reading() as session:
        found = find_gauntlet(session, name)

        def make() -> str:
            return render_template("_gauntlet.html", **_stands(session, found))

        return part(session, of_competition(found), make)


def _stands(session: Session, found: Gauntlet) -> dict[str, Any]:
    """What the live part of a gauntlet's page tells."""
    entrants = entrants_of(session, found)
    return {
        "gauntlet": found,
        "candidate": entrants[0],
        "baseline": entrants[1],
        "opponents": entrants[2:],
        "standing": standing(found),
        "block": told(session, found),
        "verdict": verdict(session, found),
        "running": found.state is not CompetitionState.CLOSED,
    }


@gauntlets.get("/gauntlets/<name>.json")
def gauntlet_json(name: str) -> Response:
    """What a gauntlet's page tells, for programs."""
    with reading() as session:
        found = GauntletShape.looked_up(session, find_gauntlet(session, name))
        return jsonify(found.model_dump(mode="json"))


GauntletForm = form_of(CreateGauntlet, ladder=SelectField(later(N_("As on the ladder"))))


@gauntlets.route("/gauntlets/new", methods=["GET", "POST"])
@needs(Scope.SUBMIT)
def create() -> Any:
    """Compares two versions by their games against the same bots."""
    form = GauntletForm()
    with reading() as session:
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
    form["ladder"].choices = [SelectChoice(ladder.name, ladder.title) for ladder in ladders]
    if request.method == "POST":
        return sent(CreateGauntlet, form, again=_form, then=_new)
    return _form(form, "")


def _form(form: DeedForm, problem: str) -> str:
    if problem:
        form["candidate"].errors = [problem]
    return render_template("gauntlet_form.html", form=form)


def _new(done: Done, **_: Any) -> str:
    return url_for("gauntlets.gauntlet", name=done.answer.name)


add_deed(gauntlets, "/gauntlets/<name>/stop", StopGauntlet, then=_new)
