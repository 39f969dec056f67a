"""What organisers decide about a match: it is void, or it is tried again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, flash, redirect, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from arena.models import Scope
from arena.schedule import verdicts
from arena.schedule.verdicts import VerdictError
from arena.web.forms import VoidForm
from arena.web.games import match_page
from arena.web.identity import database, needs, signed_in
from arena.web.lookup import find_match, reading
from arena.web.transactions import changing
from arena.web.words import sentence

judging = Blueprint("judging", __name__)

REFUSED = 422


@judging.post("/matches/<int:number>/void")
@needs(Scope.ORGANISE)
def void(number: int) -> Any:
    """Makes a match void, with a note for everybody; plays it again if that is asked for."""
    with reading() as session:
        find_match(session, number)
    form, problem = VoidForm(), ""
    if form.validate_on_submit():
        try:
            with database().begin() as session:
                return _voided(session, number, form)
        except VerdictError as error:
            problem = sentence(error)
    with reading() as session:
        return match_page(session, number, form, problem), REFUSED


def _voided(session: Session, number: int, form: VoidForm) -> Response:
    """Makes a match void, and leads to it or to the one that replays it.

    Raises:
        VerdictError: it can't be.
    """
    again = verdicts.void(
        session,
        signed_in().actor,
        number,
        form.note.data or "",
        replay=bool(form.replay.data),
        now=datetime.now(UTC),
    )
    flash(f"Match {number} is void{', and is played again as this one' if again else ''}.")
    return redirect(url_for("games.match", number=again.id if again else number))


@judging.post("/matches/<int:number>/requeue")
@needs(Scope.ORGANISE)
def requeue(number: int) -> Response:
    """Has a match tried again that was set aside."""
    with changing(VerdictError) as session:
        find_match(session, number)
        verdicts.requeue(session, signed_in().actor, number, datetime.now(UTC))
    flash(f"Match {number} is tried again.")
    return redirect(url_for("games.match", number=number))
