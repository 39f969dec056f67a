"""Playing on the drawn board: pieces of several squares are held, turned and placed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlalchemy.orm import Session

from arena import sittings
from arena.audit import ARENA
from arena.bots.submissions import enter
from arena.competitions import ladder_settings
from arena.models import Bot, BotVersion, Ladder, User, VersionStatus
from arena.sittings import Person, Wish
from engine.games import GAMES
from tests.browser.conftest import Watched


@pytest.fixture
def puzzle(request: pytest.FixtureRequest, served: Watched) -> Iterator[str]:
    """The address of a game of the owner's, alone on 8 by 10, that no other test plays."""
    with served.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.game == "puzzle")).one()
        address = begin(served, session, Wish(ladder, 0, (), False, request.node.name, 5))
    yield address
    # Nobody has many games under way.
    with served.database.begin() as session:
        found = sittings.find(session, int(address.rsplit("/", 1)[1]), to_change=True)
        assert found is not None
        sittings.resign(found, len(sittings.record_of(found).plies), datetime.now(UTC))


def begin(served: Watched, session: Session, wish: Wish) -> str:
    """Begins a game of the owner's; gives its address."""
    owner = session.scalars(sa.select(User).where(User.name == served.owner)).one()
    person = Person(owner.name, owner.id)
    begun = sittings.begin(session, person, wish, datetime.now(UTC), most_open=99)
    return f"{served.base}/play/{begun.id}"


def test_a_piece_is_placed_by_keyboard_and_by_mouse(
    owner: Page, puzzle: str, object_to: Callable[..., list[str]]
) -> None:
    """The puzzle on 8 by 10: a preview under the pointer, dots where it fits, then the move."""
    owner.goto(puzzle)
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
    expect(owner.get_by_role("button", name="blue I4")).to_be_focused()
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


def test_a_piece_is_placed_by_touch(site: Watched, puzzle: str) -> None:
    """A phone has no room for tray and board: the board comes into sight with the piece."""
    options = {"viewport": {"width": 375, "height": 560}, "has_touch": True, "is_mobile": True}
    with site.context("owner", **options) as context:
        page = context.new_page()
        page.goto(puzzle)
        moves = page.get_by_role("list", name="Moves").get_by_role("listitem")
        board = page.locator("#play-board svg")
        expect(board).not_to_be_in_viewport(ratio=0.5)
        page.get_by_role("button", name="green O4").tap()
        expect(board).to_be_in_viewport(ratio=0.9)
        expect(page.locator("#turning")).to_be_in_viewport()
        square = page.locator('#play-board rect[data-square="b8"]')
        square.tap()
        expect(page.locator("#play-board .ghost.fits")).to_have_count(4)
        expect(moves).to_have_count(0)  # the first tap only shows it
        square.tap()
        expect(moves).to_have_count(1)


def test_a_piece_that_is_moved_by_keys_stays_in_sight(site: Watched, puzzle: str) -> None:
    """The window is too low for the board: it is scrolled to where the piece is."""
    with site.context("owner") as context:
        page = context.new_page()
        page.goto(puzzle)
        page.get_by_role("button", name="yellow O4").press("Enter")
        ghost = page.locator("#play-board .ghost")
        expect(ghost).to_have_count(4)
        for key in ("ArrowDown", "ArrowUp"):
            for _ in range(10):
                page.keyboard.press(key)
            for part in ghost.all():
                expect(part).to_be_in_viewport(ratio=0.9)


def test_why_a_move_was_refused_is_read(site: Watched, puzzle: str) -> None:
    """Whoever signed out in another window has no game here any more, and is told so."""
    with site.context("owner") as context:
        page = context.new_page()
        page.goto(puzzle)
        context.clear_cookies()
        page.get_by_text("Choose a move from a list").click()
        page.get_by_label("In the game's notation").fill("a1")
        page.locator("form", has=page.locator("#written")).get_by_role("button").click()
        expect(page.get_by_role("main")).to_contain_text("This form is too old")
        assert page.url == puzzle  # to be loaded anew, as it says
    # That it is refused is told in the console too.
    site.complaints[:] = [each for each in site.complaints if "400" not in each]


