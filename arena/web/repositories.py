"""Bots that follow git repositories: their owners' form, and where forges tell of pushes."""

from __future__ import annotations

import hmac
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, abort, make_response, render_template, request, url_for
from sqlalchemy.orm import Session
from wtforms import PasswordField, SelectMultipleField

from arena.bots import entries, repositories
from arena.bots.repository_deeds import FetchRepository, FollowRepository, UnfollowRepository
from arena.deeds import Done
from arena.ground.db import database_time
from arena.models import Ladder, Repository, Scope
from arena.signing import push_secret
from arena.web import submissions
from arena.web.deeds import DeedForm, add_deed, form_of
from arena.web.forms import later
from arena.web.identity import database, keep_to_itself
from arena.web.lookup import reading
from arena.web.permissions import by_proof, needs
from arena.web.present import open_in_maintenance
from engine.translation import gettext

pages = Blueprint("repositories", __name__)

MOST_PUSH_BYTES = 5 << 20
"""The most that a message may have that tells of a push, which is hashed, and not read."""
PUSH = "repositories.push"
"""The endpoint that is told of pushes."""


def keep_body() -> None:
    """Keeps what tells of a push as it came, before anything reads it as a form."""
    if request.endpoint == PUSH:
        request.max_content_length = MOST_PUSH_BYTES
        request.get_data()


_PARTS = {part.name: part.limits for part in FollowRepository.parts()}
_Made: Any = form_of(
    FollowRepository,
    ladders=SelectMultipleField(later(_PARTS["ladders"].label), validate_choice=False),
    token=PasswordField(
        later(_PARTS["token"].label),
        render_kw={"autocomplete": "off", "maxlength": int(_PARTS["token"].most or 0)},
    ),
)


class Form(_Made):
    """How a repository is followed; the ladders are boxes, and the token is never filled in."""

    def said(self) -> dict[str, Any]:
        """What is filled in, by the fields' names."""
        return {**super().said(), "ladders": tuple(self.ladders.data or ())}


@pages.get("/bots/<name>/repository")
@needs(Scope.SUBMIT)
def show(name: str, form: DeedForm | None = None, problem: str = "") -> Any:
    """The repository that a bot of one's own follows, and the form by which it does."""
    with reading() as session:
        now = database_time(session)
        bot = submissions.own_bot(session, name)
        found = repositories.find(session, bot)
        ladders = entries.ladders_taking_bots(session, now)
        page = render_template(
            "repository.html",
            bot=bot,
            repository=found,
            is_due=found is not None and found.due <= now,
            form=form or _filled(session, found),
            problem=problem,
            ladders=ladders,
            push=push_of(session, found) if found else None,
        )
    return keep_to_itself(make_response(page))


def _filled(session: Session, found: Repository | None) -> DeedForm:
    """The form, filled in as it is now."""
    if found is None:
        return Form(ladders=[request.args["ladder"]] if "ladder" in request.args else [])
    named = sa.select(Ladder.name).where(Ladder.id.in_(found.ladders))
    return Form(
        repository=found.address,
        revision=found.revision,
        folder=found.folder,
        ladders=list(session.scalars(named)),
        test_first=found.test_first,
    )


def push_of(session: Session, found: Repository) -> tuple[str, str]:
    """The address at which pushes to a repository are told of, and the secret that signs them."""
    there = url_for("repositories.push", code=found.code, _external=True)
    return there, push_secret(session, found.code)


def _shown(_: Done, name: str) -> str:
    return url_for("repositories.show", name=name)


def _left(_: Done, name: str) -> str:
    return url_for("bots.bot", name=name)


add_deed(pages, "/bots/<name>/repository", FollowRepository, then=_shown, again=show, form=Form)
add_deed(pages, "/bots/<name>/repository/fetch", FetchRepository, then=_shown)
add_deed(pages, "/bots/<name>/repository/leave", UnfollowRepository, then=_left)


@pages.post("/api/push/<code>")
@by_proof
@open_in_maintenance
def push(code: str) -> Response:
    """Where a forge tells of a push to a repository that a bot follows.

    Nothing of what it says is read: the repository is asked soon. GitHub, Gitea, Forgejo and
    Bitbucket sign by HMAC-SHA256; GitLab shows the secret itself.
    """
    with reading() as session:
        secret = push_secret(session, code)
    if not _is_signed(secret):
        abort(403, gettext("This is not signed with the secret of this address."))
    with database().begin() as session:
        is_there = repositories.told_of_push(session, code, database_time(session))
    if not is_there:
        abort(404, gettext("No bot follows a repository by this address any more."))
    return Response(status=204)


def _is_signed(secret: str) -> bool:
    """Whether a request was made by somebody who knows a secret."""
    shown = request.headers.get("X-Gitlab-Token")
    if shown is not None:
        return hmac.compare_digest(shown.encode(), secret.encode())
    signature = (
        request.headers.get("X-Hub-Signature-256")
        or request.headers.get("X-Gitea-Signature")
        or request.headers.get("X-Hub-Signature")
        or ""
    )
    expected = hmac.digest(secret.encode(), request.get_data(), "sha256").hex()
    its = signature.removeprefix("sha256=").encode(errors="replace")
    return hmac.compare_digest(its, expected.encode())
