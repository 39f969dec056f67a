"""The pages of tunings: the list, a live page for each, and what people do with them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, jsonify, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WsgiResponse
from wtforms import SelectChoice, SelectField

from arena.competitions.comparisons import approval_of, may_change
from arena.competitions.tuning_deeds import (
    CreateTuning,
    ExtendTuning,
    PauseTuning,
    ResumeTuning,
    StopTuning,
)
from arena.competitions.tuning_reports import (
    TuningReport,
    WantedTunings,
    listed_tunings,
    page_of_tunings,
    reports,
)
from arena.competitions.tunings import OUT_OF_OPENINGS
from arena.deeds import Done
from arena.models import BotVersion, Ladder, Scope
from arena.strength.bayes import is_installed
from arena.strength.tuning import Method
from arena.web.deeds import DeedForm, add_deed, form_of, sent
from arena.web.forms import later
from arena.web.identity import current, signed_in
from arena.web.live_parts import Whose, live_part, part
from arena.web.lookup import asked_page, find_tuning, reading
from arena.web.permissions import needs
from arena.web.strength import usable_versions
from arena.web.traces import Looked, Trace
from engine.bot_options import OptionKind, read_options
from engine.translation import N_

tunings = Blueprint("tunings", __name__)


@tunings.get("/tunings")
def listing() -> str:
    """The tunings, those that run first."""
    wanted = _wanted()
    with reading() as session:
        return render_template(
            "tunings.html",
            found=page_of_tunings(session, wanted, asked_page()),
            wanted=wanted,
            chosen={key: value for key, value in asdict(wanted).items() if value},
        )


@tunings.get("/tunings.json")
def listing_json() -> Response:
    """Answers with all wanted tunings as JSON."""
    with reading() as session:
        return jsonify([one.to_json() for one in listed_tunings(session, _wanted())])


def _wanted() -> WantedTunings:
    """Which tunings the address asks for."""
    bot, creator = (request.args.get(key, "").strip()[:80] for key in ("bot", "creator"))
    return WantedTunings(bot, creator)


@tunings.get("/tunings/<int:number>")
def tuning(number: int) -> str:
    """A tuning: the path of each number, and what they come to."""
    with reading() as session:
        found, account = _find(session, number), current()
        approval = approval_of(session, found.tuning, account.by() if account else None)
        return render_template("tuning.html", approval=approval, **_shown(found))


@tunings.get("/tunings/<int:number>/live")
@live_part(Whose.ALL)
def live(number: int) -> WsgiResponse:
    """The part of a tuning's page that renews itself; at last it is its proof that goes on."""
    with reading() as session:
        found = find_tuning(session, number)

        def make() -> str:
            return render_template("_tuning.html", **_shown(reports(session, [found])[0]))

        return part(session, Trace(Looked.COMPETITION, found.proof_id or found.id), make)


@tunings.get("/tunings/<int:number>.json")
def tuning_json(number: int) -> Response:
    """What a tuning's page tells, for programs."""
    with reading() as session:
        return jsonify(_find(session, number).to_json())


def _shown(found: TuningReport) -> dict[str, Any]:
    account, tuning = current(), found.tuning
    ended = found.standing.is_spoilt or tuning.reason == OUT_OF_OPENINGS
    return {
        "found": found,
        "tuning": tuning,
        "mine": account is not None and may_change(account.by(), tuning),
        "ended": ended,
        "extend": ExtendForm(games=2 * tuning.max_games) if account else None,
    }


def _find(session: Session, number: int) -> TuningReport:
    return reports(session, [find_tuning(session, number)])[0]


TuningForm = form_of(
    CreateTuning,
    bot=SelectField(later(N_("Bot"))),
    ladder=SelectField(later(N_("As on the ladder"))),
)
ExtendForm = form_of(ExtendTuning)


@tunings.route("/tunings/new", methods=["GET", "POST"])
@needs(Scope.SUBMIT)
def create() -> Any:
    """Begins to tune a version that one may use, and that has numbers to choose."""
    form = TuningForm()
    with reading() as session:
        tunable = {one: _numbers(one) for one in usable_versions(session, signed_in())}
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
    found = {one: names for one, names in tunable.items() if names}
    form["bot"].choices = [
        SelectChoice(version.written, f"{version.label}: {', '.join(names)}")
        for version, names in found.items()
    ]
    if not is_installed():
        form["method"].choices = [SelectChoice(str(Method.SPSA), str(Method.SPSA))]
    form["ladder"].choices = [SelectChoice(ladder.name, ladder.title) for ladder in ladders]
    if request.method == "POST":
        return sent(CreateTuning, form, again=_form, then=_new)
    if found:
        form["parameters"].data = " ".join(next(iter(found.values())))
    return _form(form, "")


def _numbers(version: BotVersion) -> list[str]:
    """The options of a version that are numbers."""
    options = read_options(version.options or ()).values()
    return [one.name for one in options if one.kind in (OptionKind.INT, OptionKind.FLOAT)]


def _form(form: DeedForm, problem: str) -> str:
    if problem:
        form["parameters"].errors = [problem]
    return render_template("tuning_form.html", form=form)


def _new(done: Done, **_: Any) -> str:
    return url_for("tunings.tuning", number=done.answer.id)


add_deed(tunings, "/tunings/<int:number>/pause", PauseTuning, then=_new)
add_deed(tunings, "/tunings/<int:number>/stop", StopTuning, then=_new)
add_deed(tunings, "/tunings/<int:number>/resume", ResumeTuning, then=_new)
add_deed(tunings, "/tunings/<int:number>/extend", ExtendTuning, then=_new)
