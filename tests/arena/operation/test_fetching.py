"""The recorder has repositories asked by a process of their own, and waits for nothing of it."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

import pytest

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, Repository, User
from arena.operation import fetching, processes
from arena.operation.fetching import Fetches
from tests.arena.running import until

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def due(database: Database) -> Database:
    """One in which a repository is due."""
    with database.begin() as session:
        owner = User(name="ada", created=NOW)
        bot = Bot(name="mybot", owner=owner, created=NOW)
        session.add(bot)
        session.flush()
        its = {"address": "https://git.example.org/x", "ladders": []}
        session.add(Repository(bot_id=bot.id, user_id=owner.id, due=NOW, **its))
    return database


def test_what_becomes_of_the_process(
    due: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is started once, begun again only later when it failed, ended when it hangs, and never
    waited for."""
    fetches, words = Fetches(Settings()), "import time; time.sleep(30)"
    monkeypatch.setattr(processes, "fetch", lambda: [sys.executable, "-S", "-c", words])

    def look() -> int | None:
        """Looks once, and tells which process there is then."""
        began = time.monotonic()
        with due.begin() as session:
            fetches.look(session, NOW)
        assert time.monotonic() - began < 5
        return fetches.process and fetches.process.pid

    try:
        first = look()
        assert first is not None
        assert look() == first
        monkeypatch.setattr(fetching, "LONGEST_SECONDS", 0.0)
        second = look()
        assert second not in (None, first), "it hung, and another is begun"
        assert "hangs" in caplog.text
        words = "raise SystemExit(3)"
        third = look()
        until(lambda: look() is None, "the end of one that fails")
        assert third is not None
        assert "ended (exit 3)" in caplog.text
        assert look() is None, "not at once again"
    finally:
        fetches.end()
    assert fetches.process is None
