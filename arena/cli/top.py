"""The command top: what an arena does at this moment, in the terminal."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import click
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from sqlalchemy.exc import SQLAlchemyError

from arena.cli.arguments import Seconds
from arena.cli.client import ServerFault, Where, on_arena
from arena.cli.data_folder import opened
from arena.cli.listing import Output
from arena.cli.options import as_json
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.operation import queues
from arena.operation.broker import EmbeddedBroker
from arena.operation.health import ago, look
from engine.protocol import visible


@click.command()
@click.option("--once", is_flag=True, help="Print it once, and end.")
@click.option(
    "--every",
    type=Seconds(0.2, 3600),
    default=2.0,
    show_default=True,
    help="Seconds between two looks.",
)
@on_arena
@as_json
def top(where: Where, once: bool, every: float, in_json: bool) -> None:
    """Show workers, matches and queues as they change; Ctrl-C ends it.

    A server shows them to organisers.

    Example: arena top --once
    """
    there = where.server()
    if there is not None:
        _follow(lambda: there.get("/overview"), once=once, every=every, in_json=in_json)
        return
    with opened(where.data) as (database, settings):
        look_here = partial(_look_here, database, settings)
        _follow(look_here, once=once, every=every, in_json=in_json)


def _look_here(database: Database, settings: Settings) -> dict[str, Any]:
    with database.read() as session:
        health = look(session, settings, datetime.now(UTC))
    broker = settings.broker or EmbeddedBroker(settings.data.resolve()).url
    return health.as_json(queues.look(broker))


def _follow(now: Callable[[], dict[str, Any]], *, once: bool, every: float, in_json: bool) -> None:
    found = now()
    if in_json:
        click.echo(json.dumps(found))
        return
    console = Output()
    if once or not console.is_terminal:
        console.print(picture(found))
        return
    with Live(picture(found), console=console, screen=True) as live:
        try:
            while True:
                time.sleep(every)
                live.update(_picture_now(now))
        except KeyboardInterrupt:
            return


def _picture_now(now: Callable[[], dict[str, Any]]) -> Group:
    """What the terminal shows now; of an arena that is away no more than that."""
    try:
        return picture(now())
    except ServerFault as fault:
        return Group(f"[bold red]{escape(visible(fault.message))}[/]")
    except SQLAlchemyError as error:
        problem = escape(str(error).splitlines()[0])
        return Group(f"[bold red]the database can't be read:[/] {problem}")


def picture(found: Mapping[str, Any]) -> Group:
    """What the terminal shows of an arena, of which the API tells the same."""
    work = Table("", "open", "issued", "overdue", "set aside", title="Work")
    for name in ("matches", "checks"):
        counts = (found[name][key] for key in ("open", "issued", "overdue", "set_aside"))
        work.add_row(name, *map(str, counts))
    workers = Table(
        "worker", "state", "slots", "isolation", "last sign", "problem", title="Workers"
    )
    for one in found["workers"]:
        silence = ago(one["silent_seconds"])
        words = (one["name"], one["state"], str(one["slots"]), one["isolation"], silence)
        workers.add_row(*(escape(visible(word)) for word in (*words, one["problem"])))
    games = Table("competition", "games a minute", title="The last five minutes")
    for name, rate in sorted(found["games_a_minute"].items(), key=lambda pair: -pair[1]):
        games.add_row(escape(visible(name)), f"{rate:.1f}")
    said = escape(visible(found["broker"]))
    if found["queues"] is not None:
        lengths = (f"{name} {count}" for name, count in found["queues"].items())
        said = "waiting: " + ", ".join(lengths)
    alarms = [f"[bold red]{escape(visible(alarm['words']))}[/]" for alarm in found["alarms"]]
    return Group(said, work, workers, games, *alarms)
