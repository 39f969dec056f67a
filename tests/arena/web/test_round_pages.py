"""Rounds and divisions as pages, files and the API tell them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import EntrantState
from arena.web.app import create_app
from tests.arena.competitions.round_simulation import round_field
from tests.conftest import on_both


@pytest.fixture
def client(database: Database, tmp_path: Path) -> Iterator[FlaskClient]:
    """The pages of a ladder that has played two rounds in divisions of three, and plays a third."""
    field = round_field(database)
    field.name_boss(7, 2)
    field.begin(size=3, moves=1)
    field.end([[2, 0, 1], [5, 4, 7, 3]], {7: [5]})
    field.begin()
    field.end([[5, 0, 2], [1, 4, 7, 3]], {7: [1]})
    field.begin()
    field.set(4, state=EntrantState.RETIRED)
    app = create_app(Settings(data=tmp_path, database=database.url))
    app.testing = True
    yield app.test_client()
    app.extensions["arena.database"].close()


@on_both("database")
def test_who_came_where_in_each_round(client: FlaskClient) -> None:
    """By divisions; the newest round first, and points added up."""
    page = client.get("/ladders/ladder-0").text
    for words in ("Rounds and divisions", "Division 1", "Division 3", "Round 3", ">boss<"):
        assert words in page, words
    assert page.index("Round 3") < page.index("Round 2") < page.index("Round 1")
    told = client.get("/ladders/ladder-0/rounds.json").json
    assert told is not None
    assert client.get("/api/v1/ladders/ladder-0/rounds").json == told
    assert [(one["number"], one["tournaments"]) for one in told["rounds"]] == [
        (number, [f"ladder-0-round-{number}-{division}" for division in (1, 2)])
        for number in (3, 2, 1)
    ]
    assert told["rounds"][0]["settled"] is None
    assert [
        (one["bot"], one["division"], one["standing"], one["boss"], one["points"], one["rounds"])
        for one in told["bots"]
    ] == [
        ("bot-5", 1, 1, False, 5, 2),
        ("bot-0", 1, 2, False, 2, 2),
        ("bot-1", 1, 3, False, 3, 2),
        ("bot-2", 2, 1, False, 2, 2),
        ("bot-4", 2, 2, False, 4, 2),
        ("bot-3", 2, 3, False, 0, 2),
        ("bot-7", 2, None, True, 2, 2),
        ("bot-6", 3, 1, False, 0, 0),
    ]
    first = told["bots"][0]["results"]
    assert [(one["round"], one["division"], one["place"], one["points"]) for one in first] == [
        (3, 1, None, None),
        (2, 1, 1, 2),
        (1, 2, 1, 3),
    ]
    assert [one["active"] for one in told["bots"] if one["bot"] in ("bot-4", "bot-5")] == [1, 0]
    one = client.get("/api/v1/ladders/ladder-0/rounds?last=1").json
    assert one is not None
    assert [its["number"] for its in one["rounds"]] == [3]
    assert one["bots"][0]["points"] == 5, "of all rounds, whatever is told of"
    rows = list(csv.DictReader(io.StringIO(client.get("/ladders/ladder-0/rounds.csv").text)))
    assert len(rows) == 3 * 7
    assert rows[1] == {
        "bot": "bot-5",
        "round": "2",
        "division": "1",
        "tournament": "ladder-0-round-2-1",
        "version": "1",
        "place": "1",
        "points": "2.0",
    }


def test_rounds_flood_no_list(client: FlaskClient) -> None:
    """They are found on the ladder's page."""
    assert "ladder-0-round" not in client.get("/tournaments").text
