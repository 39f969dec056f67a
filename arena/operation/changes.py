"""Which rows have changed since a backup, as the database notes it of itself.

Theory of operation. The tables that grow with every game are *long*: their keys have the number of
a game or a match. Their rows are known by parts, of `NUMBERS` numbers that follow each other. On
each long table are triggers, so that whoever changes a row, by whichever program or by hand, notes
its part in the same transaction, unless that is noted already: once in an *epoch*, which begins
with a backup. An increment has to read what was noted since the epoch of the backup before.

What a backup does not see must be noted in its epoch or later. On SQLite one transaction writes at
a time, so each that found an older epoch is over when the next begins. On PostgreSQL the epoch is
the last value of a sequence, which every transaction sees at once, whatever else it sees; those
that are under way then are waited for, and all others find the new one. Nobody who writes waits:
notes are only added, perhaps twice.

The first backup puts the triggers there, and so does any that does not find them as they are to be.
Then no epoch is known any more; nor is, by its token, one that began in another copy of the
database. An epoch has its token from when the backup has begun to read: whatever copy has that has
all that the backup saw. All is read where an epoch is not known.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from string import Template

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.ground.db import Database, unusable
from arena.models import Base, ChangedPart, Epoch, Match, PlayedGame
from engine.translation import gettext

NUMBERS = 1 << 14
"""A part has the rows whose numbers have the same quotient by it."""
PATIENCE_SECONDS = 300.0
"""How long transactions are waited for that were under way as an epoch began."""
LOOK_SECONDS = 0.05
"""How long passes until it is looked again whether they are over."""
ATTEMPTS, LOCK_MS = 50, 200
"""How often it is tried to put triggers there, and how long others may have to wait each time: less
than it takes PostgreSQL to see that two wait for each other."""
LOCKED = "55P03"
"""PostgreSQL's code of a lock that was not to be had in that time."""
PREFIX = "arena_notes_"
"""How the names of triggers begin, and of their functions."""
EVENTS = {"insert": ("new",), "update": ("old", "new"), "delete": ("old",)}
"""What a row is changed by, and of which rows it is noted."""
ROOTS = Match.__table__.c.id, PlayedGame.__table__.c.id
"""The numbers with which tables grow."""


class CannotNote(Exception):
    """Changes can't be noted in a database; why, in a clause."""


def number_of(table: sa.Table) -> sa.Column[int] | None:
    """The column by whose numbers the rows of a long table are parted; None of any other table."""
    for column in table.primary_key:
        if column in ROOTS or any(key.column in ROOTS for key in column.foreign_keys):
            return column
    return None


def root_of(column: sa.Column[int]) -> sa.Column[int]:
    """The number of a game or a match that is meant by a column of a long table."""
    found = (key.column for key in column.foreign_keys if key.column in ROOTS)
    return column if column in ROOTS else next(found)


def long_tables() -> Iterator[tuple[sa.Table, sa.Column[int]]]:
    """The tables that are kept in parts, with their columns of numbers."""
    for table in Base.metadata.sorted_tables:
        column = number_of(table)
        if column is not None:
            yield table, column


def begin_epoch(database: Database) -> str:
    """Begins an epoch; whoever reads from then on sees all that was noted in no later one.

    Returns:
        What `name_epoch` knows it by.

    Raises:
        CannotNote: it can't be begun, or what was under way does not end.
    """
    try:
        begun = _begun(database)
        if database.engine.dialect.name == "postgresql":
            _await_others(database)
    except sa.exc.DBAPIError as error:
        raise CannotNote(unusable(error)) from None
    return begun


def name_epoch(database: Database, begun: str) -> str:
    """Gives an epoch its token; to be called when it is decided what is read.

    Raises:
        CannotNote: it can't be written, or the epoch is known no more.
    """
    token = secrets.token_hex(16)
    naming = sa.update(Epoch).where(Epoch.token == begun).values(token=token)
    try:
        with database.begin() as session:
            is_known = session.scalars(naming.returning(Epoch.id)).first() is not None
    except sa.exc.DBAPIError as error:
        raise CannotNote(unusable(error)) from None
    if not is_known:
        raise CannotNote(gettext("another backup has made the triggers anew"))
    return token


def changed_since(session: Session, token: str) -> dict[str, set[int]] | None:
    """The parts of long tables that were noted since an epoch began, by the names of the tables.

    Returns:
        None if this database knows no such epoch.
    """
    first = session.scalar(sa.select(Epoch.id).where(Epoch.token == token))
    if first is None:
        return None
    found: dict[str, set[int]] = {}
    noted = sa.select(ChangedPart.of_table, ChangedPart.part).where(ChangedPart.epoch >= first)
    for name, part in session.execute(noted):
        found.setdefault(name, set()).add(part)
    return found


def _begun(database: Database) -> str:
    for left in reversed(range(ATTEMPTS)):
        try:
            with database.begin() as session:
                return _begin(session)
        except sa.exc.OperationalError as error:
            if not left or getattr(error.orig, "sqlstate", None) != LOCKED:
                raise
            time.sleep(LOOK_SECONDS)
    raise AssertionError


