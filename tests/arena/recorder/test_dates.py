"""Dates and recorders: they happen once, whoever ticks, and by the clock of the database."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions.happenings import happen_next
from arena.deeds import By, perform
from arena.ground import db
from arena.ground.db import Database, database_time
from arena.models import AuditEntry, CompetitionDate, DateKind, Ladder, Scope
from arena.operation.maintenance import SetMaintenance
from arena.recorder.claim import Claims
from tests.arena.running import until
from tests.arena.simulator import CALM, Simulation

SECOND = timedelta(seconds=1)


def lay(database: Database, what: DateKind, seconds: float) -> datetime:
    """Lays a date of the ladder into the table, so many seconds from now."""
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        at = database_time(session) + seconds * SECOND
        session.add(CompetitionDate(competition=ladder, what=what, at=at, settings={}))
        return at


def happen(database: Database) -> list[DateKind]:
    found = []
    while True:
        with database.begin() as session:
            date = happen_next(session)
            if date is None:
                return found
            found.append(date.what)


def told(database: Database) -> list[str]:
    """What happened, as the audit log has it."""
    notes = sa.select(AuditEntry.detail).where(AuditEntry.action == "date").order_by(AuditEntry.id)
    with database.read() as session:
        return list(session.scalars(notes))


@pytest.fixture
def arena(database: Database) -> Database:
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    return database


def test_two_recorders_do_each_once(arena: Database) -> None:
    """The second waits; when the first has ended it goes on with what is due by then."""
    first, second = Database(arena.url), Database(arena.url)
    for one in (first, second):
        Claims(one)
    lay(arena, DateKind.ENTRIES_CLOSE, -2)
    assert happen(first) == [DateKind.ENTRIES_CLOSE]
    found: list[DateKind] = []
    waiting = threading.Thread(target=lambda: found.extend(happen(second)), daemon=True)
    waiting.start()
    lay(arena, DateKind.FREEZE, -1)
    assert happen(first) == [DateKind.FREEZE]
    lay(arena, DateKind.CLOSES, -1)
    assert found == []
    first.close()
    until(lambda: bool(found), "the second recorder's turn")
    waiting.join(60)
    second.close()
    assert found == [DateKind.CLOSES]
    assert told(arena) == ["entries-close", "freeze", "closes"]


def test_during_maintenance_nothing_happens(arena: Database) -> None:
    """What was due then happens after it, as of its date."""
    at = lay(arena, DateKind.CLOSES, -2)
    for is_on, happened in ((True, []), (False, [DateKind.CLOSES])):
        with arena.begin() as session:
            perform(session, SetMaintenance(is_on), By(ARENA, frozenset(Scope), at))
        assert happen(arena) == happened
    with arena.read() as session:
        assert session.scalars(sa.select(Ladder.finished)).one() == at


def test_a_wrong_clock_of_a_machine_decides_nothing(
    request: pytest.FixtureRequest, arena: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the database is a server, whose clock it is; SQLite has none but the machine's."""
    lay(arena, DateKind.FREEZE, 120)
    lay(arena, DateKind.ENTRIES_CLOSE, -120)

    class Wrong(datetime):
        """Ahead by minutes."""

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(UTC) + 600 * SECOND

    monkeypatch.setattr(db, "datetime", Wrong)
    is_server = arena.engine.dialect.name == "postgresql"
    both = [DateKind.ENTRIES_CLOSE, DateKind.FREEZE]
    assert happen(arena) == (both[:1] if is_server else both)


def test_what_was_restored_from_before_a_date_happens_again(
    sqlite_database: Database, tmp_path: Path
) -> None:
    """As of its date, once more, and not twice."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    at = lay(sqlite_database, DateKind.CLOSES, -1)
    file = str(sqlite_database.engine.url.database)
    with (
        closing(sqlite3.connect(file)) as one,
        closing(sqlite3.connect(tmp_path / "before.db")) as copy,
    ):
        one.backup(copy)
    restored = Database(f"sqlite:///{tmp_path}/before.db")
    for one in (sqlite_database, restored):
        assert happen(one) == [DateKind.CLOSES]
        assert happen(one) == []
        with one.read() as session:
            assert session.scalars(sa.select(Ladder.finished)).one() == at
        assert told(one) == ["closes"]
    restored.close()
