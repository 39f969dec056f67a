"""The database: engines, sessions, and the schema's version.

SQLite and PostgreSQL are driven by the same code. On SQLite a write transaction takes its lock
when it begins (BEGIN IMMEDIATE): a deferred one that turns into a writer later fails at once
when another got there first, whatever the timeout.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.orm import Session, sessionmaker

from engine.translation import N_, gettext, pgettext, translated

T = TypeVar("T")

MIGRATIONS = Path(__file__).parents[2] / "migrations"
SERVED_FROM = "0050"
"""The oldest schema whose programs can go on with a database of this one: a migration after it adds
what they need not know of, so that a release can be changed for the next while an arena runs."""
SERVED_MARK = "schema.served_from"
"""Where a database says so."""
MARKS = sa.table("mark", sa.column("key"), sa.column("value"))
"""The table of marks as `arena.models.Mark` has it."""
LARGEST_ID = 2**31 - 1
"""An id has 4 bytes in PostgreSQL; to ask a database for a larger one is an error there."""
ONLY_READS = "25006"
"""PostgreSQL's code of an attempt to write in a transaction that is read-only."""
LOOKED_UP: dict[str, Any] = {"arena.looked_up": True}
"""Execution options of a select that looks up what somebody has named, in a session that writes:
only there it leaves out what they don't see (`arena.sight`). All else that such a session finds is
the same whoever asks."""
SUGGESTED: dict[str, Any] = LOOKED_UP | {"arena.suggested": True}
"""Execution options of a select of what nobody has named, such as names that may have been meant:
there it leaves out what is unlisted, too."""
COLD = "arena.cold"
"""The key in a session's `info` under which it says where the cold store is."""
KEPT = "arena.kept"
"""The key in a session's `info` under which all sessions of a database share what they know of rows
that never change, until one connects anew."""
PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000", "foreign_keys=ON")
DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
FAILED = (sa.exc.OperationalError, sa.exc.InternalError)
"""What a database raises that is away or takes no writes. The second is PostgreSQL's way to say
that it is read-only, as a server is that has not yet taken over from another.
"""
REMEDIES = {
    "SQLITE_READONLY": N_("let this user write its file and folder"),
    "SQLITE_CANTOPEN": N_("let this user read and write its file and folder"),
    "SQLITE_FULL": N_("make room on its disk"),
    "SQLITE_BUSY": N_("somebody else writes for long; try again later"),
}
"""What helps where SQLite fails, by the beginnings of its names for errors."""


class SchemaError(RuntimeError):
    """A database that this program can't use; one sentence that says what to do."""


