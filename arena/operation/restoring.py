"""An arena made of a backup, in an empty place."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import tempfile
import zlib
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.keeping.moving import out_of_place
from arena.keeping.stores import StoreError, store_at
from arena.models import Base, DayFile, Mark, SentFile
from arena.models.base import UtcTime
from arena.models.searching import FULL_TEXT
from arena.operation.archives import BackupError, PartReader, alone, copy_proven
from arena.operation.backup import AT_A_TIME, Tell, columns_of, rows_of, tables
from arena.signing import ARENA_MARK
from engine.plurals import counted
from engine.translation import N_, gettext

FOLDERS = {
    "bundles": N_("the bundle %(name)r of the backup is damaged"),
    "runtimes": N_("the runtime %(name)r of the backup is damaged"),
}
"""The folders of which a backup has files, each with a property of `Settings`, and what is said
where one is not what it was."""


def restore_backup(file: Path, settings: Settings, tell: Tell) -> None:
    """Makes an arena of a backup, in an empty database and folder.

    What is refused leaves no row and no bundle, so that the same place takes a better one.

    Raises:
        BackupError: it is no backup, or of another release, or the place is not empty, or in use.
        OSError: the folder can't be written.
    """
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    # The lock of an arena that runs there: of two restores the one that fails would take away what
    # the other has stored, and an arena would begin on half of it.
    taken = gettext(
        "an arena runs on %(folder)s, or is restored there: restore to another folder",
        folder=settings.data,
    )
    with alone(settings.data / "lock", taken), ExitStack() as ends:
        for folder in (settings.bundles, settings.runtimes):
            if folder.exists() and any(folder.iterdir()):
                raise BackupError(
                    gettext("%(folder)s is not empty: restore to a new place", folder=folder)
                )
        parts, database = PartReader(file, ends), Database(settings.database_url)
        ends.callback(database.close)
        try:
            _fill(database, parts, settings, tell)
        except BaseException:
            for folder in (settings.bundles, settings.runtimes):
                shutil.rmtree(folder, ignore_errors=True)
            raise


def _fill(database: Database, parts: PartReader, settings: Settings, tell: Tell) -> None:
    database.make_file()
    with database.engine.connect() as connection:
        if not _is_empty(connection):
            where = database.engine.url.render_as_string()
            raise BackupError(
                gettext("the database %(url)s is not empty: restore to a new one", url=where)
            )
    database.upgrade()
    expected = {table.name for table in tables()}
    # All rows or none: what was begun and broken off leaves a database without any.
    with database.begin() as session:
        schema = session.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
        if schema != parts.about["schema"]:
            raise BackupError(
                gettext(
                    "the backup is of another release (schema %(schema)s): restore it with that "
                    "one, then start this one on it",
                    schema=parts.about["schema"],
                )
            )
        if parts.contents.tables.keys() != expected:
            odd = min(parts.contents.tables.keys() ^ expected)
            raise BackupError(
                gettext("the backup has not the tables of this release: %(table)s", table=odd[:80])
            )
        for table in tables():
            count = 0
            for some in parts.contents.tables[table.name]:
                count += _insert(session, parts, table, some.digest)
            tell(rows_of(table.name, count))
        _store_files(session, parts, settings, tell)
        # It may be another arena beside the one that the backup is of.
        session.execute(sa.delete(Mark).where(Mark.key == ARENA_MARK))
        # What people were sending is in no backup.
        session.execute(sa.delete(SentFile))
        _go_on_counting(session)


def _is_empty(connection: sa.Connection) -> bool:
    """Whether a database has no row, and no table but those that a restore begins with."""
    found = set(sa.inspect(connection).get_table_names()) - {"alembic_version"}
    found = {name for name in found if not name.startswith(FULL_TEXT)}
    return found <= set(Base.metadata.tables) and not any(
        connection.scalar(sa.select(sa.exists(sa.select(sa.literal(1)).select_from(table))))
        for name, table in Base.metadata.tables.items()
        if name in found
    )


def _insert(session: Session, parts: PartReader, table: sa.Table, digest: str) -> int:
    """Puts some rows of a table in, and says how many they are.

    Raises:
        BackupError: they are not those that were written, or no rows of it.
    """
    columns = columns_of(table)
    # A missing value is to be one again, and not the value null of JSON.
    kinds = {
        column.name: sa.JSON(none_as_null=True) if isinstance(column.type, sa.JSON) else column.type
        for column in columns
    }
    statement = sa.insert(table).values(
        {column.name: sa.bindparam(column.name, type_=kinds[column.name]) for column in columns}
    )
    try:
        text = zlib.decompress(parts.open(f"rows/{digest}").read())
    except zlib.error:
        text = b""
    if hashlib.sha256(text).hexdigest() != digest:
        raise BackupError(
            gettext(
                "the backup is damaged: table %(table)s is not as it was written", table=table.name
            )
        )
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            pairs = zip(json.loads(line), columns, strict=True)
            rows.append({column.name: _value(value, column) for value, column in pairs})
        except (ValueError, TypeError):
            raise BackupError(
                gettext(
                    "the backup is damaged: table %(table)s, row %(row)s",
                    table=table.name,
                    row=number,
                )
            ) from None
    for start in range(0, len(rows), AT_A_TIME):
        session.execute(statement, rows[start : start + AT_A_TIME])
    return len(rows)


def _value(value: Any, column: sa.Column[Any]) -> Any:
    if value is None:
        return None
    if isinstance(column.type, UtcTime):
        return datetime.fromisoformat(value)
    if isinstance(column.type, sa.LargeBinary):
        return base64.b64decode(value)
    return value


def _go_on_counting(session: Session) -> None:
    """Makes PostgreSQL give out numbers from where the rows end, as SQLite does by itself."""
    if session.get_bind().dialect.name != "postgresql":
        return
    for table in Base.metadata.sorted_tables:
        column = table.autoincrement_column
        if column is not None:
            last = session.scalar(sa.select(sa.func.max(column)))
            sequence = sa.func.pg_get_serial_sequence(f'"{table.name}"', column.name)
            if last is not None:
                session.execute(sa.select(sa.func.setval(sequence, last)))


def _store_files(session: Session, parts: PartReader, settings: Settings, tell: Tell) -> None:
    day_files = []
    for part in parts.contents.files:
        kind, _, name = part.partition("/")
        if kind in FOLDERS:
            _store(getattr(settings, kind), name, parts, part)
        elif kind == "cold":
            day_files.append(name)
        else:
            raise BackupError(gettext("%(name)r is not expected in a backup here", name=part[:80]))
    digests = dict(session.execute(sa.select(DayFile.name, DayFile.digest)).all())
    if not digests:
        return
    store = store_at(settings.cold_store)
    try:
        there = dict(store.names())
        for name in day_files:
            if name not in there:
                _store_day_file(settings, name, digests.get(name, ""), parts)
        for problem in out_of_place(session, store):
            tell(problem)
    except StoreError as error:
        raise BackupError(gettext("can't restore: %(problem)s", problem=error)) from None
    tell(counted(len(day_files), "day file"))


def _store_day_file(settings: Settings, name: str, digest: str, parts: PartReader) -> None:
    """Puts a file into the cold store, and proves it before."""
    with tempfile.TemporaryFile() as copy:
        if not copy_proven(parts.open(f"cold/{name}"), copy, digest):
            words = gettext("the day file %(name)r of the backup is damaged", name=name[:80])
            raise BackupError(words)
        size = copy.tell()
        copy.seek(0)
        store_at(settings.cold_store).put(name, copy, size, digest)


def _store(folder: Path, name: str, parts: PartReader, part: str) -> None:
    """Keeps a file that is named by its digest, and proven while it is written."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".new-", delete=False) as file:
        whole = copy_proven(parts.open(part), file, name)
    if not whole:
        raise BackupError(gettext(FOLDERS[folder.name], name=name[:12]))
    Path(file.name).rename(folder / name)
