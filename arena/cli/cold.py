"""The command cold: records that are moved to the cold store, proven there, and brought back."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import undefer

from arena.cli import InputError, refusing
from arena.cli.data_folder import opened
from arena.cli.listing import show
from arena.cli.options import as_json, on_data
from arena.cli.progress_bar import ProgressBar
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.keeping.day_files import SUFFIX, unpack_frames
from arena.keeping.moving import MoveError, Mover, begins_cold, proven, waiting
from arena.keeping.stores import ColdStore, StoreError, store_at
from arena.models import DayFile
from arena.present import present_settings
from engine.plurals import counted
from engine.translation import gettext


@click.group()
def cold() -> None:
    """Records of old games, in files of their days beside the database.

    The recorder moves them by itself where ARENA_COLD_DAYS is set. Pages show them all the same.
    """


@contextmanager
def _store(data: Path | None) -> Iterator[tuple[Database, Settings, ColdStore]]:
    with opened(data) as (database, settings), refusing(MoveError, StoreError):
        with database.read() as session:
            settings = present_settings(session, settings)
        yield database, settings, store_at(settings.cold_store)


@cold.command("list")
@on_data
@as_json
def list_files(data: Path | None, in_json: bool) -> None:
    """List the files that have records of games.

    Example: arena cold list
    """
    with _store(data) as (database, _, store), database.read() as session:
        found = session.scalars(sa.select(DayFile).order_by(DayFile.first)).all()
    rows = [
        {
            "name": file.name,
            "day": file.day,
            "first": file.first,
            "last": file.last,
            "games": file.games,
            "bytes": file.size,
            "sha256": file.digest,
            "store": store.where,
        }
        for file in found
    ]
    show(rows, ("name", "first", "last", "games", "bytes"), in_json)


@cold.command("move")
@click.option(
    "--days", type=click.FloatRange(0, 36_500), help="Older than that; by default ARENA_COLD_DAYS."
)
@on_data
@as_json
def move(days: float | None, data: Path | None, in_json: bool) -> None:
    """Move the records of old games out of the database, into files of their days.

    The arena may run meanwhile. What was interrupted goes on if the command is given again.

    Example: arena cold move --days 30
    """
    now = datetime.now(UTC)
    with _store(data) as (database, settings, store):
        days = settings.cold_days or None if days is None else days
        if days is None:
            raise InputError(
                gettext("say by --days how old they are to be, or set ARENA_COLD_DAYS")
            )
        before = begins_cold(days, now)
        with database.read() as session:
            # Each game is written, and later its row is emptied.
            total = 2 * waiting(session, before)
        with ProgressBar(gettext("moving"), "step", total=total) as bar:
            made = Mover(database, store, bar.advance).move(before, now)
    games = sum(file.games for file in made)
    told = {"files": [file.name for file in made], "games": games, "store": store.where}
    _tell(
        told,
        gettext(
            "the records of %(games)s are in %(files)s of %(store)s now",
            games=counted(games, "game"),
            files=counted(len(made), "file"),
            store=store.where,
        ),
        in_json,
    )


@cold.command("verify")
@on_data
@as_json
def verify(data: Path | None, in_json: bool) -> None:
    """Read all files of the cold store, and prove that they are what was put there.

    Example: arena cold verify
    """
    rows = []
    with _store(data) as (database, _, store):
        with database.read() as session:
            query = sa.select(DayFile).options(undefer(DayFile.frames)).order_by(DayFile.first)
            files = session.scalars(query).all()
        total = sum(file.games for file in files)
        with ProgressBar(gettext("proving"), "game", total=total) as bar:
            for file in files:
                problem = ""
                try:
                    for _ in proven(store, file, unpack_frames(file.frames)):
                        bar.advance()
                except (MoveError, StoreError) as error:
                    problem = str(error)
                rows.append({"name": file.name, "games": file.games, "problem": problem})
    wrong = [row for row in rows if row["problem"]]
    if in_json:
        click.echo(json.dumps(rows))
    else:
        for row in wrong:
            click.echo(row["problem"])
        click.echo(
            gettext(
                "%(files)s with %(games)s, %(wrong)s of them wrong",
                files=counted(len(rows), "file"),
                games=counted(total, "game"),
                wrong=len(wrong),
            )
        )
    sys.exit(1 if wrong else 0)


@cold.command("back")
@click.argument("days", nargs=-1, metavar="[DAY]...")
@on_data
@as_json
def back(days: Sequence[str], data: Path | None, in_json: bool) -> None:
    """Bring records back into the database, of all files in the cold store or of some days.

    A row takes its record by number and digest, whatever the database knows of the files: so a
    database is mended, too, that has lost records, or that is older than the files. The files stay.

    Example: arena cold back 2026-11-26
    """
    with _store(data) as (database, settings, store):
        there = sorted(name for name, _ in store.names() if name.endswith(SUFFIX))
        begins = [f"{day}-" for day in days]
        wanted = [name for name in there if not begins or name.startswith(tuple(begins))]
        for day, begin in zip(days, begins, strict=True):
            if not any(name.startswith(begin) for name in wanted):
                raise InputError(
                    gettext(
                        "%(store)s has no file of %(day)s; a day is written as in 2026-11-26",
                        store=store.where,
                        day=day,
                    )
                )
        with database.read() as session:
            of_them = sa.select(sa.func.sum(DayFile.games)).where(DayFile.name.in_(wanted))
            total = session.scalar(of_them)
        with ProgressBar(gettext("bringing back"), "game", total=total) as bar:
            brought = Mover(database, store, bar.advance).bring_back(wanted)
    told = {"files": wanted, "games": brought.games, "others": brought.others}
    _tell(
        told,
        gettext(
            "the records of %(games)s are in the database again; %(others)s of the files have "
            "none to go to, or are there",
            games=counted(brought.games, "game"),
            others=brought.others,
        ),
        in_json,
    )
    if settings.cold_days and brought.games:
        click.echo(gettext("ARENA_COLD_DAYS is set: the recorder will move them again"), err=True)


def _tell(told: dict[str, Any], words: str, in_json: bool) -> None:
    click.echo(json.dumps(told) if in_json else words)
