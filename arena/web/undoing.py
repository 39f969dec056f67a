"""Taking back what was just done: the button beside what a page says of it."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort, redirect, request, url_for
from itsdangerous import BadData
from werkzeug.wrappers import Response

from arena.all_deeds import DEEDS
from arena.deeds import Deed, Done, asked_before, perform
from arena.models import Scope
from arena.web.deeds import UNDO, tell
from arena.web.identity import database, own_address, signed_in, signer
from arena.web.permissions import needs
from arena.web.present import open_in_maintenance
from engine.translation import gettext

undoing = Blueprint("undoing", __name__)

CALLED = {deed.called(): deed for deed in DEEDS}


@undoing.post("/undo")
@needs(Scope.READ)
@open_in_maintenance  # each deed is asked for itself
def undo() -> Response:
    """Does what takes something back: all of it, or nothing.

    It may be what `tell` signed for who asks, and they may still do, but for what is to be asked
    about first.
    """
    deeds, by = _read(request.form.get("undo", "")), signed_in().by()
    done: list[Done] = []
    with database().begin() as session:
        for deed in deeds:
            if asked_before(session, deed, by):
                abort(400, gettext("This is to be asked about first: do it by its own form."))
            done.append(perform(session, deed, by))
        session.flush()
    # What is done in one order is taken back in the other.
    again = tuple(deed for one in reversed(done) for deed in one.undo)
    tell(Done("; ".join(one.said for one in done), undo=again))
    return redirect(own_address(request.form.get("next")) or url_for("front.first_page"))


def _read(text: str) -> list[Deed]:
    """The deeds that a page's button names.

    Raises:
        WrongField: something of one can't be so.
    """
    try:
        whose, named = signer(UNDO).loads(text)
        if whose != signed_in().id:
            abort(400, gettext("This was for another account to take back."))
        # A button of the release before may name what is there no more.
        return [
            CALLED[called](**{name: _value(one) for name, one in fields.items()})
            for called, fields in named
        ]
    except (BadData, TypeError, KeyError):
        abort(400, gettext("This is no button of a page of yours: do it by its own form."))


def _value(one: Any) -> Any:
    return tuple(one) if isinstance(one, list) else one
