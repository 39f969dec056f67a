"""What operators do to bots: versions on ladders, checks again, who shares them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, entries, sharing, verdicts
from arena.audit import Actor
from arena.cli import Usage
from arena.cli.local import find_ladder, on_data, opened
from arena.competitions.tournaments import TournamentError, named_versions
from arena.models import Bot, BotVersion, Check, EntrantState, JobStatus, User
from arena.people import PeopleError
from arena.requests import RequestError, find_entrant
from arena.submissions import SubmissionError


@click.group()
def bot() -> None:
    """Bots: put a version on a ladder, take it off, check it again, share it."""


@bot.command("activate")
@click.argument("name", metavar="NAME[:VERSION]")
@click.option("--ladder", "ladder_name", required=True, help="Which ladder.")
@on_data
def activate_command(name: str, ladder_name: str, data: Path | None) -> None:
    """Make a version the active one of its bot on a ladder.

    One that was there before, suspended ones too, comes back with the rating it had; another is
    checked first. Without a number it is the newest version.

    Example: arena bot activate mybot:2 --ladder clobber-6x7
    """
    with opened(data) as (database, _):
        try:
            with database.begin() as session:
                (version,) = named_versions(session, [name])
                found = find_ladder(session, ladder_name)
                actor, now = audit.operator(), datetime.now(UTC)
                check = entries.ask_entry(session, actor, version, found, now)
                what = "enters when its check has passed" if check else "is active"
                words = f"{version.label} {what} on {ladder_name}"
        except (SubmissionError, TournamentError) as error:
            raise Usage(str(error)) from None
    click.echo(words)


def _version(text: str) -> int:
    """The number that a version is named by; 0, which none has, for what is no number."""
    return min(int(text), 2**31 - 1) if text.isascii() and text.isdigit() else 0


@bot.command("recheck")
@click.argument("names", metavar="[NAME[:VERSION]]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Of all bots.")
@on_data
def recheck_command(names: tuple[str, ...], every: bool, data: Path | None) -> None:
    """Try checks again that were set aside because workers failed at them too often.

    Without a number they are those of all versions of the bot. arena bots shows how checks stand.

    Example: arena bot recheck mybot:2
    """
    if bool(names) == every:
        raise Usage("give the names of bots, or --all")
    with opened(data) as (database, _), database.begin() as session:
        aside = (
            sa.select(Check.id)
            .join(Check.version)
            .join(BotVersion.bot)
            .where(Check.status == JobStatus.SET_ASIDE)
            .order_by(Check.id)
        )
        numbers = [] if names else list(session.scalars(aside))
        for name in names:
            bot_name, _, version = name.partition(":")
            its = aside.where(Bot.name == bot_name)
            if version:
                its = its.where(BotVersion.number == _version(version))
            found = list(session.scalars(its))
            if not found:
                raise Usage(f"no check of {name} is set aside")
            numbers += [number for number in found if number not in numbers]
        for number in numbers:
            verdicts.requeue_check(session, audit.operator(), number, datetime.now(UTC))
    count = len(numbers)
    click.echo(f"{count} {'check is' if count == 1 else 'checks are'} to be tried again")


@bot.command("retire")
@click.argument("name", metavar="NAME[:VERSION]")
@click.option("--ladder", "ladder_name", required=True, help="Which ladder.")
@on_data
def retire_command(name: str, ladder_name: str, data: Path | None) -> None:
    """Take a bot off a ladder; it keeps its rating for when it comes back.

    Example: arena bot retire mybot --ladder clobber-6x7
    """
    with opened(data) as (database, _):
        try:
            with database.begin() as session:
                entrant = find_entrant(session, find_ladder(session, ladder_name), name)
                if entrant.state is EntrantState.RETIRED:
                    raise Usage(f"{entrant.version.label} is retired already")
                entries.retire(session, audit.operator(), entrant, datetime.now(UTC))
                words = f"{entrant.version.label} plays no more on {ladder_name}"
        except (RequestError, SubmissionError) as error:
            raise Usage(str(error)) from None
    click.echo(words)


@bot.command("share")
@click.argument("name")
@click.argument("user")
@on_data
def share_command(name: str, user: str, data: Path | None) -> None:
    """Let another user do with a bot whatever its owner may, as in a team.

    Example: arena bot share mybot ada
    """
    found, mate = _share(sharing.share, name, user, data)
    click.echo(f"{found} is {mate}'s as well now")


@bot.command("unshare")
@click.argument("name")
@click.argument("user")
@on_data
def unshare_command(name: str, user: str, data: Path | None) -> None:
    """Share a bot with a user no more.

    Example: arena bot unshare mybot ada
    """
    found, mate = _share(sharing.unshare, name, user, data)
    click.echo(f"{found} is not {mate}'s any more")


def _share(
    do: Callable[[Session, Actor, Bot, str, datetime], User],
    name: str,
    user: str,
    data: Path | None,
) -> tuple[str, str]:
    """Changes who shares a bot, and gives the bot's name and the user's as they are written."""
    with opened(data) as (database, _):
        try:
            with database.begin() as session:
                found = session.scalar(sa.select(Bot).where(Bot.lower_name == name.lower()))
                if found is None:
                    raise Usage(f"there is no bot {name[:60]!r}: arena bots lists them")
                mate = do(session, audit.operator(), found, user, datetime.now(UTC))
                return found.name, mate.name
        except (PeopleError, SubmissionError) as error:
            raise Usage(str(error)) from None
