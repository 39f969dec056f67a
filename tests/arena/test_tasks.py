"""The recorder's tasks: whatever a message says, nothing is lost in silence or tried for ever."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy as sa

from arena import scheduling
from arena.config import Settings
from arena.db import Database
from arena.models import JobStatus, Match
from engine import jobs
from engine.match import play_match
from tests.arena.simulator import CALM, LotPlayer, Simulation


@pytest.fixture
def recorder(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of the recorder's tasks, as a recorder on this database has it."""
    monkeypatch.setenv("ARENA_DATABASE", database.url)
    spec = find_spec("arena.tasks")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    module.database().close()


@pytest.fixture
def report(database: Database) -> Iterator[Any]:
    """Issues the next match anew, and gives what its worker says of it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x4"})], bots=2)

    def next_report() -> dict[str, Any]:
        now = datetime.now(UTC)
        with database.begin() as session:
            match = session.scalar(sa.select(Match)) or scheduling.make_match(session, now)
            assert match is not None
            job = scheduling.issue(session, match, Settings(), now)
        result = play_match(job.spec, lambda _: LotPlayer())
        told = jobs.MatchReport(job.lease, "worker", result.games, result.logs)
        return json.loads(json.dumps(told.to_json()))

    return next_report


def the_match(database: Database) -> Match:
    with database.read() as session:
        return session.scalars(sa.select(Match)).one()


def test_a_report_is_recorded_once(database: Database, recorder: ModuleType, report: Any) -> None:
    """The same message again changes nothing."""
    data = report()
    for _ in range(2):
        recorder.record_match(data)
        assert the_match(database).status is JobStatus.FIXED
        assert the_match(database).attempt == 1


def half_a_character(data: dict[str, Any]) -> None:
    """No database keeps that, and no rule of the game refutes it."""
    data["logs"][0][0] = "\ud800"


def no_games(data: dict[str, Any]) -> None:
    data["games"] = []


def games_of_another_kind(data: dict[str, Any]) -> None:
    data["games"] = 7


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (half_a_character, "it could not be recorded: .*surrogates"),
        (no_games, "0 games were reported of a match of 2"),
        (games_of_another_kind, "no report of a match"),
    ],
)
def test_a_spoilt_report_brings_its_match_back(
    database: Database, recorder: ModuleType, report: Any, spoil: Any, words: str
) -> None:
    """At once and with the reason; the third time the match is set aside for the operator."""
    for failures in (1, 2, 3):
        data = report()
        spoil(data)
        for _ in range(2):
            recorder.record_match(data)
            match = the_match(database)
            assert match.failures == failures
            assert match.status is (JobStatus.SET_ASIDE if failures == 3 else JobStatus.OPEN)
            assert re.search(words, match.problem)


@pytest.mark.parametrize("data", [{}, {"lease": None}, {"lease": {"kind": "match"}}, [], None, "x"])
def test_what_is_no_message_is_dropped(
    recorder: ModuleType, data: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """With a line in the log."""
    recorder.record_match(data)
    assert "a message without a lease was dropped" in caplog.text


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_is_away_is_waited_for(
    database: Database, recorder: ModuleType, report: Any, postgres_url: str
) -> None:
    """Its server refuses everybody for a moment; the report is recorded all the same."""
    data = report()
    recorder.tick()
    name = database.engine.url.database
    admin = sa.create_engine(postgres_url, isolation_level="AUTOCOMMIT")

    def allow(allowed: str) -> None:
        with admin.connect() as connection:
            connection.exec_driver_sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS {allowed}")

    allow("false")
    with admin.connect() as connection:
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        connection.exec_driver_sql(query, (name,))
    later = threading.Timer(0.5, allow, ["true"])
    later.start()
    try:
        recorder.record_match(data)
    finally:
        later.join()
        admin.dispose()
    assert the_match(database).status is JobStatus.FIXED
