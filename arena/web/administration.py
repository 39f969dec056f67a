"""What administrators see and do: users, invitations, the audit log."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Blueprint, Response, abort, jsonify, render_template, request, url_for
from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import Done
from arena.ground.db import LARGEST_ID
from arena.models import AuditEntry, Role, Scope
from arena.people import accounts, second_factor
from arena.people.user_deeds import (
    ActivateUser,
    ChangeRole,
    DeactivateUser,
    ResetSecondFactor,
    SetQuota,
    find_user,
)
from arena.web.deeds import add_deed
from arena.web.identity import database, keep_to_itself, settings, signed_in
from arena.web.lookup import reading
from arena.web.permissions import demand_session, needs
from engine.translation import gettext, translated

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
            "users.html",
            users=accounts.listed(session),
            usual_mib=f"{settings().quota_mib:g}",
            with_factor=second_factor.whose(session),
            roles=Role,
            link=link,
            words=words,
        )


@administration.get("/users.json")
@needs(Scope.ADMIN)
def users_json() -> Response:
    """What the page of users shows, for programs."""
    with reading() as session:
        return jsonify([accounts.as_json(user) for user in accounts.listed(session)])


def _there(_: Done, **__: str) -> str:
    return url_for("administration.users")


add_deed(administration, "/users/<name>/role", ChangeRole, then=_there)
add_deed(administration, "/users/<name>/deactivate", DeactivateUser, then=_there)
add_deed(administration, "/users/<name>/activate", ActivateUser, then=_there)
add_deed(administration, "/users/<name>/quota", SetQuota, then=_there)
add_deed(administration, "/users/<name>/second-factor", ResetSecondFactor, then=_there)


def _role() -> Role:
    asked = request.form.get("role", "")
    if asked not in set(Role):
        abort(400, gettext("A role is one of %(roles)s.", roles=", ".join(Role)))
    return Role(asked)


@administration.post("/users/<name>/reset")
@needs(Scope.ADMIN)
def give_reset_link(name: str) -> str:
    """Makes a link with which somebody sets a new password, and shows it this once."""
    demand_session()
    with database().begin() as session:
        user = find_user(session, name)
        secret = accounts.reset_link(session, signed_in().actor, user, datetime.now(UTC))
    link = url_for("accounts.reset", secret=secret, _external=True)
    return _users(
        link,
        gettext(
            "With this link %(name)s can set a new password, once, within a day:", name=user.name
        ),
    )


@administration.post("/users/invitations")
@needs(Scope.ADMIN)
def invite() -> str:
    """Makes a link with which one person registers, and shows it this once."""
    role = _role()
    with database().begin() as session:
        secret = accounts.invite(session, signed_in().actor, role, datetime.now(UTC))
    link = url_for("accounts.register", invitation=secret, _external=True)
    words = gettext(
        "With this link one person can register as %(role)s, within 7 days:",
        role=translated(role),
    )
    return _users(link, words)


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
