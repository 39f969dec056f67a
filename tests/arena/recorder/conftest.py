"""A recorder on a real database and a real broker, and what workers tell it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
import redis
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Competition, Match
from arena.recorder import inbox
from arena.recorder.process import Recorder
from arena.schedule import matchmaking
from engine import jobs
from tests.arena import running
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, Simulation, give_sign, report_of


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    """The address of a broker."""
    with running.broker() as embedded:
        yield embedded.url


@pytest.fixture
def queue(broker: str) -> Iterator[redis.Redis]:
    """What is in the broker: nothing yet."""
    with redis.Redis(unix_socket_path=broker.removeprefix("redis+socket://")) as client:
        client.flushall()
        yield client


@pytest.fixture
def recorder(
    database: Database, broker: str, queue: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Recorder]:
    """A recorder on this database."""
    monkeypatch.setattr(inbox, "PACE_SECONDS", 0.05)
    made = Recorder(Settings(database=database.url, broker=broker))
    yield made
    made.close()


@pytest.fixture
def report(database: Database) -> Iterator[Any]:
    """Issues the next match anew, and gives what its worker says of it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x4"})], bots=2)
    with database.begin() as session:
        give_sign(session, "worker", datetime.now(UTC), slots=0)

    def next_report() -> dict[str, Any]:
        now = datetime.now(UTC) - AGO
        with database.begin() as session:
            match = session.scalar(sa.select(Match)) or next(
                matchmaking.new_matches(session, now), None
            )
            assert match is not None
            return played(issued(session, match, Settings(), now))

    return next_report


@pytest.fixture
def reports(database: Database, report: Any) -> list[dict[str, Any]]:
    """What is said of several matches."""
    now = datetime.now(UTC)
    with database.begin() as session:
        made = islice(matchmaking.new_matches(session, now), SEVERAL)
        return [played(issued(session, match, Settings(), now)) for match in made]


def played(job: jobs.AnyJob) -> dict[str, Any]:
    """What the worker says of a match."""
    return json.loads(json.dumps(report_of(job, "worker", MATCH_SECONDS).to_json()))


SEVERAL, MATCH_SECONDS = 6, 1.25
AGO = timedelta(seconds=10)
"""Since then a match is under way."""


def the_match(database: Database) -> Match:
    with database.read() as session:
        return session.scalars(sa.select(Match)).one()


def worker_seconds(database: Database) -> float:
    with database.read() as session:
        return sum(session.scalars(sa.select(Competition.worker_seconds)))
