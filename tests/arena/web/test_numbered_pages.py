"""Long lists by pages: each shows, page by page, just what all of them would show as one."""

from __future__ import annotations

import re

import pytest

from arena.ground import numbered_pages
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.web.app import create_app
from tests.arena.web.conftest import Site

ROWS = re.compile(r"<tr>.*?</tr>", re.DOTALL)
BODY = re.compile(r"<tbody>(.*?)</tbody>", re.DOTALL)
NEXT = re.compile(r'<a rel="next" href="([^"]+)"')
LINK = re.compile(r'<a href="(/[^"?]+)"')

LISTS = [
    "/ladders",
    "/competitions",
    "/competitions?kind=ladder",
    "/tournaments",
    "/gauntlets",
    "/tests",
    "/tests?verdict=running",
    "/tunings",
    "/bots",
    "/bots?sort=games",
    "/people",
]


def listed(site: Site, address: str) -> tuple[list[str], int]:
    """The first link of each row of a list, page after page, and how many pages that took."""
    found: list[str] = []
    pages = 0
    further: str | None = address
    while further:
        answer = site.client.get(further)
        assert answer.status_code == 200, further
        rows = [row for body in BODY.findall(answer.text) for row in ROWS.findall(body)]
        found += [links[0] for row in rows if (links := LINK.findall(row))]
        pages += 1
        following = NEXT.search(answer.text)
        further = following[1].replace("&amp;", "&") if following else None
    return found, pages


@pytest.mark.parametrize("address", LISTS)
def test_pages_are_the_whole_list(
    address: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is left out and none shown twice; what narrows the list holds on each page."""
    whole, pages = listed(site, address)
    assert pages == 1
    assert whole
    monkeypatch.setattr(numbered_pages, "PAGE", 1)
    assert listed(site, address) == (whole, max(1, len(whole)))


def test_a_list_without_anything_says_so(sqlite_database: Database) -> None:
    """And whether that is so of all there is, or of what was asked for."""
    client = create_app(Settings(database=sqlite_database.url)).test_client()
    for address, words in [
        ("/bots", "No bot has entered anything yet."),
        ("/bots?language=python", "There is no such bot."),
        ("/people", "No bot has entered anything yet."),
        ("/people?language=python", "There is nobody with such a bot."),
    ]:
        assert words in client.get(address).text, address
