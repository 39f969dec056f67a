"""What operators do to bots: versions on ladders, checks again, who shares them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, bot_names
from arena.bots import entries, sharing
from arena.bots.submissions import SubmissionError
from arena.cli import InputError
from arena.cli.data_folder import changing, find_ladder
from arena.cli.data_option import on_data
from arena.competitions.tournaments import TournamentError, named_versions
from arena.models import Bot, BotVersion, Check, EntrantState, JobStatus
from arena.people.accounts import PeopleError
from arena.schedule import verdicts
from arena.schedule.requests import RequestError, find_entrant

_changing = partial(
    changing, refusals=(PeopleError, RequestError, SubmissionError, TournamentError)
)


@click.group()
def bot() -> None:
    """Bots: put a version on a ladder, take it off, check it again, share it."""


@bot.command("activate")
@click.argument("name", metavar="NAME[:VERSION]")
@click.option("--ladder", "ladder_name", required=True, help="Which ladder.")
@on_data
def activate_command(name: str, ladder_name: str, data: Path | None) -> None:
    """Make a version the active one of its bot on a ladder.

    One that was there before, suspended ones too, comes back with the rating it had,
    held less firmly; another is checked first. Without a number it is the newest version.

    Example: arena bot activate mybot:2 --ladder clobber-6x7
    """
    with _changing(data) as (session, now):
        (version,) = named_versions(session, [name])
        found = find_ladder(session, ladder_name)
        check = entries.ask_entry(session, audit.operator(), version, found, now)
        what = "enters when its check has passed" if check else "is active"
        words = f"{version.label} {what} on {ladder_name}"
    click.echo(words)


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
        raise InputError("give the names of bots, or --all")
    with _changing(data) as (session, now):
        aside = Check.status == JobStatus.SET_ASIDE
        numbers = [] if names else list(session.scalars(_checks(aside)))
        for name in names:
            found = list(session.scalars(_checks(aside, name)))
            if not found:
                raise InputError(f"no check of {name} is set aside")
            numbers += [number for number in found if number not in numbers]
        for number in numbers:
            verdicts.requeue_check(session, audit.operator(), number, now)
    count = len(numbers)
    click.echo(f"{count} {'check is' if count == 1 else 'checks are'} to be tried again")


@bot.command("cancel")
@click.argument("name", metavar="NAME[:VERSION]")
@on_data
def cancel_command(name: str, data: Path | None) -> None:
    """Cancel the checks of a bot that are not over: nothing is entered by them.

    What a worker has already begun it plays to its end.

    Example: arena bot cancel mybot:2
    """
    with _changing(data) as (session, now):
        of_use = sa.and_(Check.status.in_(entries.UNDECIDED), Check.cancelled == "")
        found = session.scalars(_checks(of_use, name)).all()
        if not found:
            raise InputError(f"no check of {name} is under way")
        for number in found:
            check = session.get_one(Check, number)
            entries.cancel(session, audit.operator(), check, now)
    count = len(found)
    click.echo(f"{count} {'check is' if count == 1 else 'checks are'} cancelled")


def _checks(which: sa.ColumnElement[bool], name: str = "") -> sa.Select[int]:
    """The numbers of such checks, of one bot or version if it is named."""
    query = sa.select(Check.id).join(Check.version).join(BotVersion.bot).where(which)
    if name:
        named = bot_names.read(name, InputError)
        query = query.where(Bot.lower_name == named.lower_name)
        if named.version is not None:
            query = query.where(BotVersion.number == named.version)
    return query.order_by(Check.id)


@bot.command("retire")
@click.argument("name", metavar="NAME[:VERSION]")
@click.option("--ladder", "ladder_name", required=True, help="Which ladder.")
@on_data
def retire_command(name: str, ladder_name: str, data: Path | None) -> None:
    """Take a bot off a ladder; it keeps its rating for when it comes back.

    Example: arena bot retire mybot --ladder clobber-6x7
    """
    with _changing(data) as (session, now):
        entrant = find_entrant(session, find_ladder(session, ladder_name), name)
        if entrant.state is EntrantState.RETIRED:
            raise InputError(f"{entrant.version.label} is retired already")
        entries.retire(session, audit.operator(), entrant, now)
        words = f"{entrant.version.label} plays no more on {ladder_name}"
    click.echo(words)


@bot.command("share")
@click.argument("name")
@click.argument("user")
@on_data
def share_command(name: str, user: str, data: Path | None) -> None:
    """Let another user do with a bot whatever its owner may, as in a team.

    Example: arena bot share mybot ada
    """
    with _changing(data) as (session, now):
        found = _find(session, name)
        mate = sharing.share(session, audit.operator(), found, user, now)
        words = f"{found.name} is {mate.name}'s as well now"
    click.echo(words)


@bot.command("unshare")
@click.argument("name")
@click.argument("user")
@on_data
def unshare_command(name: str, user: str, data: Path | None) -> None:
    """Share a bot with a user no more.

    Example: arena bot unshare mybot ada
    """
    with _changing(data) as (session, now):
        found = _find(session, name)
        mate = sharing.unshare(session, audit.operator(), found, user, now)
        words = f"{found.name} is not {mate.name}'s any more"
    click.echo(words)


def _find(session: Session, name: str) -> Bot:
    found = session.scalar(sa.select(Bot).where(Bot.lower_name == name.lower()))
    if found is None:
        raise InputError(f"there is no bot {name[:60]!r}: arena bots lists them")
    return found
