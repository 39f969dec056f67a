"""The pages: what stands on them, what they refuse, and what must stand on none."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import pytest
import sqlalchemy as sa

from arena.keeping.packing import pack, unpack
from arena.models import Competition, Match, PlayedGame
from arena.web.app import POLICY
from arena.web.boards import position_drawn
from arena.web.games import live_game, position
from engine.clock import TimeControl
from engine.record import parse_record, replay
from tests.arena.web.conftest import HOSTILE, Site
from tests.conftest import on_both

CLOBBER, TRIO, PUZZLE = "ladder-0", "ladder-1", "ladder-2"
PAGES = [
    ("/", ["Bots playing board games", "Running now", "random.choice(legal)", "Oxono", "bot-1"]),
    ("/now", ["Running now", "bot-1", "Latest games", 'hx-get="/now"']),
    (
        f"/ladders/{CLOBBER}",
        ["100 ms of CPU time a move", "Ranked bots", "bot-3", "In placement", "W-D-L", "Surely"],
    ),
    (f"/ladders/{CLOBBER}?sort=faults", ["aria-sort", "bot-3"]),
    (f"/ladders/{CLOBBER}?sort=nonsense", ["bot-3"]),
    (f"/ladders/{CLOBBER}?against={{rival}}", ["against</span> <bdi>bot-1", "Coloured is what"]),
    (f"/ladders/{CLOBBER}?against=99999999999999999999", ["bot-3"]),
    (
        f"/ladders/{TRIO}",
        ["The ladder is frozen: it takes no bots and plays no games.", "1st-2nd-3rd"],
    ),
    (f"/ladders/{PUZZLE}", ["by both bots alone", "points", "/rules/puzzle"]),
    ("/bots/bot-0", ["A bot of", "version 2", "version 2 took its place", "Opponents"]),
    (f"/bots/bot-1?ladder={CLOBBER}", ["Rating", "Rank", "refused", "White", "Black"]),
    (f"/bots/bot-2?ladder={TRIO}", ["Blue", "Yellow", "Red", "Mean place", "1st-2nd-3rd"]),
    (f"/bots/bot-2?ladder={PUZZLE}", ["Match"]),
    ("/matches/{running}", ["Game 2 of 2, 4 plies played.", "to move", "data-square"]),
    ("/matches/{running}/live", ["Game 2 of 2, 4 plies played.", 'hx-trigger="every 1s"']),
    ("/matches/{waiting}", ["Waiting for a worker."]),
    ("/matches/{aside}", ["Set aside, for it failed 1 time."]),
    ("/matches/{played}", ["Finished", "Game 1", "Game 2"]),
    ("/games/{faulty}", ["left after ply", "crash, exit status 139", "arena replay"]),
    ("/games/{trio}", ["ply {plies} of {plies}", "Blue", "The other games of the match"]),
    ("/games/{trio}/0", ["ply 0 of {plies}"]),
    ("/games/{trio}/{plies}", ["ply {plies} of {plies}", 'aria-current="true"']),
    ("/games/{solo}", ["points.", "Solver"]),
    ("/tournaments/cup/live", ["Standings", "Crosstable", "Round 1"]),
    ("/tests/{test}/live", ["LLR", "Faults of each side"]),
    ("/healthz", ["ok"]),
]
REFUSED = [
    ("/ladders/nowhere", "There is no ladder nowhere."),
    ("/ladders/%00", "There is nothing at this address."),
    ("/ladders/nowhere.csv", "There is no ladder nowhere."),
    ("/ladders/nowhere.json", "There is no ladder nowhere."),
    ("/bots/nobody", "There is no bot nobody."),
    ("/bots/<b>nobody<b>", "There is no bot &lt;b&gt;nobody&lt;b&gt;."),
    ("/bots/bot-0?ladder=nowhere", "The bot bot-0 is on no ladder nowhere."),
    ("/matches/999999", "There is no match 999999."),
    ("/matches/2147483647", "There is no match 2147483647."),
    ("/matches/2147483648", "There is nothing at this address."),
    ("/matches/0999999", "There is nothing at this address."),
    ("/matches/\N{FULLWIDTH DIGIT ONE}", "There is nothing at this address."),
    ("/matches/999999/live", "There is no match 999999."),
    ("/games/999999", "There is no game 999999."),
    ("/analysis?game=chess2", "There is no game chess2 here."),
    ("/analysis.json?game=<b>", "There is no game <b> here."),
    ("/games/999999/analysis", "There is no game 999999."),
    ("/games/{trio}/00", "There is nothing at this address."),
    ("/games/99999999999999999999/0.svg", "There is nothing at this address."),
    ("/games/{trio}/999", "The game has {plies} plies, so there is no position 999."),
    ("/games/{trio}/999.svg", "The game has {plies} plies, so there is no position 999."),
    ("/games/{trio}/999/board", "The game has {plies} plies, so there is no position 999."),
    ("/tournaments/nowhere", "There is no tournament nowhere."),
    ("/tournaments/%00", "There is nothing at this address."),
    ("/tournaments/<b>cup<b>", "There is no tournament &lt;b&gt;cup&lt;b&gt;."),
    ("/tournaments/<b>cup<b>.json", "There is no tournament <b>cup<b>."),
    ("/tournaments/cup/1/99", ""),
    ("/tournaments/cup/99999999999999999999/1", ""),
    ("/tests/999999", "There is no strength test 999999."),
    ("/tests/999999.json", "There is no strength test 999999."),
    ("/bots/bot-0/against/nobody", "There is no bot nobody."),
    ("/bots/bot-0/against/bot-0", "Nobody has games against itself here: name two bots"),
    ("/bots/bot-0/against/<b>bot<b>", "There is no bot &lt;b&gt;bot&lt;b&gt;."),
    ("/bots/bot-0/against/bot-1?in=<b>", "have not met in &lt;b&gt;."),
    ("/docs/<b>x<b>", "There is no guide &lt;b&gt;x&lt;b&gt;."),
    ("/nowhere", "There is nothing at this address."),
]


@pytest.mark.long
@on_both("site")
@pytest.mark.parametrize(("pattern", "words"), PAGES, ids=[pattern for pattern, _ in PAGES])
def test_every_page_says_what_it_is_for(site: Site, pattern: str, words: list[str]) -> None:
    """Each page is there, with the words that people come for."""
    text = site.page(pattern)
    for word in words:
        assert site.address(word) in text


@pytest.mark.parametrize(("pattern", "words"), REFUSED, ids=[pattern for pattern, _ in REFUSED])
def test_what_is_not_there_is_said_plainly(site: Site, pattern: str, words: str) -> None:
    """An address of nothing is a 404 that names what is missing."""
    answer = site.client.get(site.address(pattern))
    assert answer.status_code == 404
    assert site.address(words) in answer.text


class Reader(HTMLParser):
    """Notes what a page links to, and whatever strict or careful readers would object to."""

    VOID = frozenset(["meta", "link", "img", "input", "br", "hr", "source"])

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.objections: list[str] = []
        self.ids: Counter[str] = Counter()
        self.headings = [0]
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        for name, value in found.items():
            if name == "style" or name.startswith(("on", "hx-on")):
                self.objections.append(f"{name} at {tag}")
            reads = name != "action" or found.get("method") != "post"
            if name in ("src", "href", "srcset", "action", "hx-get") and value and reads:
                (self.links if tag == "a" else self.sources).append(value)
        if tag == "style" or (tag == "script" and "src" not in found):
            self.objections.append(f"inline {tag}")
        if tag == "img" and "alt" not in found:
            self.objections.append("an image without words")
        if "id" in found:
            self.ids[str(found["id"])] += 1
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Does nothing: an element of SVG without an end opens nothing."""

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.objections.append(f"</{tag}> closes something else")

    def verdict(self) -> list[str]:
        """All objections to the page."""
        twice = [name for name, count in self.ids.items() if count > 1]
        steps = zip(self.headings, self.headings[1:], strict=False)
        jumps = [f"h{after} after h{before}" for before, after in steps if after > before + 1]
        return [*self.objections, *self.open, *(f"two of #{name}" for name in twice), *jumps]


