"""Playing on the drawn board: pieces of several squares are held, turned and placed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from arena import sittings
from arena.audit import ARENA
from arena.bots.submissions import enter
from arena.competitions import ladder_settings
from arena.ground.config import Settings
from arena.models import Bot, BotVersion, JobStatus, Ladder, User, VersionStatus
from arena.schedule import jobs, leases
from arena.sittings import Person, Wish
from engine import sitting as games
from engine.games import GAMES
from engine.jobs import MoveJob
from engine.reporting import MoveReport
from tests.browser.conftest import PHONE, Watched, await_true
from tests.engine.players import FirstMove


@pytest.fixture(scope="session")
def ladder_of(served: Watched) -> Callable[..., int]:
    """Gives the id of a ladder of a game, on which a bot plays if one can; each is made once."""

    @cache
    def made(game: str, **options: str) -> int:
        now = datetime.now(UTC)
        with served.database.begin() as session:
            found = session.scalar(sa.select(Ladder).where(Ladder.game == game))
            if found is not None:
                return found.id
            variant = GAMES[game].variant(**options)
            ladder = ladder_settings.create(session, ARENA, game, variant, {}, now)
            ready = sa.select(BotVersion).join(Bot).where(BotVersion.status == VersionStatus.READY)
            version = session.scalars(ready.order_by(BotVersion.id)).first()
            assert version is not None
            enter(session, ladder, version, now)
            return ladder.id

    return made


@pytest.fixture
def sit(
    request: pytest.FixtureRequest, served: Watched, ladder_of: Callable[..., int]
) -> Iterator[Callable[..., str]]:
    """Begins a game of the owner's that no other test plays, and gives its address."""
    begun: list[int] = []

    def sitting(game: str, **options: str) -> str:
        number = ladder_of(game, **options)
        with served.database.begin() as session:
            ladder = session.get_one(Ladder, number)
            others = len(sittings.places(ladder.variant)) - 1
            bots = tuple(one.id for one in sittings.bots_for(session, ladder)[:1]) * others
            owner = session.scalars(sa.select(User).where(User.name == served.owner)).one()
            wish = Wish(ladder, 0, bots, False, f"{request.node.name} {game}", 5)
            person = Person(owner.name, owner.id)
            made = sittings.begin(session, person, wish, datetime.now(UTC), most_open=99)
            begun.append(made.id)
            return f"{served.base}/play/{made.id}"

    yield sitting
    # Nobody has many games under way.
    with served.database.begin() as session:
        for number in begun:
            found = sittings.find(session, number, to_change=True)
            assert found is not None
            if found.finished is None:
                sittings.resign(found, len(sittings.record_of(found).plies), datetime.now(UTC))


def answer(site: Watched, address: str) -> bool:
    """A worker makes the bots' moves that are due; whether it made any, and the game goes on."""
    now, settings = datetime.now(UTC), Settings()
    number = int(re.findall(r"\d+", address)[-1])
    with site.database.begin() as session:
        found = sittings.find(session, number, to_change=True)
        assert found is not None
        plies = found.plies
        while found.status is JobStatus.OPEN:
            leases.issue(found, settings, now)
            (job,) = jobs.jobs_of(session, [found], settings, now)
            assert isinstance(job, MoveJob)
            report = MoveReport(job.lease, "one", games.ask(job.game, FirstMove()))
            assert sittings.record_move(session, report, now) is leases.Fate.FIXED
        return found.plies > plies and found.finished is None


@pytest.fixture
def puzzle(sit: Callable[..., str]) -> str:
    """The address of a game alone on 8 by 10."""
    return sit("puzzle")


