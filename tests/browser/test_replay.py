"""Stepping through a game: by buttons, keys, clicks and the slider, and without any script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from arena.cli.browser_watch import BrowserWatch
from arena.cli.progress_bar import ProgressBar
from arena.cli.watching import RunningGames
from arena.web.lookup import find_game
from arena.web.replay_files import as_page
from engine.clock import TimeControl
from engine.games import GAMES
from engine.match import MatchSpec, play_match
from engine.plurals import counted
from tests.arena.simulator import LotPlayer
from tests.browser.conftest import PHONE, Watched, await_true

HTML = "text/html; charset=utf-8"


@pytest.fixture
def game(page: Page, site: Watched) -> Page:
    """The page of a game, at its start."""
    page.goto(site.address("/games/{trio}/0"))
    return page


def expect_ply(page: Page, ply: int, plies: int) -> None:
    """The ply is told, in the address, marked in the list, and it is what the board shows."""
    expect(page.locator("#replay-where")).to_have_text(f"ply {ply} of {plies}")
    expect(page).to_have_url(re.compile(rf"/games/\d+/{ply}$"))
    expect(page.locator("#replay-slider")).to_have_value(str(ply))
    marked = page.locator(".moves [aria-current=true] a")
    if ply:
        expect(marked).to_have_attribute("data-ply", str(ply))
    else:
        expect(marked).to_have_count(0)
    base, _, _ = page.url.rpartition("/")
    wanted = page.evaluate(
        """async (address) => {
          const holder = document.createElement("div");
          holder.innerHTML = await (await fetch(address)).text();
          return holder.innerHTML;
        }""",
        f"{base}/{ply}/board",
    )
    await_true(
        page, "(wanted) => document.getElementById('replay-board').innerHTML === wanted", wanted
    )


def test_buttons_step(game: Page, site: Watched) -> None:
    """Next, last, previous and first each do what they say."""
    plies = site.numbers["plies"]
    for name, ply in [("Next", 1), ("Next", 2), ("Last", plies), ("Previous", plies - 1),
                      ("First", 0), ("Previous", 0)]:  # fmt: skip
        game.get_by_role("button", name=f"{name} position").click()
        expect_ply(game, ply, plies)
    # The step is heard, and a button is pressed by the space bar too.
    expect(game.get_by_role("status")).to_have_text(f"ply 0 of {plies}")
    game.get_by_role("button", name="Next position").press("Space")
    expect_ply(game, 1, plies)


def test_keys_step(game: Page, site: Watched) -> None:
    """Arrows, Home and End; in the choice of a speed they mean what they mean everywhere."""
    plies = site.numbers["plies"]
    for key, ply in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", plies),
                     ("ArrowRight", plies), ("Home", 0)]:  # fmt: skip
        game.keyboard.press(key)
        expect_ply(game, ply, plies)
    game.locator("#replay-speed").focus()
    game.keyboard.press("End")
    expect_ply(game, 0, plies)


def test_a_move_a_chart_and_the_slider_lead_to_their_ply(game: Page, site: Watched) -> None:
    """What is clicked is shown."""
    plies = site.numbers["plies"]
    game.locator(".moves a[data-ply='5']").click()
    expect_ply(game, 5, plies)
    game.locator("#replay-slider").fill("7")
    expect_ply(game, 7, plies)
    strip = game.locator("[data-step]").first
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] * 2.5 / plies, "y": 5})
    expect_ply(game, 3, plies)
    line = float(strip.locator(".now").get_attribute("x1") or "nan")
    assert line == pytest.approx(3 * 1000 / plies, abs=0.01)


def test_it_plays_by_itself_until_it_is_stopped(game: Page, site: Watched) -> None:
    """At the highest speed plies go by; the same button holds it."""
    game.locator("#replay-speed").select_option("120")
    game.get_by_role("button", name="Play").click()
    expect(game.locator("#replay-where")).to_have_text(re.compile(r"ply [3-9] of"))
    game.get_by_role("button", name="Pause").click()
    expect(game.get_by_role("button", name="Play")).to_be_visible()
    held = game.locator("#replay-where").inner_text()
    game.wait_for_timeout(300)
    assert game.locator("#replay-where").inner_text() == held


def test_steps_are_links_without_scripts(site: Watched) -> None:
    """Every ply has an address that shows it, and the links lead on."""
    with site.context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(site.address("/games/{trio}/3"))
        expect(page.locator("#replay-where")).to_have_text(f"ply 3 of {site.numbers['plies']}")
        page.locator("[data-go=next]").click()
        expect(page).to_have_url(site.address("/games/{trio}/4"))
        expect(page.locator(".moves [aria-current=true] a")).to_have_attribute("data-ply", "4")
        page.locator(".moves a[data-ply='2']").click()
        expect(page).to_have_url(site.address("/games/{trio}/2"))
        expect(page.locator("#replay-slider")).to_be_hidden()


def test_an_embedded_replay_steps_in_its_frame(page: Page, site: Watched) -> None:
    """Its board moves by the buttons and keys, and its address stays the one of the frame."""
    page.goto(site.address("/games/{trio}/embed"))
    plies, before = site.numbers["plies"], page.locator("#replay-board").inner_html()
    page.get_by_role("button", name="Previous position").press("Space")
    expect(page.locator("#replay-where")).to_have_text(f"ply {plies - 1} of {plies}")
    page.keyboard.press("Home")
    expect(page.locator("#replay-where")).to_have_text(f"ply 0 of {plies}")
    await_true(
        page, "(before) => document.getElementById('replay-board').innerHTML !== before", before
    )
    expect(page).to_have_url(site.address("/games/{trio}/embed"))


@pytest.mark.long
@pytest.mark.parametrize("scripts", [True, False])
def test_a_record_of_ones_own_is_replayed(
    site: Watched, tmp_path: Path, scripts: bool, object_to: Callable[..., list[str]]
) -> None:
    """Dropped as a file; its buttons step with and without scripts, its keys where there are."""
    with site.database.read() as session:
        record = find_game(session, site.numbers["trio"])[1]
    (tmp_path / "own.jsonl").write_text(json.dumps(record.to_json()) + "\n")
    with site.context(java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(site.address("/replay"))
        page.get_by_label("The file").set_input_files(tmp_path / "own.jsonl")
        page.get_by_role("button", name="Show it").click()
        expect(page.get_by_text("Confirmed by the rules.")).to_be_visible()
        page.get_by_role("button", name="First position").click()
        page.get_by_role("button", name="Next position").click()
        expect(page.locator("#replay-where")).to_have_text(f"ply 1 of {len(record.plies)}")
        expect(page.locator(".moves [aria-current=true] a")).to_have_attribute("data-ply", "1")
        if scripts:
            page.keyboard.press("End")
            expect(page).to_have_url(re.compile(rf"/replay#{len(record.plies)}$"))
            assert object_to(page) == []


@pytest.mark.long
@pytest.mark.parametrize("size", [{"width": 1366, "height": 768}, PHONE], ids=["laptop", "phone"])
def test_a_replay_as_a_file_asks_nobody(
    site: Watched, size: ViewportSize, object_to: Callable[..., list[str]]
) -> None:
    """Its own policy lets its script run; board and buttons are on one screen."""
    with site.database.read() as session:
        record = find_game(session, site.numbers["trio"])[1]
    plies = len(record.plies)
    with site.context(viewport=size) as context:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        address = f"{site.base}/alone.html"
        page.route(address, lambda route: route.fulfill(body=as_page(record), content_type=HTML))
        page.goto(f"{address}#5")
        expect(page.locator("#replay-where")).to_have_text(f"ply 5 of {plies}")
        page.keyboard.press("ArrowLeft")
        expect(page).to_have_url(f"{address}#4")
        drawn = page.locator("#replay-board").inner_html()
        page.locator("#replay-slider").fill(str(plies))
        expect(page.locator("#replay-where")).to_have_text(f"ply {plies} of {plies}")
        assert page.locator("#replay-board").inner_html() != drawn
        for part in ("#replay-board svg", ".steps", "#replay-slider"):
            expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
        assert asked == [address]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert object_to(page) == []


def test_games_under_way_are_watched(chromium: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of this machine's shows them, whose port is not enough of an address; to their end."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    spec = MatchSpec(GAMES["clobber"].variant(size="4x3"), ("<b>one", "two"), TimeControl(60_000))
    complaints: list[str] = []
    with closing(chromium.new_context()) as context, ThreadPoolExecutor() as pool:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        games = RunningGames()
        with BrowserWatch(ProgressBar("playing", "game", total=2), games) as watch:
            assert opened == [watch.address]
            page.goto(watch.address)
            assert context.request.get(watch.address.rsplit("/", 2)[0] + "/").status == 404
            with watch.match(spec, lambda *_: None) as watched:
                played = pool.submit(play_match, spec, lambda _: LotPlayer(), watch=watched)
                expect(page.get_by_text(re.compile("game 1 of 2, [0-9]+ pl"))).to_be_visible()
                expect(page.get_by_text("<b>one")).to_be_visible()
                expect(page.locator("#watched .board svg")).to_be_visible()
                games.pause_seconds = 0
                last = played.result(10).games[-1]
        plies = counted(len(last.plies), "ply", "plies")
        expect(page.get_by_text(f"game 2 of 2, {plies} played.")).to_be_visible()
        expect(page.get_by_text("The games are over.")).to_be_visible()
    assert complaints == []
