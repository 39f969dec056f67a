"""Reading from a replica of the database (`ARENA_DATABASE_READ`), so that the first one has less to
do (`arena.operation.replicas`).

Pages and answers of the API that only read are made of what the replica has; what fails there is
made anew of the first one. Whoever has just changed something sees it: a cookie names the position
of the log at which that was written, and until the replica has come so far they read from the first
one. Who has a token reads from the first one always, for programs keep no cookies. So does whatever
decides who somebody is and what they may: sessions, tokens, roles; and whatever changes something.
"""

from __future__ import annotations

from flask import Flask, current_app, g, request
from werkzeug.wrappers import Response

from arena.ground.config import Settings
from arena.ground.db import FAILED, Database
from arena.operation.replicas import WRITTEN, Replica, position

COOKIE, COOKIE_LASTS = "arena-wrote", 60
"""The cookie's name; for how many seconds it is kept, which is longer than a replica may be behind.
"""
READING = frozenset(["GET", "HEAD"])
BEYOND = "FFFFFFFF/FFFFFFFF"
"""A position that no replica comes to: who has it reads from the first one."""


def install(app: Flask, settings: Settings) -> None:
    """Has an application read from the replica of the settings, if they name one."""
    app.extensions["arena.replica"] = None
    if settings.database_read:
        found = Replica(settings.database_url, settings.database_read)
        app.extensions["arena.replica"] = found
        found.watch()
        app.after_request(_name_position)


def replica() -> Replica | None:
    """The replica that this request may read from; None where that is the first database."""
    found: Replica | None = current_app.extensions["arena.replica"]
    if found is None or "reads_first" in g or request.method not in READING:
        return None
    wrote = request.cookies.get(COOKIE)
    if "Authorization" in request.headers or not found.has(position(wrote)):
        return None
    return found


def _name_position(response: Response) -> Response:
    """Names who has changed something the position at which that is written."""
    if request.method not in READING:
        first: Database = current_app.extensions["arena.database"]
        try:
            with first.engine.connect() as connection:
                at = connection.scalar(WRITTEN)
        except FAILED:  # what was written is written, and is to be told
            at = BEYOND
        response.set_cookie(
            COOKIE,
            at or "",
            max_age=COOKIE_LASTS,
            secure=request.is_secure,
            httponly=True,
            samesite="Lax",
        )
    return response


def made_of_first(error: Exception) -> Response | None:
    """The answer made anew of the first database, if what failed was the replica."""
    failed = g.pop("read_from", None)
    if failed is None:
        return None
    failed.fail(error)
    g.reads_first = True
    return current_app.make_response(current_app.dispatch_request())