@pytest.fixture
def oxoxo(sit: Callable[..., str]) -> str:
    """The address of a game whose moves end with a choice beside the board."""
    return sit("oxoxo")


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
    # Lying it has 10 ranks and 5 places on each; upright 8 files and 7 places.
    dots = owner.locator("#play-board .held .target")
    expect(dots).to_have_count(10 * 5)
    places = [fitting.text_content()]
    while len(places) <= 10 * 5:
        owner.keyboard.press("n")
        places.append(fitting.text_content())
    assert len(set(places)) == 10 * 5
    assert places[-1] == places[0]
    owner.keyboard.press("r")
    expect(dots).to_have_count(8 * 7)
    owner.keyboard.press("Escape")
    expect(dots).to_have_count(0)
    expect(owner.get_by_role("button", name="blue I4")).to_be_focused()
    owner.get_by_role("button", name="blue I4").click()
    expect(dots).to_have_count(10 * 5)
    owner.keyboard.press("Enter")
    expect(owner.locator("#confirm")).to_be_focused()
    expect(moves).to_have_count(0)  # it is laid, and asked about
    owner.keyboard.press("Enter")
    expect(moves).to_have_count(1)
    # The focus is where it goes on, and not lost with the board of before.
    expect(owner.locator("#turn")).to_be_focused()
    owner.get_by_role("button", name="red O4").click()
    expect(fitting).to_contain_text("red O4")
    square = owner.locator('#play-board rect[data-square="e5"]')
    square.hover()
    expect(owner.locator("#play-board .ghost.fits")).to_have_count(4)
    square.click()
    expect(owner.locator("#play-board .ghost.laid")).to_have_count(4)
    owner.locator("#undo").click()
    expect(owner.locator("#play-board .ghost.laid")).to_have_count(0)
    square.click()
    owner.locator("#confirm").click()
    expect(moves).to_have_count(2)
    # Those that are placed stay in the tray, as ghosts.
    expect(owner.locator(".tray .used")).to_have_count(2)
    expect(owner.locator(".tray li")).to_have_count(4 * 5)
    # A move of a game that is played alone is taken back.
    owner.locator("#undo").click()
    expect(moves).to_have_count(1)
    expect(owner.locator(".tray .used")).to_have_count(1)
    # What came of it has the focus, though its replay is a page of its own.
    owner.get_by_text("End the game").press("Enter")
    owner.get_by_role("button", name="Give up").press("Enter")
    expect(owner.locator("#replay-slider")).to_be_visible()
    expect(owner.locator("#turn")).to_be_focused()


def test_a_piece_is_turned_by_the_wheel_and_mirrored_by_the_other_button(
    owner: Page, puzzle: str
) -> None:
    """An L lies on its long side, stands, and is mirrored; at its places on 8 by 10 all are one."""
    owner.goto(puzzle)
    owner.get_by_role("button", name="blue L4").click()
    square = owner.locator('#play-board rect[data-square="d5"]')
    square.hover()
    ghost = owner.locator("#play-board .ghost")

    ghosts = "[...document.querySelectorAll('#play-board .ghost')]"
    height = f"new Set({ghosts}.map((one) => one.getAttribute('y'))).size"
    await_true(owner, f"{height} === 2")
    for _ in range(10):
        # A busy browser scrolls by the wheel, or drops it, as long as it does not know who listens.
        square.hover()
        owner.mouse.wheel(0, 100)
        with suppress(AssertionError):
            await_true(owner, f"{height} === 3", seconds=3)
            break
    assert owner.evaluate(height) == 3, owner.evaluate("[scrollY, document.body.innerText]")
    before = ghost.evaluate_all("(all) => all.map((one) => one.getAttribute('x')).join()")
    square.click(button="right")
    expect(owner.locator("#play-board .ghost.laid")).to_have_count(0)
    assert ghost.evaluate_all("(all) => all.map((one) => one.getAttribute('x')).join()") != before
    # Who wants no questions lays it by one click.
    moves = owner.get_by_role("list", name="Moves").get_by_role("listitem")
    owner.get_by_role("button", name="Play my moves without Confirm").click()
    expect(owner.get_by_role("button", name="Ask before a move of mine is played")).to_be_visible()
    owner.get_by_role("button", name="blue L4").click()
    expect(ghost).to_have_count(4)  # its moves have come
    square.click()
    expect(moves).to_have_count(1)


