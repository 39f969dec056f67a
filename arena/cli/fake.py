"""The command ``arena fake``: a large made-up arena, to try pages and commands on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa

from arena.cli import InputError
from arena.cli.data_folder import opened
from arena.cli.options import on_data
from arena.cli.progress_bar import ProgressBar
from arena.fake.fill import fill
from arena.models import PlayedGame
from engine.plurals import counted
from engine.translation import gettext


def _many(name: str, least: int, most: int, default: int) -> Callable[..., Any]:
    kind = click.IntRange(least, most)
    return click.option(name, type=kind, default=default, show_default=True, help="How many.")


@click.command()
@on_data
@_many("--bots", 10, 1_000_000, 10_000)
@_many("--ladders", 1, 10_000, 100)
@_many("--games", 1, 100_000_000, 1_000_000)
@click.option("--seed", type=int, default=1, show_default=True, help="Of all that is made up.")
def fake(data: Path | None, bots: int, ladders: int, games: int, seed: int) -> None:
    """Fill a new data folder with made-up bots, ladders and games.

    For trying how pages bear many games. Nothing in it can be played: its bots have no files.

    Example: arena fake --data made-up --games 100000
    """
    with opened(data, new=True) as (database, settings):
        with database.read() as session:
            if session.scalar(sa.select(PlayedGame.id).limit(1)) is not None:
                raise InputError(
                    gettext(
                        "the arena in %(folder)s has games, which made-up ones would spoil: name "
                        "another folder by --data",
                        folder=settings.data,
                    )
                )
        with ProgressBar(gettext("made-up"), "game", total=games) as bar:
            made = fill(
                database,
                bots=bots,
                ladders=ladders,
                games=games,
                seed=seed,
                now=datetime.now(UTC),
                progress=bar.show,
            )
        click.echo(
            gettext(
                "%(games)s of %(bots)s on %(ladders)s in %(folder)s",
                games=counted(made, "game"),
                bots=counted(bots, "bot"),
                ladders=counted(ladders, "ladder"),
                folder=settings.data,
            )
        )
