"""The editor in the browser: what is typed reaches the form, and is kept until the arena has it."""

from __future__ import annotations

import sqlalchemy as sa
from playwright.sync_api import Page, expect

from arena.models import BotVersion, Check, JobStatus
from tests.browser.conftest import WIDE, Watched

STARTER = "/editor?ladder=ladder-0&language=javascript&name=typed-bot"


def area(page: Page) -> str:
    """The text that the form would send of the file to write in."""
    return page.locator("textarea").first.input_value()


def test_what_is_typed_is_kept(site: Watched) -> None:
    """The browser keeps it, over a closed page and a lost session, until the arena has it; with
    colours, by the keyboard, and no style of a script in the page."""
    with site.context("other") as context:
        page = context.new_page()
        page.goto(site.address(STARTER))
        before = area(page)
        assert page.locator(".cm-line span[class]").count() > 10
        page.locator(".cm-content").first.click()
        page.keyboard.press("Control+End")
        page.keyboard.type("// typed")
        page.set_viewport_size({"width": 1000, "height": 500})  # its foot is below
        page.keyboard.press("Control+f")
        expect(page.get_by_placeholder("Find")).to_be_in_viewport()
        page.keyboard.press("Escape")
        page.set_viewport_size(WIDE)
        assert area(page) == f"{before}// typed"
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
        page.close()
        page = context.new_page()
        page.goto(site.address(STARTER))
        expect(page.locator("#kept")).to_be_visible()
        assert area(page) == f"{before}// typed"
        cookies = context.cookies()
        context.clear_cookies()
        page.get_by_role("button", name="Check", exact=True).click()
        expect(page.get_by_role("heading", name="Unauthorized")).to_be_visible()
        site.complaints.clear()  # of that answer
        context.add_cookies(cookies)  # type: ignore[arg-type]
        page.goto(site.address(STARTER))
        assert area(page) == f"{before}// typed"
        page.locator(".cm-content").first.click()
        page.keyboard.press("Control+End")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/editor?bot=typed-bot&version=1**")
        assert area(page) == f"{before}// typed"
        assert page.evaluate("Object.keys(localStorage)") == []
        expect(page.locator("#check")).to_contain_text("Taken in: JavaScript")
        page.keyboard.type("x")  # where it went on from
        assert area(page) == f"{before}// typedx"
        page.reload()
        page.get_by_role("button", name="Take what was there before").click()
        assert area(page) == f"{before}// typed"
        assert page.evaluate("Object.keys(localStorage)") == []
    with site.database.begin() as session:  # no other test is to find its check due
        version = session.scalars(sa.select(BotVersion).order_by(BotVersion.id.desc())).first()
        its = sa.update(Check).where(Check.version_id == version.id)
        session.execute(its.values(status=JobStatus.VOID))
