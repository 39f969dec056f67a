"""A recorder whose database is away, reads only or fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from arena.ground.db import Database
from arena.models import Competition, JobStatus
from arena.recorder import writer
from arena.recorder.process import Recorder
from tests.arena.recorder.conftest import the_match
from tests.arena.simulator import CALM, Simulation


@contextmanager
def altered(url: str, database: Database, now: str, later: str) -> Iterator[sa.Engine]:
    """A database that is altered, and altered again half a second later; the server's own engine.

    Args:
        url: of the server.
    """
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT")

    def alter(words: str) -> None:
        with admin.connect() as connection:
            connection.exec_driver_sql(f"ALTER DATABASE {database.engine.url.database} {words}")

    alter(now)
    again = threading.Timer(0.5, alter, [later])
    again.start()
    try:
        yield admin
    finally:
        again.join()
        admin.dispose()


@pytest.mark.long
@pytest.mark.parametrize("pauses", [(0.1, 1), (0.05, 0.1)], ids=["a moment", "long"])
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_is_away_is_waited_for(
    database: Database,
    recorder: Recorder,
    report: Any,
    postgres_url: str,
    pauses: tuple[float, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its server refuses everybody, maybe for longer than all tries take; the report is kept."""
    monkeypatch.setattr(writer, "PAUSES", pauses)
    data = report()
    recorder.tick()
    allow = "ALLOW_CONNECTIONS {}".format
    with altered(postgres_url, database, allow("false"), allow("true")) as admin:
        with admin.connect() as connection:
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            connection.exec_driver_sql(query, (database.engine.url.database,))
        recorder.tasks.record_match(data)
    assert the_match(database).status is JobStatus.FIXED


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_only_reads_is_waited_for(
    database: Database,
    recorder: Recorder,
    report: Any,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As while one server takes over from another; connections to the old one are given up."""
    monkeypatch.setattr(writer, "PAUSES", (0.05, 0.1))
    data = report()
    recorder.tick()
    recorder.writer.database.close()
    only_read = "SET default_transaction_read_only = {}".format
    with altered(postgres_url, database, only_read("on"), only_read("off")):
        recorder.tasks.record_match(data)
    assert the_match(database).status is JobStatus.FIXED


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_goes_away_during_a_check_is_waited_for(
    database: Database, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check takes long, so that this is when it happens."""
    monkeypatch.setattr(writer, "PAUSES", (0.05, 0.1))
    simulation = Simulation(database, 0, CALM)
    simulation.furnish([("clobber", {"size": "4x4"})], bots=2)
    ended = []

    def end(*told: Any) -> None:
        # A check has a connection of its own.
        if "FROM entrant" in told[2] and "entered_after" in told[2] and not ended:
            with database.engine.connect() as other:
                query = "SELECT pg_terminate_backend(%s)"
                ended.append(other.exec_driver_sql(query, (told[1].connection.info.backend_pid,)))

    created = datetime.now(UTC) - timedelta(days=9)
    with database.begin() as session:
        session.execute(sa.update(Competition).values(created=created))
    sa.event.listen(sa.Engine, "before_cursor_execute", end)
    try:
        recorder.tick()
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", end)
    assert ended
    with database.read() as session:
        assert session.scalar(sa.select(Competition.checked))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("gone", "stopping"),
    [(["game"], False), (["game", "alembic_version"], True)],
    ids=["of a database that takes others", "when the recorder is to end"],
)
def test_what_fails_is_not_tried_for_ever(
    database: Database,
    recorder: Recorder,
    report: Any,
    gone: list[str],
    stopping: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The recorder gives a message up, and goes on with the next one or ends."""
    monkeypatch.setattr(writer, "PAUSES", (0.01,))
    recorder.writer.is_to_end = stopping
    data = report()
    with database.begin() as session:
        for table in gone:
            session.execute(sa.text(f"ALTER TABLE {table} RENAME TO gone_{table}"))
    with pytest.raises(writer.ProcessEnding if stopping else OperationalError):
        recorder.tasks.record_match(data)
