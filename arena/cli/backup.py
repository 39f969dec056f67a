"""The commands backup and restore."""

from __future__ import annotations

import shlex
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click
from sqlalchemy.exc import SQLAlchemyError

from arena.cli import InputError, refusing, writing
from arena.cli.data_folder import opened
from arena.cli.options import NamedPath, on_data
from arena.ground.config import SettingError, load
from arena.ground.db import SchemaError, unusable
from arena.operation.archives import BackupError
from arena.operation.backup import write_backup
from arena.operation.health import note_backup
from arena.operation.restoring import restore_backup
from engine.translation import gettext


@click.command()
@click.argument("file", type=NamedPath(path_type=Path, dir_okay=False))
@click.option(
    "--since",
    type=NamedPath(path_type=Path, dir_okay=False, exists=True),
    metavar="BACKUP",
    help="Leave out what that backup has, in the same folder: an increment, which needs it.",
)
@click.option("--without-cold", is_flag=True, help="Leave out the files of the cold store.")
@on_data
def backup(file: Path, since: Path | None, without_cold: bool, data: Path | None) -> None:
    """Write a backup of an arena, which may run meanwhile.

    FILE is a tar of all rows and bundles, for its owner alone to read: passwords' hashes are in it.

    \b
    Examples:
      arena backup arena-2026-01-31.tar
      arena backup arena-2026-02-01.tar --since arena-2026-01-31.tar
    """
    with opened(data) as (database, settings):
        with refusing(BackupError), writing(file):
            write_backup(
                database,
                settings,
                file,
                lambda line: click.echo(line, err=True),
                since=since,
                without_cold=without_cold,
            )
        with suppress(SQLAlchemyError), database.begin() as session:
            note_backup(session, datetime.now(UTC))
    click.echo(
        gettext(
            "the backup is %(file)s, %(size)s MB",
            file=file,
            size=f"{file.stat().st_size / 1e6:.1f}",
        )
    )


@click.command()
@click.argument("file", type=NamedPath(path_type=Path, dir_okay=False, exists=True))
@on_data
def restore(file: Path, data: Path | None) -> None:
    """Make an arena of a backup, in an empty place.

    The place is the data folder, and the database of ARENA_DATABASE if that is set: a backup of
    SQLite can be restored to PostgreSQL, and the other way round.

    Example: arena restore arena-2026-01-31.tar --data new
    """
    try:
        with refusing(SettingError, SchemaError, BackupError):
            settings = load(data=data)
            restore_backup(file, settings, lambda line: click.echo(line, err=True))
    except SQLAlchemyError as error:
        raise InputError(unusable(error)) from None
    except OSError as error:
        where = error.filename or settings.data
        raise InputError(
            gettext("can't restore: %(where)s: %(reason)s", where=where, reason=error.strerror)
        ) from None
    proof = shlex.join(["arena", "ratings", "rebuild", "--check", "--data", str(settings.data)])
    click.echo(
        gettext(
            "the arena is in %(folder)s; now prove it, with ARENA_DATABASE set as now: %(command)s",
            folder=settings.data,
            command=proof,
        )
        if settings.database
        else gettext(
            "the arena is in %(folder)s; now prove it: %(command)s",
            folder=settings.data,
            command=proof,
        )
    )
