"""The command top: what an arena does at this moment, in the terminal."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from sqlalchemy.exc import SQLAlchemyError

from arena.cli.arguments import Seconds
from arena.cli.data_folder import as_json, opened
from arena.cli.data_option import on_data
from arena.cli.listing import Output
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.operation import queues
from arena.operation.broker import EmbeddedBroker
from arena.operation.health import Health, look
from arena.operation.queues import Queues
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
@as_json
@on_data
def top(data: Path | None, once: bool, every: float, in_json: bool) -> None:
    """Show workers, matches and queues as they change; Ctrl-C ends it.

    Example: arena top --once
    """
    with opened(data) as (database, settings):
        health, waiting = _now(database, settings)
        if in_json:
            click.echo(json.dumps({**health.as_json(), "queues": waiting.waiting}))
            return
        console = Output()
        if once or not console.is_terminal:
            console.print(picture(health, waiting))
            return
        with Live(picture(health, waiting), console=console, screen=True) as live:
            try:
                while True:
                    time.sleep(every)
                    live.update(_picture_now(database, settings))
            except KeyboardInterrupt:
                return


def _picture_now(database: Database, settings: Settings) -> Group:
    """What the terminal shows now; of a database that is away no more than that."""
    try:
        return picture(*_now(database, settings))
    except SQLAlchemyError as error:
        problem = escape(str(error).splitlines()[0])
        return Group(f"[bold red]the database can't be read:[/] {problem}")


def _now(database: Database, settings: Settings) -> tuple[Health, Queues]:
    with database.read() as session:
        health = look(session, settings, datetime.now(UTC))
    broker = settings.broker or EmbeddedBroker(settings.data.resolve()).url
    return health, queues.look(broker)


def picture(health: Health, queues_now: Queues) -> Group:
    """What the terminal shows."""
    work = Table("", "open", "issued", "overdue", "set aside", title="Work")
    for name, jobs in (("matches", health.matches), ("checks", health.checks)):
        counts = (jobs.open, jobs.issued, jobs.overdue, jobs.set_aside)
        work.add_row(name, *map(str, counts))
    workers = Table(
        "worker", "state", "slots", "isolation", "last sign", "problem", title="Workers"
    )
    for one in health.workers:
        words = (one.name, one.state, str(one.slots), one.isolation, one.silence, one.problem)
        workers.add_row(*(escape(visible(word)) for word in words))
    games = Table("competition", "games a minute", title="The last five minutes")
    for name, rate in sorted(health.games_a_minute.items(), key=lambda pair: -pair[1]):
        games.add_row(escape(name), f"{rate:.1f}")
    said = queues_now.problem
    if queues_now.waiting is not None:
        lengths = (f"{name} {count}" for name, count in queues_now.waiting.items())
        said = "waiting: " + ", ".join(lengths)
    alarms = [f"[bold red]{escape(visible(alarm.words))}[/]" for alarm in health.alarms]
    return Group(said, work, workers, games, *alarms)