def test_a_piece_is_placed_by_touch(site: Watched, puzzle: str) -> None:
    """A tap lays it, another one elsewhere lays it there; Confirm plays. All is on one screen."""
    with site.context("owner", viewport=PHONE, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.goto(puzzle)
        moves = page.get_by_role("list", name="Moves").get_by_role("listitem")
        page.get_by_role("button", name="green O4").tap()
        for part in ("#play-board svg", "#confirm", "#turning", "#tray"):
            expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
        for name in ("b8", "d4"):
            page.locator(f'#play-board rect[data-square="{name}"]').tap()
            expect(page.locator("#play-board .ghost.laid.fits")).to_have_count(4)
        expect(moves).to_have_count(0)
        page.locator("#confirm").tap()
        expect(moves).to_have_count(1)
        # When it is over there is room for the whole of what it was and when it ended.
        page.get_by_text("End the game").tap()
        page.get_by_role("button", name="Give up").tap()
        expect(page.locator("#replay-slider")).to_be_visible()
        for line in page.locator(".playing > hgroup > *").all():
            assert line.evaluate("(line) => line.scrollWidth <= line.clientWidth")


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


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "clicks"),
    [("oxono", ("c4", "c6", "c5")), ("mijnlieff", ("b2", "push <>")), ("siege", ("d9", "i8"))],
)
@pytest.mark.parametrize("phone", [False, True], ids=["by mouse", "by touch"])
def test_a_move_is_chosen_on_one_screen(
    site: Watched,
    sit: Callable[..., str],
    game: str,
    clicks: tuple[str, ...],
    phone: bool,
) -> None:
    """Nothing moves under the pointer from click to click, Undo goes one back, Confirm is there."""
    options = {"viewport": PHONE, "has_touch": True, "is_mobile": True} if phone else {}
    address = sit(game, **({"totems": "xc4"} if game == "oxono" else {}))
    with site.context(
        "owner", **{"viewport": {"width": 1366, "height": 768}, **options}
    ) as context:
        page = context.new_page()
        page.goto(address)
        parts = ["#play-board svg", "#undo", "#confirm", *["#tray"][: game == "mijnlieff"]]
        places = [page.locator(part).bounding_box() for part in parts]
        for click in (*clicks, "Undo", clicks[-1]):
            asked = page.locator("#turn").text_content()
            where = page.locator(f'[data-click="{click}"]').or_(
                page.get_by_role("button", name=click)
            )
            (where.tap if phone else where.click)()
            expect(page.locator("#turn")).not_to_have_text(asked)
            for part, place in zip(parts, places, strict=True):
                expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
                assert page.locator(part).bounding_box() == place
        expect(page.locator("#confirm")).to_be_enabled()


@pytest.mark.long
def test_squares_are_chosen_by_keys(owner: Page, sit: Callable[..., str]) -> None:
    """Arrow keys go to the nearest that may be clicked, Enter to where the move can go on."""
    owner.goto(sit("oxono", totems="xc4"))
    squares = {each: owner.locator(f'[data-click="{each}"]') for each in ("c4", "d3", "c5", "c6")}
    owner.get_by_text("Skip to the content").focus()
    for _ in range(20):
        owner.keyboard.press("Tab")
        if owner.evaluate("document.activeElement.matches('#play-board a')"):
            break
    expect(squares["c4"]).to_be_focused()
    for key, there in [
        ("ArrowRight", "d3"), ("ArrowUp", "c4"), ("ArrowUp", "c4"), ("Enter", "c6"),
        ("ArrowDown", "c5"), ("ArrowUp", "c6"),
    ]:  # fmt: skip
        owner.keyboard.press(key)
        expect(squares[there]).to_be_focused()
    owner.keyboard.press("Enter")
    expect(owner.locator("#turn")).to_contain_text("Chosen: c4 c6")
    assert owner.evaluate("document.activeElement.matches('#play-board a.on')")
    owner.keyboard.press("Enter")
    expect(owner.locator("#confirm")).to_be_focused()


