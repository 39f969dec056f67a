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
    # The focus is where it goes on, above the tray, and not lost with the board of before.
    expect(owner.locator("#turn")).to_be_focused()
    owner.get_by_role("button", name="red O4").click()
    expect(fitting).to_contain_text("red O4")
    square = owner.locator('#play-board rect[data-square="e5"]')
    square.hover()
    expect(owner.locator("#play-board .ghost.fits")).to_have_count(4)
    square.click()
    expect(moves).to_have_count(2)
    expect(owner.locator(".piece-button")).to_have_count(4 * 5 - 2)


def test_a_piece_is_placed_by_touch(site: Watched) -> None:
    """A phone has no room for tray and board: the board comes into sight with the piece."""
    options = {"viewport": {"width": 375, "height": 560}, "has_touch": True, "is_mobile": True}
    with site.context("owner", **options) as context:
        page = context.new_page()
        page.goto(site.address("/play/{sitting}"))
        moves = page.get_by_role("list", name="Moves").get_by_role("listitem")
        before = moves.count()
        board = page.locator("#play-board svg")
        expect(board).not_to_be_in_viewport(ratio=0.5)
        page.get_by_role("button", name="green O4").tap()
        expect(board).to_be_in_viewport(ratio=0.9)
        expect(page.locator("#turning")).to_be_in_viewport()
        square = page.locator('#play-board rect[data-square="b8"]')
        square.tap()
        expect(page.locator("#play-board .ghost.fits")).to_have_count(4)
        expect(moves).to_have_count(before)  # the first tap only shows it
        square.tap()
        expect(moves).to_have_count(before + 1)


def test_why_a_move_was_refused_is_read(site: Watched) -> None:
    """Whoever signed out in another window has no game here any more, and is told so."""
    with site.context("owner") as context:
        page = context.new_page()
        page.goto(site.address("/play/{sitting}"))
        context.clear_cookies()
        page.get_by_text("Choose a move from a list").click()
        page.get_by_label("In the game's notation").fill("a1")
        page.locator("form", has=page.locator("#written")).get_by_role("button").click()
        expect(page.get_by_role("main")).to_contain_text("This form is too old")
        assert page.url == site.address("/play/{sitting}")  # to be loaded anew, as it says
    # That it is refused is told in the console too.
    site.complaints[:] = [each for each in site.complaints if "400" not in each]
