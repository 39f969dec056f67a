"""A lost game is debugged: where the bot crashed, what it wrote and was told, and its command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from engine.record import GameRecord
from tests.arena.web.debugged import lost_game
from tests.browser.conftest import PHONE, Watched

DESK = {"width": 1366, "height": 768}


@pytest.fixture(scope="module")
def lost(served: Watched) -> Iterator[tuple[str, GameRecord]]:
    """The address of a game that a bot lost by a crash, and its record."""
    with lost_game(served.database) as (number, record):
        yield f"{served.base}/games/{number}", record


@pytest.mark.long
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_lost_game_is_debugged(
    site: Watched, lost: tuple[str, GameRecord], size: dict[str, int], object_to: Callable
) -> None:
    """Its end is seen on one screen: the crash with its last line, the log and the lines of the
    ply, moving with the slider and the keys, and the command that asks the bot again."""
    base, record = lost
    last = len(record.plies)
    with site.context("owner", viewport=size, permissions=["clipboard-write"]) as context:
        page = context.new_page()
        page.goto(base)
        for part in ("#replay-board svg", ".steps", "#replay-slider", ".timeline", ".tabs"):
            expect(page.locator(part).first).to_be_in_viewport(ratio=0.99)
        expect(page.locator(".moves .left")).to_have_text(re.compile("crash: ValueError: bad hash"))
        page.get_by_role("tab", name="Log").click()
        log, lines = page.locator("#panel-log"), page.locator("#panel-protocol")
        expect(log).to_contain_text("ValueError: bad hash")
        expect(log).to_be_in_viewport(ratio=0.3)
        assert page.url == f"{base}?tab=log"
        page.locator("#replay-slider").fill("1")
        expect(log).to_contain_text("looked at 17 moves")
        expect(log).not_to_contain_text("bad hash")
        log.get_by_role("link", name="On to ply").first.press("Enter")
        expect(log).to_be_focused()  # the link is gone with its ply
        page.locator("#replay-slider").fill("1")
        assert page.url == f"{base}/1?tab=log"
        page.get_by_role("tab", name="Log").press("ArrowRight")
        expect(page.get_by_role("tab", name="Protocol")).to_be_focused()
        expect(lines).to_contain_text("move a2a1")
        page.get_by_role("tab", name="Protocol").click()
        page.keyboard.press("End")  # of the game, where no tab has the focus
        expect(lines).to_contain_text(f"--seat 1 --ply {last} --trace")
        expect(lines).to_contain_text("1:a2a1 2:a3b3")
        assert object_to(page) == []
        lines.get_by_role("button", name="Copy").first.click()
        expect(lines.get_by_role("button", name="Copied")).to_be_visible()
        # What happened is led to from the timeline; others' keys go on as before.
        page.get_by_role("link", name="Ply 5: White used 80% of its time or more").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#replay-where")).to_have_text(f"ply 5 of {last}")
        expect(lines).to_contain_text("go 4 clocks")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_tabs_and_marks_are_links_without_scripts(
    site: Watched, lost: tuple[str, GameRecord]
) -> None:
    """Each has an address; steps keep the tab."""
    base, record = lost
    with site.context("owner", java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(base)
        page.get_by_role("tab", name="Log").click()
        expect(page.locator("#panel-log")).to_contain_text("ValueError: bad hash")
        expect(page.locator("#panel-moves")).to_be_hidden()
        page.locator("[data-go=first]").click()
        page.locator("[data-go=next]").click()
        expect(page).to_have_url(f"{base}/1?tab=log")
        expect(page.locator("#panel-log")).to_contain_text("looked at 17 moves")
        page.get_by_role("link", name=f"Ply {len(record.plies)}: White: crash").click()
        expect(page.locator("#panel-log")).to_contain_text("ValueError: bad hash")


def test_others_see_a_crash_and_no_more(page: Page, lost: tuple[str, GameRecord]) -> None:
    """There is nothing to choose between."""
    page.goto(lost[0])
    expect(page.locator(".moves .left")).to_have_text(re.compile("White crash$"))
    expect(page.get_by_role("tab")).to_have_count(0)


def test_keys_play_and_are_told(page: Page, site: Watched) -> None:
    """A space plays and pauses, plus and minus change the speed; in a field they mean what they do
    everywhere.
    """
    page.goto(site.address("/games/{trio}/0"))
    where, speed = page.locator("#replay-where"), page.locator("#replay-speed")
    for _ in range(9):
        page.keyboard.press("+")
    expect(speed).to_have_value("120")
    page.keyboard.press("Space")
    expect(where).to_have_text(re.compile("ply [3-9] of"))
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("-")
    expect(speed).to_have_value("350")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("plays and pauses")
    held = where.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(where).to_have_text(held)
    speed.focus()
    page.keyboard.press("End")
    expect(where).to_have_text(held)
    # An editor is a field, too, though what holds it hides what has the focus.
    page.evaluate(
        """() => {
          const holder = document.body.appendChild(document.createElement("div"));
          holder.attachShadow({ mode: "open" }).innerHTML = "<p contenteditable>text</p>";
          holder.shadowRoot.firstChild.focus();
        }"""
    )
    page.keyboard.press("End")
    expect(where).to_have_text(held)


def test_an_embedded_replay_is_as_its_address_says(page: Page, site: Watched) -> None:
    """It begins where it is told, plays by itself, and is dark where the system is light."""
    page.goto(site.address("/games/{trio}/embed?ply=2&autoplay&speed=6&theme=dark"))
    expect(page.locator("#replay-speed")).to_have_value("120")
    expect(page.locator("#replay-where")).to_have_text(re.compile("ply ([4-9]|1[0-9]) of"))
    ground = page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
    assert max(map(int, re.findall(r"\d+", ground)[:3])) < 60
    page.set_viewport_size({"width": 300, "height": 340})
    assert page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    ) == [300, 340]


@pytest.mark.parametrize("pattern", ["/games/{trio}", "/games/{solo}"])
def test_a_frame_shows_all_of_a_replay(page: Page, site: Watched, pattern: str) -> None:
    """It has the size that its code says, whatever the board is."""
    page.goto(site.address(pattern))
    code = page.get_by_label("A frame with this game").text_content() or ""
    address, width, height = re.findall(r'src="([^"]+)" width="(\d+)" height="(\d+)"', code)[0]
    page.set_viewport_size({"width": int(width), "height": int(height)})
    page.goto(address)
    for part in ("h1", "#replay-board svg", ".steps", "#replay-slider", "main > p"):
        expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
    board = page.locator("#replay-board").bounding_box()
    assert board is not None
    assert board["width"] > 350
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
