"""The commands of tournaments: create, run, show, list; others are beside this module."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import InputError, deeds
from arena.cli.arguments import clock_words
from arena.cli.client import Name, find_server, on_arena
from arena.cli.data_folder import as_json, opened
from arena.cli.data_option import on_data
from arena.cli.listing import show as show_rows
from arena.cli.progress_bar import ProgressBar
from arena.cli.reading import read, read_all
from arena.cli.tournament_progress import TournamentProgress, why_held_up
from arena.cli.tournament_tables import print_tables
from arena.competitions.founding import find_named
from arena.competitions.results import flat_rows, results, to_json
from arena.competitions.tournament_deeds import ChangeTournament, CreateTournament
from arena.formats.catalogue import FORMATS
from arena.formats.standings import TIE_BREAKS
from arena.ground.config import SettingError, Settings, load
from arena.ground.db import Database
from arena.ground.refusals import NotThere
from arena.models import CompetitionState, OpeningPolicy, Tournament
from arena.operation.broker import BrokerError
from arena.operation.supervisor import StartupError, Supervisor, is_running
from arena.web.api.results import TournamentDetail, TournamentShape
from engine.clock import DEFAULT_MOVE_MS
from engine.protocol import visible

INTERRUPTED = 130
OUR_FAULT = 3


@click.group()
def tournament() -> None:
    """Tournaments: create one, run it, show how it stands."""


def find_tournament(session: Session, name: str) -> Tournament:
    """The tournament of this name.

    Raises:
        InputError: there is none; it lists those there are.
    """
    try:
        return find_named(session, Tournament, name)
    except NotThere as error:
        raise InputError(str(error)) from None


def _settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds an option for each setting that some format has."""
    found: dict[str, tuple[list[str], str, bool]] = {}
    for name, kind in FORMATS.items():
        for key, setting in kind.settings.items():
            found.setdefault(key, ([], setting.words, setting.yes_or_no))[0].append(name)
    for key, (names, words, yes_or_no) in reversed(found.items()):
        option = f"--{key.replace('_', '-')}"
        text = f"{', '.join(names)}: {words}."
        if yes_or_no:
            command = click.option(option, key, flag_value=1, type=int, help=text)(command)
        else:
            command = click.option(option, key, type=int, help=text)(command)
    return command


@tournament.command()
@click.argument("name")
@click.option(
    "--format",
    "format_",
    required=True,
    type=click.Choice(list(FORMATS)),
    help="By what it is decided who meets whom.",
)
@click.option("--ladder", "ladder_name", help="Its game, time and limits; its ratings seed.")
@click.option("--game", help='The game and its options, e.g. "clobber size=5x6".')
@click.option("--bots", "bot_names", help="The field, e.g. greedy,mybot,mybot:2; by default all.")
@click.option("--top", type=click.IntRange(2), help="Only so many of the ladder's first bots.")
@click.option("--as-given", is_flag=True, help="Seed by the order of --bots, not by ratings.")
@click.option(
    "--move",
    "move_ms",
    type=click.IntRange(1),
    help=f"Milliseconds of CPU time a move; by default the ladder's, else {DEFAULT_MOVE_MS}.",
)
@click.option("--time", "clock", help="A clock for the whole game, e.g. 60+0.5.")
@click.option("--memory", "memory_mb", type=click.IntRange(16, 65_536), help="MiB for each bot.")
@click.option(
    "--openings",
    type=click.Choice([str(policy) for policy in OpeningPolicy]),
    help="random: a balanced one for each match; empty: the game's start.",
)
@click.option("--tie-breaks", help=f"In their order, from {', '.join(TIE_BREAKS)}; a lot is last.")
@click.option("--seed", type=click.IntRange(0, 2**48 - 1), default=0, help="Of pairings and dice.")
@click.option("--paused", is_flag=True, help="Make no match yet: the field can still change.")
@click.option("--title", default="", help="For people.")
@click.option("--note", default="", help="For people, too.")
@_settings
@on_arena
@as_json
def create(
    name: str,
    format_: str,
    ladder_name: str | None,
    game: str | None,
    bot_names: str | None,
    top: int | None,
    as_given: bool,
    move_ms: int | None,
    clock: str | None,
    memory_mb: int | None,
    openings: str | None,
    tie_breaks: str | None,
    seed: int,
    paused: bool,
    title: str,
    note: str,
    server: str | None,
    data: Path | None,
    in_json: bool,
    **settings: int | None,
) -> None:
    """Make a tournament; a running arena begins to play it at once.

    The versions that it is made of stay in it, whatever is submitted later.

    Example: arena tournament create cup --ladder clobber-6x7 --format swiss
    """
    if ladder_name is None and (game is None or bot_names is None):
        raise InputError(
            "say what is played and by whom: --ladder NAME, or --game GAME --bots A,B,C"
        )
    if ladder_name is not None and game is not None:
        raise InputError("give --ladder or --game, not both: a ladder has its game")
    if (top is not None or as_given) and (bot_names is None) == as_given:
        raise InputError(
            "--top chooses from a ladder's bots, and --as-given is for those of --bots"
        )
    deed = deeds.made(
        CreateTournament,
        name=name,
        format=format_,
        ladder=ladder_name or "",
        game=game or "",
        title=title,
        note=note,
        bots=None if bot_names is None else tuple(bot_names.split(",")),
        as_given=as_given,
        top=top,
        settings={key: value for key, value in settings.items() if value is not None},
        tie_breaks=_words(tie_breaks),
        time=clock_words(clock, move_ms),
        move=move_ms,
        memory=memory_mb,
        openings=openings or "",
        seed=seed,
        paused=paused,
    )
    (told,) = deeds.do([deed], server, data)
    if in_json:
        click.echo(json.dumps(_stands(name, server, data)))
        return
    hint = ""
    if paused:
        hint = f"; begin with: arena tournament resume {name}"
    elif find_server(server, data) is None:
        hint = f"; without an arena that runs: arena tournament run {name}"
    click.echo(f"{told.said}{hint}")


