"""A backup: every row of every table as of one moment, bundles, runtimes and day files, in one tar.

Rows are written as JSON, table by table, so that a backup of SQLite can be restored to
PostgreSQL and the other way round. It is read in one transaction that sees one moment, while the
arena runs. Files come after the rows: they never change and are not removed while a row names
them, so that each is there. Rows are kept some thousand at a time, and each such part is named by
its digest, as files are. So an increment is a backup that leaves out all parts that another one has
which it names (`arena.operation.archives`): what has not changed. Of long tables it does not even
read what the database did not note as changed meanwhile (`arena.operation.changes`); other tables
are read whole. The backup holds everything: hashes of passwords, the secret of sessions.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.keeping.moving import WrongFile
from arena.keeping.stores import StoreError, store_at
from arena.lists.search import known_words
from arena.models import Base, BotVersion, ChangedPart, DayFile, Epoch, LargeFile, Runtime
from arena.operation import changes
from arena.operation.archives import (
    ABOUT,
    FORMAT,
    BackupError,
    PartReader,
    PartWriter,
    SomeRows,
    alone,
    copy_proven,
)
from engine.plurals import counted
from engine.translation import N_, gettext, ngettext

T = TypeVar("T")

AT_A_TIME = 1000
WORDS = 200
"""So many words that rows begin with are asked for at once."""
PART_BYTES = 1 << 24
"""With so many bytes a part of the rows is full, and those that follow are kept in another: logs
may be long, and each part is in memory while it is written or read."""

EPOCH = "epoch"
"""What a backup says of itself: the token of the epoch that began with it, empty if none did."""
OF_ONE_DATABASE = {Epoch.__tablename__, ChangedPart.__tablename__}
"""The tables that are in no backup: what they say of a database is not so of a copy."""
Changed = Mapping[str, Set[int]]
"""Parts of long tables, by the names of these."""
Tell = Callable[[str], None]


def write_backup(
    database: Database,
    settings: Settings,
    file: Path,
    tell: Tell,
    *,
    since: Path | None = None,
    without_cold: bool = False,
) -> None:
    """Writes a backup of a running arena, or of one that is still.

    Args:
        since: a backup of before in the same folder: what it has, or another one that it needs, is
            left out.
        without_cold: leaves out the files of the cold store.

    Raises:
        BackupError: the file is there already, or another command writes it; or the backup of
            before can't be used.
        OSError: it can't be written.
    """
    before = _Before() if since is None else _read_before(since, file)
    unfinished = file.with_name(f".{file.name}.unfinished")
    taken = gettext("another command writes %(file)s: name another", file=file)
    with alone(unfinished, taken) as descriptor:
        try:
            if file.exists():
                raise BackupError(gettext("%(file)s is there already: name another", file=file))
            os.truncate(descriptor, 0)  # what a command left that was killed
            epoch = _noting(tell, partial(changes.begin_epoch, database))
            with open(descriptor, "wb", closefd=False) as raw:
                with tarfile.open(fileobj=raw, mode="w") as tar, database.read() as session:
                    about = _about(session)  # from which on all is of one moment
                    if epoch:
                        token = _noting(tell, partial(changes.name_epoch, database, epoch))
                        about[EPOCH] = token or ""
                    parts = PartWriter(tar, before.parts)
                    parts.add(ABOUT, io.BytesIO(json.dumps(about).encode()))
                    changed = before.changed(session, about)
                    if since is not None and changed is None:
                        tell(
                            gettext(
                                "all is read: what has changed since %(file)s was not noted",
                                file=since,
                            )
                        )
                    _write(parts, session, settings, tell, without_cold, before.tables, changed)
                raw.flush()
                os.fsync(raw.fileno())
            unfinished.rename(file)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


@dataclass(frozen=True, slots=True)
class _Before:
    """What a backup has that another one is to go on from; or of none."""

    about: Mapping[str, Any] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    """The file that each part is in, by the part's name."""
    tables: Mapping[str, list[SomeRows]] = field(default_factory=dict)

    def changed(self, session: Session, about: Mapping[str, Any]) -> Changed | None:
        """Which parts of long tables are not as they were; None if that is not known."""
        if not about[EPOCH] or about["schema"] != self.about.get("schema"):
            return None
        return changes.changed_since(session, str(self.about.get(EPOCH)))


