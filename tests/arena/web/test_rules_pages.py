"""The pages of games: rules with their pictures, a board to try them, ladders and records."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from arena.web.docs import GAME_PAGES, guides, guides_in
from engine.games import GAMES
from engine.rules_pictures import pictures_in
from tests.arena.web.conftest import Site
from tests.arena.web.test_pages import read as look
from tests.packages import Installer


@pytest.mark.parametrize("name", sorted(GAMES.singles))
def test_a_game_has_its_page(site: Site, name: str) -> None:
    """With all pictures of its rules; each is there in both themes, and can be played on from."""
    page = site.page(f"/rules/{name}")
    reader = look(page)
    assert reader.verdict() == []
    known = list(pictures_in(GAMES[name], GAMES[name].rules()))
    assert page.count('<figure class="pictured">') == len(known)
    shown = [link for link in reader.sources if link.startswith(f"/rules/{name}/")]
    assert len(shown) == 2 * len(known)
    for link in (*shown, f"/rules/{name}.svg", f"/rules/{name}.svg?theme=dark"):
        answer = site.client.get(link)
        assert answer.status_code == 200
        ElementTree.fromstring(answer.data)
    going_on = [link for link in reader.links if link.startswith("/analysis?game=")]
    assert len(going_on) == len(known) + 1  # and the board itself
    for link, picture in zip(going_on[1:], known, strict=True):
        told = site.client.get(link.replace("/analysis?", "/analysis.json?")).json
        assert told is not None
        assert told["at"] == picture.state.text()


def test_a_game_is_tried_by_clicks(site: Site) -> None:
    """Each click is a link within the page, and leads on until the game is over."""
    state, moves = GAMES["clobber"].variant(size="5x6").initial(), list[str]()
    while len(state.legal_moves()) > 3:
        moves.append(state.legal_moves()[0])
        state = state.play(moves[-1])
    address = f"/rules/clobber?moves={'+'.join(moves)}&node={len(moves)}"
    clicks = 0
    while links := re.findall(
        r'<a class="click (?:first|on)" href="([^"]+)"', page := site.page(address)
    ):
        assert all(link.endswith("#try-board") for link in links)
        address, clicks = links[0].replace("&amp;", "&").removesuffix("#try-board"), clicks + 1
    assert "The game is over here" in page
    assert clicks >= 2
    assert "nonsense" in site.page("/rules/clobber?moves=nonsense")


def test_games_and_ladders_are_listed(site: Site) -> None:
    """Every game of the shelf with its sentence, every ladder under its game."""
    page = site.page("/rules")
    assert look(page).verdict() == []
    for name in GAMES.singles:
        assert f'href="/rules/{name}"' in page
    assert "Take a neighbour with every move" in page
    told = {one["game"]: one for one in site.client.get("/rules.json").get_json()}
    assert told.keys() >= set(GAMES.singles)
    (its,) = told["clobber"]["ladders"]
    assert (its["name"], told["clobber"]["games"]) == ("ladder-0", its["games"])
    assert f"{its['leader'].partition(' v')[0]}</bdi></a> leads." in page
    ladders = site.page("/ladders")
    assert look(ladders).verdict() == []
    for ladder in ("ladder-0", "ladder-1", "ladder-2"):
        assert f'href="/ladders/{ladder}"' in ladders


def test_old_addresses_of_rules_lead_to_them(site: Site) -> None:
    """And what is no game is said to be none."""
    answer = site.client.get("/docs/games/oxono")
    assert (answer.status_code, answer.location) == (302, "/rules/oxono")
    for address in (
        "/rules/nothing",
        "/rules/nothing.svg",
        "/rules/oxono/99.svg",
        "/rules/oxono/0.svg",
    ):
        assert site.client.get(address).status_code == 404


PLAIN = "# One\\n\\nA game of a stranger. It has no pictures.\\n"
LYING = PLAIN + "\\n```board\\ncaption: It is so.\\ncount: 1\\n```\\n"


@pytest.mark.parametrize("page", [PLAIN, LYING], ids=["plain", "lying"])
def test_a_stranger_s_game_has_a_page_too(packages: Installer, site: Site, page: str) -> None:
    """Its first position stands for it; a picture that claims what is not so is shown as text."""
    code = f"import dataclasses\nONE = dataclasses.replace(game('one'), rules=lambda: '{page}')"
    packages.install("games-x", code, "one = games_x:ONE")
    guides_in.cache_clear()
    try:
        assert GAME_PAGES + "one" in guides()
        shown = site.page("/rules/one")
        assert "A game of a stranger." in shown
        assert ("caption: It is so." in shown) == (page == LYING)
        assert "<figure" not in shown
        assert site.client.get("/rules/one.svg").status_code == 200
        assert "A game of a stranger." in site.page("/rules")
    finally:
        guides_in.cache_clear()
