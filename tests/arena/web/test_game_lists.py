"""Lists of games: pages, exports and charts tell the same of the same games; kept lists."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
import sqlalchemy as sa

from arena.lists import search, selection_deeds
from arena.models import ListedSeat, Role
from engine.record import parse_record
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import pages, person, signed_in
from tests.conftest import on_both

FILTERS = (
    "",
    "bot=bot-1",
    "bot=bot-1&result=lost",
    "competition=ladder-0&ending=crash",
    "seat=1&result=won",
    "value=value%3E%3D0.5",
)


def exported(site: Site, words: str) -> list[dict[str, Any]]:
    """The records of the games that are wanted."""
    return [json.loads(line) for line in site.page(f"/api/v1/games.jsonl?{words}").splitlines()]


def listed(site: Site, words: str) -> Iterator[dict[str, Any]]:
    """The same games by the API, page by page."""
    address: str | None = f"/api/v1/games?limit=7&{words}"
    while address is not None:
        page = json.loads(site.page(address))
        yield from page["items"]
        address = page["next"]


@pytest.mark.long
@on_both("site")
@pytest.mark.parametrize("words", FILTERS)
def test_every_door_has_the_same_games(site: Site, words: str) -> None:
    """The API, JSON Lines and CSV, each with what it tells of them."""
    lines, games = exported(site, words), list(listed(site, words))
    table = list(csv.DictReader(io.StringIO(site.page(f"/api/v1/games.csv?{words}"))))
    assert [line["number"] for line in lines] == [game["number"] for game in games[::-1]]
    assert len(games) > 1
    for line, game, row in zip(lines, games[::-1], table, strict=True):
        assert parse_record(json.dumps(line)).digest() == game["digest"]
        assert row["number"] == str(game["number"])
        assert row["bots"].split() == [f"{one['bot']}:{one['version']}" for one in game["seats"]]
        assert (row["opening"], row["plies"]) == (game["opening"], str(len(line["moves"])))
        assert row["faults"].split() == [one["fault"] or "-" for one in game["seats"]]


@pytest.mark.parametrize("words", FILTERS)
def test_what_is_counted_is_a_plain_count_over_the_export(site: Site, words: str) -> None:
    """It is of the games, their endings, months and lengths, and of each seat's points."""
    counts = json.loads(site.page(f"/api/v1/games/counts?{words}"))
    found = [game for game in listed(site, words) if game["counts"]]
    lines = {line["number"]: line for line in exported(site, words)}
    assert counts["partial"] is False
    assert counts["endings"] == Counter(game["termination"] for game in found)
    months = {one["key"]: one["games"] for one in counts["months"]}
    assert months == Counter(game["finished"][:7] for game in found)
    plies = {one["plies"]: one["games"] for one in counts["plies"]}
    assert plies == Counter(len(lines[game["number"]]["moves"]) for game in found)
    openings = {one["key"]: one["games"] for one in counts["openings"]}
    most = Counter(game["opening"] for game in found)
    assert sorted(openings.values()) == sorted(dict(most.most_common(20)).values())
    assert all(most[key] == games for key, games in openings.items())
    if not words:
        seats = [seat for game in found for seat in game["seats"]]
        assert {one["key"]: one["games"] for one in counts["seats"]} == Counter(
            str(seat["seat"]) for seat in seats
        )
        assert counts["faults"] == Counter(seat["fault"] for seat in seats if seat["fault"])
        bots = {one["key"]: one["games"] for one in counts["bots"]}
        assert bots == Counter(seat["bot"] for seat in seats)
        first = [seat for seat in seats if seat["seat"] == 1]
        assert counts["won"] == sum(one["rank"] == 1 and one["points"] == 1.0 for one in first)
        cpu = {one["key"]: one["cpu_us"] for one in counts["seats"]}
        assert cpu["1"] == sum(one["cpu_us"] for one in first)
    if words == "bot=bot-1&result=lost":
        assert (counts["won"], counts["drawn"], counts["lost"]) == (0, 0, len(found))


def test_a_page_lists_games_and_what_they_are_narrowed_by(site: Site) -> None:
    """Each word has a link that takes it out; each opening one that wants it."""
    page = site.page("/games?bot=bot-1&ending=crash&sort=oldest")
    numbers = [int(number) for number in re.findall(r'href="/games/(\d+)"', page)]
    assert numbers == [game["number"] for game in listed(site, "bot=bot-1&ending=crash")][::-1]
    links = {unescape(link) for link in re.findall(r'href="(/games\?[^"]*)"', page)}
    assert {"/games?bot=bot-1&sort=oldest", "/games?ending=crash&sort=oldest"} <= links
    opening = unescape(re.findall(r'href="(/games\?[^"]*opening=[^"]*)"', page)[0])
    assert f'href="/games/{numbers[0]}"' in site.page(opening)


