"""What others are shown of a page: in previews where it is shared, and as crawlers find it."""

from __future__ import annotations

import io
import re
from html import unescape

import pytest
import sqlalchemy as sa
from PIL import Image

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import PlayedGame
from arena.web.app import ROBOTS, create_app
from arena.web.pictures import PREVIEW_PIXELS
from tests.arena.web.conftest import Site

META = re.compile(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">')


def meta(page: str) -> dict[str, str]:
    """What a page says of itself; nothing twice."""
    found = [(name, unescape(text)) for name, text in META.findall(page)]
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/", "Bots play board games here"),
        ("/ladders/ladder-0", "Leaderboard of bots that play clobber size=4x3, 100 ms of CPU time"),
        ("/bots/bot-2", "bot-2, a bot of "),
        ("/tournaments/cup", "A tournament of 3 bots that play clobber size=4x3"),
        ("/tests/{test}", "A strength test of "),
        ("/rules/clobber", ""),
        ("/games/{trio}", "bot-"),
        ("/matches/{played}", "Bots play board games here"),
        ("/docs/", "From a bot of ten lines"),
        ("/docs/protocol", "A bot is a program"),
        ("/gauntlets/gauntlet", "Bots play board games here"),
    ],
)
def test_a_page_that_is_shared_says_what_it_is(site: Site, address: str, words: str) -> None:
    """Its title, a sentence, and a picture that is there, by a whole address, for who has no
    session."""
    page = site.page(address)
    told = meta(page)
    title = re.search(r"<title>(.+?)</title>", page)
    assert title
    assert told["og:title"] == unescape(title[1])
    assert told["description"] == told["og:description"]
    assert told["og:description"].startswith(words)
    assert told["twitter:card"] == "summary"
    picture = told["og:image"].removeprefix("http://localhost")
    assert picture.startswith("/")
    answer = site.client.get(picture)
    assert PREVIEW_PIXELS * 0.9 < Image.open(io.BytesIO(answer.data)).width <= PREVIEW_PIXELS


def test_crawlers_may_fetch_the_preview_of_a_game(site: Site) -> None:
    """The address is the very one that its page names."""
    with site.database.read() as session:
        number = session.scalars(sa.select(PlayedGame.id).limit(1)).one()
    picture = meta(site.page(f"/games/{number}"))["og:image"].removeprefix("http://localhost")
    assert "?v=" in picture
    assert allowed(picture)


def test_the_picture_of_what_was_played_last(site: Site) -> None:
    """It is the end of the last game of a competition, of a bot, of all."""
    with site.database.read() as session:
        newest = sa.select(PlayedGame).order_by(PlayedGame.id.desc()).limit(1)
        last = session.scalars(newest).one()
        address = f"/games/{last.id}/{last.plies}.png"
        where = last.competition.name
        bot = last.seats[0].entrant.version.bot.name
    end = site.client.get(address).data
    for latest in ("/latest.png", f"/latest.png?competition={where}", f"/latest.png?bot={bot}"):
        assert site.client.get(latest).data == end
    begun = site.client.get("/latest.png?competition=gauntlet")  # which has played nothing
    assert begun.status_code == 200
    for unknown in ("/latest.png?competition=nowhere", "/latest.png?bot=nobody"):
        assert site.client.get(unknown).status_code == 404


def test_an_empty_arena_has_a_picture_too(sqlite_database: Database) -> None:
    """It shows the game to begin with."""
    client = create_app(Settings(database=sqlite_database.url)).test_client()
    assert Image.open(io.BytesIO(client.get("/latest.png").data)).format == "PNG"


def allowed(address: str) -> bool:
    """Whether a crawler may fetch an address, as RFC 9309 has it: the longest line that fits."""
    best = (0, True)
    for line in ROBOTS.splitlines()[1:]:
        verb, path = line.split(": ")
        pattern = re.escape(path).replace(r"\*", ".*").replace(r"\$", "$")
        if re.match(pattern, address):
            best = max(best, (len(path), verb == "Allow"))
    return best[1]


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("/", True),
        ("/robots.txt", True),
        ("/ladders/clobber-6x7", True),
        ("/ladders/clobber-6x7?sort=faults", False),
        ("/ladders/clobber-6x7.csv", False),
        ("/bots/mybot", True),
        ("/bots/mybot/feed.atom", True),
        ("/bots/mybot/versions/3.tar", False),
        ("/games", True),
        ("/games?bot=mybot", False),
        ("/games/17", True),
        ("/games/17/12", False),
        ("/games/17/12.svg", False),
        ("/games/17/61.png", True),  # the preview of its page
        ("/games/17.gif", False),
        ("/games/17.json", False),
        ("/games/17.txt", False),
        ("/games/17/embed", False),
        ("/matches/9", True),
        ("/matches/9/stream", False),
        ("/latest.png?bot=mybot", True),
        ("/static/arena.css?v=0123", True),
        ("/api/v1/games.jsonl", False),
        ("/explorer/clobber-6x7", False),
        ("/analysis", False),
        ("/dumps/2026-05-04/dump.json", False),
        ("/docs/protocol", True),
    ],
)
def test_what_crawlers_may_fetch(address: str, may: bool) -> None:
    """Pages; not what is made anew for whoever asks, nor one page in a thousand orders."""
    assert allowed(address) == may