def read(text: str) -> Reader:
    """A page as a reader sees it."""
    reader = Reader()
    reader.feed(text)
    return reader


@pytest.mark.long
def test_every_link_leads_somewhere(site: Site) -> None:
    """No link from the front page on is dead, and no page breaks what all of them keep."""
    waiting, seen, kinds = ["/"], {"/"}, Counter[str]()
    client = site.client.application.test_client()  # for whom a link chooses a language, too
    while waiting:
        address = waiting.pop()
        # A few of each kind are as good as all.
        kind = re.sub(r"\d+", "N", urlsplit(address).path)
        kinds[kind] += 1
        if kinds[kind] > 3:
            continue
        # What asks who somebody is leads to the page where that is said.
        with client.get(address, follow_redirects=True) as answer:
            assert answer.status_code == 200, address
            if answer.mimetype != "text/html":
                continue
            reader = read(answer.text)
        # A part that renews itself stands below the headings of its page.
        its = urlsplit(address).path.endswith(("/live", "/now", "/watch", "/board"))
        part = ["h2 after h0"] if its else []
        assert [each for each in reader.verdict() if each not in part] == [], address
        for link in (*reader.links, *reader.sources):
            path = urljoin(address, link).partition("#")[0]
            if path.startswith("/") and path not in seen:
                seen.add(path)
                waiting.append(path)
    assert {"/games/N", "/games/N/N.svg", "/games/N.txt", "/matches/N", "/bots/bot-N"} <= set(kinds)