class Database:
    """A database, for short transactions that write and for reading.

    Args:
        patience_seconds: how long a PostgreSQL is waited for, to connect or for the answer to a
            statement; by default without end.
        cold: where the records are that are no longer in it, as `Settings.cold_store` has it; a
            process that reads none needs not say so.

    Raises:
        SchemaError: what drives a database of this kind is not installed, or the URL's port is no
            number. Each connection raises it, too, to a PostgreSQL database that is not in UTF8,
            and to a file that is no database.
    """

    def __init__(self, url: str, *, patience_seconds: int | None = None, cold: str = "") -> None:
        self.url = url
        sqlite = url.startswith("sqlite")
        driven: dict[str, Any] = {"timeout": 30} if sqlite else _patience(patience_seconds)
        try:
            # The ping finds connections that a restart of the server has ended.
            self.engine = sa.create_engine(url, connect_args=driven, pool_pre_ping=not sqlite)
        except ImportError as error:
            raise SchemaError(
                gettext(
                    "this database needs %(package)s: pip install '.[prod]' in the folder of the "
                    "sources",
                    package=error.name,
                )
            ) from None
        except ValueError:
            raise SchemaError(
                gettext("ARENA_DATABASE can't be read: its port is no number")
            ) from None
        if sqlite:
            event.listen(self.engine, "connect", self._prepare)
            event.listen(self.engine, "begin", _begin)
        else:
            # The driver would send each row of an INSERT for itself.
            self.engine.dialect.use_insertmanyvalues_wo_returning = True
            # Before SQLAlchemy asks a server for what it takes to be text.
            event.listen(self.engine, "connect", _demand_unicode, insert=True)
            event.listen(self.engine, "connect", _expect_memory)
            event.listen(self.engine, "handle_error", _leave_what_only_reads)
        told: dict[Any, Any] = {COLD: cold, KEPT: {}}
        if not sqlite:
            # One that has taken over may lack what the server before had written last.
            event.listen(self.engine, "connect", lambda *_: told[KEPT].clear())
        self._write = sessionmaker(self.engine, expire_on_commit=False, info=told)
        # Whoever reads sees one moment: SQLite gives nothing else, PostgreSQL is asked for it.
        moment = {} if sqlite else {"isolation_level": "REPEATABLE READ"}
        self._read = sessionmaker(
            self.engine.execution_options(read_only=True, **moment),
            expire_on_commit=False,
            info=told,
        )

    def begin(self) -> AbstractContextManager[Session]:
        """A transaction that commits when its block ends and rolls back when it raises."""
        return self._write.begin()

    def run(self, deed: Callable[[Session], T]) -> T:
        """What a deed gives in a transaction of its own, or in another one where somebody else has
        made the same row meanwhile: now it is there.
        """
        try:
            with self.begin() as session:
                return deed(session)
        except sa.exc.IntegrityError:
            with self.begin() as session:
                return deed(session)

    def read(self) -> Session:
        """A session that only reads, and never waits for a writer on SQLite."""
        return self._read()

    def demand_schema(self) -> None:
        """Refuses a database whose schema is not this program's, nor a later one that it can use.

        Raises:
            SchemaError: it was never prepared, or by an older or another release, or by a later one
                whose schema is not for this one.
        """
        # As the files of migrations begin; alembic knows better and takes long to import.
        known = {path.name.split("_")[0] for path in (MIGRATIONS / "versions").glob("*.py")}
        wanted = max(known)
        found = None
        # Only read: who holds the write lock of SQLite is nobody to wait for.
        with self.engine.execution_options(read_only=True).connect() as connection:
            if sa.inspect(connection).has_table("alembic_version"):
                found = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
            if found is not None and found not in known:
                served_from = connection.scalar(
                    sa.select(MARKS.c.value).where(MARKS.c.key == SERVED_MARK)
                )
                if served_from is None or wanted < served_from:
                    raise _of_another_release(found)
                return
        if found != wanted:
            raise SchemaError(
                gettext(
                    "the database is not prepared for this release (its schema is %(found)s, not "
                    "%(wanted)s): first arena up, or arena run prepare",
                    found=found or pgettext("the schema of an empty database", "none"),
                    wanted=wanted,
                )
            )

    def is_away(self) -> bool:
        """Whether nothing can be written now: it does not answer, say, or its disk is full."""
        try:
            with self.engine.begin() as connection:
                connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
        except FAILED:
            return True
        return False

    def close(self) -> None:
        """Closes every connection."""
        self.engine.dispose()

    def make_file(self) -> None:
        """Makes the file of SQLite, if there is none yet, for its owner alone to read.

        Hashes of passwords and the secret of sessions are in it, wherever it lies. To be called
        before the first connection, which would make it for everybody.
        """
        file = self.engine.url.database if self.engine.dialect.name == "sqlite" else None
        # One that is there is left alone: who closes it loses the locks of open connections to it.
        # What SQLite keeps beside it is as the file is.
        if file and not os.path.exists(file):
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))

    def upgrade(self) -> None:
        """Brings the schema to this program's version, from nothing too.

        Raises:
            SchemaError: the database was made by another release that this one does not follow.
        """
        # Imported here since it takes longer than all else in a start, and few processes upgrade.
        from alembic import command
        from alembic.config import Config
        from alembic.runtime.migration import MigrationContext
        from alembic.script import ScriptDirectory

        self.make_file()
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        script = ScriptDirectory.from_config(config)
        with self.engine.begin() as connection:
            current = MigrationContext.configure(connection).get_current_revision()
            known = {revision.revision for revision in script.walk_revisions()}
            if current is not None and current not in known:
                raise _of_another_release(current)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver must not begin by itself
        try:
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode not in DAMAGED:
                raise
            raise SchemaError(
                gettext(
                    "%(database)s is no database, or a damaged one: choose another, or make one of "
                    "a backup with arena restore",
                    database=self.engine.url.database,
                )
            ) from None


