"""Pages and the API of an arena whose games are cold."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask

from arena.keeping import reading
from arena.keeping.moving import Mover
from arena.keeping.stores import FolderStore
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import pages
from tests.conftest import copied

LATER = datetime.now(UTC) + timedelta(days=1)


def addresses(app: Flask, number: int) -> Iterator[str]:
    """All that is asked of a game by its number, with a ply where one is asked for."""
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            asked = {"number": number, "ply": 3, "seat": 1, "format": "json"}
            if rule.rule.startswith(("/games/<", "/api/v1/games/<")) and "GET" in rule.methods:
                yield app.url_map.bind("localhost").build(
                    rule.endpoint, {name: asked[name] for name in rule.arguments}
                )
    yield f"/api/v1/games.jsonl?after={number - 1}"
    yield "/latest.png?competition=ladder-0"


@pytest.fixture
def cold(site: Site, tmp_path: Path) -> Iterator[tuple[Flask, int]]:
    """The pages of an arena with all kinds of games, none of which has a record in its row."""
    file = Path(site.database.url.removeprefix("sqlite:///"))
    with copied("sqlite", file, tmp_path) as database:
        Mover(database, FolderStore(tmp_path / "cold")).move(LATER, LATER)
        app = pages(database, data=tmp_path)
        yield app, site.numbers["trio"]
        app.extensions["arena.database"].close()


@pytest.mark.long
def test_every_address_of_a_game_shows_it(
    cold: tuple[Flask, int], site: Site, tmp_path: Path
) -> None:
    """As when its record was in its row; and each says so, and fails otherwise in no way, when its
    file is gone."""
    app, number = cold
    client = app.test_client()
    there = list(addresses(app, number))
    assert len(there) > 12
    for address in there:
        known, found = site.client.get(address), client.get(address)
        assert (found.status_code, address) == (known.status_code, address)
        if known.mimetype != "text/html":  # forms have tokens of their own
            assert found.data == known.data, address
    shutil.rmtree(tmp_path / "cold")
    reading._texts.cache_clear()
    away = {address: client.get(address) for address in there if "jsonl" not in address}
    told = [address for address, answer in away.items() if answer.status_code == 503]
    assert {answer.status_code for answer in away.values()} <= {200, 302, 303, 404, 503}
    assert {f"/games/{number}", f"/games/{number}/3", f"/api/v1/games/{number}/record"} <= {*told}
    words = f"The record of game {number} is in the cold store"
    assert all(words in away[address].text for address in told if "latest" not in address)
