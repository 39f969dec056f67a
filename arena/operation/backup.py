"""A backup: every row of every table as of one moment, bundles and runtimes, in one tar.

Rows are written as JSON, table by table, so that a backup of SQLite can be restored to
PostgreSQL and the other way round. It is read in one transaction that sees one moment, while the
arena runs. Bundles and runtimes come after the rows: they never change and are not removed while a
row names them, so that each is there. Last come the digests of the tables, by which a restore knows
that all is there and as it was. The backup holds everything: hashes of passwords, the secret of
sessions.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.file_locks import lock_file
from arena.models import Base, BotVersion, LargeFile, Mark, Runtime, SentFile
from arena.models.base import UtcTime
from arena.models.searching import FULL_TEXT
from arena.signing import ARENA_MARK
from engine.plurals import counted
from engine.translation import N_, gettext, ngettext

FORMAT = 2
DIGESTS = "digests.json"
"""The last file: for each table the SHA-256 of its rows, in hexadecimal."""
AT_A_TIME = 1000
SPOOLED = 16 * 1024 * 1024
"""Bytes of a table that are held in memory; a larger one goes through a file."""
CHUNK = 1 << 18

Tell = Callable[[str], None]


class BackupError(ValueError):
    """A backup that can't be made or used; one sentence that says what to do."""


def write_backup(database: Database, settings: Settings, file: Path, tell: Tell) -> None:
    """Writes a backup of a running arena, or of one that is still.

    Raises:
        BackupError: the file is there already, or another command writes it.
        OSError: it can't be written.
    """
    unfinished = file.with_name(f".{file.name}.unfinished")
    taken = gettext("another command writes %(file)s: name another", file=file)
    with _alone(unfinished, taken) as descriptor:
        try:
            if file.exists():
                raise BackupError(gettext("%(file)s is there already: name another", file=file))
            os.truncate(descriptor, 0)  # what a command left that was killed
            with open(descriptor, "wb", closefd=False) as raw:
                with tarfile.open(fileobj=raw, mode="w") as tar, database.read() as session:
                    _write(tar, session, settings, tell)
                raw.flush()
                os.fsync(raw.fileno())
            unfinished.rename(file)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


@contextmanager
def _alone(path: Path, refusal: str) -> Iterator[int]:
    """Opens a file, or makes it for its owner to read, and keeps it from other commands meanwhile.

    Raises:
        BackupError: another command has it, which is told by this refusal.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, 0o600)
    try:
        with suppress(OSError):  # a file system without locks
            if not lock_file(descriptor):
                raise BackupError(refusal)
        # The other may have given the file its last name since it was opened here.
        if not path.exists() or not os.path.samestat(os.fstat(descriptor), path.stat()):
            raise BackupError(refusal)
        yield descriptor
    finally:
        os.close(descriptor)


def _write(tar: tarfile.TarFile, session: Session, settings: Settings, tell: Tell) -> None:
    bundles = settings.bundles
    schema = session.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
    about = {"format": FORMAT, "schema": schema, "made": datetime.now(UTC).isoformat()}
    _add(tar, "about.json", io.BytesIO(json.dumps(about).encode()))
    table_digests = {}
    for table in Base.metadata.sorted_tables:
        with tempfile.SpooledTemporaryFile(SPOOLED) as lines:
            count, digest = 0, hashlib.sha256()
            columns = sa.select(*_columns(table)).execution_options(yield_per=AT_A_TIME)
            for row in session.execute(columns):
                values = [_plain(value) for value in row]
                line = json.dumps(values).encode() + b"\n"
                lines.write(line)
                digest.update(line)
                count += 1
            lines.seek(0)
            _add(tar, f"tables/{table.name}", lines)
            table_digests[table.name] = digest.hexdigest()
        tell(_rows_of(table.name, count))
    whole = _names_of(session, BotVersion.digest)
    tell(counted(_add_files(tar, bundles, whole, LEFT_OUT["bundle"], tell), "bundle"))
    large = _names_of(session, LargeFile.digest)
    tell(counted(_add_files(tar, bundles, large, LEFT_OUT["large file"], tell), "large file"))
    _add_runtimes(tar, session, settings.runtimes, tell)
    _add(tar, DIGESTS, io.BytesIO(json.dumps(table_digests).encode()))


LEFT_OUT = {
    "bundle": N_("the bundle %(name)s is not in %(folder)s: left out"),
    "large file": N_("the large file %(name)s is not in %(folder)s: left out"),
    "runtime": N_("the runtime %(name)s is not in %(folder)s: left out"),
}
"""What is said of a file that is lost, by what it is."""


def _rows_of(table: str, count: int) -> str:
    return ngettext(
        "%(table)s: %(number)s row",
        "%(table)s: %(number)s rows",
        count,
        table=table,
        number=count,
    )


def _names_of(session: Session, column: InstrumentedAttribute[str]) -> Iterable[str]:
    return session.scalars(sa.select(column).where(column != "").distinct().order_by(column))


def _add_files(
    tar: tarfile.TarFile, folder: Path, names: Iterable[str], left_out: str, tell: Tell
) -> int:
    """Adds those that are there, and gives how many these are."""
    count = 0
    for name in names:
        if (folder / name).is_file():
            with (folder / name).open("rb") as content:
                _add(tar, f"{folder.name}/{name}", content)
            count += 1
        else:
            tell(gettext(left_out, name=name[:12], folder=folder))
    return count


def _add_runtimes(tar: tarfile.TarFile, session: Session, folder: Path, tell: Tell) -> None:
    """Those that can be had, and those that versions of bots have."""
    kept = sa.select(BotVersion.runtime_id).where(BotVersion.runtime_id.is_not(None))
    needed = sa.or_(Runtime.withdrawn.is_(None), Runtime.id.in_(kept))
    wanted = sa.select(Runtime.digest).where(needed).distinct().order_by(Runtime.digest)
    count = _add_files(tar, folder, session.scalars(wanted), LEFT_OUT["runtime"], tell)
    if count:
        tell(counted(count, "runtime"))


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes]) -> None:
    member = tarfile.TarInfo(name)
    content.seek(0, io.SEEK_END)
    member.size = content.tell()
    member.mode = 0o600
    content.seek(0)
    tar.addfile(member, content)


def _columns(table: sa.Table) -> list[sa.Column[Any]]:
    """A table's columns, without those that the database computes."""
    return [column for column in table.c if column.computed is None]


