"""A match is watched while it is played: by its stream, by asking again and again, on /tv."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.keeping.packing import unpack
from arena.models import Match
from arena.web.strips import value_strips
from engine import jobs
from engine.exchange import HEADING
from engine.game import State
from engine.player import Choice, GameSetup, LogSoFar, Turn
from tests.arena.live.house import House, house, listeners
from tests.arena.running import until
from tests.arena.simulator import LotPlayer
from tests.arena.web.signing_in import PASSWORD, person
from tests.browser.conftest import PHONE

expect.set_options(timeout=30_000)
LAPTOP = {"width": 1366, "height": 768}


class Talker(LotPlayer):
    """It has something to say, and writes a log."""

    def new_game(self, setup: GameSetup) -> None:
        super().new_game(setup)
        self._log = self._lines = ""

    def log_so_far(self) -> LogSoFar:
        log = f"{self._log}{HEADING}{self._lines}"
        return lambda: log

    def choose(self, turn: Turn) -> Choice:
        said = "<b>mine</b>"
        self._log += f"ply {turn.ply}: <i>thought</i> {turn.ply}\n"
        self._lines += f"{turn.ply} > go {turn.ply}\n{turn.ply} < 12.50 ms: move <i>\n"
        values = {"eval": 9.5 - 4 * turn.ply, "depth": turn.ply}
        return super().choose(turn)._replace(text=said, cpu_us=9000, wall_us=9000, values=values)


class Running:
    """A match that is played in a thread, a ply at a time as the test lets it."""

    def __init__(self, arena: House, job: jobs.Job) -> None:
        self._arena, self.job = arena, job
        self._may = threading.Semaphore(0)
        self.plies = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        def after_ply(_game: int, _state: State, _ply: int) -> None:
            self.plies.release()
            assert self._may.acquire(timeout=60)

        result = self._arena.play(self.job, after_ply, player=Talker)
        self._arena.report(self.job, result)

    def go_on(self, plies: int = 1) -> None:
        """Lets it make more plies."""
        for _ in range(plies):
            self._may.release()
            self.plies.acquire(timeout=60)

    def end(self) -> None:
        """Lets it come to its end."""
        self._may.release(1000)
        self._thread.join()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("watched"), size="4x3") as made:
        yield made


@pytest.fixture
def running(arena: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr("workers.live.ASK_SECONDS", 0.1)
    found = Running(arena, arena.issue())
    yield found
    found.end()


@contextmanager
def opened(chromium: Browser, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page, and what it complains of."""
    context = chromium.new_context(viewport=LAPTOP, reduced_motion="reduce", **options)
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield page, complaints
    finally:
        context.close()


def ply(page: Page) -> int:
    """The last ply that the page knows of."""
    found = re.search(r"of (\d+)", page.locator("#show-where").text_content() or "")
    return int(found[1]) if found else -1


def points(drawn: str) -> list[float]:
    """The numbers of all lines of some strips."""
    lines = re.findall(r' points="([^"]*)"', drawn)
    return [float(one) for line in lines for one in re.split("[ ,]", line)]


