"""The command logs: what bots wrote, from a server."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from arena.cli import InputError
from arena.cli.checks import FAILED, UNDER_WAY, fate, show_finding, show_log
from arena.cli.client import Name, RemoteArena, need_server, on_server
from arena.cli.options import as_json
from engine.protocol import visible


class _GameNumber(click.IntRange):
    """Refuses a bot's name in the words of this command."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is no number of a game; give one, or --check BOT", param, ctx)


@click.command()
@click.argument("game", type=_GameNumber(1), required=False)
@click.option(
    "--check",
    "bot",
    type=Name("bots"),
    metavar="BOT",
    help="The last check of a bot of yours instead.",
)
@click.option("--seat", type=click.IntRange(1), help="Of the game only this seat.")
@on_server
@as_json
def logs(
    game: int | None, bot: str | None, seat: int | None, server: str | None, in_json: bool
) -> None:
    """Show what bots logged and wrote to standard error: in a game, or in their check.

    You see the logs of your own bots, and of those that their owners opened. Of a check you see
    the findings, too, and the exit code is 1 if it did not pass, or entered nothing.

    \b
    Examples:
      arena logs 1207
      arena logs --check mybot
    """
    if (game is None) == (bot is None):
        raise InputError("give the number of a game, or --check BOT")
    there = need_server(server)
    if bot is not None:
        sys.exit(_show_check(there, bot, in_json))
    found = [
        {**one, "log": text}
        for one in there.get(f"/games/{game}")["seats"]
        if seat in (None, one["seat"])
        for text in _log(there, f"/games/{game}/logs/{one['seat']}", asked=seat is not None)
    ]
    if not found:
        raise InputError(f"of game {game} there is no such log for you")
    if in_json:
        click.echo(json.dumps(found))
        return
    for one in found:
        click.echo(f"--- seat {one['seat']}, {one['bot']} v{one['version']}")
        click.echo(visible(one["log"].rstrip("\n")))


def _log(there: RemoteArena, path: str, *, asked: bool) -> list[str]:
    """The log of a seat; none if it is not for us and nobody asked for just this one."""
    try:
        return [there.text(path)]
    except InputError:
        if asked:
            raise
        return []


def _show_check(there: RemoteArena, bot: str, in_json: bool) -> int:
    checks = there.get(f"/bots/{bot}/checks", limit=1)["items"]
    if not checks:
        raise InputError(f"the bot {bot} was never checked")
    check = checks[0]
    if in_json:
        click.echo(json.dumps(check))
    else:
        what = {None: f"is {check['status']}", True: "passed", False: "did not pass"}
        label = f"{check['bot']} v{check['version']}"
        click.echo(
            f"check {check['number']} of {label} for {check['ladder']} {what[check['passed']]}"
            f"{fate(check)}"
        )
        if check.get("cancelled"):
            click.echo(f"it was cancelled: {check['cancelled']}")
        for finding in check["findings"]:
            show_finding(finding)
        show_log(check)
    ended = check["status"] not in UNDER_WAY
    failed = ended and (not check["passed"] or check.get("fate") == "not entered")
    return FAILED if failed else 0
