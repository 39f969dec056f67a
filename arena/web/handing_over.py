"""Connections that the pages hand over: whoever asked is known, and another process answers.

Theory of operation. A server of pages gives a request a thread as long as it takes to answer, of
which there are few, and a bot at home stays for days. So its connection goes to the home worker: by
a Unix socket, the descriptor beside a letter that says who asks and what was asked. Then the server
must neither answer nor shut it down. `hands_over` says so as a connection's end, which a server
only takes note of; gunicorn's own socket is taken out of its hands before, and waitress has a task
of its own for it (`arena.cli.connections`).
"""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

from flask import abort, request
from werkzeug.wrappers import Response

from arena.web.identity import settings
from engine.unix_sockets import connect_to

TAKE = "arena.take_connection"
"""In a request's environment, of a server that has it: takes its connection, as a descriptor."""
GUNICORN = "gunicorn.socket"
HANDED_OVER = "arena.handed_over"
ANSWER_SECONDS = 10.0
"""What a home worker that is just being started may take."""

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class HandedOverError(OSError):
    """A connection that is another's now: there is nothing to answer, and nothing to close."""

    def __init__(self) -> None:
        super().__init__(errno.ENOTCONN, "handed over")


def hand_over(letter: Mapping[str, Any]) -> Response:
    """Hands the connection of the present request over to the home worker.

    Returns:
        What nobody is told.
    """
    environment = request.environ
    if TAKE not in environment and GUNICORN not in environment:
        abort(501, "This server can't hand connections over: gunicorn can, and arena up.")
    try:
        home = connect_to(settings().home_socket, ANSWER_SECONDS)
    except OSError:
        abort(503, "No home worker takes bots at home just now: try again soon.")
    with closing(home):
        take = environment.get(TAKE) or environment[GUNICORN].detach
        connection: int = take()
        environment[HANDED_OVER] = True
        try:
            text = json.dumps(letter).encode()
            socket.send_fds(home, [text[:1]], [connection])
            home.sendall(text[1:])
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
