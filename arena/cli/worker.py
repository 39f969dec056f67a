"""The command worker: who plays, and what is done about one that fails or is gone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click
import sqlalchemy as sa

from arena.cli import deeds
from arena.cli.data_folder import as_json, opened
from arena.cli.data_option import on_data
from arena.cli.listing import show
from arena.models import Worker
from arena.schedule import workers


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


deeds.add_commands(worker)
