"""Who plays in a tournament, and whether it is called off: forms for organisers and owners."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort, render_template, url_for
from wtforms import BooleanField
from wtforms.validators import InputRequired

from arena.competitions.tournament_deeds import (
    CallOffTournament,
    ChangeTournament,
    EnterTournament,
    WithdrawFromTournament,
    may_withdraw,
)
from arena.competitions.tournament_fields import entrants_of, has_begun
from arena.deeds import Done
from arena.models import EntrantState, Scope
from arena.web.deeds import DeedForm, add_deed, form_of
from arena.web.identity import needs, signed_in
from arena.web.lookup import find_tournament, reading

changing_tournaments = Blueprint("changing_tournaments", __name__)

CallOffForm = form_of(
    CallOffTournament,
    confirmed=BooleanField(
        "It is over for ever, and nobody wins it",
        [InputRequired("A tournament that was called off never goes on: tick that this is meant.")],
    ),
)


@changing_tournaments.get("/tournaments/<name>/change")
@needs(Scope.SUBMIT)
def change(name: str) -> str:
    """What somebody can decide about a tournament."""
    return _page(name, CallOffForm(formdata=None), "")


def _page(name: str, form: DeedForm, problem: str) -> str:
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
    return _page(name, CallOffForm(formdata=None), problem)


def _there(_: Done, name: str) -> str:
    return url_for("tournaments.tournament", name=name)


def _add(what: str, deed: Any, **how: Any) -> None:
    add_deed(changing_tournaments, f"/tournaments/<name>/{what}", deed, then=_there, **how)


_add("state", ChangeTournament)
_add("enter", EnterTournament, again=_again)
_add("withdraw", WithdrawFromTournament, again=_again)
_add("call-off", CallOffTournament, again=_page, form=CallOffForm)
