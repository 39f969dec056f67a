"""The site as a real browser sees it: Chromium, a real server, a real database with real games.

Every page that a test opens is watched: an error or warning in the console, a refused or failed
request, one to another address than the site's, or a breach of the Content-Security-Policy (which
Chromium tells in the console) fails the test when it ends.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright
from waitress.server import create_server

from tests.arena.web.conftest import Site, furnish
from tests.arena.web.signing_in import PASSWORD
from tests.arena.web.test_access import opened
from tests.furnished import furnished_database
from tests.requirements import need

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
LAPTOP, TABLET = {"width": 1000, "height": 700}, {"width": 800, "height": 1100}


class Watched:
    """The site behind a server, and pages on it that are watched."""

    def __init__(self, browser: Browser, base: str, door: SimpleNamespace, site: Site) -> None:
        self.base, self.numbers, self.database = base, door.numbers, site.database
        self.owner: str = door.owner
        self._browser = browser
        self._sessions: dict[str, Any] = {}
        self.complaints: list[str] = []

    def address(self, pattern: str) -> str:
        """A whole address, its numbers put in."""
        return self.base + pattern.format(**self.numbers)

    @contextmanager
    def context(self, kind: str = "anonymous", **options: Any) -> Iterator[BrowserContext]:
        """A window of its own for one of the people at the door."""
        options = {"viewport": WIDE, "reduced_motion": "reduce", **options}
        if kind != "anonymous":
            options["storage_state"] = self._session(kind)
        context = self._browser.new_context(**options)
        context.set_default_timeout(60_000)
        context.on("page", self._watch)
        try:
            yield context
        finally:
            context.close()

    def _session(self, kind: str) -> Any:
        """The cookies of somebody who has signed in; each does so once."""
        if kind not in self._sessions:
            with self.context() as context:
                page = context.new_page()
                page.goto(self.address("/sign-in?next=/account"))
                page.get_by_label("Name").fill(self.owner if kind == "owner" else kind)
                page.get_by_label("Password").fill(PASSWORD)
                page.get_by_role("button", name="Sign in").click()
                page.wait_for_url("**/account")
                self._sessions[kind] = context.storage_state()
        return self._sessions[kind]

    def _watch(self, page: Page) -> None:
        def complain(words: str) -> None:
            self.complaints.append(f"{page.url}: {words}")

        def console(message: Any) -> None:
            if message.type in ("error", "warning"):
                complain(message.text)

        def request(request: Any) -> None:
            if not request.url.startswith((f"{self.base}/", "data:", "blob:")):
                complain(f"asked {request.url}")

        page.on("console", console)
        page.on("pageerror", lambda error: complain(str(error)))
        page.on("request", request)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests."""
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    need(program, "a browser is missing. On Debian: apt install chromium")
    with sync_playwright() as playwright:
        browser = _launch(playwright, str(program))
        yield browser
        browser.close()


def _launch(playwright: Playwright, program: str) -> Browser:
    # No box within the box: tests run as root or in a container too, and only see our own pages.
    return playwright.chromium.launch(
        executable_path=program, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    )


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """The address at which a thread serves a site."""
    server = create_server(app, host="127.0.0.1", port=0, threads=4, ident=None)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        # By the thread itself, which may be waiting for what is closed.
        server.trigger.pull_trigger(server.close)
        thread.join()


@pytest.fixture(scope="session")
def served(
    chromium: Browser, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    """The furnished arena of the pages' tests on a server of its own, with people at its door."""
    folder = tmp_path_factory.mktemp("served")
    with ExitStack() as ending:
        database, numbers = ending.enter_context(furnished_database(request, folder, furnish))
        site = Site(database, None, numbers)  # type: ignore[arg-type]
        door = opened(site, folder)
        ending.callback(door.app.extensions["arena.database"].close)
        yield Watched(chromium, ending.enter_context(serving(door.app)), door, site)


@pytest.fixture
def site(served: Watched) -> Iterator[Watched]:
    """The site; what its pages complained of fails the test."""
    served.complaints.clear()
    yield served
    assert served.complaints == []


@pytest.fixture
def page(site: Watched) -> Iterator[Page]:
    """A page of somebody who is not signed in."""
    with site.context() as context:
        yield context.new_page()


@pytest.fixture
def owner(site: Watched) -> Iterator[Page]:
    """A page of the owner of the site's bots."""
    with site.context("owner") as context:
        yield context.new_page()


def await_true(page: Page, script: str, arg: Any = None, seconds: float = 60.0) -> None:
    """Wait until a script tells true of the page.

    Playwright's own `wait_for_function` asks a second time by `eval` within the page, which the
    site's Content-Security-Policy refuses.
    """
    ending = time.monotonic() + seconds
    while not page.evaluate(script, arg):
        assert time.monotonic() < ending, f"not true within {seconds:g} s: {script}"
        page.wait_for_timeout(20)


@pytest.fixture(scope="session")
def object_to() -> Callable[..., list[str]]:
    """What axe-core finds serious on a page, one line for each element."""
    axe = Axe()

    def look(page: Page, *, only: tuple[str, ...] = ()) -> list[str]:
        options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
        if only:
            options["runOnly"] = {"type": "rule", "values": list(only)}
        found = axe.run(page, options=options)
        return [
            f"{each['id']}: {node['html'][:200]} ({node['failureSummary'][:200]})"
            for each in found.response["violations"]
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    return look
