"""The operator's page: what waits, who works, what was set aside, and what can be done about it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import sqlalchemy as sa
from flask import (
    Blueprint,
    Response,
    abort,
    flash,
    jsonify,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.orm import joinedload
from werkzeug.wrappers import Response as Answer

from arena.competitions.ladder_deeds import ChangeLadder
from arena.deeds import Done, perform
from arena.models import CompetitionState, JobStatus, Ladder, Match, Scope
from arena.operation import alarms, queues
from arena.operation.health import look
from arena.operation.overview import as_json
from arena.schedule import verdicts
from arena.schedule.verdicts import RequeueMatch, VoidMatch
from arena.schedule.workers import ForgetWorker, ReadmitWorker
from arena.web.deeds import add_deed, asked_first, do, is_meant, tell
from arena.web.forms import named_number
from arena.web.identity import database, keep_to_itself, settings, signed_in
from arena.web.lookup import reading
from arena.web.permissions import needs
from engine.translation import N_, gettext, ngettext, translated

operation = Blueprint("operation", __name__)

SHOWN = 100
"""How many of the matches that were set aside the page lists."""
STATES = {
    "freeze": ("frozen", N_("the ladder %(name)s is frozen")),
    "pause": ("paused", N_("the ladder %(name)s is paused")),
    "open": ("open", N_("the ladder %(name)s is open")),
}
"""What a button makes of a ladder, and what is said then."""


operation.after_request(keep_to_itself)


@operation.get("/operator")
@needs(Scope.ORGANISE)
def overview() -> str:
    """How the arena is, and what can be done."""
    now = datetime.now(UTC)
    with reading() as session:
        health = look(session, settings(), now)
        aside = sa.select(Match).where(Match.status == JobStatus.SET_ASIDE)
        aside = aside.options(joinedload(Match.competition)).order_by(Match.id.desc()).limit(SHOWN)
        ladders = session.scalars(
            sa.select(Ladder).where(Ladder.state != CompetitionState.CLOSED).order_by(Ladder.id)
        )
        return render_template(
            "operation.html",
            health=health,
            alarms=alarms.find(session, settings(), now, health),
            queues=queues.look(settings().broker),
            aside=session.scalars(aside).all(),
            ladders=ladders.all(),
            may_administer=signed_in().may(Scope.ADMIN),
        )


@operation.get("/operator.json")
@needs(Scope.ORGANISE)
def overview_json() -> Response:
    """What the page shows, for programs that watch."""
    waiting = queues.look(settings().broker)
    with reading() as session:
        return jsonify(as_json(session, settings(), datetime.now(UTC), waiting))


@operation.post("/operator/matches")
@needs(Scope.ORGANISE)
def decide() -> Answer | str:
    """Has the chosen matches tried again, or makes them void."""
    deed = request.form.get("deed", "")
    chosen = request.form.getlist("match")
    numbers = sorted({named_number(text) for text in chosen})
    if deed not in ("requeue", "void") or not numbers or 0 in numbers:
        abort(400, gettext("Choose matches, and whether they are tried again or void."))
    note = request.form.get("note", "")
    again = deed == "requeue"
    decided = [RequeueMatch(number) if again else VoidMatch(number, note) for number in numbers]
    if not (again or is_meant()):
        return asked_first(
            ngettext(
                "%(number)s match is made void. Of each: %(lasting)s",
                "%(number)s matches are made void. Of each: %(lasting)s",
                len(numbers),
                number=len(numbers),
                lasting=translated(VoidMatch.lasting),
            )
        )
    with database().begin() as session:
        verdicts.hold(session, numbers)
        for one in decided:
            perform(session, one, signed_in().by())
    many = len(set(chosen))
    if again:
        said = ngettext(
            "%(number)s match is tried again.",
            "%(number)s matches are tried again.",
            many,
            number=many,
        )
    else:
        said = ngettext(
            "%(number)s match is void.", "%(number)s matches are void.", many, number=many
        )
    flash(said)
    return redirect(url_for("operation.overview"))


@operation.post("/operator/ladders/<name>")
@needs(Scope.ORGANISE)
def change_state(name: str) -> Answer:
    """Freezes, pauses or opens a ladder."""
    chosen = STATES.get(request.form.get("deed", ""))
    if chosen is None:
        abort(400, gettext("A ladder is frozen, paused or opened."))
    state, said = chosen
    tell(replace(do(ChangeLadder(name, {"state": state})), said=gettext(said, name=name)))
    return redirect(url_for("operation.overview"))


def _overview(_: Done) -> str:
    return url_for("operation.overview")


add_deed(operation, "/operator/workers/readmit", ReadmitWorker, then=_overview)
add_deed(operation, "/operator/workers/forget", ForgetWorker, then=_overview)
