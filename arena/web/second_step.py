"""The second step of a sign-in: a code of an app, or a recovery code."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, redirect, render_template, request, session, url_for

from arena import audit
from arena.audit import Actor
from arena.models import User
from arena.people import second_factor as factors
from arena.web.deeds import REFUSED
from arena.web.entering import HALF, half_in, let_in
from arena.web.forms import CodeForm
from arena.web.identity import anybody, database, keep_to_itself
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
        left = factors.codes_left(reading, user.id)
    status = 200
    if form.validate_on_submit():
        with database().begin() as writing:
            user = writing.get_one(User, half["user"])
            taken = factors.take(writing, user, form.code.data, now)
            if not taken:
                by = Actor(None, user.name, request.remote_addr or "")
                audit.note(
                    writing, by, "fail sign-in", f"user {user.name}", "second factor", now=now
                )
        if taken:
            return let_in(user, f"{half['way']}, {taken}", half["next"], is_enough=True)
        form.code.errors = [gettext("This is no code of yours, or it was used already.")]
    if form.errors:
        status = REFUSED
    page = render_template(
        "second_factor.html", form=form, name=user.name, app=user.totp_secret is not None, left=left
    )
    return page, status
