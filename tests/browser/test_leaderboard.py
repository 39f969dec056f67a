"""The leaderboard as people use it: it renews itself, compares, sorts, and filters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, ViewportSize, expect

from arena.models import Bot, Entrant, Ladder
from tests.browser.conftest import LAPTOP, PHONE, TABLET, WIDE, Watched
from tests.browser.test_every_page import scrolled

CLOBBER = "/ladders/ladder-0"
LONGEST = "Wolfgang-Amadeus_the.third-of-his-nameXL"


def test_it_renews_itself(page: Page, site: Watched) -> None:
    """What a bot has done since stands there without a reload; the choice of a sort is kept."""
    page.clock.install()
    page.goto(site.address(CLOBBER))
    page.get_by_role("link", name="Games", exact=True).and_(page.locator("th a")).click()
    page.evaluate("window.untouched = true")
    with site.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()
        ladder.games = 4321
        entrant = session.scalars(
            sa.select(Entrant)
            .where(Entrant.competition_id == ladder.id, Entrant.state == "active")
            .order_by(Entrant.games.desc())
        ).first()
        assert entrant is not None
        entrant.mu = 60
    page.clock.fast_forward(5_500)
    expect(page.locator(".tiles")).to_contain_text("4,321")
    expect(page.locator("table.leaderboard")).to_contain_text("3145")  # 1500 + 47 * (60 - 25)
    expect(page.locator("th[aria-sort]")).to_have_text("Games")
    assert page.evaluate("window.untouched")


def test_a_bot_is_picked_and_put_back(page: Page, site: Watched) -> None:
    """Every row gains the games against it; a second click takes them away."""
    page.goto(site.address(CLOBBER))
    row = page.locator("table.leaderboard tbody tr").first
    name = row.locator("td.bot a").inner_text()
    row.get_by_role("link", name=f"With the games against {name}").click()
    expect(page.get_by_role("columnheader", name=f"against {name}").first).to_be_visible()
    expect(page.locator("td.against").first).to_have_text(re.compile(r"^\d+-\d+-\d+$"))
    expect(page.locator("tr.picked")).to_contain_text(name)
    page.get_by_role("link", name=f"Without the games against {name}").click()
    expect(page.locator("td.against")).to_have_count(0)


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_filters_stay_in_the_address(site: Watched, size: str) -> None:
    """Part of a name, a language or an owner; what was typed stays, and all can be shown again."""
    options = {"viewport": PHONE} if size == "phone" else {}
    with site.context(**options) as context:
        page = context.new_page()
        page.goto(site.address(f"{CLOBBER}?bot=bot"))
        page.locator("input[name=bot]").fill("bot-2")
        page.get_by_role("button", name="Show").click()
        expect(page).to_have_url(re.compile(r"bot=bot-2"))
        expect(page.locator("td.bot")).to_have_count(1)
        expect(page.locator("td.bot")).to_contain_text("bot-2")
        expect(page.locator("input[name=bot]")).to_have_value("bot-2")
        page.get_by_role("link", name="Show all").click()
        expect(page.locator("td.bot")).to_have_count(4)


@contextmanager
def renamed(site: Watched, old: str, new: str) -> Iterator[None]:
    """A bot that is called otherwise for a while."""

    def rename(old: str, new: str) -> None:
        with site.database.begin() as session:
            session.execute(sa.update(Bot).where(Bot.name == old).values(name=new))

    rename(old, new)
    try:
        yield
    finally:
        rename(new, old)


@pytest.mark.parametrize("size", [TABLET, LAPTOP, WIDE], ids=lambda size: str(size["width"]))
def test_the_longest_name_leaves_room_for_the_other_columns(
    page: Page, site: Watched, size: ViewportSize
) -> None:
    """No table scrolls by a name of 40 letters, with the games against it neither."""
    page.set_viewport_size(size)
    with renamed(site, "bot-2", LONGEST):
        page.goto(site.address(CLOBBER))
        assert scrolled(page) == []
        page.get_by_role("link", name=f"With the games against {LONGEST}").click()
        expect(page.locator("td.against").first).to_be_visible()
        assert scrolled(page) == []
        expect(page.get_by_role("link", name=LONGEST, exact=True).first).to_be_visible()


def test_times_are_those_of_the_reader(site: Watched) -> None:
    """On hover a moment is said in the reader's zone, with the exact UTC."""
    with site.context(timezone_id="Asia/Kathmandu", locale="en-GB") as context:
        page = context.new_page()
        page.goto(site.address(CLOBBER))
        time = page.locator("table time").first
        shown = time.get_attribute("title") or ""
        utc = re.fullmatch(r"(\S+), (\S+) \((\S+) (\S+) UTC\)", shown)
        assert utc, shown
        here, there = (60 * int(clock[:2]) + int(clock[3:5]) for clock in (utc[2], utc[4]))
        assert (here - there) % (24 * 60) == 5 * 60 + 45
