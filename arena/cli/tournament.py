"""The commands of tournaments: create, run, show, list; others are beside this module."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import InputError, deeds, refusing
from arena.cli.arguments import CLOCK, clock_words
from arena.cli.client import Name, Where, on_arena
from arena.cli.completing import named
from arena.cli.data_folder import opened
from arena.cli.listing import show as show_rows
from arena.cli.options import as_json, in_english, on_data
from arena.cli.progress_bar import ProgressBar
from arena.cli.reading import read, read_all
from arena.cli.tournament_progress_bar import TournamentProgressBar, why_held_up
from arena.cli.tournament_tables import print_tables
from arena.competitions.founding import find_named
from arena.competitions.renaming import RenameCompetition
from arena.competitions.results import flat_rows, results, to_json
from arena.competitions.tournament_deeds import ChangeTournament, CreateTournament
from arena.formats.catalogue import settings_of_all
from arena.ground.config import SettingError, Settings, load
from arena.ground.db import Database
from arena.models import CompetitionState, Ladder, LadderRound, Tournament
from arena.operation.broker import BrokerError
from arena.operation.supervisor import StartupError, Supervisor, is_running
from arena.web import queries
from arena.web.api.results import TournamentDetail, TournamentShape
from engine.protocol import visible
from engine.translation import N_, gettext

INTERRUPTED = 130
OUR_FAULT = 3


@click.group()
def tournament() -> None:
    """Tournaments: create one, run it, show how it stands."""


def _settings(create: Callable[..., Any]) -> Callable[..., Any]:
    """Adds an option for each setting that some format has, for a command that takes `settings`."""
    found = settings_of_all()

    @wraps(create)
    def command(**given: Any) -> Any:
        settings = {key: given.pop(key) for key in found}
        chosen = {key: value for key, value in settings.items() if value is not None}
        return create(settings=chosen, **given)

    for key, (setting, names) in reversed(found.items()):
        option, text = f"--{key.replace('_', '-')}", f"{', '.join(names)}: {setting.words}."
        how: dict[str, Any] = {"flag_value": 1} if setting.yes_or_no else {}
        command = click.option(option, key, type=int, help=text, **how)(command)
    return command


@tournament.command()
@deeds.options(CreateTournament, "name", but=("settings", "time"))
@CLOCK
@_settings
@on_arena
@as_json
def create(
    name: str,
    clock: str | None,
    settings: Mapping[str, int],
    where: Where,
    in_json: bool,
    **given: Any,
) -> None:
    """Make a tournament; a running arena begins to play it at once.

    The versions that it is made of stay in it, whatever is submitted later.

    Example: arena tournament create cup --ladder clobber-6x7 --format swiss
    """
    ladder, game, bots = (given[key] for key in ("ladder", "game", "bots"))
    named = bots is not None or given["sign_up"]
    if ladder is None and (game is None or not named):
        raise InputError(
            gettext("say what is played and by whom: --ladder NAME, or --game GAME --bots A,B,C")
        )
    if ladder is not None and game is not None:
        raise InputError(gettext("give --ladder or --game, not both: a ladder has its game"))
    if (given["top"] is not None or given["as_given"]) and (bots is None) == given["as_given"]:
        raise InputError(
            gettext("--top chooses from a ladder's bots, and --as-given is for those of --bots")
        )
    deed = deeds.made(
        CreateTournament,
        name=name,
        settings=settings,
        time=clock_words(clock, given["move"]),
        **deeds.said(given),
    )
    (told,) = deeds.do([deed], where)
    if in_json:
        click.echo(json.dumps(_stands(name, where)))
        return
    hint = ""
    if given["sign_up"]:
        hint = "; " + gettext("see: %(command)s", command=f"arena tournament show {name}")
    elif given["paused"]:
        command = f"arena tournament resume {name}"
        hint = "; " + gettext("begin with: %(command)s", command=command)
    elif where.server() is None:
        command = f"arena tournament run {name}"
        hint = "; " + gettext("without an arena that runs: %(command)s", command=command)
    click.echo(f"{told.said}{hint}")


def _stands(name: str, where: Where) -> dict[str, Any]:
    """All that stands in a tournament, as the API has it; errors as for `read`."""
    here = partial(_stands_here, name=name)
    found: dict[str, Any] = read(where, f"/tournaments/{name}", here)
    return found


def _stands_here(session: Session, settings: Settings, *, name: str) -> TournamentDetail:
    found = find_named(session, Tournament, name)
    _, quiet = queries.happening(session, found, settings, datetime.now(UTC))
    return TournamentDetail.now(session, found, quiet)


@tournament.command("list")
@click.option(
    "--round-of",
    "ladder",
    type=Name("ladders"),
    metavar="LADDER",
    help="The rounds of a ladder; without this, all but rounds.",
)
@on_arena
@as_json
def list_(ladder: str | None, where: Where, in_json: bool) -> None:
    """List the tournaments, the first made first.

    Example: arena tournament list
    """

    def here(session: Session) -> Iterable[Tournament]:
        ladder_id = find_named(session, Ladder, ladder).id if ladder else None
        wanted = sa.select(Tournament).where(LadderRound.lists(ladder_id))
        return session.scalars(wanted.order_by(Tournament.id.desc()))

    query: dict[str, Any] = {"round_of": ladder} if ladder else {}
    found = read_all(where, "/tournaments", TournamentShape, here, **query)[::-1]
    show_rows(
        found,
        (
            *(N_("tournament"), N_("format"), N_("variant"), N_("time")),
            *(N_("state"), N_("games"), N_("winner")),
        ),
        in_json,
        kinds={"state": "a tournament"},
    )


@tournament.command()
@click.argument("name", type=Name("tournaments"))
@click.option("--rounds", "with_rounds", is_flag=True, help="List who met whom in each round.")
@click.option(
    "--csv", "in_csv", is_flag=True, help="Print the standings as CSV.", callback=in_english
)
@click.option("--wait", is_flag=True, help="On a server: wait until it is over, and show it then.")
@on_arena
@as_json
def show(
    name: str,
    with_rounds: bool,
    in_csv: bool,
    wait: bool,
    where: Where,
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
            gettext("--csv is of the standings alone; choose it, --json (all there is) or --rounds")
        )
    if wait:
        if where.server() is None:
            raise InputError(
                gettext(
                    "--wait is for a server; here it is: arena tournament run %(name)s", name=name
                )
            )
        _wait(name, where)
    stands = _stands(name, where)
    if in_json:
        click.echo(json.dumps(stands))
    elif in_csv:
        lines = flat_rows(stands["standings"])
        if not lines:
            raise InputError(gettext("%(name)s has no standings yet", name=name))
        writer = csv.DictWriter(sys.stdout, fieldnames=list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    else:
        print_tables(stands, with_rounds=with_rounds)
    if wait:
        _end(stands)


def _wait(name: str, where: Where) -> None:
    """Tells how far a tournament of a server is, until it is over or held up."""
    with _telling(name) as bar:
        TournamentProgressBar(partial(_stands, name, where), bar).follow()


@contextmanager
def _telling(name: str) -> Iterator[ProgressBar]:
    """A bar for as long as a tournament is played, which Ctrl-C does not end."""
    try:
        with ProgressBar(name, "match", "matches") as bar:
            yield bar
    except KeyboardInterrupt:
        click.echo(
            gettext(
                "the arena goes on with %(name)s; see: arena tournament show %(name)s", name=name
            ),
            err=True,
        )
        sys.exit(INTERRUPTED)


def _end(stands: Mapping[str, Any]) -> None:
    """Ends the command that waited for a tournament, and says why if it is not over."""
    name = stands["tournament"]
    match stands["state"]:
        case "closed":
            return
        case "called off":
            why = stands["called_off"]
            words = gettext("%(name)s was called off: %(reason)s", name=name, reason=why)
            click.echo(visible(words), err=True)
            sys.exit(INTERRUPTED)
    if stands["held_up"]:
        click.echo(f"arena: {visible(why_held_up(stands))}", err=True)
        sys.exit(OUR_FAULT)
    click.echo(
        gettext("not over; go on with: arena tournament resume %(name)s", name=name), err=True
    )
    sys.exit(INTERRUPTED)


def _playing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what run and resume share."""
    port = click.option("--port", type=click.IntRange(1, 65535), help="Where the pages are served.")
    workers = click.option("--workers", type=click.IntRange(1, 256), help="Matches at a time.")
    return port(workers(as_json(command)))


