"""Runtimes on the site: the page, the list for programs, the lock, and the file for workers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arena.audit import ARENA
from arena.bots import runtimes
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.signing import runtime_location
from arena.web.app import create_app
from tests.arena.web.conftest import CARD, HOSTILE
from tests.arena.web.signing_in import now

CONTENT = b"a runtime"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def client(sqlite_database: Database, tmp_path: Path) -> Iterator[FlaskClient]:
    """Somebody who looks at an arena with one runtime."""
    settings = Settings(
        data=tmp_path, database=sqlite_database.url, public_url="http://arena.example"
    )
    settings.runtimes.mkdir()
    (settings.runtimes / DIGEST).write_bytes(CONTENT)
    with sqlite_database.begin() as session:
        size = len(CONTENT)
        runtimes.add(session, "scientific", DIGEST, size, CARD, "Python", now(), ARENA)
    app = create_app(settings, None)  # type: ignore[arg-type]
    yield app.test_client()
    app.extensions["arena.database"].close()


def test_the_page_tells_what_a_runtime_holds(client: FlaskClient) -> None:
    """Below the guide, with its packages, and how to have it at home."""
    page = client.get("/docs/runtimes").text
    for words in (
        "<h1",
        "numpy</td><td>2.0</td>",
        "runtime = &#34;scientific&#34;",
        "arena runtime fetch scientific --server http://localhost",
        "pip install -r http://localhost/runtimes/scientific/lock",
    ):
        assert words in page, words
    assert HOSTILE not in page
    assert client.get("/runtimes/scientific/lock").text == "numpy==2.0"
    (told,) = client.get("/runtimes.json").json
    assert (told["name"], told["digest"], told["packages"][0]["version"]) == (
        "scientific",
        DIGEST,
        "2.0",
    )
    assert client.get("/api/v1/runtimes").json["items"] == [told]


def test_a_worker_fetches_it_by_a_signed_address(
    client: FlaskClient, sqlite_database: Database
) -> None:
    """And nobody else, and only for some minutes."""
    settings = Settings(public_url="http://arena.example")
    with sqlite_database.begin() as session:
        address = runtime_location(session, settings, DIGEST, datetime.now(UTC))
        old = runtime_location(session, settings, DIGEST, datetime(2026, 1, 1, tzinfo=UTC))
    there = address.removeprefix("http://arena.example")
    assert there.startswith(f"/runtimes/{DIGEST}?token=")
    with client.get(there) as answer:
        assert (answer.status_code, answer.data) == (200, CONTENT)
    with client.get(there, headers={"Range": "bytes=2-"}) as answer:
        assert (answer.status_code, answer.data) == (206, CONTENT[2:])
    assert client.get(old.removeprefix("http://arena.example")).status_code == 403
    assert client.get(there.replace(DIGEST, "0" * 64)).status_code == 403
    assert client.get(f"/runtimes/{DIGEST}").status_code == 403