def _read_before(since: Path, file: Path) -> _Before:
    if since.resolve().parent != file.resolve().parent:
        raise BackupError(
            gettext(
                "an increment and the backup before it belong into one folder: write it to "
                "%(folder)s",
                folder=since.parent,
            )
        )
    with ExitStack() as ends:
        reader = PartReader(since, ends)
        return _Before(reader.about, reader.known(), reader.contents.tables)


def _noting(tell: Tell, do: Callable[[], T]) -> T | None:
    """Does something for which the database is to note changes; None where it can't."""
    try:
        return do()
    except changes.CannotNote as problem:
        tell(gettext("the next increment will read all: %(problem)s", problem=problem))
        return None


def _about(session: Session) -> dict[str, Any]:
    schema = session.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
    made = datetime.now(UTC).isoformat()
    return {"format": FORMAT, "schema": schema, "made": made, EPOCH: ""}


def tables() -> list[sa.Table]:
    """Those that a backup has, each behind those that it refers to."""
    return [one for one in Base.metadata.sorted_tables if one.name not in OF_ONE_DATABASE]


def _write(
    parts: PartWriter,
    session: Session,
    settings: Settings,
    tell: Tell,
    without_cold: bool,
    before: Mapping[str, list[SomeRows]],
    changed: Changed | None,
) -> None:
    for table in tables():
        column = changes.number_of(table)
        if column is None:
            its = list(_add_table(parts, session, table))
        elif changed is None:
            its = list(_add_parts(parts, session, table, column, _numbers(session, column)))
        else:
            noted = changed.get(table.name, set())
            its = [one for one in before[table.name] if one.part not in noted]
            for one in its:
                parts.leave_out(f"rows/{one.digest}")
            its += _add_parts(parts, session, table, column, sorted(noted))
        parts.contents.tables[table.name] = its
        tell(rows_of(table.name, sum(one.rows for one in its)))
    for kind, folder, names in (
        ("bundle", settings.bundles, _names_of(session, BotVersion.digest)),
        ("large file", settings.bundles, _names_of(session, LargeFile.digest)),
        ("runtime", settings.runtimes, _runtimes(session)),
    ):
        tell(counted(_add_files(parts, folder, names, LEFT_OUT[kind], tell), kind))
    if not without_cold:
        tell(counted(_add_day_files(parts, session, settings, tell), "day file"))
    parts.finish()


def _add_table(parts: PartWriter, session: Session, table: sa.Table) -> Iterator[SomeRows]:
    columns, key = columns_of(table), next(iter(table.primary_key))
    at = columns.index(key)
    rows = session.execute(
        sa.select(*columns).order_by(*table.primary_key).execution_options(yield_per=AT_A_TIME)
    )
    is_numbered = isinstance(key.type, sa.Integer)
    together = groupby(
        enumerate(rows),
        lambda pair: (pair[1][at] if is_numbered else pair[0]) // changes.NUMBERS,
    )
    for part, some in together:
        yield from _add_rows(parts, part, (row for _, row in some))


