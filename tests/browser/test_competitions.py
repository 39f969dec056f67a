"""Encounters, tournaments and strength tests: one gets there, and back, by clicking."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, ViewportSize, expect

from arena.formats.standings import TIE_BREAKS
from arena.models import CompetitionState, Ladder, TestTally, Tournament
from tests.browser.conftest import LAPTOP, PHONE, TABLET, WIDE, Watched
from tests.browser.test_every_page import scrolled, spilled
from tests.browser.test_leaderboard import LONGEST, renamed


def test_two_bots_side_by_side(page: Page, site: Watched) -> None:
    """A bot's opponents lead to the games of the two, and the other way round."""
    page.goto(site.address("/bots/bot-1?ladder=ladder-0"))
    page.locator("a[title='All games of the two']").first.click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(re.compile(r"bot-1 against bot-\d"))
    rival = heading.inner_text().rpartition(" ")[2]
    expect(page.locator(".tiles")).to_contain_text("Elo difference")
    page.get_by_role("link", name="the other way round").click()
    expect(heading).to_have_text(f"{rival} against bot-1")


def test_a_long_title_spills_nowhere(page: Page, site: Watched) -> None:
    """Where two bots met is told in the ladders' titles, and those may have 120 letters."""
    page.set_viewport_size(PHONE)
    name = Ladder.name == "ladder-0"
    with site.database.begin() as session:
        usual = session.scalars(sa.select(Ladder.title).where(name)).one()
        session.execute(sa.update(Ladder).where(name).values(title="W" * 120))
    try:
        page.goto(site.address("/bots/bot-2/against/bot-3"))
        expect(page.get_by_role("navigation", name="Where they met")).to_contain_text("W" * 120)
        assert spilled(page) == []
    finally:
        with site.database.begin() as session:
            session.execute(sa.update(Ladder).where(name).values(title=usual))


def test_own_tests_are_asked_for_by_a_box(owner: Page, site: Watched) -> None:
    """It is as large as a box everywhere, with its words beside it, and what is ticked counts."""
    owner.goto(site.address("/tests"))
    box = owner.get_by_label("My tests").bounding_box()
    assert box is not None
    assert box["width"] == box["height"] < 30
    owner.get_by_label("My tests").check()
    owner.get_by_role("button", name="Show").click()
    expect(owner.get_by_label("My tests")).to_be_checked()


def test_a_tournament(page: Page, site: Watched) -> None:
    """Its standings and crosstable; a cell leads to the games of two, a name to its bot."""
    page.goto(site.address("/tournaments"))
    page.locator("table").get_by_role("link", name="cup").click()
    expect(page.get_by_role("heading", name="Crosstable")).to_be_visible()
    expect(page.locator(".cross tbody tr")).to_have_count(3)
    weights = "it => [...it].map((one) => getComputedStyle(one).fontWeight)"
    assert len(set(page.locator(".cross thead th").evaluate_all(weights))) == 1
    round_1 = page.locator("#round-1")
    expect(round_1.locator("li").first).to_be_visible()
    round_1.locator("summary").click()
    expect(round_1.locator("li").first).to_be_hidden()
    page.goto(site.address("/tournaments/cup/1/2"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("against")


@pytest.mark.parametrize("size", [TABLET, LAPTOP, WIDE], ids=lambda size: str(size["width"]))
def test_the_standings_are_seen_whole(page: Page, site: Watched, size: ViewportSize) -> None:
    """With every tie-break and the longest name, no column of theirs is cut off."""
    page.set_viewport_size(size)
    with site.database.begin() as session:
        cup = session.scalars(sa.select(Tournament).where(Tournament.name == "cup")).one()
        usual = cup.settings
        cup.settings = {**usual, "tie_breaks": list(TIE_BREAKS)}
    try:
        with renamed(site, "bot-2", LONGEST):
            page.goto(site.address("/tournaments/cup"))
            expect(page.get_by_role("link", name=LONGEST).first).to_be_visible()
            assert scrolled(page) == []
    finally:
        with site.database.begin() as session:
            session.get_one(Tournament, cup.id).settings = usual


def test_a_renewal_leaves_what_a_reader_opened(page: Page, site: Watched) -> None:
    """A round stays as it was clicked, though the server would show it otherwise."""
    set_state(site, CompetitionState.OPEN)
    page.clock.install()
    page.goto(site.address("/tournaments/cup"))
    rounds = [page.locator("#round-1"), page.locator("#round-2")]
    before = [each.get_attribute("open") is not None for each in rounds]
    for each in rounds:
        each.locator("summary").click()
    set_state(site, CompetitionState.PAUSED)
    renewing = page.locator("#tournament[hx-get]")
    expect(renewing).to_have_count(1)
    page.clock.fast_forward(5_500)
    expect(renewing).to_have_count(0)
    after = [each.get_attribute("open") is not None for each in rounds]
    assert after == [not was for was in before]
    expect(rounds[1].locator("summary")).to_be_focused()


def set_state(site: Watched, state: CompetitionState) -> None:
    with site.database.begin() as session:
        session.scalars(sa.select(Tournament).where(Tournament.name == "cup")).one().state = state


def test_a_strength_test_renews_itself(page: Page, site: Watched) -> None:
    """Results that come in stand in its block without a reload."""
    page.clock.install()
    page.goto(site.address("/tests"))
    page.locator("table a").filter(has_text=str(site.numbers["test"])).first.click()
    expect(page.locator("#live")).to_contain_text("96 of at most")
    with site.database.begin() as session:
        session.execute(
            sa.update(TestTally)
            .where(TestTally.test_id == site.numbers["test"], TestTally.worker == "one")
            .values(counts=[2, 3, 9, 6, 14], wins=49)
        )
    page.clock.fast_forward(3_500)
    expect(page.locator("#live")).to_contain_text("116 of at most")


def test_a_running_match_is_watched(page: Page, site: Watched) -> None:
    """The board of a running game is there, and a bot's name leads to its page."""
    page.goto(site.address("/matches/{running}"))
    expect(page.locator(".watch .board svg")).to_be_visible()
    name = page.locator(".watch table a").first
    name.focus()
    with page.expect_response("**/live"):
        pass  # it renews itself every second
    page.wait_for_timeout(100)
    expect(name).to_be_focused()
    name.click()
    expect(page).to_have_url(re.compile(r"/bots/bot-\d"))
