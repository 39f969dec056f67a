"""Connections to the pages, and an end for those whose other side is slow, silent, or one too many.

Theory of operation. One thread of waitress reads requests and sends answers; others make the
answers, and only a download longer than a buffer holds one of those until its reader has taken
most of it (`arena.web.downloads` has places for such). What waitress leaves to us:

- It waits for ever for a reader who takes nothing, since it ends a connection only when that can
  be written to, and for a request whose next byte always comes in time. Here both have to bring
  LEAST_BYTES through in a while, or are cut off.
- With no place left it takes no new connection. Here the one that waits the longest makes room.
- Many requests sent at once, before an answer is there, would hold the thread of the first until
  its reader took the answer. Here the first is answered, and the connection closed.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from contextlib import suppress
from fcntl import ioctl
from struct import pack, unpack
from termios import TIOCOUTQ
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import MultiSocketServer, TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask

from arena.web.handover import TAKE, HandedOverError
from arena.web.identity import BEGAN
from arena.web.live_parts import CLOSE

PATIENCE_SECONDS = 60.0
LEAST_BYTES = 60_000
"""What has to come through in that time, while anything is to: a kilobyte a second."""
LOOK_SECONDS = 5
SPARE = 20
"""Places that are left for who comes, and for what is no connection."""

log = logging.getLogger("arena.web")


class Asked(HTTPRequestParser):
    """A request as it comes, which knows when its first byte did."""

    def __init__(self, settings: Adjustments) -> None:
        super().__init__(settings)
        self.began = time.monotonic()


class Task(WSGITask):
    """The answer to a request, whose connection the application may hand over to others."""

    def get_environment(self) -> dict[str, Any]:
        """The request's environment, with when it began, and what takes its connection."""
        environment: dict[str, Any] = super().get_environment()
        if isinstance(self.request, Asked):  # and none that could not be read
            environment[BEGAN] = self.request.began
        environment[TAKE] = lambda: os.dup(self.channel.socket.fileno())
        environment[CLOSE] = self.set_close_on_finish
        return environment

    def service(self) -> None:
        """Answers, or leaves it to who has the connection by now."""
        try:
            super().service()
        except HandedOverError:
            self.close_on_finish = True  # which closes this process's descriptor, and sends nothing


class Connection(HTTPChannel):
    """A connection that knows how much came through it, and since when it waits."""

    parser_class = Asked
    task_class = Task

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.waiting_since = time.monotonic()
        """When it was opened, or its last answer was made."""
        self._received = self._sent = 0
        self._mark: tuple[float, int] | None = None

    def received(self, data: bytes) -> bool:
        """Takes bytes of a request, and counts them."""
        self._received += len(data)
        return bool(super().received(data))

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Sends bytes of an answer, as many as the kernel takes, and counts them."""
        sent = int(super().send(data, do_close))
        self._sent += sent
        return sent

    def service(self) -> None:
        """Has the first of its requests answered; others that are here already are not."""
        with self.requests_lock:
            if len(self.requests) > 1:
                self.requests[0].headers["CONNECTION"] = "close"
        super().service()
        self.waiting_since = time.monotonic()

    @property
    def is_served(self) -> bool:
        """Whether a thread makes its answer, or is to."""
        return bool(self.requests)

    def is_stuck(self, now: float, patience_seconds: float) -> bool:
        """Whether its other side brought or took too little, looked at again and again."""
        half_asked = self.request is not None and not self.requests
        if not (half_asked or self.total_outbufs_len):
            self._mark = None
            return False
        through = self._through()
        since, before = self._mark or (now, through)
        if now - since < patience_seconds:
            self._mark = since, before
            return False
        self._mark = now, through
        return through - before < LEAST_BYTES

    def _through(self) -> int:
        """The bytes that came, and those that the other side's kernel has taken."""
        (held,) = unpack("i", ioctl(self.socket, TIOCOUTQ, bytes(4)))
        return self._received + self._sent - int(held)

    def cut(self) -> None:
        """Ends it: the loop sees that it is over, and a thread that waits for it goes on."""
        with suppress(OSError):  # the other side was quicker
            # What it did not take the kernel forgets, too.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
            self.socket.shutdown(socket.SHUT_RDWR)


class Server(TcpWSGIServer):
    """Serves one address."""

    channel_class = Connection
    patience_seconds = PATIENCE_SECONDS

    def readable(self) -> bool:
        """Whether it takes connections, each time before it waits for what comes."""
        if len(self._map) > self.adj.connection_limit - SPARE:
            waiting = [one for one in self._connections() if not one.is_served]
            if waiting:
                min(waiting, key=lambda one: one.waiting_since).cut()
        return bool(super().readable())

    def maintenance(self, now: float) -> None:
        """Ends what is idle for too long, and what is stuck."""
        super().maintenance(now)
        for one in self._connections():
            if one.is_stuck(time.monotonic(), self.patience_seconds):
                log.info("a connection from %s was ended: next to nothing came through", one.addr)
                one.cut()

    def _connections(self) -> list[Connection]:
        return [one for one in self._map.values() if isinstance(one, Connection)]


def listen(
    application: Any, *, patience_seconds: float = PATIENCE_SECONDS, **adjustments: Any
) -> MultiSocketServer:
    """A server of an application, as waitress's `create_server` makes one.

    Args:
        patience_seconds: how long a connection may be stuck.
        adjustments: waitress's own settings.

    Raises:
        OSError: it can't listen there.
    """
    settings = Adjustments(cleanup_interval=min(LOOK_SECONDS, patience_seconds / 4), **adjustments)
    makers = ThreadedTaskDispatcher()
    makers.set_thread_count(settings.threads)
    parts: dict[int, Any] = {}
    where = []
    for address in settings.listen:
        server = Server(application, parts, dispatcher=makers, adj=settings, sockinfo=address)
        server.patience_seconds = patience_seconds
        where.append((server.effective_host, server.effective_port))
    return MultiSocketServer(parts, settings, where, makers)