def _numbers(session: Session, column: sa.Column[int]) -> Iterable[int]:
    """All parts that a long table may have."""
    last = session.scalar(sa.select(sa.func.max(changes.root_of(column)))) or 0
    return range(last // changes.NUMBERS + 1)


def _add_parts(
    parts: PartWriter,
    session: Session,
    table: sa.Table,
    column: sa.Column[int],
    numbers: Iterable[int],
) -> Iterator[SomeRows]:
    """Writes the rows of some parts of a long table."""
    first, *_ = table.primary_key
    narrowed: list[sa.ColumnElement[bool]] = [sa.true()]
    if first is not column:
        # Rows lie by words, and of each by numbers: no index has the numbers alone.
        words = known_words(session, first)
        starts = range(0, len(words), WORDS)
        narrowed = [first.in_(words[start : start + WORDS]) for start in starts]
    rows = (
        sa.select(*columns_of(table))
        .order_by(*table.primary_key)
        .execution_options(yield_per=AT_A_TIME)
    )
    for part in numbers:
        start = part * changes.NUMBERS
        its = rows.where(column.between(start, start + changes.NUMBERS - 1))
        some = chain.from_iterable(session.execute(its.where(narrow)) for narrow in narrowed)
        yield from _add_rows(parts, part, some)


def _add_rows(parts: PartWriter, part: int, rows: Iterable[Any]) -> Iterator[SomeRows]:
    for lines in _pieces(json.dumps([plain(value) for value in row]).encode() for row in rows):
        text = b"\n".join(lines)
        digest = hashlib.sha256(text).hexdigest()
        if not parts.leave_out(f"rows/{digest}"):
            parts.add(f"rows/{digest}", io.BytesIO(zlib.compress(text, 1)))
        yield SomeRows(digest, len(lines), part)


def _pieces(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines, as many together as make a part."""
    some, size = list[bytes](), 0
    for line in lines:
        some.append(line)
        size += len(line)
        if size >= PART_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


LEFT_OUT = {
    "bundle": N_("the bundle %(name)s is not in %(folder)s: left out"),
    "large file": N_("the large file %(name)s is not in %(folder)s: left out"),
    "runtime": N_("the runtime %(name)s is not in %(folder)s: left out"),
}
"""What is said of a file that is lost, by what it is."""


def rows_of(table: str, count: int) -> str:
    """How many rows of a table were written, or read."""
    return ngettext(
        "%(table)s: %(number)s row",
        "%(table)s: %(number)s rows",
        count,
        table=table,
        number=count,
    )


def _names_of(session: Session, column: InstrumentedAttribute[str]) -> Iterable[str]:
    return session.scalars(sa.select(column).where(column != "").distinct().order_by(column))


def _runtimes(session: Session) -> Iterable[str]:
    """Those that can be had, and those that versions of bots have."""
    kept = sa.select(BotVersion.runtime_id).where(BotVersion.runtime_id.is_not(None))
    needed = sa.or_(Runtime.withdrawn.is_(None), Runtime.id.in_(kept))
    wanted = sa.select(Runtime.digest).where(needed).distinct().order_by(Runtime.digest)
    return session.scalars(wanted)


def _add_files(
    parts: PartWriter, folder: Path, names: Iterable[str], left_out: str, tell: Tell
) -> int:
    """Adds those that are there, and gives how many these are."""
    count = 0
    for name in names:
        part = f"{folder.name}/{name}"
        if not parts.leave_out(part):
            if not (folder / name).is_file():
                tell(gettext(left_out, name=name[:12], folder=folder))
                continue
            with (folder / name).open("rb") as content:
                parts.add(part, content)
        parts.contents.files.append(part)
        count += 1
    return count


def _add_day_files(parts: PartWriter, session: Session, settings: Settings, tell: Tell) -> int:
    """Adds the files of the cold store, each proven: a backup with a damaged one is of no use."""
    store, count = store_at(settings.cold_store), 0
    known = sa.select(DayFile.name, DayFile.digest).order_by(DayFile.first)
    for name, digest in session.execute(known).all():
        part = f"cold/{name}"
        if not parts.leave_out(part):
            with tempfile.TemporaryFile() as copy:
                try:
                    with store.open(name) as content:
                        if not copy_proven(content, copy, digest):
                            raise WrongFile(name)
                except (StoreError, WrongFile) as error:
                    tell(gettext("left out: %(problem)s", problem=error))
                    continue
                parts.add(part, copy)
        parts.contents.files.append(part)
        count += 1
    return count


def columns_of(table: sa.Table) -> list[sa.Column[Any]]:
    """A table's columns, without those that the database computes."""
    return [column for column in table.c if column.computed is None]


def plain(value: Any) -> Any:
    """A value as JSON has it; `arena.operation.restoring` has the way back."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value