def _begin(session: Session) -> str:
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("LOCK TABLE epoch IN EXCLUSIVE MODE"))
    wanted = dict(_triggers(connection))
    if _there(connection) != wanted.keys():
        _put(connection, wanted.values())
        for kind in (Epoch, ChangedPart):
            session.execute(sa.delete(kind))
    epoch = Epoch(token=secrets.token_hex(16))
    session.add(epoch)
    session.flush()
    # Who asks for what was noted since an epoch is told as much by the last note of a part.
    later = aliased(ChangedPart)
    is_noted_later = sa.exists().where(
        later.of_table == ChangedPart.of_table,
        later.part == ChangedPart.part,
        later.epoch > ChangedPart.epoch,
    )
    session.execute(sa.delete(ChangedPart).where(is_noted_later))
    return epoch.token


def _await_others(database: Database) -> None:
    """Waits until all transactions are over that are under way now and have written something."""
    until = time.monotonic() + PATIENCE_SECONDS
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        (next_,) = connection.execute(
            sa.text("SELECT txid_snapshot_xmax(txid_current_snapshot())")
        ).one()
        oldest = sa.text("SELECT txid_snapshot_xmin(txid_current_snapshot())")
        while connection.scalar(oldest) < next_:
            if time.monotonic() > until:
                seconds = f"{PATIENCE_SECONDS:.0f}"
                raise CannotNote(
                    gettext("a transaction has been under way for %(seconds)s s", seconds=seconds)
                )
            time.sleep(LOOK_SECONDS)


def _triggers(connection: sa.Connection) -> Iterator[tuple[str, list[str]]]:
    """Each trigger by its name, and what makes it; what it does is part of its name."""
    is_postgresql = connection.dialect.name == "postgresql"
    words = {"numbers": str(NUMBERS), "schema": ""}
    if is_postgresql:
        named = sa.text("SELECT quote_ident(current_schema()) || '.'")
        words["schema"] = connection.scalars(named).one()
    for table, column in long_tables():
        words |= {"table": table.name, "column": column.name}
        for event, its in EVENTS.items():
            notes = (NOTE_ROWS if is_postgresql else NOTE_ROW).substitute
            words |= {
                "event": event,
                "notes": " ".join(notes(words, rows=rows) for rows in its),
                "named": " ".join(f"{rows} TABLE AS {rows}_rows" for rows in its),
                "name": "",
            }
            made = ON_POSTGRESQL if is_postgresql else ON_SQLITE
            text = "".join(one.substitute(words) for one in made)
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            words["name"] = f"{PREFIX}{table.name}_{event}_{digest}"
            yield words["name"], [one.substitute(words) for one in made]


NOTE_ROW = Template(
    "INSERT INTO changed_part (epoch, of_table, part) "
    "SELECT number, '$table', $rows.$column / $numbers FROM (SELECT max(id) AS number FROM epoch) "
    "WHERE number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM changed_part "
    "WHERE epoch = number AND of_table = '$table' AND part = $rows.$column / $numbers);"
)
"""What SQLite does for each row."""
NOTE_ROWS = Template(
    "INSERT INTO ${schema}changed_part (epoch, of_table, part) "
    "SELECT last_value, '$table', number FROM ${schema}epoch_id_seq, "
    "(SELECT DISTINCT $column / $numbers AS number FROM ${rows}_rows) AS numbers "
    "WHERE NOT EXISTS (SELECT 1 FROM ${schema}changed_part "
    "WHERE epoch = last_value AND of_table = '$table' AND part = number);"
)
"""What PostgreSQL does for all rows of a statement."""
ON_SQLITE = (Template('CREATE TRIGGER "$name" AFTER $event ON "$table" BEGIN $notes END'),)
ON_POSTGRESQL = (
    Template(
        'CREATE FUNCTION "$name"() RETURNS trigger LANGUAGE plpgsql AS '
        "$$$$ BEGIN $notes RETURN NULL; END $$$$"
    ),
    Template(
        'CREATE TRIGGER "$name" AFTER $event ON "$table" REFERENCING $named '
        'FOR EACH STATEMENT EXECUTE FUNCTION "$name"()'
    ),
    # Whoever leaves others out, as one who copies rows of another server, does not leave it out.
    Template('ALTER TABLE "$table" ENABLE ALWAYS TRIGGER "$name"'),
)


def _there(connection: sa.Connection) -> set[str]:
    """The names of those triggers of ours that are there, and at work."""
    if connection.dialect.name == "postgresql":
        query = (
            "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
            "WHERE tgenabled = 'A' AND relnamespace = current_schema()::regnamespace "
            "AND starts_with(tgname, :prefix)"
        )
    else:
        query = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND instr(name, :prefix) = 1"
    return set(connection.scalars(sa.text(query), {"prefix": PREFIX}))


def _put(connection: sa.Connection, wanted: Iterable[list[str]]) -> None:
    """Makes all triggers anew."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text(f"SET LOCAL lock_timeout = {LOCK_MS}"))
        tables = ", ".join(f'"{table.name}"' for table, _ in long_tables())
        connection.execute(sa.text(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE"))
        query = (
            "SELECT 'DROP FUNCTION ' || oid::regprocedure || ' CASCADE' FROM pg_proc "
            "WHERE pronamespace = current_schema()::regnamespace AND starts_with(proname, :prefix)"
        )
    else:
        query = (
            "SELECT 'DROP TRIGGER ' || name FROM sqlite_master "
            "WHERE type = 'trigger' AND instr(name, :prefix) = 1"
        )
    others = connection.scalars(sa.text(query), {"prefix": PREFIX}).all()
    for statement in (*others, *chain.from_iterable(wanted)):
        connection.exec_driver_sql(statement)
