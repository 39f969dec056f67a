"""Signed addresses of bundles: each for one bundle and some minutes, and for nobody else's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arena import signing
from arena.audit import ARENA
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.signing import bundle_location, may_fetch
from arena.web.app import create_app

BUNDLE = b"a tar"
DIGEST = hashlib.sha256(BUNDLE).hexdigest()
NOW = datetime.now(UTC)
SETTINGS = Settings(public_url="https://arena.example.org/", take_up_seconds=60.0)


def token_of(database: Database, now: datetime | None = None) -> str:
    """What an address of the bundle proves, by default from now on."""
    with database.begin() as session:
        address = bundle_location(session, SETTINGS, DIGEST, now or datetime.now(UTC))
    before, _, token = address.partition("?token=")
    assert before == f"https://arena.example.org/bundles/{DIGEST}"
    return token


@pytest.fixture
def client(database: Database, tmp_path: Path) -> Iterator[FlaskClient]:
    """A browser of an arena that keeps one bundle."""
    (tmp_path / "bundles").mkdir()
    (tmp_path / "bundles" / DIGEST).write_bytes(BUNDLE)
    app = create_app(Settings(data=tmp_path, database=database.url))
    yield app.test_client()
    app.extensions["arena.database"].close()


def test_on_one_machine_a_bundle_is_a_path(database: Database, tmp_path: Path) -> None:
    """Nothing is signed there."""
    settings = Settings(data=tmp_path)
    with database.begin() as session:
        assert bundle_location(session, settings, DIGEST, NOW) == f"{tmp_path}/bundles/{DIGEST}"


def test_an_address_gives_its_bundle(database: Database, client: FlaskClient) -> None:
    """With nobody signed in, as it is; no cache keeps it."""
    with client.get(f"/bundles/{DIGEST}?token={token_of(database)}") as answer:
        assert (answer.status_code, answer.data) == (200, BUNDLE)
        assert answer.headers["Cache-Control"] == "private, no-store"


def test_what_is_not_kept_is_not_found(database: Database, client: FlaskClient) -> None:
    """A right address of a bundle that is gone."""
    with database.begin() as session:
        address = bundle_location(session, SETTINGS, "0" * 64, datetime.now(UTC))
    assert client.get(address.removeprefix("https://arena.example.org")).status_code == 404


def changed(token: str) -> str:
    return token[:-3] + ("A" if token[-3] != "A" else "B") + token[-2:]


@pytest.mark.parametrize("spoil", [changed, lambda _: "", lambda _: "x.y"])
def test_another_token_opens_nothing(database: Database, client: FlaskClient, spoil) -> None:  # type: ignore[no-untyped-def]
    """Nor one of another bundle, nor one that was never signed."""
    token = spoil(token_of(database))
    assert client.get(f"/bundles/{DIGEST}", query_string={"token": token}).status_code == 403


def test_an_address_holds_for_one_bundle_and_some_minutes(database: Database) -> None:
    """The time to take a job up, and ten minutes; not for another digest, nor another secret."""
    token = token_of(database, NOW)
    with database.begin() as session:
        for seconds, holds in ((-60, True), (659, True), (661, False)):
            assert may_fetch(session, DIGEST, token, NOW + timedelta(seconds=seconds)) is holds
        assert not may_fetch(session, "0" * 64, token, NOW)
        signing.rotate(session, ARENA, NOW)
        assert not may_fetch(session, DIGEST, token, NOW)