@pytest.mark.parametrize(("pattern", "_"), PAGES, ids=[pattern for pattern, _ in PAGES])
def test_pages_ask_for_nothing_from_elsewhere(site: Site, pattern: str, _: list[str]) -> None:
    """No page names an address outside of its server, but for names of XML's kinds."""
    text = site.page(pattern).replace('xmlns="http://www.w3.org/2000/svg"', "")
    elsewhere = re.findall(r"(?:https?:)?//[\w.-]+", text)
    assert set(elsewhere) <= {"http://localhost"}


@pytest.mark.parametrize("query", ["bot=b%00ot-0", "sort=rank&bot=a&bot=%00", "nothing%00=1"])
def test_what_no_database_keeps_is_refused(site: Site, query: str) -> None:
    """PostgreSQL takes no NUL; to leave it out would ask for something else."""
    answer = site.client.get(f"/ladders/{CLOBBER}?{query}")
    assert answer.status_code == 400
    assert "A text in this request has the character NUL: leave it out." in answer.text


def test_pages_tell_browsers_to_be_strict(site: Site) -> None:
    """Every answer carries the policy, refusals and files too."""
    for address in ("/", "/nowhere", f"/ladders/{CLOBBER}.csv", "/static/arena.css"):
        with site.client.get(address) as answer:
            headers = answer.headers
        assert headers["Content-Security-Policy"] == POLICY
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
    assert "unsafe" not in POLICY


def test_what_bots_say_is_shown_and_not_obeyed(site: Site) -> None:
    """Comments, faults and notes are escaped wherever they appear."""
    escaped = "&lt;script&gt;alert(1)&lt;/script&gt; &amp;"
    for pattern in (
        "/games/{faulty}",
        "/bots/bot-0",
        "/matches/{aside}",
        "/tests/{test}",
        "/tests/{test}/live",
    ):
        text = site.page(pattern)
        # A worker has its name there, which strangers are not told.
        assert escaped in text or pattern.endswith("/live")
        assert HOSTILE not in text
        assert "<script>alert" not in text


def test_the_leaderboard_as_data(site: Site) -> None:
    """JSON and CSV hold the lines of the board, and the games against a bot that is picked."""
    data = json.loads(site.page(f"/ladders/{CLOBBER}.json?against={{rival}}"))
    assert data["ladder"] == CLOBBER
    assert data["variant"] == "clobber size=4x3"
    assert data["against"] == "bot-1 v1"
    assert sorted(bot["bot"] for bot in data["bots"]) == ["bot-0", "bot-1", "bot-2", "bot-3"]
    rows = list(csv.DictReader(io.StringIO(site.page(f"/ladders/{CLOBBER}.csv?against={{rival}}"))))
    for row, bot in zip(rows, data["bots"], strict=True):
        # The last ratings, which are for JSON alone, end with the present one.
        assert bot.pop("trend")[-1:] in ([], [bot["rating"]])
        assert bot.pop("places") == []
        assert row == {key: "" if value is None else str(value) for key, value in bot.items()}
        assert bot["games"] == bot["wins"] + bot["draws"] + bot["losses"]
    ranked = [bot for bot in data["bots"] if bot["rank"]]
    assert [bot["rank"] for bot in ranked] == [*range(1, len(ranked) + 1)]
    assert [bot["mu"] - 3 * bot["sigma"] for bot in ranked] == sorted(
        (bot["mu"] - 3 * bot["sigma"] for bot in ranked), reverse=True
    )
    assert "against_wins" not in site.page(f"/ladders/{CLOBBER}.csv")


@on_both("site")
def test_the_board_is_sorted_as_asked(site: Site) -> None:
    """An order in the address is that of the ranked bots; their ranks stay what they are."""
    data = json.loads(site.page(f"/ladders/{CLOBBER}.json?sort=bot"))
    names = [bot["bot"] for bot in data["bots"] if bot["rank"]]
    assert names == sorted(names)
    data = json.loads(site.page(f"/ladders/{CLOBBER}.json?sort=games"))
    games = [bot["games"] for bot in data["bots"] if bot["rank"]]
    assert games == sorted(games, reverse=True)


def test_a_game_can_be_taken_away_and_proven(site: Site) -> None:
    """The JSON of a game is a record that the rules confirm; its text has every move."""
    record = parse_record(site.page("/games/{trio}.json"))
    replay(record)
    text = site.page("/games/{trio}.txt")
    assert f"{len(record.plies)}. " in text
    assert all(f" {ply.move}\n" in text for ply in record.plies)