def say_whom_it_serves(session: Session) -> None:
    """Lets programs of releases go on for which this one's schema is, too (`SERVED_FROM`)."""
    session.execute(sa.delete(MARKS).where(MARKS.c.key == SERVED_MARK))
    session.execute(sa.insert(MARKS).values({"key": SERVED_MARK, "value": SERVED_FROM}))


def _of_another_release(schema: str) -> SchemaError:
    return SchemaError(
        gettext(
            "the database is of another release (schema %(schema)s); use that release, or "
            "another data folder",
            schema=schema,
        )
    )


def unusable(error: sa.exc.SQLAlchemyError) -> str:
    """What a database has raised, in a line that says what to do where that is known."""
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    name = getattr(cause, "sqlite_errorname", "")
    remedy = next((its for kind, its in REMEDIES.items() if name.startswith(kind)), "")
    what = str(cause).partition("\n")[0] or type(cause).__name__
    if not remedy:
        return gettext("can't use the database: %(problem)s", problem=what)
    return gettext(
        "can't use the database: %(problem)s (%(remedy)s)",
        problem=what,
        remedy=translated(remedy),
    )


At: TypeAlias = datetime | sa.BindParameter[datetime]
"""A moment that a query is about; a parameter in one that is written once."""


def database_time(session: Session) -> datetime:
    """This moment by the clock of the database, of which there is one, whoever asks.

    That is PostgreSQL's server; beside SQLite it is this machine. What has a date is decided by it,
    so that clocks of the pages and of the recorder that differ by minutes decide nothing.
    """
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    # Not that of the transaction, which may have begun long before.
    moment: datetime = session.scalars(sa.select(sa.func.clock_timestamp())).one()
    return moment.astimezone(UTC)


def is_id(number: int) -> bool:
    """Whether a number can be that of a row, so that a database may be asked for it."""
    return 0 < number <= LARGEST_ID


def count_rows(session: Session, kind: type[Any], *which: sa.ColumnElement[bool]) -> int:
    """How many rows of a table there are of which all of this holds.

    Args:
        kind: a class of `arena.models`.
    """
    return session.scalars(sa.select(sa.func.count()).select_from(kind).where(*which)).one()


def is_lately(
    moment: sa.SQLColumnExpression[Any], within: timedelta, now: datetime
) -> sa.ColumnElement[bool]:
    """Whether a moment is no longer ago than that.

    Nor is it to come by more: such a one was written before the clock was set back, and nothing
    may depend on it until that comes again. By less, another machine's clock is ahead.
    """
    return moment.between(now - within, now + within)


def _patience(seconds: int | None) -> dict[str, Any]:
    """What tells the driver of PostgreSQL to give up, and when."""
    if seconds is None:
        return {}
    return {
        "connect_timeout": seconds,
        # A server that vanished from the network never says so.
        "tcp_user_timeout": 1000 * seconds,
        "options": f"-c statement_timeout={1000 * seconds}",
    }


def _expect_memory(connection: Any, _record: object) -> None:
    """Has a server take it that what it looks up is in memory or on a disk without moving parts.

    By its default it takes a look by an index for four times as dear as reading on, and reads a
    whole table for some thousand rows of it (PostgreSQL's manual, section 19.7.2).
    """
    connection.execute("SET random_page_cost = 1.1")
    connection.commit()


def _demand_unicode(connection: Any, _record: object) -> None:
    """Refuses a PostgreSQL database that can't keep every name.

    A server that was installed where no language was set gives it none: its driver would take all
    text for bytes.
    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise SchemaError(
            gettext(
                "the database keeps text as %(encoding)s, and this program needs UTF8: make "
                "another by createdb --encoding=UTF8 --locale=C.UTF-8 --template=template0 NAME",
                encoding=encoding,
            )
        )


def _leave_what_only_reads(context: sa.ExceptionContext) -> None:
    """Gives up every connection of a server that takes no writes.

    Where one connects next, it may be another that has taken over.
    """
    if getattr(context.original_exception, "sqlstate", None) == ONLY_READS:
        context.is_disconnect = True


def _begin(connection: sa.Connection) -> None:
    read_only = connection.get_execution_options().get("read_only")
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")
