"""How many results the one recorder takes in a second, on SQLite and on PostgreSQL.

Each is a match of two games of Clobber as its worker's message brings it: it is parsed, every
record is replayed by the rules, the games are stored and the ratings moved; then it is seen
whether matches are to be made, which are then made and issued several at a time; all that in one
transaction. A recorder that is full finds several results waiting and takes them together; one
that is not takes each alone. What is played meanwhile is not counted. PostgreSQL runs as it does
in the tests: it is on the same machine, and waits for no disk. The rate is that of the best tenth
of the time, and by the clock, since a database works in another process.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from arena import recording, scheduling
from arena.config import Settings
from arena.db import Database
from arena.inbox import TOGETHER
from arena.models import Check
from engine import jobs
from engine.match import play_match
from tests import postgres
from tests.arena.simulator import CALM, LotPlayer, Simulation
from tests.benchmarks.table import Table

BOTS = 40
LADDERS = (1, 12)
ALONE = 1
SLOTS = 8
FEWEST = 2
"""Matches at least."""
STRETCH = 20
"""Matches in a row whose mean is taken, since the next ones are not made after each of them."""
SMOKE_SECONDS = 1.0
"""With less time there is one ladder."""


@dataclass(slots=True)
class Cost:
    """What matches took, in seconds: of the clock, and of this process's CPU time."""

    recorded: list[float] = field(default_factory=list)
    made: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def run(seconds: float) -> Table:
    """A row for each database, number of ladders and of results that are taken together."""
    rows = []
    kinds = [(ladders, together) for ladders in LADDERS for together in (ALONE, TOGETHER)]
    if seconds < SMOKE_SECONDS:
        kinds = [(LADDERS[0], TOGETHER)]
    with databases() as found:
        for name, open_database in found.items():
            for ladders, together in kinds:
                with open_database() as database:
                    each = seconds / len(found) / len(kinds)
                    cost = measure(database, ladders, each, together)
                rows.append([name, ladders, together, len(cost.recorded), *cells(cost)])
    columns = ["database", "ladders", "together", "matches", "record", "next matches"]
    return Table(
        f"The recorder: ms a match of two games, ladders of {BOTS} bots",
        [*columns, "all, CPU", "matches/s"],
        rows,
    )


def cells(cost: Cost) -> list[str]:
    """What each step takes in the best tenth of the time, and what that makes in a second."""
    steps = (cost.recorded, cost.made, cost.cpu)
    whole = [recorded + made for recorded, made in zip(cost.recorded, cost.made, strict=True)]
    return [*(f"{1e3 * best_tenth(step):.2f}" for step in steps), f"{1 / best_tenth(whole):,.0f}"]


def best_tenth(times: list[float]) -> float:
    """The mean of the quickest tenth of the stretches."""
    starts = range(0, max(1, len(times) - STRETCH + 1), STRETCH)
    stretches = sorted(mean(times[start : start + STRETCH]) for start in starts)
    return mean(stretches[: max(1, len(stretches) // 10)])


@contextmanager
def databases() -> Iterator[dict[str, Any]]:
    """The ways to open an empty database, by the names of their kinds."""
    with TemporaryDirectory(prefix="arena-bench-") as folder:
        count = iter(range(100))

        @contextmanager
        def sqlite() -> Iterator[Database]:
            with migrated(f"sqlite:///{Path(folder) / f'{next(count)}.db'}") as database:
                yield database

        if postgres.programs() is None:
            yield {"SQLite": sqlite}
            return
        with postgres.running() as url:

            @contextmanager
            def server() -> Iterator[Database]:
                with postgres.database(url) as name, migrated(name) as database:
                    yield database

            yield {"SQLite": sqlite, "PostgreSQL": server}


@contextmanager
def migrated(url: str) -> Iterator[Database]:
    """A database with the schema."""
    database = Database(url)
    database.upgrade()
    yield database
    database.close()


def measure(database: Database, ladders: int, seconds: float, together: int = TOGETHER) -> Cost:
    """Records matches for so many seconds, which workers of SLOTS slots seem to play.

    Args:
        together: how many results are taken by one transaction, while so many are there.
    """
    arena = Simulation(database, 0, CALM)
    arena.furnish([("clobber", {"size": "6x7"})] * ladders, bots=BOTS)
    # Without the rest of a ladder on which all ratings are settled.
    now, settings, cost = datetime.now(UTC), Settings(trickle_seconds=0), Cost()
    sign = jobs.alive("worker", slots=SLOTS, isolation="good", languages=[])
    with database.begin() as session:
        session.execute(sa.delete(Check))
        recording.record_alive(session, sign, now)
    with database.begin() as session:
        waiting = deque(chain.from_iterable(scheduling.fill(session, settings, now)))
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or len(cost.recorded) < FEWEST:
        data = [played(waiting.popleft()) for _ in range(min(together, len(waiting)))]
        cpu, began = time.process_time(), time.perf_counter()
        reports = [jobs.MatchReport.from_json(json.loads(one)) for one in data]
        with database.begin() as session:
            outcomes = recording.take_in(session, reports, settings, now)
            recorded = time.perf_counter()
            issued = scheduling.fill(session, settings, now)
        waiting += chain.from_iterable(issued)
        made = time.perf_counter() - recorded
        count = len(data)
        cost.made += [made / count] * count
        cost.cpu += [(time.process_time() - cpu) / count] * count
        cost.recorded += [(recorded - began) / count] * count
        assert outcomes == [recording.Outcome.FIXED] * count
    return cost


def played(job: jobs.Job) -> str:
    """What a worker says of a match."""
    result = play_match(job.spec, lambda _: LotPlayer())
    return json.dumps(jobs.MatchReport(job.lease, "worker", result.games, result.logs).to_json())
