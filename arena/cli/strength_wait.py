"""Waits for a strength test that an arena's workers play, and leaves what became of it in files."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
from sqlalchemy.orm import Session

from arena.cli.arguments import Seconds
from arena.cli.client import ServerFault, Where
from arena.cli.listing import BAD, DOUBTFUL, GOOD, say
from arena.cli.reading import read
from arena.cli.report import (
    NOTHING_KNOWN,
    Case,
    aligned,
    check_writable,
    json_text,
    junit,
    leave,
)
from arena.competitions import strength_tests
from arena.ground.config import Settings
from arena.models import TestVerdict
from arena.ratings.elo import Estimate
from arena.strength.words import elo_words
from arena.web.api.results import TestShape
from arena.web.api.strength import BlockShape
from engine.plurals import counted
from engine.protocol import visible
from engine.translation import ENGLISH, gettext, speaking

F = TypeVar("F", bound=Callable[..., Any])

SHORTEST_LOOK, LONGEST_LOOK = 0.5, 5.0
"""Seconds from one look to the next: a tenth of the time that has been waited, within these."""
LINE_SECONDS = 30.0
"""How often a line tells how it stands."""
USUAL_SECONDS = 3600.0
KNOWN = (TestVerdict.PASSED, TestVerdict.FAILED, TestVerdict.UNDECIDED)
"""The verdicts that say something of the two."""


def waiting(command: F) -> F:
    """Has a command take how long a test is waited for, and which files are left of it."""
    options = (
        click.option(
            "--wait-seconds",
            type=Seconds(1),
            default=USUAL_SECONDS,
            help="At most; 3600 by default.",
        ),
        click.option("--json", "json_file", metavar="FILE", help="Write how it ended."),
        click.option("--junit", "junit_file", metavar="FILE", help="Write it as a JUnit report."),
        click.option(
            "--markdown", "markdown_file", metavar="FILE", help="Write it to be put into a comment."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def wait_for(
    number: int,
    where: Where,
    *,
    seconds: float,
    json_file: str | None,
    junit_file: str | None,
    markdown_file: str | None,
) -> int:
    """Waits until a test has ended, or for so many seconds; the exit code.

    It is 0 if it passed, 1 if it failed or could not be decided, 3 if it did not end in time or
    its end says nothing of the two.

    Raises:
        InputError: there is no such test, or a file can't be written.
        ServerFault: the server failed for all the time that was left.
    """
    files = (json_file, junit_file, markdown_file)
    for name in files:
        check_writable(name)

    def here(session: Session, _: Settings) -> TestShape:
        return TestShape.looked_up(session, strength_tests.find(session, number))

    def block(session: Session, _: Settings) -> BlockShape:
        return BlockShape.looked_up(session, strength_tests.find(session, number))

    def look() -> Any:
        # What is left in files is read elsewhere.
        with speaking(ENGLISH):
            return read(where, f"/tests/{number}", here)

    found = _watch(look, seconds)
    server = where.server()
    page = f"{server.address}/tests/{number}" if server else ""
    markdown = ""
    if markdown_file is not None:
        markdown = read(where, f"/tests/{number}/block", block)["markdown"]
        markdown += f"\n[Test {number}]({page})\n" if page else ""
    leave(
        [
            (json_file, lambda: json_text(found)),
            (junit_file, lambda: junit(_case(found, page))),
            (markdown_file, lambda: markdown),
        ],
        lambda: _show(found),
    )
    return _code(found)


def _watch(look: Callable[[], Any], seconds: float) -> Any:
    """A test as it is when it has ended, or when the time is over."""
    began, told, away = time.monotonic(), 0.0, ""
    ends = began + seconds
    found = look()
    while found["verdict"] == TestVerdict.RUNNING and time.monotonic() < ends:
        if time.monotonic() - told >= LINE_SECONDS:
            told = time.monotonic()
            click.echo(_line(found), err=True)
        now = time.monotonic()
        pause = min(max(SHORTEST_LOOK, (now - began) / 10), LONGEST_LOOK)
        time.sleep(min(pause, max(0.0, ends - now)))
        try:
            found, away = look(), ""
        except ServerFault as fault:
            # The test goes on there, whatever hinders us from hearing of it.
            if time.monotonic() >= ends:
                raise
            if fault.message != away:
                away = fault.message
                click.echo(gettext("%(problem)s; asking again", problem=away), err=True)
    return found


def _line(found: Any) -> str:
    """How a test stands, in a line."""
    elo = elo_words(Estimate.from_json(found)) if found["matches"] else gettext("no game yet")
    games = counted(found["games"], "game")
    return gettext("test %(number)s: %(games)s, %(elo)s", number=found["id"], games=games, elo=elo)


def _show(found: Any) -> None:
    click.echo(visible(aligned(found["told"])))
    colours = {TestVerdict.PASSED: GOOD, TestVerdict.FAILED: BAD}
    say((visible(found["outcome"]), colours.get(found["verdict"], DOUBTFUL)))


def _code(found: Any) -> int:
    if found["verdict"] == TestVerdict.PASSED:
        return 0
    return 1 if found["verdict"] in KNOWN else NOTHING_KNOWN


def _case(found: Any, page: str) -> Case:
    created, finished = (
        datetime.fromisoformat(at) if at else datetime.now(UTC)
        for at in (found["created"], found["finished"])
    )
    return Case(
        name=found["title"],
        of=found["settings"]["game"],
        seconds=max(0.0, (finished - created).total_seconds()),
        told=found["told"],
        outcome=found["outcome"],
        passed=found["verdict"] == TestVerdict.PASSED,
        is_known=found["verdict"] in KNOWN,
        lines=[page] if page else [],
    )
