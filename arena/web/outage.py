"""What is answered while the database can't, or the disk is full: 503, and one line.

The page is drawn from nothing else, since every other page asks the database who is signed in.
"""

from __future__ import annotations

import logging
from contextlib import suppress

from flask import Flask, current_app
from sqlalchemy import exc
from werkzeug.exceptions import ServiceUnavailable
from werkzeug.wrappers import Response

from arena.bots.intake import FULL
from arena.ground.db import FAILED
from arena.web import replica
from arena.web.api import problems
from engine.translation import N_, translated

PATIENCE_SECONDS = 10
"""How long a page waits for the database, to connect or for an answer."""
RETRY_SECONDS = 5
WORDS = N_("The arena's database does not answer now; nothing is lost. Try again in a moment.")
FULL_WORDS = N_("This server's disk is full, so nothing was taken in. Try again later.")
OUTAGES = (*FAILED, exc.InterfaceError, exc.TimeoutError)

log = logging.getLogger("arena.web")


def install(app: Flask) -> None:
    """Answers so wherever the database fails a page."""
    for kind in OUTAGES:
        app.register_error_handler(kind, answer)
    app.register_error_handler(OSError, answer_full)


def answer(error: Exception) -> Response:
    """What is said instead of any page, or error page, in which the database failed."""
    with suppress(*OUTAGES):
        if anew := replica.made_of_first(error):
            return anew
    log.error("the database failed a page: %s", str(error).splitlines()[0])
    return _say(WORDS)


def answer_full(error: OSError) -> Response:
    """What is said where files could not be kept; all else that a system says is our fault."""
    if error.errno not in FULL:
        raise error
    log.error("files could not be kept: %s", error)
    return _say(FULL_WORDS)


def _say(message: str) -> Response:
    words = translated(message)
    found = ServiceUnavailable(words, retry_after=RETRY_SECONDS)
    if problems.are_wanted():
        return problems.of(found)
    # Not by render_template, which asks the database for what all pages show.
    page = current_app.jinja_env.get_template("outage.html")
    response = found.get_response()
    response.set_data(page.render(words=words))
    response.mimetype = "text/html"
    return response
