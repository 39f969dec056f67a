"""The board of analyses: moves by clicks alone, variations, comments, and what can't be."""

from __future__ import annotations

import re
from html import unescape
from random import Random
from urllib.parse import urlencode

import pytest

from engine.games import GAMES
from tests.arena.web.conftest import Site

VARIANTS = [str(game.offered[0]) for game in GAMES.singles.values()]
VARIANTS += [
    name for name in ("openspiel:chess", "openspiel:nim", "openspiel:pig") if name in GAMES
]
SMALL = "/analysis?game=clobber+size%3D3x2"


def look(site: Site, address: str, status: int = 200) -> str:
    """The text of a page."""
    answer = site.client.get(address)
    assert answer.status_code == status, answer.text
    return answer.text


def links(page: str) -> list[str]:
    """Where clicks on the board and beside it lead."""
    parts = (('class="board"', 'aria-label="Moves"'), ('id="turn"', 'class="tree'))
    inside = "".join(page.partition(start)[2].partition(end)[0] for start, end in parts)
    return [unescape(one) for one in re.findall(r'href="(/analysis[^"]*)"', inside)]


def state_of(site: Site, address: str) -> dict:
    """The same as JSON."""
    answer = site.client.get(address.replace("/analysis?", "/analysis.json?"))
    assert answer.status_code == 200, answer.text
    return answer.json


@pytest.mark.parametrize("variant", VARIANTS)
def test_moves_are_played_by_clicks_alone(site: Site, variant: str) -> None:
    """Every game has some plies played by the links of the board, without a script."""
    dice, address = Random(3), f"/analysis?{urlencode({'game': variant})}"
    told = state_of(site, address)
    for _ in range(8):
        if told["to_move"] is None or len(told["moves"]) == 2:
            break
        there = links(look(site, address))
        # Others lead back, to choose again.
        furthest = max((one.count("node=1"), one.count("&at=")) for one in there)
        on = [one for one in there if (one.count("node=1"), one.count("&at=")) == furthest]
        address = dice.choice(on)
        told = state_of(site, address)
    assert told["variant"].startswith(variant.split()[0])
    assert told["moves"]


def test_a_tree_of_moves(site: Site) -> None:
    """A second answer begins a variation, and each move leads to its position."""
    page = look(site, f"{SMALL}&moves=b1c1+a1a2+1%3Ab2a2&node=3&c=3%3Awhy+not+<b>?")
    assert "why not &lt;b&gt;?" in page
    assert 'data-depth="1"' in page
    assert "move 2 of 2" in page
    assert 'href="/analysis?game=clobber+size%3D3x2&amp;moves=b1c1+a1a2&amp;node=1"' in page
    told = state_of(site, f"{SMALL}&moves=b1c1+a1a2+1%3Ab2a2&node=3&c=3%3Awhy")
    assert [(one["node"], one["after"], one["seat"], one["move"]) for one in told["moves"]] == [
        (1, 0, 1, "b1c1"),
        (2, 1, 2, "a1a2"),
        (3, 1, 2, "b2a2"),
    ]
    assert told["comments"] == {"3": "why"}


def test_a_move_and_a_comment_are_written(site: Site) -> None:
    """Forms write them; what is said stands in the address."""
    answer = site.client.get(f"{SMALL}&moves=b1c1&node=1&move=a1a2")
    assert (answer.status_code, answer.location) == (303, f"{SMALL}&moves=b1c1+a1a2&node=2")
    answer = site.client.get(f"{SMALL}&moves=b1c1&node=1&comment=So+far")
    assert answer.location == f"{SMALL}&moves=b1c1&c=1%3ASo+far&node=1"
    answer = site.client.get(f"{SMALL}&moves=b1c1&c=1%3Aold&node=1&comment=")
    assert answer.location == f"{SMALL}&moves=b1c1&node=1"
    answer = site.client.get(f"{SMALL}&node=0&move=resign")
    assert "The game is over here" in look(site, answer.location)


@pytest.mark.parametrize("pattern", ["/games/{trio}", "/games/{faulty}", "/games/{solo}"])
def test_a_game_is_looked_into(site: Site, pattern: str) -> None:
    """Its page leads there, at its last position or the one that is shown; what is added is all
    that its address says."""
    address = site.address(pattern)
    page = look(site, address)
    there = unescape(re.search(r'id="analyse" href="([^"]+)"', page)[1])
    page = look(site, there)
    assert f'href="{address}/' in page
    page = look(site, f"{address}/analysis?node=1")
    assert "move 1 of" in page
    (legal,) = re.findall(r'name="node" value="(\d+)"', page)[:1]
    assert legal == "1"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/analysis?game=clobber+size", "an option is written key=value"),
        (f"{SMALL}&position=nonsense", "position"),
        (f"{SMALL}&moves=z9z9", "is not legal here"),
        (f"{SMALL}&moves=b1c1&node=2", "There is no move 2 in this analysis"),
        (f"{SMALL}&c=7%3Ax", "A comment is on a move that is not there"),
        (f"{SMALL}&move=z9", "is not legal here"),
        ("/games/{trio}/analysis?moves=0%3Az9", "is not legal here"),
    ],
)
def test_what_can_not_be_is_said(site: Site, address: str, words: str) -> None:
    assert words in unescape(look(site, site.address(address), 422))


def test_positions_are_read(site: Site) -> None:
    """A position text of the game's page, with whose turn it is."""
    after = state_of(site, f"{SMALL}&moves=b1c1&node=1")["at"].replace("/", "%2F").replace(" ", "+")
    page = look(site, f"{SMALL}&position={after}")
    assert re.search(r'role="status"><span class="seat [^"]*black">Black</span> to move', page)
    assert site.client.get(f"{SMALL.replace('?', '.svg?')}&moves=b1c1&node=1").mimetype == (
        "image/svg+xml"
    )


def test_what_was_said_is_shown(site: Site) -> None:
    """Players of a game said it, on one curve; who is signed in asks bots."""
    page = look(site, site.address("/games/{trio}/analysis?node=4"))
    assert "Sign in to ask bots" in page
    assert 'name="bot"' not in page