def _plain(value: Any) -> Any:
    """A value as JSON has it; `_value` is the way back."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def _value(value: Any, column: sa.Column[Any]) -> Any:
    if value is None:
        return None
    if isinstance(column.type, UtcTime):
        return datetime.fromisoformat(value)
    if isinstance(column.type, sa.LargeBinary):
        return base64.b64decode(value)
    return value


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
    with _alone(settings.data / "lock", taken):
        for folder in (settings.bundles, settings.runtimes):
            if folder.exists() and any(folder.iterdir()):
                raise BackupError(
                    gettext("%(folder)s is not empty: restore to a new place", folder=folder)
                )
        try:
            with tarfile.open(file, "r:") as tar:
                members = iter(tar)
                about = _about(tar, next(members, None))
                database = Database(settings.database_url)
                try:
                    _fill(database, tar, members, about, settings, tell)
                except BaseException:
                    for folder in (settings.bundles, settings.runtimes):
                        shutil.rmtree(folder, ignore_errors=True)
                    raise
                finally:
                    database.close()
        except (tarfile.TarError, EOFError) as error:
            raise BackupError(
                gettext(
                    "%(file)s is no backup, or was cut short: %(error)s", file=file, error=error
                )
            ) from None


def _about(tar: tarfile.TarFile, member: tarfile.TarInfo | None) -> dict[str, Any]:
    if member is None or member.name != "about.json":
        raise BackupError(gettext("this is a tar, but no backup of an arena"))
    try:
        about: dict[str, Any] = json.loads(_read(tar, member))
        form, _ = about["format"], about["schema"]
    except (ValueError, KeyError, TypeError):
        raise BackupError(
            gettext("the backup is damaged: it doesn't say of which release it is")
        ) from None
    if form != FORMAT:
        raise BackupError(
            gettext(
                "the backup is of another release (format %(format)s, and not %(ours)s): restore "
                "it with that one, then start this one on it",
                format=form,
                ours=FORMAT,
            )
        )
    return about


def _fill(
    database: Database,
    tar: tarfile.TarFile,
    members: Iterator[tarfile.TarInfo],
    about: dict[str, Any],
    settings: Settings,
    tell: Tell,
) -> None:
    database.make_file()
    with database.engine.connect() as connection:
        if not _is_empty(connection):
            where = database.engine.url.render_as_string()
            raise BackupError(
                gettext("the database %(url)s is not empty: restore to a new one", url=where)
            )
    database.upgrade()
    expected = [table.name for table in Base.metadata.sorted_tables]
    # All rows or none: what was begun and broken off leaves a database without any.
    with database.begin() as session:
        schema = session.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
        if schema != about["schema"]:
            raise BackupError(
                gettext(
                    "the backup is of another release (schema %(schema)s): restore it with that "
                    "one, then start this one on it",
                    schema=about["schema"],
                )
            )
        found = {}
        for member in members:
            kind, _, name = member.name.partition("/")
            if kind == "tables" and expected and name == expected[0]:
                count, found[name] = _insert(session, tar, member, expected.pop(0))
                tell(_rows_of(name, count))
            elif kind in FOLDERS and not expected:
                _store(getattr(settings, kind), name, _content(tar, member))
            elif member.name == DIGESTS and not expected:
                _compare(found, _read(tar, member))
                break
            else:
                raise BackupError(
                    gettext("%(name)r is not expected in a backup here", name=member.name[:80])
                )
        else:
            raise BackupError(
                gettext(
                    "the backup was cut short: it has no %(part)s", part=(*expected, DIGESTS)[0]
                )
            )
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


def _compare(found: dict[str, str], told: bytes) -> None:
    """Refuses tables that are not as they were written, though each row can be read."""
    try:
        written = json.loads(told)
    except ValueError:
        written = None
    if not isinstance(written, dict):
        raise BackupError(gettext("the backup is damaged: %(part)s can't be read", part=DIGESTS))
    for table, digest in found.items():
        if written.get(table) != digest:
            raise BackupError(
                gettext(
                    "the backup is damaged: table %(table)s is not as it was written", table=table
                )
            )


def _insert(
    session: Session, tar: tarfile.TarFile, member: tarfile.TarInfo, name: str
) -> tuple[int, str]:
    """Puts a table's rows in, in the order in which they refer to each other.

    Returns:
        How many there are, and their digest.

    Raises:
        BackupError: they are not rows of it.
    """
    table = Base.metadata.tables[name]
    columns = _columns(table)
    # A missing value is to be one again, and not the value null of JSON.
    kinds = {
        column.name: sa.JSON(none_as_null=True) if isinstance(column.type, sa.JSON) else column.type
        for column in columns
    }
    statement = sa.insert(table).values(
        {column.name: sa.bindparam(column.name, type_=kinds[column.name]) for column in columns}
    )
    content = tar.extractfile(member)
    assert content is not None
    count, rows, digest = 0, [], hashlib.sha256()
    own = [key.parent for key in table.foreign_keys if key.column.table is table]
    for line in content:
        count += 1
        digest.update(line)
        try:
            pairs = zip(json.loads(line), columns, strict=True)
            rows.append({column.name: _value(value, column) for value, column in pairs})
        except (ValueError, TypeError):
            raise BackupError(
                gettext(
                    "the backup is damaged: table %(table)s, row %(row)s", table=name, row=count
                )
            ) from None
        if len(rows) == AT_A_TIME and not own:
            session.execute(statement, rows)
            rows.clear()
    if own:
        # Whoever is referred to was made before, and has the lower number.
        rows.sort(key=lambda row: row["id"])
    for start in range(0, len(rows), AT_A_TIME):
        session.execute(statement, rows[start : start + AT_A_TIME])
    return count, digest.hexdigest()


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


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    return _content(tar, member).read()


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = tar.extractfile(member)
    if content is None:
        raise BackupError(gettext("%(name)r is no file", name=member.name[:80]))
    return content


FOLDERS = {
    "bundles": N_("the bundle %(name)r of the backup is damaged"),
    "runtimes": N_("the runtime %(name)r of the backup is damaged"),
}
"""The folders of which a backup has files, each with a property of `Settings`, and what is said
where one is not what it was."""


def _store(folder: Path, name: str, content: IO[bytes]) -> None:
    """Keeps a file that is named by its digest, and proven while it is written."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    proof = hashlib.sha256()
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".new-", delete=False) as file:
        while chunk := content.read(CHUNK):
            proof.update(chunk)
            file.write(chunk)
    if proof.hexdigest() != name:
        raise BackupError(gettext(FOLDERS[folder.name], name=name[:12]))
    Path(file.name).rename(folder / name)
