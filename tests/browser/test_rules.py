"""The page of a game in a browser: its board is tried without loading the page anew."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watched


def test_a_game_is_tried_by_clicks(page: Page, site: Watched) -> None:
    """The mouse and the keyboard do it; the address has what was played, and can be opened."""
    page.goto(site.address("/rules/clobber"))
    page.evaluate("window.untouched = true")
    board = page.locator("#try-board")
    board.locator('[data-click="c4"]').click()
    board.locator('[data-click="c5"].on').click()
    expect(board.locator(".turn")).to_contain_text("Black to move")
    expect(page).to_have_url(re.compile(r"moves=c4c5&node=1#try-board$"))
    board.locator('[data-click="d4"]').focus()
    page.keyboard.press("Enter")
    expect(board.locator('[data-click="d4"]')).to_be_focused()
    board.get_by_role("button", name="First position").click()
    expect(board.locator(".turn")).to_contain_text("White to move")
    expect(board).to_contain_text("move 0 of 1")
    assert page.evaluate("window.untouched")
    page.reload()
    expect(board).to_contain_text("move 0 of 1")
