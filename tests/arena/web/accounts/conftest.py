"""An arena of which nobody knows but ada."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from arena.ground.db import Database
from tests.arena.web.signing_in import (
    pages,
    person,
)


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """An arena with nobody in it."""
    return sqlite_database


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    """Its pages; anybody may register, and ada has."""
    person(database, "ada")
    app = pages(database, registration="open")
    yield app
    app.extensions["arena.database"].close()
