"""The pages of a leaderboard with more bots than a page has, as programs read them."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from arena.fake.fill import fill
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import AT_HOME, BotVersion, Entrant, EntrantState, HomeRule, Ladder
from arena.ratings.elo import FEWEST_GAMES
from arena.web.app import create_app
from tests.arena.web.conftest import VARIANTS, Site

BOTS = 170


@pytest.fixture(scope="module")
def reader(sqlite_like: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """Somebody before a ladder `long`, of which some bots are ranked and more are in placement."""
    file = tmp_path_factory.mktemp("long") / "arena.db"
    database = Database(f"sqlite:///{shutil.copy(sqlite_like, file)}")
    fill(database, bots=BOTS, ladders=1, games=1200, seed=1, now=datetime.now(UTC))
    with database.begin() as session:
        session.execute(sa.update(Ladder).values(name="long", home=HomeRule.BESIDE))
        lua = BotVersion.language == "Lua"
        session.execute(sa.update(BotVersion).where(lua).values(language=AT_HOME))
    app = create_app(Settings(database=database.url))
    yield app.test_client()
    app.extensions["arena.database"].close()
    database.close()


@pytest.mark.long
@pytest.mark.parametrize("asked", ["", "&sort=bot", "&bot=1"])
@pytest.mark.parametrize("address", ["/api/v1/ladders/long/leaderboard", "/ladders/long.json"])
def test_all_pages_have_each_bot_once(reader: FlaskClient, address: str, asked: str) -> None:
    """The ranked ones first; those in placement too, however many they are."""
    pages = [reader.get(f"{address}?page=1{asked}").json]
    while len(pages) < pages[0]["pages"]:
        pages.append(reader.get(f"{address}?page={len(pages) + 1}{asked}").json)
    assert [page["page"] for page in pages] == [*range(1, len(pages) + 1)]
    bots = [line["bot"] for page in pages for line in page["bots"]]
    assert len(bots) == len({*bots}) > 50
    ranked = [line["rank"] is not None for page in pages for line in page["bots"]]
    assert ranked == sorted(ranked, reverse=True)
    assert {*ranked} == {True, False}
    assert all(len(page["bots"]) == 50 for page in pages[:-1])
    if not asked:
        assert len(bots) == pages[0]["ranked"] + pages[0]["placement"]
    assert reader.get(f"{address}?page={len(pages) + 1}{asked}").json["bots"] == []
    tables = [
        csv.DictReader(io.StringIO(reader.get(f"/ladders/long.csv?page={n}{asked}").text))
        for n in range(1, len(pages) + 1)
    ]
    assert [row["bot"] for table in tables for row in table] == bots


def test_a_page_for_people_shows_who_comes_next(reader: FlaskClient) -> None:
    """Those in placement stand below the ranked ones of any page."""
    assert "In placement" in reader.get("/ladders/long?page=1").text


def test_bots_at_home_are_found_by_that_word(reader: FlaskClient) -> None:
    """Where others are found by their languages; and the API says that the ladder takes them."""
    page = reader.get("/ladders/long?language=home").text
    assert '<option value="home" selected>at home</option>' in page
    assert '<option value="Rust">Rust</option>' in page
    found = reader.get("/api/v1/ladders/long/leaderboard?language=home").json["bots"]
    assert {one["language"] for one in found} == {"home"}
    assert reader.get("/api/v1/ladders/long").json["home"] == "beside"
    assert [one["home"] for one in reader.get("/api/v1/ladders").json["items"]] == ["beside"]


def test_shares_are_told_of_enough_games(site: Site) -> None:
    """Draws, and what who begins takes, would be 0 or 100 % of two games."""
    told = {}
    for number in range(len(VARIANTS)):
        page = site.page(f"/ladders/ladder-{number}")
        tiles = dict(re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", page))
        shares = [words for name, words in tiles.items() if name == "Draws" or "begins" in name]
        few = ["too few games to say" in words for words in shares]
        assert few == [int(tiles["Games played"]) < FEWEST_GAMES] * len(shares)
        assert [" %" in words for words in shares] == [not one for one in few]
        told[number] = few
    assert [True, True] in told.values()
    assert [False, False] in told.values()


def test_nobody_is_compared_with_a_bot_that_is_alone(site: Site) -> None:
    """Of several bots each can be; of one none."""
    active = sa.select(Entrant.id).join(Ladder, Ladder.id == Entrant.competition_id)
    active = active.where(Ladder.name == "ladder-2", Entrant.state == EntrantState.ACTIVE)
    with site.database.begin() as session:
        _, *others = entrants = session.scalars(active).all()
    assert site.page("/ladders/ladder-2").count('class="pick"') == len(entrants) > 1
    all_others = sa.update(Entrant).where(Entrant.id.in_(others))
    try:
        with site.database.begin() as session:
            session.execute(all_others.values(state=EntrantState.RETIRED))
        assert 'class="pick"' not in site.page("/ladders/ladder-2")
    finally:
        with site.database.begin() as session:
            session.execute(all_others.values(state=EntrantState.ACTIVE))
