"""The command maintenance: for a while nothing is changed, and nothing is begun."""

from __future__ import annotations

import click
from sqlalchemy.orm import Session

from arena.cli import deeds
from arena.cli.client import Where, on_arena
from arena.cli.reading import read
from arena.ground.config import Settings
from arena.operation.maintenance import SetMaintenance
from arena.web.api.setting_shapes import MaintenanceShape
from engine.protocol import visible
from engine.translation import gettext


@click.group()
def maintenance() -> None:
    """Maintenance: for a while all is read, nothing is changed, and workers drain."""


@maintenance.command("show")
@on_arena
def show_command(where: Where) -> None:
    """Say whether an arena is under maintenance.

    Example: arena maintenance show
    """

    def here(session: Session, _: Settings) -> MaintenanceShape:
        return MaintenanceShape.now(session)

    found = read(where, "/maintenance", here)
    if found["since"] is None:
        click.echo(gettext("the arena is not under maintenance"))
        return
    since = gettext("the arena is under maintenance since %(since)s", since=found["since"])
    click.echo(f"{since}: {visible(found['words'])}" if found["words"] else since)


@maintenance.command("on")
@click.option("--text", default="", help="What all visitors are told beside, as until when.")
@on_arena
def on_command(text: str, where: Where) -> None:
    """Begin maintenance: all is read, nothing is changed but this, and nothing begun.

    Matches that workers have already are played to their end and recorded.

    Example: arena maintenance on --text "until 18:00 UTC"
    """
    deeds.do_one(deeds.made(SetMaintenance, on=True, text=text), where)


@maintenance.command("off")
@on_arena
def off_command(where: Where) -> None:
    """End maintenance.

    Example: arena maintenance off
    """
    deeds.do_one(deeds.made(SetMaintenance, on=False), where)
