"""The command worker: who plays, and what is done about one that fails or is gone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click
import sqlalchemy as sa

from arena import audit
from arena.cli.data_folder import as_json, changing, opened
from arena.cli.data_option import on_data
from arena.cli.listing import show
from arena.models import Worker
from arena.schedule import workers
from arena.schedule.workers import WorkerError


@click.group()
def worker() -> None:
    """Workers: list them, readmit one that was set aside, forget one that is gone."""


@worker.command("list")
@on_data
@as_json
def workers_command(data: Path | None, in_json: bool) -> None:
    """List the workers that were ever heard of.

    Example: arena worker list
    """
    now = datetime.now(UTC)
    with opened(data) as (database, settings), database.read() as session:
        rows = [
            {
                "worker": one.name,
                "state": workers.state(one, settings.minimum_isolation, now),
                "slots": one.slots,
                "isolation": one.isolation,
                "last seen": one.last_seen.isoformat(timespec="seconds"),
                "failed": ", ".join(entry["job"] for entry in one.failed),
                "problem": one.problem if one.failed else "",
            }
            for one in session.scalars(sa.select(Worker).order_by(Worker.name))
        ]
    columns = ("worker", "state", "slots", "isolation", "last seen", "failed", "problem")
    show(rows, columns, in_json)


@worker.command("readmit")
@click.argument("name")
@on_data
def readmit_command(name: str, data: Path | None) -> None:
    """Give a worker jobs again that was set aside.

    Example: arena worker readmit machine-2
    """
    with changing(data, refusals=(WorkerError,)) as (session, now):
        workers.readmit(session, audit.operator(), name, now)
    click.echo(f"the worker {name} gets jobs again")


@worker.command("forget")
@click.argument("name")
@on_data
def forget_command(name: str, data: Path | None) -> None:
    """Take a worker off the list that is not there any more.

    Example: arena worker forget machine-2
    """
    with changing(data, refusals=(WorkerError,)) as (session, now):
        workers.forget(session, audit.operator(), name, now)
    click.echo(f"the worker {name} is forgotten")
