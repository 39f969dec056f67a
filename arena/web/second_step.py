"""The second step of a sign-in: a code of an app, a passkey, or a recovery code."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, redirect, render_template, request, session, url_for
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.models import User
from arena.people import passkeys as keys
from arena.people import second_factor as factors
from arena.people.accounts import PeopleError
from arena.web.deeds import REFUSED
from arena.web.entering import HALF, half_in, let_in, mark_of
from arena.web.forms import CodeForm
from arena.web.identity import database, keep_to_itself
from arena.web.passkeys import SECOND, answered, challenge, site
from arena.web.permissions import anybody
from arena.web.present import open_in_maintenance
from engine.translation import gettext

second_step = Blueprint("second_step", __name__)

second_step.after_request(keep_to_itself)


@second_step.route("/sign-in/second", methods=["GET", "POST"])
@anybody
@open_in_maintenance
def second_factor() -> Any:
    """Asks who has shown one factor for another."""
    half = half_in()
    if half is None:
        session.pop(HALF, None)
        return redirect(url_for("accounts.sign_in"))
    form, now = CodeForm(), datetime.now(UTC)
    with database().read() as reading:
        user = reading.get_one(User, half["user"])
        there = keys.listed(reading, user.id)
    if half.get("mark") != mark_of(user):
        session.pop(HALF)
        return redirect(url_for("accounts.sign_in"))
    answer = request.form.get("credential", "")
    if answer or form.validate_on_submit():
        with database().begin() as writing:
            user = writing.get_one(User, half["user"])
            if answer:
                taken = _by_passkey(writing, user, answer, now)
            else:
                taken = factors.take(writing, user, form.code.data, now)
            if not taken:
                by = Actor(None, user.name, request.remote_addr or "")
                audit.note(
                    writing, by, "fail sign-in", f"user {user.name}", "second factor", now=now
                )
        if taken:
            return let_in(user, f"{half['way']}, {taken}", half["next"], is_enough=True)
        form.code.errors = [
            gettext("This is no passkey of yours, or the page is too old: try again.")
            if answer
            else gettext("This is no code of yours, or it was used already.")
        ]
    asked = ""
    if there:
        asked = keys.how_to_answer(there, site(), challenge(SECOND, user.id), alone=False)
    page = render_template(
        "second_factor.html",
        form=form,
        name=user.name,
        app=user.totp_secret is not None,
        asked=asked,
    )
    return page, REFUSED if form.errors else 200


def _by_passkey(writing: Session, user: User, answer: str, now: datetime) -> str:
    """Takes a passkey's answer, as `factors.take` takes a code."""
    try:
        given, issued = answered(answer, SECOND, user.id)
        found = keys.prove(writing, answer, given, issued, site(), now, alone=False)
    except PeopleError:
        return ""
    return "passkey" if found.user_id == user.id else ""