@pytest.fixture(scope="session")
def oxoxo(served: Watched) -> str:
    """The address of a game of the owner's whose moves end with a choice beside the board.

    As long-lived as the site that it changes: tests of other files may come between.
    """
    now = datetime.now(UTC)
    with served.database.begin() as session:
        variant = GAMES["oxoxo"].variant()
        ladder = ladder_settings.create(session, ARENA, "oxoxo", variant, {}, now)
        ready = sa.select(BotVersion).join(Bot).where(BotVersion.status == VersionStatus.READY)
        version = session.scalars(ready.order_by(BotVersion.id)).first()
        assert version is not None
        enter(session, ladder, version, now)
        return begin(served, session, Wish(ladder, 0, (version.id,), False, "oxoxo", 5))


def test_what_is_chosen_beside_the_board_comes_into_sight(site: Watched, oxoxo: str) -> None:
    """On a wide window twice enlarged the last row of the board is far below the choices."""
    with site.context("owner", viewport={"width": 640, "height": 250}) as context:
        page = context.new_page()
        page.goto(oxoxo)
        square = page.locator('#play-board a[data-click="b1"]')
        square.evaluate("(square) => square.scrollIntoView({ block: 'start' })")
        expect(page.locator("#turn")).not_to_be_in_viewport()
        square.click()
        for side in page.locator(".words button").all():
            expect(side).to_be_in_viewport(ratio=1)


def test_where_a_move_begins_is_marked_for_fingers(site: Watched, oxoxo: str) -> None:
    """Who has a mouse sees it by pointing."""
    strokes = []
    for touch in (False, True):
        with site.context("owner", has_touch=touch, is_mobile=touch) as context:
            page = context.new_page()
            page.goto(oxoxo)
            first = page.locator("#play-board a.first rect").first
            strokes.append(first.evaluate("(rect) => getComputedStyle(rect).stroke"))
    assert strokes[0] == "rgba(0, 0, 0, 0)"
    assert strokes[1] != strokes[0]


def test_a_lost_connection_leaves_the_game_in_sight(site: Watched, oxoxo: str, puzzle: str) -> None:
    """It is told, and the same click goes on when the connection is there again."""
    with site.context("owner") as context:
        page = context.new_page()
        for address, click, after in [
            (oxoxo, '[data-click="b2"]', "Chosen: b2"),
            (puzzle, '[data-piece="yellow I4"]', "yellow I4 fits on"),
        ]:
            page.goto(address)
            context.set_offline(True)
            page.locator(click).click()
            expect(page.get_by_role("alert")).to_contain_text("The arena can't be reached.")
            assert page.url == address
            context.set_offline(False)
            page.locator(click).click()
            expect(page.locator("#sitting")).to_contain_text(after)
    site.complaints[:] = [each for each in site.complaints if "DISCONNECTED" not in each]


def test_a_title_in_the_background_tells_whose_turn_it_is(site: Watched, oxoxo: str) -> None:
    """Whoever waits for a bot looks elsewhere meanwhile; what others play stands still there."""
    hidden = "Object.defineProperty(document, 'hidden', { get: () => true })"
    with site.context("owner") as context, site.context() as stranger:
        page, other = context.new_page(), stranger.new_page()
        page.goto(f"{site.base}/play/on/oxoxo")
        page.locator("input[name=place][value='1']").check()
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("#turn")).to_contain_text("is to move")
        number = int(page.url.rsplit("/", 1)[1])
        other.goto(page.url)
        for one in (page, other):
            one.evaluate(hidden)
        going_on = other.title()
        with site.database.begin() as session:
            found = sittings.find(session, number, to_change=True)
            assert found is not None
            sittings.resign(found, 0, datetime.now(UTC))
        expect(page).to_have_title("Over: " + going_on)
        expect(other).to_have_title(going_on)


def test_a_piece_that_was_placed_in_another_window(site: Watched, puzzle: str) -> None:
    """The page of before shows how the game is now, by a button that is pressed by a key."""
    with site.context("owner") as context:
        first, second = context.new_page(), context.new_page()
        for page in (first, second):
            page.goto(puzzle)
        moves = first.get_by_role("list", name="Moves").get_by_role("listitem")
        for page in (first, second):
            button = page.get_by_role("button", name="yellow L4")
            button.press("Space")
            if page is first:
                expect(page.locator("#fitting")).to_contain_text("fits on")
                page.keyboard.press("Enter")
                expect(moves).to_have_count(1)
        expect(button).to_have_count(0)
        expect(second.locator(".moves li")).to_have_count(1)
