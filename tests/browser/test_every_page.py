"""Every page, wide and on a phone, light and dark: nothing spills over, and everybody can read it.

The pages are those of the table of routes, as somebody sees them who may, so that a new one is
tried without being named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page

from arena.models import Bot, Ladder, User
from tests.arena.web.test_access import PEOPLE, ROUTES
from tests.arena.web.test_pages import PAGES
from tests.browser.conftest import LAPTOP, PHONE, TABLET, WIDE, Watched

FILES = (".json", ".csv", ".txt", ".tar", ".zip", ".svg", ".css", ".png", ".gif", ".webp")
ALIKE = (
    "/live",
    "/now",
    "/board",
    "/watch",
    "/0/log",
    "/healthz",
    "/readyz",
    "/metrics",
    "/favicon.ico",
    "/moves",
    "/logs/",
    "/export",
    "?sort=",
    "against=9",
    "{trio}/{plies}",
)
"""What is no page, or looks like another one."""
API_PAGE = "/api/v1/"
SIZES = {"phone": PHONE, "tablet": TABLET, "laptop": LAPTOP, "wide": WIDE}


def _seen() -> list[tuple[str, str]]:
    """Who opens which page."""
    found: dict[str, str] = {}
    for (method, _), (pattern, answers) in ROUTES.items():
        kinds = [kind for kind, answer in zip(PEOPLE, answers, strict=True) if answer == 200]
        if method == "GET" and kinds:
            # Whoever may do most sees most; ALL are pages that people see before they sign in.
            found[pattern] = "anonymous" if len(kinds) == len(PEOPLE) else kinds[-1]
    for pattern, _ in PAGES:
        found.setdefault(pattern, "anonymous")
    # What an owner sees of a bot, and people who are signed in of the others.
    found["/bots/bot-0#"] = "owner"
    found["/games/{trio}/20?tab=protocol"] = "owner"
    found["/tests/{test}#"] = "administrator"
    found["/tunings/{tuning}#"] = "administrator"
    found["/gauntlets/gauntlet#"] = "administrator"
    found["/presets#"] = "administrator"
    found["/teams#"] = found["/teams/{team}#"] = "owner"
    found["/tournaments/cup#"] = "administrator"
    found["/analysis?game=clobber#"] = "owner"
    found["/nowhere"] = "anonymous"
    return [
        (pattern, kind)
        for pattern, kind in found.items()
        if not pattern.partition("?")[0].endswith(FILES)
        and not any(part in pattern for part in ALIKE)
        and (pattern == API_PAGE or not pattern.startswith(("/api/", "/static/")))
    ]


@pytest.fixture(scope="module")
def page_of(served: Watched) -> Iterator[Callable[[str], Page]]:
    """The page of each kind of people, in which one address is opened after another.

    A new one for each address is a new process of the browser, which takes longer than the look.
    """
    with ExitStack() as ending:

        @cache
        def opened(kind: str) -> Page:
            return ending.enter_context(served.context(kind)).new_page()

        yield opened


@pytest.mark.long
@pytest.mark.parametrize(("pattern", "kind"), _seen(), ids=lambda value: value)
def test_a_page_is_for_everybody(
    site: Watched,
    page_of: Callable[[str], Page],
    object_to: Callable[..., list[str]],
    pattern: str,
    kind: str,
) -> None:
    """No width makes the body scroll sideways, a phone alone its tables; axe-core finds nothing.

    Nor do letters of twice the size, on a phone; and what has the focus is in sight, and marked.
    """
    page = page_of(kind)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="light")
    answer = page.goto(site.address(pattern))
    assert answer is not None
    if pattern == "/nowhere":
        site.complaints.clear()  # that it is not there is told in the console too
    else:
        assert answer.status == 200
        assert page.url == site.address(pattern)
    if answer.headers["content-type"].startswith("text/html"):
        assert objections_to(page, object_to) == []


def objections_to(page: Page, object_to: Callable[..., list[str]]) -> list[str]:
    """What is wrong with a page that is open, at each width and in both schemes of colours."""
    objections = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        # Colours move nothing: once more where room is scarcest will do.
        sizes = SIZES if scheme == "light" else {"phone": PHONE}
        for name, size in sizes.items():
            page.set_viewport_size(size)
            found = spilled(page) if name == "phone" else spilled(page) + scrolled(page)
            objections += [f"{scheme}, {name}: {each}" for each in found]
        only: dict[str, Any] = {} if scheme == "light" else {"only": ("color-contrast",)}
        objections += [f"{scheme}: {each}" for each in object_to(page, **only)]
        if scheme == "light":
            page.set_viewport_size(LAPTOP)
            objections += [f"with the focus: {each}" for each in page.evaluate(FOCUSED)]
            page.set_viewport_size(PHONE)
            page.evaluate(LARGE, "200%")
            objections += [f"text at 200 %, phone: {each}" for each in spilled(page)]
            page.evaluate(LARGE, "")
    return objections


LARGE = "(size) => { document.documentElement.style.fontSize = size; }"
SPILLED = """() => {
  const root = document.documentElement;
  const over = [...document.querySelectorAll("td, th")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => `over the next cell: ${one.outerHTML.slice(0, 120)}`);
  if (root.scrollWidth <= root.clientWidth) return over;
  const found = [...document.body.querySelectorAll("*")]
    .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1
      && !one.closest(".scroll > *, .log, .lines"))
    .map((one) => one.outerHTML.slice(0, 120));
  return found.length ? found : [`${root.scrollWidth} of ${root.clientWidth}, by a margin`];
}"""


def spilled(page: Page) -> list[str]:
    """The elements for which the page would have to be scrolled sideways."""
    return page.evaluate(SPILLED)


FOCUSED = """() => {
  const found = [], reached = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  for (const one of document.querySelectorAll(reached)) {
    if (one.disabled || one.tabIndex < 0) continue;
    if (!one.checkVisibility({ checkVisibilityCSS: true })) continue;
    one.focus();
    const { top, bottom } = one.getBoundingClientRect();
    const { outlineStyle, boxShadow } = getComputedStyle(one);
    const isMarked = outlineStyle !== "none" || boxShadow !== "none" || one.closest("svg");
    const says = one.outerHTML.slice(0, 120);
    if (bottom <= 0 || top >= innerHeight) found.push(`out of sight: ${says}`);
    if (!isMarked) found.push(`not marked: ${says}`);
  }
  document.activeElement.blur();
  scrollTo(0, 0);
  return found;
}"""


SCROLLED = """() => [...document.querySelectorAll(".scroll")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.ariaLabel}: ${one.scrollWidth} of ${one.clientWidth}`)"""


def scrolled(page: Page) -> list[str]:
    """The tables of which not all can be seen at once."""
    return page.evaluate(SCROLLED)


LONG = [
    "/play", "/play/on/ladder-0", "/play/{sitting}", "/", "/submit", "/ladders/ladder-0",
    "/ladders", "/rules", "/rules/clobber",
    "/ladders/ladder-0/unrated", "/bots/bot-0", "/checks/{owners_check}", "/account",
    "/matches/{played}", "/tests", "/tests/new", "/tunings", "/tunings/new",
    "/editor?ladder=ladder-0&name=mine",
]  # fmt: skip


def test_a_title_without_a_space_makes_no_page_wider(site: Watched) -> None:
    """It has as many letters as a title may have, on the narrowest phone."""
    every = sa.select(Ladder).order_by(Ladder.id)
    with site.database.begin() as session:
        titles = {one.id: one.title for one in session.scalars(every)}
        for one in session.scalars(every):
            one.title = "W" * 80
    try:
        with site.context("owner", viewport={"width": 320, "height": 700}) as context:
            page = context.new_page()
            found = []
            for pattern in LONG:
                answer = page.goto(site.address(pattern))
                assert answer is not None
                assert answer.status == 200, pattern
                found += [f"{pattern}: {each}" for each in spilled(page)]
        assert found == []
    finally:
        with site.database.begin() as session:
            for one in session.scalars(every):
                one.title = titles[one.id]


def test_the_longest_name_leaves_room_for_the_columns_of_lists(site: Watched) -> None:
    """Of 40 wide letters, of a bot and of its owner, on a small laptop."""
    with site.database.begin() as session:
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-3")).one()
        owner = bot.owner
        names, bot.name, owner.name = (bot.name, owner.name), "W" * 40, "M" * 40
    try:
        with site.context(viewport=LAPTOP) as context:
            page = context.new_page()
            found = []
            for path in ("/bots", "/people", "/search?q=bot", "/ladders/ladder-0", "/games"):
                page.goto(site.address(path))
                found += [f"{path}: {each}" for each in spilled(page) + scrolled(page)]
        assert found == []
    finally:
        with site.database.begin() as session:
            session.get_one(Bot, bot.id).name = names[0]
            session.get_one(User, owner.id).name = names[1]
