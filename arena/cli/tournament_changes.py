"""The commands that change a tournament: who plays in it, whether it goes on, whether it ends."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.cli import InputError, data_folder
from arena.cli.data_option import on_data
from arena.competitions import calling_off, tournament_fields, tournaments
from arena.competitions.tournaments import TournamentError
from arena.formats.settings import FormatError
from arena.models import CompetitionState, Tournament
from engine.plurals import counted


def find_tournament(session: Session, name: str) -> Tournament:
    """The tournament of this name.

    Raises:
        InputError: there is none; it lists those there are.
    """
    found = session.scalar(sa.select(Tournament).where(Tournament.name == name))
    if found is None:
        names = ", ".join(session.scalars(sa.select(Tournament.name).order_by(Tournament.id)))
        raise InputError(f"there is no tournament {name!r}; there are: {names or 'none'}")
    return found


changing = partial(data_folder.changing, refusals=(TournamentError, FormatError))
"""A transaction on the arena of a data folder; what can't be done is wrong usage."""


@click.command()
@click.argument("name")
@click.argument("bots", nargs=-1, required=True)
@on_data
def enter(name: str, bots: tuple[str, ...], data: Path | None) -> None:
    """Enter bots in a tournament that has not begun.

    BOTS are named as greedy, or greedy:2 for one of its versions. They come last in the seeding.
    To have time for that, create it with --paused.

    Example: arena tournament enter cup mybot:2 greedy
    """
    with changing(data) as (session, now):
        found = find_tournament(session, name)
        versions = tournaments.named_versions(session, bots)
        tournament_fields.enter(session, found, versions, now, audit.operator())
        size = len(tournament_fields.entrants_of(session, found))
    click.echo(f"{', '.join(one.label for one in versions)}: in {name}, of {size} bots now")


@click.command()
@click.argument("name")
@click.argument("bot")
@click.option("--note", default="", help="Why, for everybody; needed once it has begun.")
@on_data
def withdraw(name: str, bot: str, note: str, data: Path | None) -> None:
    """Take a bot out of a tournament.

    Until its first match is made it is as if the bot had never been in it. After that its
    results stand, that of a match under way, too, and what it has not begun it forfeits; that
    can't be undone.

    Example: arena tournament withdraw cup mybot --note "its owner asked for it"
    """
    with changing(data) as (session, now):
        found = find_tournament(session, name)
        entrant = tournament_fields.find_entrant(session, found, bot)
        label = entrant.version.label
        begun = tournament_fields.withdraw(session, found, entrant, note, now, audit.operator())
    click.echo(f"{label} is {'withdrawn from' if begun else 'no more in'} {name}")


@click.command()
@click.argument("name")
@on_data
def pause(name: str, data: Path | None) -> None:
    """Make no more matches of a tournament for now; those under way are played to their end.

    Example: arena tournament pause cup
    """
    set_state(data, name, CompetitionState.PAUSED)
    click.echo(f"{name} is paused; go on with: arena tournament resume {name}")


def set_state(data: Path | None, name: str, state: CompetitionState) -> None:
    with changing(data) as (session, now):
        found = find_tournament(session, name)
        tournaments.set_state(session, found, state, now, audit.operator())


@click.command("call-off")
@click.argument("name")
@click.option("--note", required=True, help="Why, for everybody to read.")
@on_data
def call_off(name: str, note: str, data: Path | None) -> None:
    """Call a tournament off for ever.

    What is not played yet never is, matches under way included; the results so far stay to be
    read, and there is no winner. It can't be undone.

    Example: arena tournament call-off cup --note "too few bots"
    """
    with changing(data) as (session, now):
        found = find_tournament(session, name)
        withdrawn = calling_off.call_off(session, found, note, now, audit.operator())
    words = f"; {counted(withdrawn, 'match', 'matches')} withdrawn" if withdrawn else ""
    click.echo(f"{name} is called off{words}; see: arena tournament show {name}")
