"""The command worker: who plays, and what is done about one that fails or is gone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click
from sqlalchemy.orm import Session

from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import as_json
from arena.cli.reading import read
from arena.ground.config import Settings
from arena.web.api.worker_shapes import WorkerList
from engine.translation import N_, gettext


@click.group()
def worker() -> None:
    """Workers: list them, readmit one that was set aside, forget one that is gone."""


@worker.command("list")
@on_arena
@as_json
def workers_command(where: Where, in_json: bool) -> None:
    """List the workers that were ever heard of.

    Its speed is that of programs in Python and of others, the reference machine being 1. Its clock
    is the reference machine's, or it says why it plays no match by that.

    Of a server the jobs that they failed at are for organisers alone.

    Example: arena worker list
    """

    def here(session: Session, settings: Settings) -> WorkerList:
        return WorkerList.now(session, settings, datetime.now(UTC), for_organisers=True)

    show(
        read(where, "/workers", here)["items"],
        (
            *(N_("worker"), N_("state"), N_("slots"), N_("speed"), N_("isolation")),
            *(N_("last seen"), N_("clock"), N_("failed"), N_("problem")),
        ),
        in_json,
        cells=lambda one: {
            "worker": one["name"],
            "last seen": one["last_seen"],
            "failed": ", ".join(one["failed"] or ()),
            "speed": speed_words(one["measure"]),
            "clock": "; ".join(filter(None, (one["unfit"] or gettext("reference"), one["doubt"]))),
        },
        kinds={"state": ""},
    )


def speed_words(measure: dict[str, Any] | None) -> str:
    """A worker's speed for Python and for other programs."""
    return f"{measure['interpreted']:.2f}/{measure['compiled']:.2f}" if measure else ""


deeds.add_commands(worker)
