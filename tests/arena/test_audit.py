"""The audit log: what was done is found again, newest first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena import audit
from arena.audit import ARENA, Actor
from arena.ground.db import Database

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADA = Actor(None, "ada", "192.0.2.7")


@pytest.fixture
def noted(database: Database) -> Database:
    """Three deeds of two actors."""
    with database.begin() as session:
        audit.note(session, ADA, "enter", "bot greedy", "version 2", now=NOW)
        audit.note(session, ADA, "sign in", "user ada", now=NOW)
        audit.note(session, ARENA, "enter", "bot random", now=NOW)
    return database


@pytest.mark.parametrize(
    ("wanted", "subjects"),
    [
        ({}, ["bot random", "user ada", "bot greedy"]),
        ({"count": 1}, ["bot random"]),
        ({"actor": "ada"}, ["user ada", "bot greedy"]),
        ({"action": "enter"}, ["bot random", "bot greedy"]),
        ({"subject": "user ada"}, ["user ada"]),
        ({"actor": "ada", "action": "enter"}, ["bot greedy"]),
        ({"actor": "nobody"}, []),
    ],
    ids=str,
)
def test_entries_are_found(noted: Database, wanted: dict, subjects: list[str]) -> None:
    """The newest first, only those that were asked for."""
    with noted.read() as session:
        assert [entry.subject for entry in audit.entries(session, **wanted)] == subjects


def test_older_entries_follow_on_the_next_page(noted: Database) -> None:
    """What comes before an entry is what its page ended with."""
    with noted.read() as session:
        (newest,) = audit.entries(session, count=1)
        older = audit.entries(session, before=newest.id)
        assert [entry.subject for entry in older] == ["user ada", "bot greedy"]


def test_an_entry_says_who_did_what_when_on_what_from_where(noted: Database) -> None:
    """All of it, as JSON too."""
    with noted.read() as session:
        entry = audit.entries(session)[-1]
        assert audit.as_json(entry) == {
            "id": entry.id,
            "at": "2026-03-01T12:00:00+00:00",
            "actor": "ada",
            "origin": "192.0.2.7",
            "action": "enter",
            "subject": "bot greedy",
            "detail": "version 2",
        }


def test_a_deed_that_fails_leaves_no_note(database: Database) -> None:
    """The note is part of the deed's transaction."""

    def fail() -> None:
        with database.begin() as session:
            audit.note(session, ADA, "void match", "match 1", now=NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.read() as session:
        assert audit.entries(session) == []


def test_what_is_too_long_is_cut(database: Database) -> None:
    """A long name breaks no deed; no column takes more than it says."""
    long = "x" * 5000
    with database.begin() as session:
        audit.note(session, Actor(None, long, long), long, long, long, now=NOW)
    with database.read() as session:
        (entry,) = audit.entries(session)
        said = [entry.actor, entry.origin, entry.action, entry.subject, entry.detail]
        assert [len(one) for one in said] == [40, 60, 60, 120, 2000]
        assert all(one.endswith("x\N{HORIZONTAL ELLIPSIS}") for one in said)
        assert audit.entries(session, subject=long) == [entry]