@pytest.mark.long
def test_a_match_is_watched(
    arena: House, running: Running, chromium: Browser, object_to: Callable[..., list[str]]
) -> None:
    """Ply by ply, back and forth while it goes on, to its end; there its games are shown."""
    with opened(chromium) as (page, complaints):
        page.goto(f"http://127.0.0.1:{arena.port}/matches/{running.job.lease.job}")
        where = page.locator("#show-where")
        expect(where).to_have_text(re.compile(r"ply (\d+) of \1"))
        first = ply(page)
        for part in ("#show-board svg", "#show .steps", "#show-slider"):
            expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
        expect(page.locator("#live")).to_be_hidden()
        running.go_on()
        expect(where).to_have_text(f"ply {first + 1} of {first + 1}")
        expect(page.locator("#show-moves li").last).to_contain_text("<b>mine</b>")
        expect(page.locator("#show-moves li").last).to_contain_text(re.compile(r"eval -?\d"))
        page.keyboard.press("ArrowLeft")
        expect(where).to_have_text(f"ply {first} of {first + 1}")
        before = page.locator("#show-board").inner_html()
        running.go_on()
        expect(where).to_have_text(f"ply {first} of {first + 2}")
        assert page.locator("#show-board").inner_html() == before
        expect(page.locator("#show-moves li")).to_have_count(first + 2)
        page.locator("#show-moves a").first.click()
        expect(where).to_have_text(f"ply 1 of {first + 2}")
        page.get_by_role("button", name="Live").click()
        expect(where).to_have_text(f"ply {first + 2} of {first + 2}")
        # What is said grows with the plies.
        charts = page.locator("#show-charts")
        expect(charts.locator("figcaption")).to_have_count(3)
        drawn = charts.locator("polyline").evaluate_all(
            "lines => lines.map((line) => line.getAttribute('points').split(/[ ,]/).at(-2))"
        )
        # The last ply is in the middle of the last of so many parts of 1000.
        assert max(map(float, drawn)) == pytest.approx(1000 - 500 / (first + 2), abs=0.1)
        charts.locator(".strip").first.click(position={"x": 1, "y": 9})
        expect(where).to_have_text(f"ply 1 of {first + 2}")
        page.keyboard.press("End")
        assert object_to(page) == []
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        running.end()
        expect(page.locator("#live .gallery .card")).to_have_count(2, timeout=20_000)
        expect(page.locator("#show-title")).to_have_text("Game 2 of 2")
        expect(page.locator("#show-words")).to_have_text("Finished.")
        expect(page.locator("#show-result")).to_have_text(re.compile("wins"))
        assert object_to(page) == []
        with arena.database.read() as session:
            last = session.get_one(Match, running.job.lease.job).games[1]
            strips = value_strips(unpack(last.record), 0)
        assert charts.locator("figcaption").all_inner_texts() == [
            f"{one.title} {one.note}" for one in strips
        ]
        assert points(charts.inner_html()) == pytest.approx(
            points("".join(one.picture for one in strips)), abs=0.11
        )
    assert complaints == []


