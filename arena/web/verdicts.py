"""What organisers decide about a match: it is void, or it is tried again."""

from __future__ import annotations

from flask import Blueprint, url_for

from arena.deeds import Done
from arena.schedule.verdicts import RequeueMatch, VoidMatch
from arena.web.deeds import DeedForm, add_deed
from arena.web.games import match_page
from arena.web.lookup import reading

verdicts = Blueprint("verdicts", __name__)


def _again(number: int, form: DeedForm, problem: str) -> str:
    with reading() as session:
        return match_page(session, number, form, problem)


def _there(done: Done, number: int) -> str:
    """The match, or the one that replays it."""
    again = getattr(done.answer, "replayed_as", None)
    return url_for("games.match", number=again or number)


add_deed(verdicts, "/matches/<int:number>/void", VoidMatch, then=_there, again=_again)
add_deed(verdicts, "/matches/<int:number>/requeue", RequeueMatch, then=_there)
