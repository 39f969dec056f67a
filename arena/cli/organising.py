"""What organisers and operators do to ladders and matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.cli import InputError, deeds
from arena.cli.arguments import read_variant
from arena.cli.client import Name, find_server, on_arena
from arena.cli.data_folder import as_json, opened
from arena.cli.listing import show
from arena.cli.reading import read_all
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.ladder_settings import SETTINGS
from arena.ground.config import Settings
from arena.ground.refusals import NotThere
from arena.models import Competition, JobStatus, Match
from arena.schedule.requests import RequestUnratedMatch
from arena.schedule.verdicts import RequeueMatch
from arena.web import queries
from arena.web.api.game_shapes import MatchShape
from engine.plurals import counted


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
@on_arena
def create_command(
    name: str, game: str, server: str | None, data: Path | None, **settings: str | None
) -> None:
    """Create a ladder.

    NAME is what addresses and commands call it.

    Example: arena ladder create blitz --game "clobber size=8x8" --time 5+0.05
    """
    variant = read_variant(game)
    chosen = {key: text for key, text in settings.items() if text is not None}
    options = dict(variant.options)
    deed = deeds.made(CreateLadder, name=name, game=variant.game, options=options, settings=chosen)
    deeds.do_one(deed, server, data)


@ladder.command("change")
@click.argument("name", type=Name())
@click.argument("changes", metavar="KEY=VALUE...", nargs=-1, required=True)
@on_arena
def change_command(
    name: str, changes: tuple[str, ...], server: str | None, data: Path | None
) -> None:
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
    deeds.do_one(deeds.made(ChangeLadder, name=name, settings=chosen), server, data)


@click.group()
def match() -> None:
    """Matches: ask for one, void one, try those again that were set aside."""


@match.command("request")
@click.argument("ladder_name", metavar="LADDER")
@click.argument("bots", nargs=-1, required=True)
@click.option("--user", "user_name", help="Who asks, within that user's number a day.")
@on_arena
def request_command(
    ladder_name: str,
    bots: tuple[str, ...],
    user_name: str | None,
    server: str | None,
    data: Path | None,
) -> None:
    """Ask for an unrated match between bots of a ladder.

    BOTS are named as greedy, or greedy:2 for a version that is not active any more.

    Example: arena match request clobber-6x7 greedy mybot:2
    """
    deed = deeds.made(RequestUnratedMatch, ladder=ladder_name, bots=bots)
    (told,) = deeds.do([deed], server, data, user=user_name)
    click.echo(told.said)


@match.command("requeue")
@click.argument("numbers", type=int, nargs=-1)
@click.option("--all", "every", is_flag=True, help="All that are set aside.")
@on_arena
def requeue_command(
    numbers: tuple[int, ...], every: bool, server: str | None, data: Path | None
) -> None:
    """Try matches again that were set aside because they failed too often.

    Example: arena match requeue 17 21
    """
    if bool(numbers) == every:
        raise InputError("give the numbers of matches, or --all")
    if every:
        numbers = _set_aside(server, data)
    # Sorted, as all lock matches.
    told = deeds.do([RequeueMatch(number) for number in sorted(numbers)], server, data)
    there = find_server(server, data)
    where = "" if there is None else f"{there.address}: "
    click.echo(f"{where}{counted(len(told), 'match is', 'matches are')} to be tried again")


def _set_aside(server: str | None, data: Path | None) -> tuple[int, ...]:
    """The numbers of the matches that are set aside."""
    there = find_server(server, data)
    if there is not None:
        return tuple(one["number"] for one in there.all("/matches", status="set aside"))
    with opened(data) as (database, _), database.read() as session:
        return tuple(
            session.scalars(sa.select(Match.id).where(Match.status == JobStatus.SET_ASIDE))
        )


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
@on_arena
@as_json
def list_command(
    competition_name: str | None,
    status: str | None,
    last: int,
    server: str | None,
    data: Path | None,
    in_json: bool,
) -> None:
    """List the last matches.

    Example: arena match list --status "set aside"
    """

    def here(session: Session, _: Settings) -> Iterator[MatchShape]:
        wanted = sa.select(Match).options(joinedload(Match.competition), queries.places())
        if competition_name is not None:
            known = sa.select(Competition.id).where(Competition.name == competition_name)
            if (found := session.scalar(known)) is None:
                raise NotThere(f"there is no ladder or tournament {competition_name!r}")
            wanted = wanted.where(Match.competition_id == found)
        if status is not None:
            wanted = wanted.where(Match.status == JobStatus(status))
        return map(MatchShape.of, session.scalars(wanted.order_by(Match.id.desc()).limit(last)))

    asked = {"competition": competition_name, "status": status}
    show(
        read_all(server, data, "/matches", here, most=last, **asked),
        ("match", "competition", "bots", "status", "rated", "problem"),
        in_json,
        cells=lambda one: {"match": one["number"], "bots": ", ".join(one["bots"])},
    )


deeds.add_commands(ladder)
deeds.add_commands(match)
