"""The pages of a course, as its teacher and a student see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Browser, expect

from arena.courses import reading
from arena.web.app import create_app
from tests.arena.courses.classroom import COPIED, COPY, HOUR, Classroom, program, student
from tests.arena.web.signing_in import person
from tests.browser.conftest import Watched, serving
from tests.browser.test_every_page import objections_to
from tests.conftest import copied

COURSE = "/ladders/ladder-0/course"


@pytest.fixture
def course(chromium: Browser, sqlite_like: Path, tmp_path: Path) -> Iterator[Watched]:
    """A class that was marked, on a server; olga teaches it."""
    with ExitStack() as ending:
        database = ending.enter_context(copied("sqlite", sqlite_like, tmp_path))
        classroom = Classroom(database, tmp_path / "data", count=COPY + 1)
        for number, text in ((COPIED, program(1)), (COPY, program(1, "guess"))):
            classroom.hand_in(number, classroom.deadline - HOUR, text)
            classroom.hand_in(number, classroom.deadline + HOUR / 2, program(number + 20))
        classroom.mark()
        reading.read_all(database, classroom.settings.bundles)
        for name in ("olga", student(COPY)):
            person(database, name)
        app = create_app(classroom.settings)
        ending.callback(app.extensions["arena.database"].close)
        door = SimpleNamespace(numbers={}, owner="olga")
        address = ending.enter_context(serving(app))
        watched = Watched(chromium, address, door, SimpleNamespace(database=database))
        yield watched
        assert watched.complaints == []


@pytest.mark.long
def test_everybody_can_read_a_course(course: Watched, object_to: Callable[..., list[str]]) -> None:
    """As each page is tried; and all of it is done by keyboard alone."""
    pair = f"{COURSE}/alike?first={student(COPIED)}&second={student(COPY)}"
    with course.context("olga") as window:
        page = window.new_page()
        for path in (COURSE, f"{COURSE}/alike", pair):
            page.goto(course.address(path))
            assert objections_to(page, object_to) == [], path
        expect(page.locator("pre").first).to_contain_text("def choose")
        page.goto(course.address(COURSE))
        choose = page.get_by_role("button", name=f"Count the late one of {student(COPY)}")
        choose.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"{student(COPY)} is marked by the late hand-in")).to_be_visible()
        page.get_by_role("button", name="Publish the marks").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Hide the marks")).to_be_visible()
        page.locator("small a").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_contain_text(f"bot-of-{student(COPIED)}")
    with course.context(student(COPY)) as window:
        page = window.new_page()
        page.goto(course.address(COURSE))
        assert objections_to(page, object_to) == []
        expect(page.locator("main")).not_to_contain_text(student(COPIED))
        expect(page.get_by_role("columnheader", name="Mark")).to_be_visible()
