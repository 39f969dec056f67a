"""An arena of which nobody knows but ada."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from arena.db import Database
from tests.arena.web.signing_in import (
    pages,
    person,
)


@pytest.fixture
def database(empty: Path, tmp_path: Path) -> Iterator[Database]:
    """An arena with nobody in it."""
    shutil.copy(empty, tmp_path / "arena.db")
    found = Database(f"sqlite:///{tmp_path}/arena.db")
    yield found
    found.close()


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    """Its pages; anybody may register, and ada has."""
    person(database, "ada")
    app = pages(database, registration="open")
    yield app
    app.extensions["arena.database"].close()
