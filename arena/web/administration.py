"""What administrators see and do: users, invitations, the audit log."""

from __future__ import annotations

from datetime import UTC, datetime

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
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as Answer

from arena import audit
from arena.db import LARGEST_ID
from arena.models import AuditEntry, Role, Scope, User
from arena.people import accounts
from arena.people.accounts import PeopleError
from arena.web.identity import database, demand_session, keep_to_itself, needs, signed_in
from arena.web.lookup import reading
from arena.web.transactions import changing

administration = Blueprint("administration", __name__)

ENTRIES = 100
"""How many entries of the audit log a page shows."""


administration.after_request(keep_to_itself)


@administration.get("/users")
@needs(Scope.ADMIN)
def users() -> str:
    """Everyone, with role, state and what can be done about it."""
    return _users()


def _users(link: str = "", words: str = "") -> str:
    with reading() as session:
        return render_template(
            "users.html", users=accounts.listed(session), roles=Role, link=link, words=words
        )


@administration.get("/users.json")
@needs(Scope.ADMIN)
def users_json() -> Response:
    """Everyone as JSON."""
    with reading() as session:
        return jsonify([accounts.as_json(user) for user in accounts.listed(session)])


def _find(session: Session, name: str) -> User:
    try:
        return accounts.get(session, name)
    except PeopleError as error:
        abort(404, f"{str(error).capitalize()}.")


@administration.post("/users/<name>/role")
@needs(Scope.ADMIN)
def change_role(name: str) -> Answer:
    """Makes somebody something else here."""
    role = _role()
    with changing(PeopleError) as session:
        user = _find(session, name)
        accounts.set_role(session, signed_in().actor, user, role, datetime.now(UTC))
    flash(f"{user.name} is {role} now.")
    return redirect(url_for("administration.users"))


def _role() -> Role:
    asked = request.form.get("role", "")
    if asked not in set(Role):
        abort(400, f"A role is one of {', '.join(Role)}.")
    return Role(asked)


@administration.post("/users/<name>/active")
@needs(Scope.ADMIN)
def change_active(name: str) -> Answer:
    """Shuts somebody out, or lets them in again."""
    asked = request.form.get("active")
    if asked not in ("yes", "no"):
        abort(400, "Say whether they are active: yes or no.")
    active = asked == "yes"
    with changing(PeopleError) as session:
        user = _find(session, name)
        accounts.set_active(session, signed_in().actor, user, active=active, now=datetime.now(UTC))
    done = "may sign in again" if active else "is shut out, with all sessions and tokens"
    flash(f"{user.name} {done}.")
    return redirect(url_for("administration.users"))


@administration.post("/users/<name>/reset")
@needs(Scope.ADMIN)
def give_reset_link(name: str) -> str:
    """Makes a link with which somebody sets a new password, and shows it this once."""
    demand_session()
    with database().begin() as session:
        user = _find(session, name)
        secret = accounts.reset_link(session, signed_in().actor, user, datetime.now(UTC))
    link = url_for("accounts.reset", secret=secret, _external=True)
    return _users(link, f"With this link {user.name} can set a new password, once, within a day:")


@administration.post("/users/invitations")
@needs(Scope.ADMIN)
def invite() -> str:
    """Makes a link with which one person registers, and shows it this once."""
    role = _role()
    with database().begin() as session:
        secret = accounts.invite(session, signed_in().actor, role, datetime.now(UTC))
    link = url_for("accounts.register", invitation=secret, _external=True)
    return _users(link, f"With this link one person can register as {role}, within 7 days:")


@administration.get("/audit")
@needs(Scope.ADMIN)
def log() -> str:
    """What was done, the newest first; ``?actor=``, ``?action=``, ``?subject=`` narrow it."""
    with reading() as session:
        found = _entries(session)
        return render_template(
            "audit.html", entries=found, wanted=_wanted(), full=len(found) == ENTRIES
        )


@administration.get("/audit.json")
@needs(Scope.ADMIN)
def log_json() -> Response:
    """What was done as JSON; ``next`` is what ``?before=`` asks the next page with."""
    with reading() as session:
        found = _entries(session)
    following = found[-1].id if len(found) == ENTRIES else None
    return jsonify({"entries": [audit.as_json(entry) for entry in found], "next": following})


def _wanted() -> dict[str, str]:
    return {key: request.args.get(key, "")[:120] for key in ("actor", "action", "subject")}


def _entries(session: Session) -> list[AuditEntry]:
    before = request.args.get("before", type=int)
    if before is not None:
        before = max(0, min(before, LARGEST_ID))
    return audit.entries(session, before=before, count=ENTRIES, **_wanted())
