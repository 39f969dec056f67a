"""The database: its schema is the models', on both kinds, and newer ones are refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from arena.db import Database, SchemaError
from arena.models import Base, Mark, User


def test_migrations_make_the_models(database: Database) -> None:
    """What the migrations build is what the models describe."""
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_a_newer_database_is_refused(database: Database) -> None:
    """A database that a later release made is left alone, with a line that says so."""
    with database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match="another release"):
        database.upgrade()


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    """In a folder that all may read too, and with what SQLite keeps beside it."""
    tmp_path.chmod(0o755)
    database = Database(f"sqlite:///{tmp_path}/arena.db")
    database.upgrade()
    with database.begin() as session:
        session.add(Mark(key="some", value="secret"))
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    database.close()
    assert modes == dict.fromkeys(("arena.db", "arena.db-shm", "arena.db-wal"), 0o600)


def test_what_is_not_prepared_is_refused(database: Database) -> None:
    """By who serves or records and does not upgrade: it says how to."""
    database.demand_schema()
    words = "its schema is {}, not .*: first arena up, or arena run prepare"
    with database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(SchemaError, match=words.format("0001")):
        database.demand_schema()
    with database.engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE alembic_version"))
    with pytest.raises(SchemaError, match=words.format("none")):
        database.demand_schema()


def test_times_come_back_in_utc(database: Database) -> None:
    """A moment survives the database with its zone."""
    moment = datetime(2026, 5, 4, 3, 2, 1, 123456, tzinfo=UTC)
    with database.begin() as session:
        session.add(User(name="somebody", created=moment))
    with database.read() as session:
        assert session.scalar(sa.select(User.created)) == moment


def test_writers_wait_for_each_other(database: Database) -> None:
    """Transactions that read, then write, neither fail nor lose an update."""
    with database.begin() as session:
        session.add(Mark(key="count", value="0"))

    def add_one(_: int) -> None:
        with database.begin() as session:
            mark = session.get(Mark, "count", with_for_update=True)
            assert mark is not None
            mark.value = str(int(mark.value) + 1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_one, range(40)))
    with database.read() as session:
        assert session.get_one(Mark, "count").value == "40"
