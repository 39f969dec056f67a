"""A database that is away or slow costs people a page with one line, never a stack trace."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.web import outage
from arena.web.app import create_app
from tests import postgres
from tests.arena.running import free_port

PAGES = ["/", "/tournaments", "/ladders/none", "/api/v1/ladders"]
STATIC = ["/healthz", "/static/arena.css"]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    """The pages of an arena that began well."""
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade()
    database.close()
    made = create_app(Settings(data=tmp_path))
    yield made
    made.extensions["arena.database"].close()


def check(app: Flask) -> None:
    """Every page that needs the database is refused, in one line; the others are there."""
    client = app.test_client()
    for path in PAGES:
        answer = client.get(path)
        assert answer.status_code == 503, path
        assert answer.headers["Retry-After"] == "5"
        assert "does not answer now" in answer.text
        assert "Traceback" not in answer.text
        assert "<nav" not in answer.text  # nothing that would ask who is signed in
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert (answer.mimetype == "text/html") == (not path.startswith("/api"))
    for path in STATIC:
        with client.get(path) as answer:
            assert answer.status_code == 200


def test_a_database_that_is_away(app: Flask) -> None:
    """Nobody listens where it should be."""
    app.extensions["arena.database"].close()
    nowhere = f"postgresql+psycopg://nobody@127.0.0.1:{free_port()}/none"
    app.extensions["arena.database"] = Database(nowhere)
    check(app)


def test_a_database_that_is_broken(app: Flask, tmp_path: Path) -> None:
    """Its file is there, and nothing is in it."""
    app.extensions["arena.database"].close()
    for file in tmp_path.glob("arena.db*"):
        file.unlink()
    check(app)


@pytest.mark.long
@pytest.mark.parametrize("kind", [OperationalError, InternalError])
def test_an_error_page_that_needs_the_database(app: Flask, kind: type[DBAPIError]) -> None:
    """Who is signed in is named on the page of any error, which may fail by that."""

    @app.get("/boom")
    def boom() -> str:
        raise ZeroDivisionError

    @app.context_processor
    def ask() -> dict[str, str]:
        raise kind("SELECT 1", {}, Exception("the server is gone"))

    client = app.test_client()
    for path in ("/boom", "/nothing-there"):
        answer = client.get(path)
        assert (answer.status_code, "does not answer now" in answer.text) == (503, True), path


def test_a_database_that_is_slow(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody holds the tables for longer than a page may take; then it goes on by itself."""
    monkeypatch.setattr(outage, "PATIENCE_SECONDS", 1)
    with postgres.database(postgres_url) as url:
        database = Database(url)
        database.upgrade()
        app = create_app(Settings(data=tmp_path, database=url))
        client = app.test_client()
        assert client.get("/").status_code == 200
        with database.engine.begin() as connection:
            connection.execute(sa.text("LOCK TABLE competition IN ACCESS EXCLUSIVE MODE"))
            begun = time.monotonic()
            assert client.get("/").status_code == 503
            assert 0.9 < time.monotonic() - begun < 5
        assert client.get("/").status_code == 200
        app.extensions["arena.database"].close()
        database.close()