@tournament.command()
@click.argument("name", shell_complete=named("tournaments"))
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
@click.argument("name", type=Name("tournaments"))
@on_arena
def pause(name: str, where: Where) -> None:
    """Make no more matches of a tournament for now; those under way are played to their end.

    Example: arena tournament pause cup
    """
    hint = gettext("go on with: %(command)s", command=f"arena tournament resume {name}")
    deeds.do_one(deeds.made(ChangeTournament, name=name, state="paused"), where, hint=hint)


@tournament.command()
@click.argument("name", type=Name("tournaments"))
@on_arena
@_playing
def resume(
    name: str,
    port: int | None,
    workers: int | None,
    where: Where,
    in_json: bool,
) -> None:
    """Open a paused tournament again, and play it to its end as run does.

    On a server it is opened: the workers there play it.

    Example: arena tournament resume cup
    """
    (told,) = deeds.do([deeds.made(ChangeTournament, name=name, state="open")], where)
    if where.server() is None:
        _run(name, port, workers, where.data, in_json)
    elif in_json:
        click.echo(json.dumps(told.answer))
    else:
        click.echo(told.said)


def _run(
    name: str, port: int | None, workers: int | None, data: Path | None, in_json: bool
) -> None:
    with opened(data) as (database, its):
        with database.read() as session:
            found = find_named(session, Tournament, name)
            if found.state is CompetitionState.PAUSED:
                raise InputError(
                    gettext(
                        "%(name)s is paused; go on with: arena tournament resume %(name)s",
                        name=name,
                    )
                )
            if found.is_called_off:
                raise InputError(
                    gettext("%(name)s was called off: %(reason)s", name=name, reason=found.reason)
                )
        with refusing(SettingError, BrokerError, StartupError):
            settings = load(data=data, port=port, workers=workers, only=name)
            with _telling(name) as bar:
                progress = TournamentProgressBar(partial(_looked_up, database, name), bar)
                if is_running(settings):
                    progress.follow()
                elif not progress.is_over():
                    Supervisor(settings).run(
                        announce=lambda url: bar.say(gettext("its pages are at %(url)s", url=url)),
                        complain=lambda line: bar.say(f"arena: {line}"),
                        over=progress.is_over,
                    )
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
        return to_json(results(session, find_named(session, Tournament, name)))


@tournament.command("rename")
@click.argument("name", type=Name("tournaments"))
@click.argument("new_name")
@on_arena
def rename_command(name: str, new_name: str, where: Where) -> None:
    """Give a tournament another name; by the one before it is found, too.

    Example: arena tournament rename cup autumn-cup
    """
    deeds.do_one(deeds.made(RenameCompetition, name=name, to=new_name), where)


deeds.add_commands(tournament)
