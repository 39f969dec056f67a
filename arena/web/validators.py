"""Answers that programs ask for again and again, such as leaderboards: who has one is told so
before it is made.

It follows from the state of its trace (`arena.web.traces`), the address, the language, the program,
and, where something is hidden, from who asks; its ETag is made of these.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version

from flask import Flask, abort, g, request
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from arena.web.identity import current
from arena.web.traces import Trace, read
from arena.web.unchanging import edition
from engine.translation import spoken


def answer_if_known(session: Session, trace: Trace, *more: object) -> None:
    """Ends a request whose answer its asker has already.

    Args:
        session: the one by which the answer is made.
        trace: of what it is made.
        more: what it says besides, such as why nothing is played just now.
    """
    account = current() if g.get("is_for_who_asks") else None
    words = repr(
        (
            *(request.host_url, request.full_path, spoken().language, _program()),
            *(account and account.id, read(session, trace), more),
        )
    )
    tag = hashlib.sha256(words.encode()).hexdigest()[:24]
    if tag in request.if_none_match.as_set(include_weak=True):
        known = Response(status=304)
        known.set_etag(tag)
        abort(known)
    g.validator = tag


@cache
def _program() -> str:
    return f"{version('game-bot-arena')} {edition()}"


def _name_state(response: Response) -> Response:
    if "validator" in g and response.status_code == 200:
        response.set_etag(g.validator)
    return response


def install(app: Flask) -> None:
    """Has an application give such answers their ETag."""
    app.after_request(_name_state)
