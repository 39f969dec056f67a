"""Playing on the drawn board: pieces of several squares are held, turned and placed."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watched


def test_a_piece_is_placed_by_keyboard_and_by_mouse(
    site: Watched, owner: Page, object_to: Callable[..., list[str]]
) -> None:
    """The puzzle on 8 by 10: a preview under the pointer, dots where it fits, then the move."""
    owner.goto(site.address("/play/{sitting}"))
    assert object_to(owner) == []
    moves = owner.get_by_role("list", name="Moves").get_by_role("listitem")
    owner.get_by_role("button", name="blue I4").click()
    fitting = owner.locator("#fitting")
    expect(fitting).to_contain_text("fits on")
    # Upright it has 8 files and 7 places on each; lying 10 ranks and 5 places.
    dots = owner.locator("#play-board .held .target")
    expect(dots).to_have_count(8 * 7)
    owner.keyboard.press("r")
    expect(dots).to_have_count(10 * 5)
    owner.keyboard.press("Escape")
    expect(dots).to_have_count(0)
    owner.get_by_role("button", name="blue I4").click()
    expect(dots).to_have_count(8 * 7)
    owner.keyboard.press("Enter")
    expect(moves).to_have_count(1)
    owner.get_by_role("button", name="red O4").click()
    expect(fitting).to_contain_text("red O4")
    square = owner.locator('#play-board rect[data-square="e5"]')
    square.hover()
    expect(owner.locator("#play-board .ghost.fits")).to_have_count(4)
    square.click()
    expect(moves).to_have_count(2)
    expect(owner.locator(".piece-button")).to_have_count(4 * 5 - 2)
