"""Rounds and divisions as pages, files and the API tell them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from arena.audit import ARENA
from arena.bots.deletion import DeleteBot
from arena.competitions.round_tables import round_table
from arena.competitions.visibility import change_visibility
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import EntrantState, Tournament, Visibility
from arena.web import ladders
from arena.web.app import create_app
from tests.arena.competitions.round_simulation import RoundField, round_field
from tests.arena.conftest import Cli
from tests.arena.doing import do
from tests.conftest import on_both


@pytest.fixture
def field(database: Database) -> RoundField:
    """A ladder that has played two rounds in divisions of three, and plays a third."""
    field = round_field(database)
    field.set(6, state=EntrantState.RETIRED)
    field.name_boss(7, 2)
    field.begin(size=3, moves=1)
    field.end([[2, 0, 1], [5, 4, 7, 3]], {7: [5]})
    field.begin()
    field.end([[5, 0, 2], [1, 4, 7, 3]], {7: [1]})
    field.begin()
    field.set(4, state=EntrantState.RETIRED)
    return field


@pytest.fixture
def client(field: RoundField, tmp_path: Path) -> Iterator[FlaskClient]:
    """Its pages, as everybody sees them."""
    app = create_app(Settings(data=tmp_path, database=field.database.url))
    app.testing = True
    yield app.test_client()
    app.extensions["arena.database"].close()


@on_both("database")
def test_who_came_where_in_each_round(client: FlaskClient) -> None:
    """It is told by divisions; the newest round first, and points added up."""
    page = client.get("/ladders/ladder-0").text
    for words in ("Rounds and divisions", "Division 1", "Division 2", "Round 3", ">boss<"):
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


def test_the_page_has_the_first_lines(
    field: RoundField, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With their places, and says of how many; files have all."""
    with field.database.read() as session:
        ladder = field.ladder(session)
        whole, first = round_table(session, ladder), round_table(session, ladder, most_lines=4)
        assert (first.size, len(whole.lines)) == (7, 7)
        assert first.lines == whole.lines[:4]
        assert first.rounds == whole.rounds
    monkeypatch.setattr(ladders, "SHOWN_LINES", 4)
    section = client.get("/ladders/ladder-0").text.partition('aria-labelledby="rounds"')[2]
    section = section.partition("</section>")[0]
    assert "These are the first 4 of 7 bots" in section
    assert section.count('<td class="bot">') == 4


LISTS = [
    "/tournaments", "/competitions", "/competitions?kind=tournament", "/search?q=ladder",
    "/bots/bot-0/feed.atom", "/api/v1/tournaments", "/api/v1/competitions",
]  # fmt: skip
TOLD = [
    "/ladders/ladder-0/rounds.json", "/ladders/ladder-0/rounds.csv",
    "/api/v1/ladders/ladder-0/rounds",
    "/tournaments?round_of=ladder-0", "/api/v1/tournaments?round_of=ladder-0",
    "/tournaments/ladder-0-round-2-1", "/api/v1/tournaments/ladder-0-round-2-1",
]  # fmt: skip


def test_rounds_flood_no_list(client: FlaskClient, subtests: pytest.Subtests) -> None:
    """They are found on the ladder's page, and in a list of theirs."""
    for path in LISTS:
        with subtests.test(path):
            answer = client.get(path)
            assert answer.status_code == 200
            assert "ladder-0-round" not in answer.text
    for path in TOLD:
        with subtests.test(path):
            assert "ladder-0-round-2-1" in client.get(path).text
    told = client.get("/api/v1/tournaments?round_of=ladder-0").json
    assert told is not None
    assert [one["tournament"] for one in told["items"]] == [
        f"ladder-0-round-{number}-{division}" for number in (3, 2, 1) for division in (2, 1)
    ]
    for path in ("/tournaments?round_of=none", "/api/v1/tournaments?round_of=none"):
        with subtests.test(path):
            assert client.get(path).status_code == 404


def test_rounds_are_hidden_with_their_ladder(
    field: RoundField, client: FlaskClient, subtests: pytest.Subtests
) -> None:
    """Those that were played before it was, too."""
    with field.database.begin() as session:
        change_visibility(session, field.ladder(session), Visibility.PRIVATE, ARENA, field.now)
    with field.database.read() as session:
        assert set(session.scalars(sa.select(Tournament.visibility))) == {Visibility.PRIVATE}
    for path in TOLD:
        with subtests.test(path):
            assert client.get(path).status_code == 404
    for path in LISTS:
        with subtests.test(path):
            assert "ladder-0-round" not in client.get(path).text


def test_a_bot_that_is_deleted_stays_in_the_table(field: RoundField, client: FlaskClient) -> None:
    """Without its name and division, a boss as well; a round that had not begun is without it."""
    with field.database.begin() as session:
        for bot in ("bot-1", "bot-7"):
            do(session, DeleteBot(bot), field.now)
    page = client.get("/ladders/ladder-0").text
    assert ">boss<" not in page
    told = client.get("/ladders/ladder-0/rounds.json").json
    assert told is not None
    gone = [one for one in told["bots"] if one["bot"].startswith("deleted")]
    assert [(one["division"], one["active"], len(one["results"])) for one in gone] == [
        (None, False, 2),
        (None, False, 2),
    ]
    assert {"bot-1", "bot-7"} & {one["bot"] for one in told["bots"]} == set()
    field.finish()
    assert [sorted(one) for one in field.begin()] == [[0, 2, 3, 5]], "3 would be alone"


def test_the_command_tells_the_same(
    field: RoundField, client: FlaskClient, cli: Cli, tmp_path: Path
) -> None:
    """As a table, as JSON and as CSV."""
    told = client.get("/ladders/ladder-0/rounds.json").json
    show = ("ladder", "rounds", "ladder-0", "--data", tmp_path)
    assert cli(*show, "--json", "--last", 200).json == told
    rows = csv.DictReader(io.StringIO(cli(*show, "--csv").out))
    assert [*rows] == [
        *csv.DictReader(io.StringIO(client.get("/ladders/ladder-0/rounds.csv").text))
    ]
    lines = [line.split("│")[1:-1] for line in cli(*show).out.splitlines() if "bot-" in line]
    assert [cell.strip() for cell in lines[0]] == [
        "1", "bot-5", "5", "2", "…", "1 (2)", "1 (3), div. 2"
    ]  # fmt: skip
    assert any("bot-7 (boss)" in cell for line in lines for cell in line)
    assert "ladder-0-round-3-2" not in cli("tournament", "list", "--data", tmp_path, "--json").out
    of_it = cli("tournament", "list", "--round-of", "ladder-0", "--data", tmp_path, "--json").json
    assert [one["tournament"] for one in of_it][-1] == "ladder-0-round-3-2"
