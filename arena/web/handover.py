"""Connections that the pages hand over: whoever asked is known, and another process answers.

Theory of operation. A server of pages gives a request a thread as long as it takes to answer, of
which there are few, and a bot at home stays for days, whoever watches a match for an hour. So their
connections go to a process that has room for thousands, the home worker or that of live matches: by
a Unix socket, the descriptor beside a letter that says who asks and what was asked. Then the server
must neither answer nor shut it down. `hands_over` says so as a connection's end, which a server
only takes note of; gunicorn's own socket is taken out of its hands before, and waitress has a task
of its own for it (`arena.cli.connections`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from flask import abort, request
from werkzeug.wrappers import Response

from engine.handover import hand_over
from engine.translation import gettext
from engine.unix_sockets import connect_to

TAKE = "arena.take_connection"
"""The key in a request's environment, of a server that has it, of what takes its connection, as a
descriptor."""
GUNICORN = "gunicorn.socket"
HANDED_OVER = "arena.handed_over"
ANSWER_SECONDS = 10.0
"""What may be taken by who is just being started."""

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class HandedOverError(OSError):
    """A connection that is another's now: there is nothing to answer, and nothing to close."""

    def __init__(self) -> None:
        super().__init__(errno.ENOTCONN, "handed over")


def can_hand_over() -> bool:
    """Whether the server of the present request can."""
    return TAKE in request.environ or GUNICORN in request.environ


def give(letter: Mapping[str, Any], place: Path, absent: str) -> Response:
    """Hands the connection of the present request over.

    Args:
        place: the path of the socket at which it is taken.
        absent: what is said where nobody takes it.

    Returns:
        What nobody is told.
    """
    environment = request.environ
    if not can_hand_over():
        abort(501, gettext("This server can't hand connections over: gunicorn can, and arena up."))
    try:
        taker = connect_to(place, ANSWER_SECONDS)
    except OSError:
        abort(503, absent)
    with closing(taker):
        take = environment.get(TAKE) or environment[GUNICORN].detach
        connection: int = take()
        environment[HANDED_OVER] = True
        try:
            hand_over(connection, letter, taker)
        finally:
            os.close(connection)
    return Response(status=202)


def hands_over(application: Application) -> Application:
    """An application whose server is told of a connection that was handed over."""

    def call(environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        answer = application(environment, start_response)
        if environment.get(HANDED_OVER):
            if close := getattr(answer, "close", None):
                close()
            raise HandedOverError
        return answer

    return call