def _stands(name: str, server: str | None, data: Path | None) -> dict[str, Any]:
    """All that stands in a tournament, as the API has it; errors as for `read`."""
    here = partial(_stands_here, name=name)
    found: dict[str, Any] = read(server, data, f"/tournaments/{name}", here)
    return found


def _stands_here(session: Session, settings: Settings, *, name: str) -> TournamentDetail:
    found = find_named(session, Tournament, name)
    return TournamentDetail.now(session, found, settings, datetime.now(UTC))


def _words(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(word.strip() for word in text.split(",") if word.strip())


@tournament.command("list")
@on_arena
@as_json
def list_(server: str | None, data: Path | None, in_json: bool) -> None:
    """List the tournaments, the first made first.

    Example: arena tournament list
    """

    def here(session: Session, _: Settings) -> Iterator[TournamentShape]:
        newest_first = sa.select(Tournament).order_by(Tournament.id.desc())
        return map(TournamentShape.of, session.scalars(newest_first))

    found = read_all(server, data, "/tournaments", here)[::-1]
    show_rows(found, ("tournament", "format", "variant", "time", "state", "games"), in_json)


@tournament.command()
@click.argument("name", type=Name())
@click.option("--rounds", "with_rounds", is_flag=True, help="List who met whom in each round.")
@click.option("--csv", "in_csv", is_flag=True, help="Print the standings as CSV.")
@click.option("--wait", is_flag=True, help="On a server: wait until it is over, and show it then.")
@on_arena
@as_json
def show(
    name: str,
    with_rounds: bool,
    in_csv: bool,
    wait: bool,
    server: str | None,
    data: Path | None,
    in_json: bool,
) -> None:
    """Show how a tournament stands.

    With --wait the exit codes are those of arena tournament run: 0 once it is over, 3 if it is
    held up until somebody decides, 130 if it is paused or was called off.

    \b
    Examples:
      arena tournament show cup
      arena tournament show cup --server https://arena.example --wait
    """
    if in_csv and (in_json or with_rounds):
        raise InputError(
            "--csv is of the standings alone; choose it, --json (all there is) or --rounds"
        )
    if wait:
        if find_server(server, data) is None:
            raise InputError(f"--wait is for a server; here it is: arena tournament run {name}")
        _wait(name, server, data)
    stands = _stands(name, server, data)
    if in_json:
        click.echo(json.dumps(stands))
    elif in_csv:
        lines = flat_rows(stands["standings"])
        writer = csv.DictWriter(sys.stdout, fieldnames=list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    else:
        print_tables(stands, with_rounds=with_rounds)
    if wait:
        _end(stands)


def _wait(name: str, server: str | None, data: Path | None) -> None:
    """Tells how far a tournament of a server is, until it is over or held up."""
    with _telling(name) as bar:
        TournamentProgress(partial(_stands, name, server, data), bar).follow()


@contextmanager
def _telling(name: str) -> Iterator[ProgressBar]:
    """A bar for as long as a tournament is played, which Ctrl-C does not end."""
    try:
        with ProgressBar(name, "match", "matches") as bar:
            yield bar
    except KeyboardInterrupt:
        click.echo(f"the arena goes on with {name}; see: arena tournament show {name}", err=True)
        sys.exit(INTERRUPTED)


def _end(stands: Mapping[str, Any]) -> None:
    """Ends the command that waited for a tournament, and says why if it is not over."""
    name = stands["tournament"]
    match stands["state"]:
        case "closed":
            return
        case "called off":
            click.echo(visible(f"{name} was called off: {stands['called_off']}"), err=True)
            sys.exit(INTERRUPTED)
    if stands["held_up"]:
        click.echo(f"arena: {visible(why_held_up(stands))}", err=True)
        sys.exit(OUR_FAULT)
    click.echo(f"not over; go on with: arena tournament resume {name}", err=True)
    sys.exit(INTERRUPTED)


def _playing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what run and resume share."""
    port = click.option("--port", type=click.IntRange(1, 65535), help="Where the pages are served.")
    workers = click.option("--workers", type=click.IntRange(1, 256), help="Matches at a time.")
    return port(workers(as_json(command)))


@tournament.command()
@click.argument("name")
@on_data
@_playing
def run(name: str, port: int | None, workers: int | None, data: Path | None, in_json: bool) -> None:
    """Play a tournament to its end, wherever it stands.

    If an arena runs on the data folder, this only tells how far it is. Otherwise one is started
    that plays nothing else, and ends with the tournament.

    Example: arena tournament run cup
    """
    _run(name, port, workers, data, in_json)


@tournament.command()
@click.argument("name", type=Name())
@on_arena
def pause(name: str, server: str | None, data: Path | None) -> None:
    """Make no more matches of a tournament for now; those under way are played to their end.

    Example: arena tournament pause cup
    """
    hint = f"go on with: arena tournament resume {name}"
    deeds.do_one(deeds.made(ChangeTournament, name=name, state="paused"), server, data, hint=hint)


@tournament.command()
@click.argument("name", type=Name())
@on_arena
@_playing
def resume(
    name: str,
    port: int | None,
    workers: int | None,
    server: str | None,
    data: Path | None,
    in_json: bool,
) -> None:
    """Open a paused tournament again, and play it to its end as run does.

    On a server it is opened: the workers there play it.

    Example: arena tournament resume cup
    """
    (told,) = deeds.do([deeds.made(ChangeTournament, name=name, state="open")], server, data)
    if find_server(server, data) is None:
        _run(name, port, workers, data, in_json)
    elif in_json:
        click.echo(json.dumps(told.answer))
    else:
        click.echo(told.said)


def _run(
    name: str, port: int | None, workers: int | None, data: Path | None, in_json: bool
) -> None:
    with opened(data) as (database, its):
        with database.read() as session:
            found = find_tournament(session, name)
            if found.state is CompetitionState.PAUSED:
                raise InputError(f"{name} is paused; go on with: arena tournament resume {name}")
            if found.is_called_off:
                raise InputError(f"{name} was called off: {found.reason}")
        try:
            settings = load(data=data, port=port, workers=workers, only=name)
            with _telling(name) as bar:
                progress = TournamentProgress(partial(_looked_up, database, name), bar)
                if is_running(settings):
                    progress.follow()
                elif not progress.is_over():
                    Supervisor(settings).run(
                        announce=lambda url: bar.say(f"its pages are at {url}"),
                        complain=lambda line: bar.say(f"arena: {line}"),
                        over=progress.is_over,
                    )
        except (SettingError, BrokerError, StartupError) as error:
            raise InputError(str(error)) from None
        with database.read() as session:
            stands = _stands_here(session, its, name=name).model_dump(mode="json")
    if in_json:
        click.echo(json.dumps(stands))
    else:
        print_tables(stands, with_rounds=False)
    _end(stands)


def _looked_up(database: Database, name: str) -> dict[str, Any]:
    """What stands in a tournament of a data folder, for whoever asks again and again."""
    with database.read() as session:
        return to_json(results(session, find_tournament(session, name)))


deeds.add_commands(tournament)