def test_pictures_of_positions(site: Site) -> None:
    """Every ply has a well-formed picture that may be kept for a day and is asked for by digest."""
    for ply in range(site.numbers["plies"] + 1):
        answer = site.client.get(site.address(f"/games/{{trio}}/{ply}.svg"))
        assert answer.mimetype == "image/svg+xml"
        assert ElementTree.fromstring(answer.text).tag == "{http://www.w3.org/2000/svg}svg"
    assert answer.headers["Cache-Control"] == "public, max-age=86400"
    again = site.client.get(
        site.address("/games/{trio}/{plies}.svg"),
        headers={"If-None-Match": answer.headers["ETag"]},
    )
    assert (again.status_code, again.data) == (304, b"")
    dark = site.page("/games/{trio}/{plies}.svg?theme=dark")
    assert dark != answer.text
    assert "caption" in dark
    assert "caption" not in site.page("/games/{trio}/{plies}.svg?view=board")


def test_the_replay_gets_the_board_of_the_page(site: Site) -> None:
    """What the script puts in the place of the board is what the server puts there itself."""
    for ply in (0, 3):
        board = site.page(f"/games/{{trio}}/{ply}/board")
        assert board in site.page(f"/games/{{trio}}/{ply}")


def test_a_finished_match_renews_itself_no_more(site: Site) -> None:
    """Only a match that goes on is asked for again and again."""
    assert "hx-get" in site.page("/matches/{waiting}/live")
    assert "hx-get" not in site.page("/matches/{played}/live")
    assert "hx-get" not in site.page("/matches/{aside}/live")


def test_a_running_game_is_shown_as_it_stands(site: Site) -> None:
    """The live board after some plies is the replay's, also when a seat has left before."""
    faults = 0
    with site.database.read() as session:
        trios = (
            sa.select(PlayedGame).join(PlayedGame.competition).where(Competition.game == "blokus")
        )
        for game in session.scalars(trios):
            record = unpack(game.record)
            faults += len(record.faults)
            words = [f"{ply.seat + 1}:{ply.move}" for ply in record.plies]
            # That a seat left is seen at the next move.
            for ply in {20, len(words) - 1} - {fault.ply for fault in record.faults}:
                game.match.progress = {"game": game.number, "moves": words[:ply]}
                live = live_game(game.match)
                assert live is not None
                assert live.board == position_drawn(*position(record, ply))
    assert faults


@pytest.mark.parametrize(
    "progress",
    [
        {"game": 2, "moves": []},
        {"game": -1, "moves": []},
        {"game": 0, "moves": ["1:z9z9"]},
        {"game": 0, "moves": ["nonsense"]},
        {"game": 0, "moves": ["9:a1b1"]},
    ],
    ids=str,
)
def test_nonsense_of_a_worker_breaks_no_page(site: Site, progress: dict[str, object]) -> None:
    """What can't be is not shown, and the page stands."""
    with site.database.read() as session:
        running = session.get_one(Match, site.numbers["running"])
        running.progress = progress
        assert live_game(running) is None


def test_what_a_worker_has_just_begun_is_shown_as_it_begins(site: Site) -> None:
    """Its opening is shown; what no worker has is not."""
    with site.database.read() as session:
        running, waiting = (
            session.get_one(Match, site.numbers[which]) for which in ("running", "waiting")
        )
        told = live_game(running)
        running.progress = None
        begun = live_game(running)
        assert told is not None
        assert begun is not None
        assert (begun.number, begun.ply) == (1, len(running.opening))
        assert (begun.board, begun.to_move) == (told.board, told.to_move)
        assert live_game(waiting) is None


def test_a_clock_is_shown_as_it_was_at_the_end(site: Site) -> None:
    """Where each move has its own time there is none."""
    there = "/games/{trio}"
    assert ">Left</span>" not in site.page(there)
    with site.database.begin() as session:
        game = session.get_one(PlayedGame, site.numbers["trio"])
        kept, record = game.record, unpack(game.record)
        game.record = pack(replace(record, time=TimeControl(time_ms=60_000, inc_ms=100)))
    page = site.page(there)
    with site.database.begin() as session:
        session.get_one(PlayedGame, site.numbers["trio"]).record = kept
    assert ">Left</span>" in page
    # Each of the bots' moves took 1.5 ms (see Talker), and gave 100 ms.
    for seat in range(record.variant.seats):
        moves = sum(ply.seat == seat and ply.cpu_us is not None for ply in record.plies)
        assert f'<td class="number">{60 + moves * 0.0985:.3g} s</td>' in page
