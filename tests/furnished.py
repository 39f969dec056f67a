"""Arenas that tests find furnished, each made once for all processes of the tests.

What furnishes one is called for a file of SQLite; on PostgreSQL a backup of that is restored. Every
test is given a copy.
"""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.operation.backup import write_backup
from arena.operation.restoring import restore_backup
from tests import postgres
from tests.conftest import copied, server_of

T = TypeVar("T")

BACKUP = "backup.tar"


@contextmanager
def furnished_database(
    request: pytest.FixtureRequest, folder: Path, furnish: Callable[[Database], T]
) -> Iterator[tuple[Database, T]]:
    """A database of the kind that a fixture is asked for, or else on SQLite, with what a function
    put there, and what the function gave.
    """
    home, given = _furnished(request, furnish)
    like: Path | str = home / "arena.db"
    server = server_of(request)
    if server:
        likes = request.getfixturevalue("likes")
        if furnish not in likes:
            empty = request.getfixturevalue("postgresql_like")
            url = postgres.create(server, like=empty)
            place = request.getfixturevalue("tmp_path_factory").mktemp("like")
            restore_backup(home / BACKUP, Settings(data=place, database=url), _tell_nobody)
            likes[furnish] = str(sa.make_url(url).database)
        like = likes[furnish]
    with copied("postgresql" if server else "sqlite", like, folder, server) as found:
        yield found, given


def _furnished(request: pytest.FixtureRequest, furnish: Callable[[Database], T]) -> tuple[Path, T]:
    """A folder with a file of SQLite that a function has furnished, and what the function gave.

    The process that needs it first makes it, and the others wait meanwhile.
    """
    base = request.getfixturevalue("tmp_path_factory").getbasetemp()
    # Of several processes each has its folder in that of the run.
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    home = run / f"{furnish.__module__}.{furnish.__qualname__}"
    home.mkdir(exist_ok=True)
    told = home / "given"
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            like = request.getfixturevalue("sqlite_like")
            with copied("sqlite", like, home) as database:
                given = furnish(database)
                settings = Settings(data=home, database=database.url)
                write_backup(database, settings, home / BACKUP, _tell_nobody)
            told.write_bytes(pickle.dumps(given))
    return home, pickle.loads(told.read_bytes())


def _tell_nobody(_: str) -> None:
    pass
