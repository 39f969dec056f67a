"""The command up: the whole arena on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli import refusing
from arena.cli.options import on_data
from arena.ground.config import SettingError, load
from arena.operation.broker import BrokerError
from arena.operation.supervisor import StartupError, Supervisor
from engine.translation import gettext


@click.command()
@on_data
@click.option("--host", help="The address to serve on; 127.0.0.1 by default.")
@click.option("--port", type=click.IntRange(1, 65535), help="The port; 8000 by default.")
@click.option(
    "--workers", type=click.IntRange(1, 256), help="Matches at the same time; one a core."
)
def up(data: Path | None, host: str | None, port: int | None, workers: int | None) -> None:
    """Run the arena: broker, recorder, workers and pages.

    Ctrl-C ends everything, and nothing is lost.

    Example: arena up --port 8080
    """
    with refusing(SettingError, BrokerError, StartupError):
        settings = load(data=data, host=host, port=port, workers=workers)
        Supervisor(settings).run(
            announce=lambda url: _say(gettext("the arena is at %(url)s", url=url)),
            complain=lambda line: _say(f"arena: {line}", err=True),
        )


def _say(line: str, *, err: bool = False) -> None:
    try:
        click.echo(line, err=err)
    except OSError:
        return  # whoever read it has gone, and that is no reason to end an arena
