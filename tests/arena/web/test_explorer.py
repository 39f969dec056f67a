"""The explorer's pages and its API: lines walked along, positions gone on from, and refusals."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
import sqlalchemy as sa

from arena.keeping.packing import unpack
from arena.models import PlayedGame
from tests.arena.web.conftest import Site
from tests.arena.web.test_pages import read


def told(site: Site, name: str, **query: Any) -> Any:
    """What the API tells of a line."""
    answer = site.client.get(f"/api/v1/explorer/{name}", query_string=query)
    assert answer.status_code == 200, answer.text
    return answer.json


@pytest.mark.parametrize(("name", "plies"), [("ladder-0", 24), ("ladder-1", 3), ("ladder-2", 2)])
def test_a_line_is_walked_along(site: Site, name: str, plies: int) -> None:
    """Each page leads on by the most played move: the games that came are those that went on."""
    address, games, depth = f"/explorer/{name}", None, 0
    while True:
        page = site.page(address)
        assert read(page).verdict() == []
        moves = re.findall(r'href="(/explorer/[^"]*moves=[^"]*)"><code>([^<]+)</code>', page)
        moves_here = unescape(address.partition("moves=")[2]).replace("%20", "+").split("+")
        here = told(site, name, moves=" ".join(filter(None, moves_here)))
        assert games in (None, here["games"])
        assert here["games"] == sum(one["games"] for one in here["branches"]) or depth == 24
        listed = site.client.get(f"/api/v1/games?line={here['line']}&competition={name}").json
        assert len(listed["items"]) == min(here["games"], 50)
        best = next((one for one in here["branches"] if one["move"]), None)
        if best is None or depth == plies:
            break
        (address,) = (unescape(a) for a, move in moves if unescape(move) == best["move"])
        games, depth = best["games"], depth + 1
    assert depth >= 2


def test_a_game_leads_to_where_it_stood(site: Site) -> None:
    """It leads there at each of its plies, and the position is that of the game."""
    with site.database.read() as session:
        found = session.get_one(
            PlayedGame, site.numbers["trio"], options=[sa.orm.undefer(PlayedGame.record)]
        )
        record, name = unpack(found.record), found.competition.name
    assert "Explore from here" in site.page("/games/{trio}")
    for ply in (3, 25):
        answer = site.client.get(f"/games/{found.id}/{ply}/explore")
        page = site.page(answer.location)
        here = told(site, name, game=found.id, ply=ply)
        assert tuple(here["moves"]) == record.moves[:ply]
        assert (here["line"] == "") == (ply > 24) == ("their first 24 plies" in page)
        assert ply > 24 or found.id in here["last_games"]


def test_all_competitions_of_a_variant_are_counted_together(site: Site) -> None:
    """A tournament by the rules of a ladder has its games in the same lines."""
    its = [told(site, name) for name in ("ladder-0", "cup")]
    both = told(site, "cup", all="yes")
    assert both["games"] >= sum(one["games"] for one in its)
    assert both == {**told(site, "ladder-0", all="yes"), "competition": "cup"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("moves=zz", "Moves: 'zz' is not legal here"),
        ("start=size=9x9", "Start: size=9x9 is no start of clobber"),
        ("start=colour=red", "Start: clobber has no option 'colour'"),
        ("start=size", "'size' is no option; it is written key=value"),
        ("game=999999", "there is no such game"),
        ("game={trio}&ply=1", "Start: "),
        ("game={faulty}&ply=9999", "Ply: the game has "),
        (f"moves={'x' * 20_001}", "Moves: give at most 20,000 characters"),
    ],
)
def test_what_is_no_line_is_refused(site: Site, query: str, words: str) -> None:
    """It is refused in one line, with a way back to the start."""
    for address, status in (("/explorer/ladder-0", 422), ("/api/v1/explorer/ladder-0", 409)):
        answer = site.client.get(f"{address}?{site.address(query)}")
        assert answer.status_code == status
        assert words in unescape(answer.text)
