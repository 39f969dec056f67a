"""The command logs: what bots wrote, from a server."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from arena.cli import InputError
from arena.cli.checks import FAILED, UNDER_WAY, fate, show_finding, show_log
from arena.cli.client import Name, RemoteArena, need_server, on_server
from arena.cli.listing import state_of
from arena.cli.options import as_json
from engine.protocol import visible
from engine.translation import gettext


class _GameNumber(click.IntRange):
    """Refuses a bot's name in the words of this command."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            words = gettext(
                "%(value)r is no number of a game; give one, or --check BOT", value=value
            )
            self.fail(words, param, ctx)


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
        raise InputError(gettext("give the number of a game, or --check BOT"))
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
        raise InputError(gettext("of game %(game)s there is no such log for you", game=game))
    if in_json:
        click.echo(json.dumps(found))
        return
    for one in found:
        click.echo(
            gettext(
                "--- seat %(seat)s, %(bot)s",
                seat=one["seat"],
                bot=f"{one['bot']} v{one['version']}",
            )
        )
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
        raise InputError(gettext("the bot %(bot)s was never checked", bot=bot))
    check = checks[0]
    if in_json:
        click.echo(json.dumps(check))
    else:
        places = {
            "number": check["number"],
            "bot": f"{check['bot']} v{check['version']}",
            "ladder": check["ladder"],
            "status": state_of("a check", check["status"]),
        }
        words = {
            None: gettext("check %(number)s of %(bot)s for %(ladder)s is %(status)s", **places),
            True: gettext("check %(number)s of %(bot)s for %(ladder)s passed", **places),
            False: gettext("check %(number)s of %(bot)s for %(ladder)s did not pass", **places),
        }
        click.echo(f"{words[check['passed']]}{fate(check)}")
        if check.get("cancelled"):
            click.echo(gettext("it was cancelled: %(reason)s", reason=check["cancelled"]))
        for finding in check["findings"]:
            show_finding(finding)
        show_log(check)
    ended = check["status"] not in UNDER_WAY
    failed = ended and (not check["passed"] or check.get("fate") == "not entered")
    return FAILED if failed else 0