def test_what_is_chosen_beside_the_board_comes_into_sight(site: Watched, oxoxo: str) -> None:
    """On a wide window twice enlarged the choices are far below the first row of the board."""
    with site.context("owner", viewport={"width": 640, "height": 250}) as context:
        page = context.new_page()
        page.goto(oxoxo)
        square = page.locator('#play-board a[data-click="b4"]')
        square.evaluate("(square) => square.scrollIntoView({ block: 'end' })")
        expect(page.locator("#tray")).not_to_be_in_viewport()
        square.click()
        for side in page.locator("#tray .open").all():
            expect(side).to_be_in_viewport(ratio=0.99)


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
                expect(page.locator("#confirm")).to_be_focused()
                page.keyboard.press("Enter")
                expect(moves).to_have_count(1)
        expect(button).to_have_count(0)
        expect(second.locator(".moves li")).to_have_count(1)


@pytest.mark.long
@pytest.mark.parametrize("game", ["clobber", "oxoxo", "mijnlieff"])
def test_a_game_is_played_to_its_end_by_keys(
    site: Watched, sit: Callable[..., str], game: str
) -> None:
    """Arrow keys lead from whose turn it is to what may be chosen, on the board and beside it.

    What has the focus next is always where it goes on, Undo leads back to what was let go, and
    what the bot plays is said by what was on the page before.
    """
    address = sit(game)
    with site.context("owner") as context:
        page = context.new_page()
        page.goto(address)
        # What is played in a region that was there before is read out.
        page.evaluate("""() => {
          window.said = [];
          new MutationObserver((changes) => {
            for (const { target } of changes) {
              const one = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
              const region = one?.closest("[role=status]");
              if (region?.isConnected) said.push(region.textContent);
            }
          }).observe(document, { subtree: true, childList: true, characterData: true });
        }""")
        turn, confirm = page.locator("#turn"), page.locator("#confirm")
        page.get_by_text("Skip to the content").focus()
        page.keyboard.press("Enter")
        while not page.evaluate("document.activeElement.matches('#play-board a.first')"):
            page.keyboard.press("Tab")
        for number in range(60):
            chosen = page.evaluate("document.activeElement.dataset.click")
            page.keyboard.press("Enter")
            # One more step leads to Confirm; or two, where what is placed lies beside the board.
            on = page.locator("#play-board a.on:focus, #tray .open a:focus, #confirm:enabled:focus")
            expect(on).to_have_count(1)
            await_true(page, "said.includes(document.getElementById('turn').innerText)")
            if not confirm.is_enabled():
                if page.evaluate("document.activeElement.matches('#tray a')"):
                    page.keyboard.press("ArrowRight")
                    expect(on).to_have_count(1)
                page.keyboard.press("Enter")
            expect(confirm).to_be_focused()
            if number == 0:
                while page.locator("#undo[data-at]").count():
                    asked = turn.text_content()
                    page.keyboard.press("Escape")
                    expect(turn).not_to_have_text(asked or "")
                expect(page.locator(f'[data-click="{chosen}"]')).to_be_focused()
                continue
            page.keyboard.press("Enter")
            expect(turn).to_be_focused()
            if answer(site, address):
                await_true(page, "said.some((one) => / played /.test(one))")
                page.evaluate("said = []")
            expect(turn.locator("strong")).to_be_visible()  # my turn, or what came of it
            expect(turn).to_be_focused()
            if page.locator("#replay").count():
                break
            page.keyboard.press("ArrowDown")
            assert page.evaluate("document.activeElement.matches('#play-board a.first')")
        expect(page.locator("#replay-slider")).to_be_visible()
        where = page.locator("#replay-where")
        last = int((where.text_content() or "").split()[-1])
        page.keyboard.press("ArrowLeft")
        expect(where).to_have_text(f"ply {last - 1} of {last}")
        page.keyboard.press("Home")
        expect(where).to_have_text(f"ply 0 of {last}")
