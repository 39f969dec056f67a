"""Signs of life of a process for whoever supervises it, by which one that hangs is told and ended.

The protocol is systemd's (sd_notify(3)): datagrams to the socket that NOTIFY_SOCKET names. In the
same way `arena up` listens to what it starts.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress

from engine.timers import Every

VARIABLE = "NOTIFY_SOCKET"
ALIVE, READY = b"WATCHDOG=1", b"READY=1"
KIND = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
PULSE_SECONDS = 2.0
HUNG_SECONDS = 120.0
"""A process without a sign for so long hangs: statements of a database may take long."""


class Pulse:
    """Gives signs of life; to nobody where nobody listens."""

    def __init__(self) -> None:
        address = os.environ.get(VARIABLE, "")
        # One that begins with @ is a name in the kernel alone.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._paced = Every(PULSE_SECONDS)

    def beat(self, *_: object) -> None:
        """Says now and then that this process goes on; cheap enough to be called at every step."""
        if self._paced.is_due():
            self._say(ALIVE)

    def ready(self) -> None:
        """Says once that it has begun."""
        self._say(READY)

    def _say(self, words: bytes) -> None:
        if self._address:
            with suppress(OSError), socket.socket(socket.AF_UNIX, KIND) as speaker:
                speaker.sendto(words, self._address)


class Listener:
    """Where a supervisor hears them."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, KIND)
        self._socket.bind("")  # the kernel finds a name that nobody has

    @property
    def address(self) -> str:
        """The socket's address as NOTIFY_SOCKET has it."""
        name: bytes = self._socket.getsockname()
        return f"@{name[1:].decode()}"

    def heard(self) -> bool:
        """Whether there was a sign of life since it was last asked."""
        found = False
        with suppress(BlockingIOError):
            while self._socket.recv(100):
                found = True
        return found

    def close(self) -> None:
        self._socket.close()
