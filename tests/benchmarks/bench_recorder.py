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

import gc
import json
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Check, Entrant, Meeting
from arena.recorder import recording
from arena.recorder.inbox import TOGETHER
from arena.schedule import allocation, leases
from engine import jobs, reporting
from tests import postgres
from tests.arena.simulator import CALM, Simulation, give_sign, report_of
from tests.benchmarks.table import Table

BOTS, LARGE = 40, 1000
"""How many bots a ladder has; those of a large one met PARTNERS others before."""
PARTNERS = 40
ALONE = 1
KINDS = [
    (ladders, bots, together)
    for ladders, bots in ((1, BOTS), (12, BOTS), (1, LARGE))
    for together in (ALONE, TOGETHER)
]
"""Ladders, bots of each, and results that are taken together."""
SLOTS = 8
MATCH_SECONDS = 0.1
"""How long a match is said to have taken its worker: how many are made at once goes by it."""
SMOKE_SECONDS = 1.0
"""The time below which there is one small ladder."""


@dataclass(slots=True)
class Cost:
    """What matches took, in seconds: of the clock, and of this process's CPU time."""

    matches: int = 0
    recorded: float = 0.0
    made: float = 0.0
    cpu: float = 0.0

    @property
    def whole(self) -> float:
        """A match's, by the clock."""
        return (self.recorded + self.made) / self.matches


def run(seconds: float) -> Table:
    """A row for each database and kind."""
    rows = []
    kinds = KINDS if seconds >= SMOKE_SECONDS else [(1, BOTS, TOGETHER)]
    with databases() as found, loaded():
        for name, open_database in found.items():
            for ladders, bots, together in kinds:
                with open_database() as database:
                    each = seconds / len(found) / len(kinds)
                    cost = measure(database, ladders, each, together, bots)
                rows.append([name, ladders, bots, together, cost.matches, *cells(cost)])
    columns = ["database", "ladders", "bots", "together", "matches", "record", "next matches"]
    return Table(
        "The recorder: ms a match of two games",
        [*columns, "all, CPU", "matches/s"],
        rows,
    )


def cells(cost: Cost) -> list[str]:
    """What each step takes a match, and what that makes in a second."""
    steps = (cost.recorded, cost.made, cost.cpu)
    return [*(f"{1e3 * step / cost.matches:.2f}" for step in steps), f"{1 / cost.whole:,.0f}"]


def best_tenth(stretches: Sequence[Cost]) -> Cost:
    """All of the quickest tenth of the stretches."""
    best = Cost()
    for one in sorted(stretches, key=lambda one: one.whole)[: max(1, len(stretches) // 10)]:
        best.matches += one.matches
        best.recorded += one.recorded
        best.made += one.made
        best.cpu += one.cpu
    return best


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
def loaded() -> Iterator[None]:
    """Has what is there spared the search for garbage, as the recorder does at its start."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def migrated(url: str) -> Iterator[Database]:
    """A database with the schema."""
    database = Database(url)
    database.upgrade()
    yield database
    database.close()


def measure(
    database: Database, ladders: int, seconds: float, together: int = TOGETHER, bots: int = BOTS
) -> Cost:
    """Records matches for so many seconds, which workers of SLOTS slots seem to play.

    Args:
        together: how many results are taken by one transaction, while so many are there.
        bots: of each ladder.

    Returns:
        The cost of the quickest tenth of the stretches, each from where the next matches were
        made to where they are made again: that is seldom, and many at a time.
    """
    arena = Simulation(database, 0, CALM)
    arena.furnish([("clobber", {"size": "6x7"})] * ladders, bots=bots)
    if bots == LARGE:
        let_meet(database)
    # Without the rest of a ladder on which all ratings have converged.
    now, settings = datetime.now(UTC), Settings(trickle_seconds=0)
    with database.begin() as session:
        session.execute(sa.delete(Check))
        give_sign(session, "worker", now, slots=SLOTS)
    with database.begin() as session:
        waiting = deque(chain.from_iterable(allocation.fill(session, settings, now)))
    stretches, cost = list[Cost](), Cost()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or not stretches:
        data = [played(waiting.popleft()) for _ in range(min(together, len(waiting)))]
        now, cpu, began = datetime.now(UTC), time.process_time(), time.perf_counter()
        reports = [reporting.MatchReport.from_json(json.loads(one)) for one in data]
        with database.begin() as session:
            outcomes = recording.take_in(session, reports, settings, now)
            session.flush()  # else the first statement of the next step would write it
            recorded = time.perf_counter()
            issued = allocation.fill(session, settings, now)
        cost.made += time.perf_counter() - recorded
        cost.cpu += time.process_time() - cpu
        cost.recorded += recorded - began
        cost.matches += len(data)
        assert outcomes == [leases.Fate.FIXED] * len(data)
        if issued:
            waiting += chain.from_iterable(issued)
            stretches.append(cost)
            cost = Cost()
    return best_tenth(stretches)


def let_meet(database: Database) -> None:
    """Counts meetings of each bot with PARTNERS others, and games that place them all."""
    with database.begin() as session:
        entrants = session.scalars(sa.select(Entrant).order_by(Entrant.id)).all()
        for place, first in enumerate(entrants):
            first.games = first.draws = PARTNERS
            first.sigma = 2.0
            session.add_all(
                Meeting(
                    first_id=first.id,
                    second_id=second.id,
                    competition_id=first.competition_id,
                    matches=1,
                    games=2,
                )
                for second in entrants[place + 1 : place + 1 + PARTNERS // 2]
            )


def played(job: jobs.Job) -> str:
    """What a worker says of a match."""
    return json.dumps(report_of(job, "worker", MATCH_SECONDS).to_json())
