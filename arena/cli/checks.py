"""What is told of a bot's check on a server."""

from __future__ import annotations

from typing import Any

import click

from arena.cli.listing import BAD, GOOD, say
from engine.protocol import visible
from engine.translation import gettext, translated

FAILED = 1
"""The exit code when a bot did not pass, or passed and entered nothing."""
UNDER_WAY = ("open", "issued")
"""How checks stand that have not ended."""


def enters(check: dict[str, Any]) -> bool:
    """Whether what is checked is to enter, and not only tried."""
    return bool(check.get("enters", True))  # a server of the release before does not say


def fate(check: dict[str, Any]) -> str:
    """What became of a version that passed its check, in words; nothing if the server says none."""
    ladder, problem = check["ladder"], check["problem"]
    if not enters(check):
        return gettext(", as was tried: it enters nothing")
    return {
        "entered": gettext(", and is entered on %(ladder)s", ladder=ladder),
        "to be tested": gettext(
            ", and enters %(ladder)s when it has passed test %(test)s",
            ladder=ladder,
            test=check.get("test"),
        ),
        "not entered": gettext(", but is not entered on %(ladder)s", ladder=ladder)
        + (problem and f": {problem}"),
    }.get(check.get("fate") or "", "")


def show_finding(finding: dict[str, Any]) -> None:
    """What came of a clause, with what was said where it is broken."""
    kept = ("ok  ", GOOD) if finding["applies"] else "-   "
    lines = [] if finding["kept"] else [f"       {line}" for line in finding["lines"]]
    clause = f"{translated(finding['clause'])}: " if finding["clause"] else ""
    words = visible("\n".join([f" {clause}{finding['words']}", *lines]))
    say("  ", kept if finding["kept"] else ("FAIL", BAD), words)


def show_log(check: dict[str, Any]) -> None:
    """What the bot and its build wrote, tracebacks and compilers' errors among it."""
    if check["log"]:
        heading = gettext("what it wrote")
        click.echo(f"--- {heading}\n{visible(check['log'].rstrip())}")
