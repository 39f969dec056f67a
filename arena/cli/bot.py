"""The commands of bots: the list of them, versions on ladders, checks again, who shares them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import joinedload

from arena.bots import entries
from arena.bots.bot_deeds import CancelCheck, EnterBot, RetireBot
from arena.bots.profile_deeds import PictureBot
from arena.bots.repository_deeds import FollowRepository
from arena.cli import InputError, deeds, refusing
from arena.cli.client import Name, RemoteArena, Where, need_server, on_arena, on_server
from arena.cli.completing import named
from arena.cli.data_folder import opened
from arena.cli.listing import show
from arena.cli.login import asked_token
from arena.cli.options import as_json, on_data
from arena.cli.reading import told
from arena.deeds import Deed
from arena.ground import bot_names
from arena.models import Bot, BotVersion, Check, Entrant, Ladder
from arena.schedule.verdicts import RequeueChecks, checks_of
from engine.translation import N_, gettext


@click.group()
def bot() -> None:
    """Bots: put a version on a ladder, take it off, check it again, share it."""


@bot.command("activate")
@click.argument("name", metavar="NAME[:VERSION]", type=Name("bots"))
@click.option(
    "--ladder", "ladder_name", required=True, shell_complete=named("ladders"), help="Which ladder."
)
@on_arena
def activate_command(name: str, ladder_name: str, where: Where) -> None:
    """Make a version the active one of its bot on a ladder.

    One that was there before, suspended ones too, comes back with the rating it had,
    held less firmly; another is checked first. Without a number it is the newest version.

    Example: arena bot activate mybot:2 --ladder clobber-6x7
    """
    deeds.do_one(_named(EnterBot, name, ladder_name), where)


@bot.command("recheck")
@click.argument("names", metavar="[NAME[:VERSION]]...", nargs=-1, shell_complete=named("bots"))
@click.option("--all", "every", is_flag=True, help="Of all bots.")
@on_arena
def recheck_command(names: tuple[str, ...], every: bool, where: Where) -> None:
    """Try checks again that were set aside because workers failed at them too often.

    Without a number they are those of all versions of the bot. arena bots shows how checks stand.

    Example: arena bot recheck mybot:2
    """
    if bool(names) == every:
        raise InputError(gettext("give the names of bots, or --all"))
    deeds.do_one(deeds.made(RequeueChecks, bots=names), where)


@bot.command("cancel")
@click.argument("name", metavar="NAME[:VERSION]", type=Name("bots"))
@on_arena
def cancel_command(name: str, where: Where) -> None:
    """Cancel the checks of a bot that are not over: nothing is entered by them.

    What a worker has already begun it plays to its end.

    Example: arena bot cancel mybot:2
    """
    named = bot_names.read(name, InputError)
    of_use = sa.and_(Check.status.in_(entries.UNDECIDED), Check.cancelled == "")
    found = told(
        where,
        lambda server: _under_way(server, named.name, named.version),
        lambda session, _: list(session.scalars(checks_of(of_use, named))),
    )
    _cancel(name, found, where)


@bot.command("follow")
@deeds.options(FollowRepository, "name", "repository", but=("token",))
@click.option("--token", is_flag=True, help="Ask for a token, or read it from a pipe.")
@on_arena
@as_json
def follow_command(token: bool, where: Where, in_json: bool, **given: Any) -> None:
    """Have a bot follow a git repository: each new commit is handed in.

    REPOSITORY is its https address. It is asked now and then, and at once when it tells of a push
    (docs/git.md). Of a private one a token that may only read is asked for, or USER:TOKEN.

    \b
    Examples:
      arena bot follow mybot https://git.example.org/me/mybot.git --ladders clobber-6x7
      arena bot follow mybot https://git.example.org/me/mybot.git --ladders clobber-6x7 \\
        --revision main --token < token.txt
    """
    if token:
        given["token"] = asked_token()
    deeds.do_one(deeds.made(FollowRepository, **deeds.said(given)), where, in_json=in_json)


@bot.command("retire")
@click.argument("name", metavar="NAME[:VERSION]", type=Name("bots"))
@click.option(
    "--ladder", "ladder_name", required=True, shell_complete=named("ladders"), help="Which ladder."
)
@on_arena
def retire_command(name: str, ladder_name: str, where: Where) -> None:
    """Take a bot off a ladder; it keeps its rating for when it comes back.

    Example: arena bot retire mybot --ladder clobber-6x7
    """
    deeds.do_one(_named(RetireBot, name, ladder_name), where)


def _named(deed: type[EnterBot | RetireBot], name: str, ladder: str) -> Deed:
    """What is done with a bot or one of its versions on a ladder."""
    named = bot_names.read(name, InputError)
    return deeds.made(deed, name=named.name, ladder=ladder, version=named.version)


@click.command()
@click.argument("bot", type=Name("bots"))
@on_server
def cancel(bot: str, server: str | None) -> None:
    """Cancel the checks of a bot of yours that are not over.

    Nothing is entered by them. What a worker has already begun it plays to its end.

    Example: arena cancel mybot
    """
    _cancel(bot, _under_way(need_server(server), bot), Where(server))


def _under_way(there: RemoteArena, bot: str, version: int | None = None) -> list[int]:
    """The numbers of the checks of a bot that are not over, or of one of its versions."""
    checks = there.get(f"/bots/{bot}/checks", limit=100)["items"]
    return [
        one["number"]
        for one in reversed(checks)
        if one["status"] in entries.UNDECIDED
        and not one["cancelled"]
        and version in (None, one["version"])
    ]


def _cancel(bot: str, numbers: Sequence[int], where: Where) -> None:
    """Cancels checks of a bot, and says so of each.

    Raises:
        InputError: there are none.
    """
    if not numbers:
        raise InputError(gettext("no check of %(bot)s is under way", bot=bot))
    for done in deeds.do([CancelCheck(number) for number in numbers], where):
        click.echo(done.said)


@bot.command("picture")
@click.argument("name", type=Name("bots"))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@on_arena
def picture_command(name: str, file: Path, where: Where) -> None:
    """Give a bot a picture: a PNG, JPEG, WebP or GIF, which is drawn anew, small.

    An empty file, such as /dev/null, takes away the one it has.

    Example: arena bot picture mybot logo.png
    """
    with refusing(OSError):
        picture = base64.b64encode(file.read_bytes()).decode()
    deeds.do_one(deeds.made(PictureBot, name=name, picture=picture), where)


deeds.add_commands(bot)


@click.command()
@on_data
@as_json
def bots(data: Path | None, in_json: bool) -> None:
    """List the bots, their versions and what became of their checks.

    Example: arena bots
    """
    with opened(data) as (database, _), database.read() as session:
        versions = session.scalars(
            sa.select(BotVersion)
            .join(BotVersion.bot)
            .order_by(Bot.name, BotVersion.number)
            .options(joinedload(BotVersion.bot).joinedload(Bot.owner))
        ).all()
        checks: dict[int, Check] = {}
        for check in session.scalars(sa.select(Check).order_by(Check.id)):
            if check.version_id not in checks or not check.passed:
                checks[check.version_id] = check
        counts = sa.select(Entrant.version_id, sa.func.count()).group_by(Entrant.version_id)
        counts = counts.join(Ladder, Ladder.id == Entrant.competition_id)
        entered = {row[0]: row[1] for row in session.execute(counts)}
        rows = [
            {
                "bot": version.bot.name,
                "version": version.number,
                "owner": version.bot.owner.name,
                "language": version.language,
                "status": str(version.status),
                "ladders": entered.get(version.id, 0),
                "check": _check_words(checks.get(version.id)),
                "its page": f"/checks/{checks[version.id].id}" if version.id in checks else "",
                "digest": version.digest,
                "options": version.options,
            }
            for version in versions
        ]
    shown = (
        *(N_("bot"), N_("version"), N_("owner"), N_("language")),
        *(N_("status"), N_("ladders"), N_("check"), N_("its page")),
    )
    show(rows, shown, in_json, kinds={"status": "a version"})


def _check_words(check: Check | None) -> str:
    if check is None:
        return ""
    failed = [finding["words"] for finding in check.findings if not finding["kept"]]
    if check.passed and check.problem:
        failed = [gettext("but entered nothing: %(problem)s", problem=check.problem)]
    return "; ".join([check.outcome_told, *failed])
