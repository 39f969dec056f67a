"""Indexes that a database has lost are found, told, and made anew by the next start."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest
import sqlalchemy as sa

from arena.cli import prepare
from arena.ground.db import Database, SchemaError
from arena.models import JobStatus
from arena.operation import indexes
from arena.schedule.matchmaking import new_matches
from tests.arena.simulator import CALM, Simulation

SEQ = "uq_match_seq"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def without(database: Database, index: str) -> None:
    """Takes an index away, as no program of the arena does."""
    with database.begin() as session:
        if index != SEQ:
            session.execute(sa.text(f"DROP INDEX {index}"))
        elif session.get_bind().dialect.name == "postgresql":
            session.execute(sa.text(f"ALTER TABLE match DROP CONSTRAINT {SEQ}"))
        else:
            # SQLite drops no constraint: the table is made anew, as by somebody who copies it.
            (text,) = session.scalars(
                sa.text("SELECT sql FROM sqlite_master WHERE name = 'match' AND type = 'table'")
            )
            lines = [line for line in text.splitlines() if SEQ not in line]
            assert len(lines) < len(text.splitlines())
            made = "\n".join(lines).replace(", \n)", "\n)").replace(",\n)", "\n)")
            session.execute(sa.text("PRAGMA writable_schema = ON"))
            session.execute(
                sa.text("UPDATE sqlite_master SET sql = :made WHERE name = 'match'"), {"made": made}
            )
            session.execute(
                sa.text("DELETE FROM sqlite_master WHERE name LIKE 'sqlite_autoindex_match_%'")
            )
    database.close()


def names(database: Database) -> list[str]:
    with database.read() as session:
        return [str(index.name) for index in indexes.lost(session.connection())]


def test_a_database_of_ours_has_lost_nothing(database: Database) -> None:
    assert names(database) == []
    assert indexes.words([]) == ""


@pytest.mark.parametrize("index", ["ix_match_status_id", "ix_sitting_guest_id", SEQ])
def test_what_is_lost_is_made_anew(
    database: Database, index: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`arena run prepare` makes it, and says so."""
    without(database, index)
    assert names(database) == [index]
    with database.read() as session:
        assert index in indexes.words(indexes.lost(session.connection()))
    prepare._make_lost_indexes(database)
    assert f"had lost {index}, which was made anew" in capsys.readouterr().out
    assert names(database) == []


def test_what_was_doubled_meanwhile_is_told(database: Database) -> None:
    """No index can be made over it, and nothing is mended by guesses."""
    without(database, SEQ)
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with database.begin() as session:
        for match in islice(new_matches(session, NOW), 2):
            match.status, match.seq, match.fixed = JobStatus.FIXED, 7, NOW
    with pytest.raises(SchemaError, match="has lost a constraint, and holds rows since then"):
        prepare._make_lost_indexes(database)
