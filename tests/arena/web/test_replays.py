"""Games that no arena has to have: the page that shows anybody's record, and replays as files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from arena.web import replays
from arena.web.boards import position_drawn
from arena.web.games import position
from arena.web.lookup import find_game
from arena.web.replay_files import as_page
from engine.games import find_variant
from engine.record import GameRecord
from tests.arena.web.conftest import HOSTILE, Site
from tests.arena.web.signing_in import Browser

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def record(site: Site) -> GameRecord:
    """A game of two on a small board."""
    with site.database.read() as session:
        found = (find_game(session, number)[1] for number in range(1, 10))
        return next(one for one in found if one.variant.game == "clobber" and len(one.plies) > 5)


@pytest.fixture
def browser(site: Site) -> Browser:
    """Somebody who has opened the page."""
    return Browser(site.client.application)


def sent(browser: Browser, **fields: Any) -> TestResponse:
    """What comes of the page's form."""
    data = {"csrf_token": browser.secret("/replay"), **fields}
    return browser.client.post("/replay", data=data, content_type="multipart/form-data")


def boards_in(page: str) -> list[str]:
    """The boards in a page, put together as its script does."""
    found = re.search(r'id="replay-boards">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    packed = json.loads(found[1])
    return [
        "\n".join(
            line
            for first, many in zip(runs[::2], runs[1::2], strict=True)
            for line in packed["parts"][first : first + many]
        )
        for runs in packed["boards"]
    ]


@pytest.mark.parametrize("way", ["file", "field", "indented"])
def test_a_record_is_proven_and_shown(browser: Browser, record: GameRecord, way: str) -> None:
    """Sent as a file or typed, at its end; its boards are those that its own page would have."""
    text = json.dumps(record.to_json(), indent=2 if way == "indented" else None)
    fields = {"file": (BytesIO(text.encode()), "a.jsonl")} if way == "file" else {"text": text}
    answer = sent(browser, **fields)
    assert answer.status_code == 200
    assert "Confirmed by the rules." in answer.text
    plies = len(record.plies)
    assert boards_in(answer.text) == [
        position_drawn(*position(record, ply)) for ply in range(plies + 1)
    ]
    assert f"ply {plies} of {plies}" in answer.text


def test_steps_need_no_script(browser: Browser, record: GameRecord) -> None:
    """Its buttons send what is in the page again; so does the choice of another of its games."""
    solo = json.dumps(record.to_json() | {"players": ["one", "two"]})
    text = json.dumps(record.to_json()) + "\n" + solo
    page = sent(browser, text=text, game="2").text
    again, everything = re.findall(
        r'<textarea name="text"[^>]*hidden>\n(.*?)</textarea>', page, re.S
    )
    assert (unescape(again), unescape(everything)) == (solo, text)
    assert 'form="again" name="ply" value="0" data-go="first"' in page
    assert "<h1><bdi>one</bdi>" in page
    first = sent(browser, text=unescape(again), ply="1").text
    assert f"ply 1 of {len(record.plies)}" in first
    assert position_drawn(*position(record, 1)) in first
    assert "one</bdi>" not in sent(browser, text=text, game="0", ply="x").text


def test_nothing_of_it_is_kept(site: Site, browser: Browser, record: GameRecord) -> None:
    """The database has as many rows as before."""

    def rows() -> dict[str, int]:
        with site.database.read() as session:
            names = sa.inspect(session.connection()).get_table_names()
            return {
                name: session.execute(sa.text(f'SELECT count(*) FROM "{name}"')).scalar_one()
                for name in names
            }

    before = rows()
    assert sent(browser, text=json.dumps(record.to_json())).status_code == 200
    assert rows() == before


def test_rules_of_others_are_given_only_what_is_played_here(
    browser: Browser, record: GameRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As theirs may hang or end the server at what nobody has tried."""
    monkeypatch.setattr(replays, "OWN", "another")
    assert sent(browser, text=json.dumps(record.to_json())).status_code == 200
    elsewhere = replace(record, variant=find_variant("clobber", ("size=2x3",)), plies=(), opening=0)
    refused = sent(browser, text=json.dumps(elsewhere.to_json()))
    assert refused.status_code == 422
    assert "size=2x3 is not played here" in unescape(refused.text)


CHANGES: dict[str, tuple[Change, str]] = {
    "another result": (lambda game: game["scores"].reverse(), "Not proven: <bdi>the result is"),
    "no winner": (lambda game: game.update(ranks=[7, 7]), "Nobody wins."),
    "a move of nobody's": (lambda game: game["moves"].__setitem__(3, "1:x"), "Not proven: <bdi>at"),
    "a game that is not here": (lambda game: game.update(game="nosuch"), "there is no game"),
    "other rules": (lambda game: game["run"].update(rules="x 9"), "played by the rules of x 9"),
    "all left at once": (
        lambda game: (
            game.update(faults=[{"seat": n, "ply": 0, "termination": "crash"} for n in (1, 2)]),
            game["run"].update(details=["", ""]),
        ),
        "left at ply 0 a game that was over",
    ),
    "it goes on": (
        lambda game: game.update(termination="void", scores=[], ranks=[]),
        "It goes on.",
    ),
    "hostile names": (
        lambda game: game.update(players=[HOSTILE, "</title></script><!--<script>"]),
        "&lt;script&gt;alert(1)&lt;/script&gt;",
    ),
    "hostile words": (
        lambda game: (game.update(texts={"5": HOSTILE}), game["run"].update(started="<b>")),
        "&lt;b&gt;",
    ),
}


class Elements(HTMLParser):
    """The elements of a page, and what its scripts and styles are told to load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [
            str(value) for name, value in attrs if name in ("src", "href", "srcset", "action")
        ]


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_a_record_says_is_shown(browser: Browser, record: GameRecord, name: str) -> None:
    """With what the rules have against it, and as text; by a file of its own, too."""
    change, words = CHANGES[name]
    data = record.to_json()
    change(data)
    answer = sent(browser, text=json.dumps(data))
    assert answer.status_code == 200
    assert words in answer.text
    changed = GameRecord.from_json(data)
    assert len(boards_in(answer.text)) == len(changed.plies) + 1
    file, plain = Elements(as_page(changed)), Elements(as_page(record))
    assert file.tags.count("script") == plain.tags.count("script") == 2
    assert file.tags.count("style") == 1
    assert {"img", "iframe", "form"}.isdisjoint(file.tags)
    assert all(address.startswith(("#", "data:")) for address in file.addresses)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "There is no record: the text is empty."),
        ("{", "This is no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"record": 99}', "this program reads format 1"),
        (b"\xff\xfe", "This is no text file"),
        ("long", "This game has 1001 plies; arena replay shows it on your machine."),
        ("wide", "A move is longer than any game"),
        ("talk", "at ply 0: no bot can say such a text"),
    ],
)
def test_what_is_no_record_is_refused(
    browser: Browser, record: GameRecord, text: str | bytes, words: str
) -> None:
    """It is refused in a line on the page, where the next try is at hand."""
    data = record.to_json()
    if text == "long":
        data["moves"] *= 1 + 1000 // len(data["moves"])
        data["moves"] = data["moves"][:1001]
        for key in ("cpu_us", "wall_us"):
            data["run"][key] = [None] * 1001
        data["run"].pop("waited_us", None)
    elif text == "wide":
        data["moves"][0] = "1:" + "x" * 1001
    elif text == "talk":
        data["texts"] = {"0": "x" * 100_000}
    if text in ("long", "wide", "talk"):
        text = json.dumps(data)
    file = (BytesIO(text if isinstance(text, bytes) else text.encode()), "a.jsonl")
    answer = sent(browser, file=file)
    assert answer.status_code == 422
    assert words.lower() in unescape(answer.text).lower()
    assert "The file" in answer.text


def test_one_record_at_a_time_and_none_for_long(
    browser: Browser, record: GameRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes meanwhile is told when to come again; one that takes too long is given up."""
    text = json.dumps(record.to_json())
    with replays.showing:
        answer = sent(browser, text=text)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    monkeypatch.setattr(replays, "LONGEST_SECONDS", 0)
    answer = sent(browser, text=text)
    assert (answer.status_code, "too long to draw" in answer.text) == (422, True)
    assert replays.showing.acquire(blocking=False)
    replays.showing.release()


def test_a_record_may_not_be_larger_than_a_page_takes(browser: Browser) -> None:
    """It is not even read."""
    answer = sent(browser, text="x" * 400_000)
    assert answer.status_code == 413
