"""What organisers and operators do to ladders and matches."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import joinedload, selectinload

from arena import audit
from arena.cli import InputError
from arena.cli.arguments import read_variant
from arena.cli.data_folder import as_json, changing, find_ladder, opened
from arena.cli.data_option import on_data
from arena.cli.listing import show
from arena.competitions.ladder_settings import SETTINGS, LadderError, change, create
from arena.models import BotVersion, Competition, Entrant, JobStatus, Match, Place, User
from arena.schedule import verdicts
from arena.schedule.requests import RequestError, request_match
from arena.schedule.verdicts import VerdictError

_changing = partial(changing, refusals=(LadderError, VerdictError))


@click.group()
def ladder() -> None:
    """Ladders: create one, and change what it is."""


def _ladder_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """An option for everything that can be chosen about a ladder."""
    for key, setting in reversed(list(SETTINGS.items())):
        # Words that begin with a value keep its small letter, in which alone it is understood.
        words = setting.words if setting.choices else setting.words[0].upper() + setting.words[1:]
        default = f"; by default {setting.default}" if setting.default else ""
        command = click.option(f"--{key}", key, help=f"{words}{default}.")(command)
    return command


@ladder.command("create")
@click.argument("name")
@click.option("--game", required=True, help="The game with its options, e.g. 'clobber size=5x6'.")
@_ladder_options
@on_data
def create_command(name: str, game: str, data: Path | None, **options: str | None) -> None:
    """Create a ladder.

    NAME is what addresses and commands call it.

    Example: arena ladder create blitz --game "clobber size=8x8" --time 5+0.05
    """
    variant = read_variant(game)
    chosen = {key: text for key, text in options.items() if text is not None}
    with _changing(data) as (session, now):
        made = create(session, audit.operator(), name, variant, chosen, now)
        words = f"the ladder {made.name} is {made.state}: {variant}, {made.time.words}"
    click.echo(words)


@ladder.command("change")
@click.argument("name")
@click.argument("changes", metavar="KEY=VALUE...", nargs=-1, required=True)
@on_data
def change_command(name: str, changes: tuple[str, ...], data: Path | None) -> None:
    """Change settings of a ladder.

    They are called as the options of arena ladder create, and state: open, paused, frozen or
    closed. What games are played by stays as it is once there are matches.

    Example: arena ladder change blitz state=paused title="Blitz, paused"
    """
    chosen = {}
    for text in changes:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(
                f"{text!r} is no change: write KEY=VALUE, KEY of {', '.join(SETTINGS)}"
            )
        chosen[key] = value
    with _changing(data) as (session, now):
        found = find_ladder(session, name)
        words = change(session, audit.operator(), found, chosen, now)
    click.echo("\n".join(words) or f"nothing is different: the ladder {name} is so already")


@click.group()
def match() -> None:
    """Matches: ask for one, void one, try those again that were set aside."""


@match.command("request")
@click.argument("ladder_name", metavar="LADDER")
@click.argument("bots", nargs=-1, required=True)
@click.option("--user", "user_name", help="Who asks, within that user's number a day.")
@on_data
def request_command(
    ladder_name: str, bots: tuple[str, ...], user_name: str | None, data: Path | None
) -> None:
    """Ask for an unrated match between bots of a ladder.

    BOTS are named as greedy, or greedy:2 for a version that is not active any more.

    Example: arena match request clobber-6x7 greedy mybot:2
    """
    now = datetime.now(UTC)
    with opened(data) as (database, settings):
        try:
            with database.begin() as session:
                found = find_ladder(session, ladder_name)
                user = session.scalar(
                    sa.select(User).where(
                        User.lower_name == (user_name or audit.machine_user()).lower()
                    )
                )
                if user is None and user_name is not None:
                    raise InputError(f"there is no user {user_name!r}")
                if user is None:
                    user = User(name=audit.machine_user()[:40], created=now)
                    session.add(user)
                    session.flush()
                quota = None if user_name is None else settings.requests_a_day
                made = request_match(session, user, found, bots, now, quota=quota)
                number = made.id
        except RequestError as error:
            raise InputError(str(error)) from None
    click.echo(f"match {number} will be played; see /matches/{number} on the arena's pages")


@match.command("void")
@click.argument("number", type=int)
@click.option("--note", required=True, help="Why, for everybody to read.")
@click.option("--replay", is_flag=True, help="Play it again: the same bots, opening and dice.")
@on_data
def void_command(number: int, note: str, replay: bool, data: Path | None) -> None:
    """Make a match void: its games stay to be seen and count for nothing.

    The recorder makes the ratings anew without it. In a tournament it is played again.

    Example: arena match void 17 --note "the machine was overloaded" --replay
    """
    with _changing(data) as (session, now):
        again = verdicts.void(session, audit.operator(), number, note, replay=replay, now=now)
        more = f"; it is replayed as match {again.id}" if again else ""
    click.echo(f"match {number} is void{more}")


@match.command("requeue")
@click.argument("numbers", type=int, nargs=-1)
@click.option("--all", "every", is_flag=True, help="All that are set aside.")
@on_data
def requeue_command(numbers: tuple[int, ...], every: bool, data: Path | None) -> None:
    """Try matches again that were set aside because they failed too often.

    Example: arena match requeue 17 21
    """
    if bool(numbers) == every:
        raise InputError("give the numbers of matches, or --all")
    with _changing(data) as (session, now):
        if every:
            aside = sa.select(Match.id).where(Match.status == JobStatus.SET_ASIDE)
            numbers = tuple(session.scalars(aside.order_by(Match.id)))
        for number in sorted(numbers):  # in which all lock matches
            verdicts.requeue(session, audit.operator(), number, now)
    count = len(numbers)
    click.echo(f"{count} {'match is' if count == 1 else 'matches are'} to be tried again")


@match.command("list")
@click.option("--ladder", "competition_name", help="Of one ladder or tournament.")
@click.option(
    "--status",
    type=click.Choice([str(status) for status in JobStatus]),
    help="Only those that stand so.",
)
@click.option(
    "--last", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many."
)
@on_data
@as_json
def list_command(
    competition_name: str | None, status: str | None, last: int, data: Path | None, in_json: bool
) -> None:
    """List the last matches.

    Example: arena match list --status "set aside"
    """
    query = (
        sa.select(Match)
        .join(Match.competition)
        .order_by(Match.id.desc())
        .limit(last)
        .options(
            joinedload(Match.competition),
            selectinload(Match.places)
            .joinedload(Place.entrant)
            .joinedload(Entrant.version)
            .joinedload(BotVersion.bot),
        )
    )
    if status:
        query = query.where(Match.status == JobStatus(status))
    with opened(data) as (database, _), database.read() as session:
        if competition_name:
            known = sa.select(Competition.id).where(Competition.name == competition_name)
            if (found := session.scalar(known)) is None:
                raise InputError(f"there is no ladder or tournament {competition_name!r}")
            query = query.where(Match.competition_id == found)
        rows = [
            {
                "match": one.id,
                "competition": one.competition.name,
                "bots": ", ".join(place.entrant.version.label for place in one.places),
                "status": str(one.status),
                "rated": one.rated,
                "failures": one.failures,
                "problem": one.problem,
            }
            for one in session.scalars(query)
        ]
    show(rows, ("match", "competition", "bots", "status", "rated", "problem"), in_json)
