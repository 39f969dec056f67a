"""Connections that another process has accepted, read from and handed over, by a Unix socket.

Each comes as a descriptor, beside a letter of JSON that says who asks and for what.
"""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any

LETTER_SECONDS = 5.0
"""What whoever hands over may take."""

log = logging.getLogger(__name__)

LetIn = Callable[[socket.socket, Mapping[str, Any]], None]
"""Takes a connection, which does not block, with its letter; of one that it can't use it raises a
LookupError, ValueError or TypeError."""


def hand_over(connection: int, letter: Mapping[str, Any], to: socket.socket) -> None:
    """Hands a connection's descriptor over, which stays open here.

    Raises:
        OSError: nobody takes it.
    """
    text = json.dumps(letter).encode()
    socket.send_fds(to, [text[:1]], [connection])
    to.sendall(text[1:])


class Reception:
    """Takes over what is handed over, in a thread."""

    def __init__(self, listener: socket.socket, let_in: LetIn, *, longest: int) -> None:
        """Begins to take connections, in a thread of its own.

        Args:
            listener: the Unix socket at which they come.
            longest: how many bytes a letter may have.
        """
        self._listener, self._let_in, self._longest = listener, let_in, longest
        listener.setblocking(True)
        threading.Thread(target=self._run, name="reception", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                giver, _ = self._listener.accept()
            except OSError as error:
                log.info("nobody comes in any more: %s", error)
                return
            with giver:
                giver.settimeout(LETTER_SECONDS)
                try:
                    self._receive(giver)
                except (OSError, LookupError, ValueError, TypeError) as error:
                    log.warning("what was handed over was no letter: %s", error)

    def _receive(self, giver: socket.socket) -> None:
        text, files, _, _ = socket.recv_fds(giver, 1 << 16, 4)
        clients = [socket.socket(fileno=file) for file in files]
        try:
            while chunk := giver.recv(1 << 16):
                text += chunk
                if len(text) > self._longest:
                    raise ValueError("it is too long")
            (client,) = clients
            client.setblocking(False)
            self._let_in(client, json.loads(text))
        except BaseException:
            for one in clients:
                one.close()
            raise