@pytest.mark.long
def test_an_owner_reads_the_log_while_it_grows(
    arena: House,
    running: Running,
    chromium: Browser,
    object_to: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is that of the ply that is shown, in a tab as beside a game that is over, and the lines
    exchanged in another; who signs out meanwhile reads no more."""
    monkeypatch.setattr("workers.live.LOG_SECONDS", 0.1)
    user = person(arena.database, "somebody")  # whose bots all are
    address = f"http://127.0.0.1:{arena.port}"
    with opened(chromium) as (page, complaints):
        page.goto(f"{address}/matches/{running.job.lease.job}")
        expect(page.locator("#show-where")).to_have_text(re.compile(r"ply \d+"))
        expect(page.get_by_role("tab")).to_have_count(0)
        page.goto(f"{address}/sign-in")
        page.get_by_label("Name").fill(user.name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"{address}/matches/{running.job.lease.job}?more=kept")
        expect(page.locator("#show-where")).to_have_text(re.compile(r"ply \d+"))
        tabs = page.get_by_role("tab")
        assert tabs.all_inner_texts() == ["Moves", "Log", "Protocol"]
        tabs.get_by_text("Log").click()
        expect(page.locator("#show-moves")).to_be_hidden()
        expect(page.locator("#panel-log pre:visible")).to_have_count(2)
        until(lambda: listeners(arena, running.job) == [1, 1], "the arena listens")
        page.wait_for_timeout(1000)  # in which the worker hears of that
        running.go_on()
        expect(page.locator("#panel-log")).to_contain_text("thought")
        before = ply(page)
        running.go_on()
        expect(page.locator("#show-where")).to_have_text(f"ply {before + 1} of {before + 1}")
        thought = page.locator("#panel-log pre", has_text=f"<i>thought</i> {before}")
        expect(thought).to_have_count(1)
        page.keyboard.press("ArrowLeft")
        expect(thought).to_have_count(0)
        page.keyboard.press("End")
        expect(thought).to_have_count(1)
        tabs.get_by_text("Protocol").click()
        lines = page.locator("#panel-protocol li:not(.none)")
        expect(lines).to_have_text([f"> go {before}", "12.5 ms < move <i>"])
        assert object_to(page) == []
        assert complaints == []
        page.reload()  # it is kept which tab was chosen, beside what else the address says
        assert page.url.endswith("?more=kept&tab=protocol")
        expect(page.locator("#panel-protocol")).to_be_visible()
        page.context.clear_cookies()
        tabs.get_by_text("Log").click()  # it asks anew
        expect(tabs).to_have_count(0)
        expect(page.locator("#show-moves")).to_be_visible()
        running.go_on()
        expect(page.locator("#show-where")).to_have_text(re.compile(rf"of ({before + 2})"))


@pytest.mark.long
def test_where_streams_do_not_come_through(
    arena: House, running: Running, chromium: Browser
) -> None:
    """As behind a proxy that ends them the page asks, and nothing is missing."""
    with opened(chromium) as (page, _):
        page.route(re.compile(r"/stream\?after"), lambda route: route.fulfill(status=502))
        page.goto(f"http://127.0.0.1:{arena.port}/matches/{running.job.lease.job}")
        where = page.locator("#show-where")
        expect(where).to_have_text(re.compile(r"ply (\d+) of \1"))
        first = ply(page)
        running.go_on()
        expect(where).to_have_text(f"ply {first + 1} of {first + 1}")
        running.end()
        expect(page.locator("#show-words")).to_have_text("Finished.", timeout=20_000)


@pytest.mark.long
def test_tv_shows_one_match_after_the_other(
    arena: House, running: Running, chromium: Browser
) -> None:
    """The best that is played; when it is over, it looks for the next."""
    with opened(chromium) as (page, complaints):
        page.goto(f"http://127.0.0.1:{arena.port}/tv")
        expect(page.locator("#show-where")).to_have_text(re.compile(r"ply \d+"))
        page.evaluate("document.getElementById('show').dataset.next = '0.1'")
        running.end()
        expect(page.get_by_text("Nothing is played at this moment.")).to_be_visible(timeout=20_000)
        assert complaints == []


@pytest.mark.long
def test_the_front_page_shows_it(arena: House, running: Running, chromium: Browser) -> None:
    """A board alone, until another match takes its place."""
    with opened(chromium) as (page, complaints):
        page.goto(f"http://127.0.0.1:{arena.port}/")
        board = page.locator("#watch #show-board svg")
        expect(board).to_be_visible()
        expect(page.locator("#show .steps")).to_be_hidden()
        expect(page.locator("#live")).to_be_hidden()
        where = page.locator("#show-where")  # not seen here, but told
        expect(where).to_have_text(re.compile(r"ply (\d+) of \1"))
        first = ply(page)
        running.go_on()
        expect(where).to_have_text(f"ply {first + 1} of {first + 1}")
        page.evaluate("document.getElementById('show').dataset.next = '0.1'")
        running.end()
        # Nothing else is played, so that a game that has ended stands there.
        expect(page.locator("#watch")).to_contain_text("that ended")
        expect(page.locator("#watch img")).to_be_visible()
        assert complaints == []


@pytest.mark.long
def test_what_has_ended_plays_its_end(arena: House, running: Running, chromium: Browser) -> None:
    """Who comes too late is told so, and sees it as if it were played."""
    with opened(chromium) as (page, _):
        address = f"http://127.0.0.1:{arena.port}/matches/{running.job.lease.job}"
        page.goto(address)
        where = page.locator("#show-where")
        expect(where).to_have_text(re.compile(r"ply (\d+) of \1"))
        running.end()
        page.goto(address)
        expect(page.locator("#show-words")).to_have_text("It has ended; these are its last plies.")
        expect(page.locator("#live .gallery .card")).to_have_count(2)
        expect(where).to_have_text(re.compile(r"ply (\d+) of \1"))
        expect(page.locator("#show-before li")).to_have_count(1)
        expect(page.locator("#show-before")).to_have_text(re.compile(r"^\s*Game 1 .* wins\.\s*$"))
        expect(page.locator("#show-words")).to_have_text("Finished.")


@pytest.mark.parametrize("path", ["/matches/{}", "/tv"])
def test_without_scripts_the_position_is_there(
    arena: House, running: Running, chromium: Browser, path: str
) -> None:
    """As the recorder last heard of it."""
    moves = [f"1:{move}" for move in running.job.spec.opening[:1]]
    arena.change(running.job, lambda match: setattr(match, "progress", {"game": 0, "moves": moves}))
    with opened(chromium, java_script_enabled=False) as (page, _):
        page.goto(f"http://127.0.0.1:{arena.port}{path.format(running.job.lease.job)}")
        expect(page.locator("#live .board svg")).to_be_visible()
        expect(page.locator("#show")).to_be_hidden()
