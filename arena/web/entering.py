"""How somebody is let in who has shown who they are: at once, or after the second factor.

Between the two the session knows whose it is to become, for some minutes, and may do nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any, TypeVar, cast

from flask import abort, flash, redirect, request, session, url_for
from flask_security import logout_user
from werkzeug.wrappers import Response

from arena import audit
from arena.audit import Actor
from arena.models import User
from arena.people import accounts, second_factor, sessions
from arena.web.identity import begin_session, database, own_address, signed_in
from arena.web.permissions import demand_session
from engine.translation import gettext

F = TypeVar("F", bound=Callable[..., Any])

HALF = "half"
HALF_SECONDS = 600
RECENT_SECONDS = 3600
"""How long after a sign-in the ways to sign in can be changed."""


def let_in(user: User, way: str, there: str, *, is_enough: bool = False) -> Response:
    """Signs somebody in, or asks for the second factor first.

    Args:
        way: by what they have shown who they are, for the audit log.
        there: where they were going.
        is_enough: whether that was two factors in one.
    """
    if not user.active:
        abort(403, gettext("This account was deactivated: ask an administrator of the arena."))
    with database().read() as reading:
        is_asked = not is_enough and second_factor.is_asked(reading, user)
    if is_asked:
        session.clear()
        until = int(time.time()) + HALF_SECONDS
        kept = {"user": user.id, "name": user.lower_name, "way": way, "next": there[:500]}
        session[HALF] = kept | {"until": until, "mark": mark_of(user)}
        return redirect(url_for("second_step.second_factor"))
    now = datetime.now(UTC)
    with database().begin() as writing:
        user = writing.get_one(User, user.id)
        user.last_sign_in = now
        by = Actor(user.id, user.name, request.remote_addr or "")
        audit.note(writing, by, "sign in", f"user {user.name}", way, now=now)
    begin_session(user)
    if user.must_change:
        return redirect(url_for("accounts.password"))
    return redirect(next_page(there))


def next_page(address: str) -> str:
    """Where somebody was going, if that is a page of this arena."""
    return own_address(address) or url_for("accounts.account")


def mark_of(user: User) -> str:
    """What a half sign-in is good with: another password ends it."""
    return accounts.digest(user.password or "")[:16]


def half_in() -> dict[str, Any] | None:
    """Who has shown one factor and not yet the second: as `let_in` keeps it."""
    half = session.get(HALF)
    if half is None or half["until"] < time.time():
        return None
    return cast(dict[str, Any], half)


def sign_in_again(there: str = "") -> Response | None:
    """Leads who signed in too long ago to do so once more, so that who finds a browser open can't
    make the account their own, or end it; None for all others.

    Args:
        there: the page that they come back to; by default that of how one signs in.
    """
    demand_session()
    began = signed_in().signed_in_at
    if began is not None and (datetime.now(UTC) - began).total_seconds() <= RECENT_SECONDS:
        return None
    with database().begin() as writing:
        sessions.end(writing, signed_in().id, signed_in().session_id or 0)
    logout_user()
    session.clear()
    flash(gettext("You signed in more than an hour ago: sign in once more, and do it then."))
    return redirect(url_for("accounts.sign_in", next=there or url_for("safety.overview")))


def recently(view: F) -> F:
    """Marks a view that only who signed in lately may call."""

    @wraps(view)
    def called(*given: Any, **named: Any) -> Any:
        return sign_in_again() or view(*given, **named)

    return cast(F, called)