def test_pages_go_on(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """They do from the last game shown; where games are rare it is said that there may be more."""
    monkeypatch.setattr("arena.web.game_pages.PAGE", 5)
    seen, address = list[str](), "/games?sort=longest"
    for _ in range(3):
        page = site.page(address)
        seen += re.findall(r'href="/games/(\d+)"', page)
        address = unescape(re.findall(r'rel="next" href="([^"]+)"', page)[0])
    assert len(seen) == len(set(seen)) == 15
    monkeypatch.setattr(search, "PROBE", 2)
    monkeypatch.setattr(search, "WINDOW", 3)
    assert "Look further" in site.page("/games?seat=9")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/games?plies=many", "Plies: give a number of plies"),
        ("/games?bot=nobody", "There is no bot nobody."),
        ("/games?competition=none", "There is no competition none."),
        (f"/games?tag={'x' * 201}", "Tag: give at most 200"),
        ("/games?worker=one", "for organisers to look for"),
        ("/games/charts?since=yesterday", "Since: give a day"),
        ("/games/charts?chart=two+words", "Chart: give the key of a number"),
    ],
)
def test_what_cant_be_meant_is_said_above_the_form(site: Site, address: str, words: str) -> None:
    """And what was typed is still there."""
    answer = site.client.get(address)
    assert answer.status_code == 422
    assert words in unescape(answer.text)
    typed = address.partition("=")[2]
    if not address.startswith(("/games?worker", "/games/charts?chart")):
        assert f'value="{typed}"' in answer.text, typed


@on_both("site")
def test_charts_draw_what_bots_gave(site: Site) -> None:
    """Over the games and over their plies; and each line leads to its games."""
    page = site.page("/games/charts?competition=ladder-0&chart=value")
    assert page.count('<svg class="chart"') == 2
    links = {unescape(link) for link in re.findall(r'href="(/games\?[^"]*)"', page)}
    seat = next(link for link in links if "seat=2" in link)
    assert "counts=yes" in seat
    assert "Nobody gave depth" in site.page("/games/charts?chart=depth")


@pytest.mark.parametrize(
    ("accepted", "heading", "words"),
    [
        ("en", "Openings", "Scores are those of seat 1."),
        ("it", "Aperture", "I punteggi sono quelli del posto 1."),
    ],
)
def test_charts_of_openings_say_whose_scores_they_are(
    site: Site, accepted: str, heading: str, words: str
) -> None:
    """They say so in the language of their headings."""
    there = "/games/charts?competition=ladder-0"
    page = unescape(site.client.get(there, headers={"Accept-Language": accepted}).text)
    assert f"<th>{heading}</th>" in page
    assert words in page


def test_organisers_find_games_by_their_worker(site: Site) -> None:
    """They do on the page and by the API."""
    app = pages(site.database)
    person(site.database, "worker-looker", Role.ORGANISER)
    browser = signed_in(app, "worker-looker")
    with site.database.read() as session:
        name = session.scalars(sa.select(ListedSeat.worker).limit(1)).one()
    assert name
    page = browser.get(f"/games?worker={name}")
    assert page.status_code == 200
    assert 'href="/games/' in page.text
    app.extensions["arena.database"].close()


def test_a_list_is_kept_shown_and_removed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose it is does so; its address leads everybody to what it finds."""
    app = pages(site.database)
    keeper, other = (person(site.database, name) for name in ("keeper", "no-keeper"))
    browser, stranger = (signed_in(app, user.name) for user in (keeper, other))
    form = {"name": "crashes", "filter": "ending=crash&bot=BOT-1&cursor=5"}
    kept = browser.post("/games/keep", form, page="/games?ending=crash")
    there = kept.headers["Location"]
    assert kept.status_code == 302
    moved = site.client.get(there)
    assert moved.headers["Location"] == "/games?bot=BOT-1&ending=crash"
    assert "crashes" in browser.get("/games").text
    assert "crashes" not in stranger.get("/games").text
    again = browser.post("/games/keep", form, page="/games?ending=crash")
    assert again.status_code == 422
    assert "You keep a list of this name" in again.text
    monkeypatch.setattr(selection_deeds, "MOST", 1)
    full = browser.post("/games/keep", form | {"name": "more"}, page="/games?ending=crash")
    assert "as many as one may" in full.text
    assert stranger.post(f"{there}/remove", {}, page="/account").status_code == 403
    assert browser.post(f"{there}/remove", {}, page="/games").status_code == 302
    assert site.client.get(there).status_code == 404
    app.extensions["arena.database"].close()


def test_a_bots_page_leads_to_all_its_games(site: Site) -> None:
    """They are those of its ladder, and of everywhere."""
    page = site.page("/bots/bot-1")
    links = [unescape(one) for one in re.findall(r'href="(/games\?[^"]*)"', page)]
    assert len(links) == 2
    for link in links:
        assert 'href="/games/' in site.page(link)
