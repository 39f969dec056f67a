"""What an arena gets done for so many workers, on a PostgreSQL that waits for its disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import sqlalchemy as sa

from arena.ground.db import Database
from tests import postgres
from tests.arena.running import broker, short_folder
from tests.scale import counting
from tests.scale.figures import Figures
from tests.scale.stand import Stand, at_work, furnish

LADDERS, BOTS = 12, 40
"""Ladders of a thousand workers, and bots of each."""
WARM_SECONDS = 4.0
"""How long it takes until all have said that they are there."""


def measure(
    cases: Sequence[tuple[int, float]], seconds: float, base: Path, recorders: Sequence[int] = (1,)
) -> Iterator[tuple[str, Figures]]:
    """A line for each case, and what was measured in it; at last all is counted by SQL.

    Args:
        cases: how many workers there are, and how many seconds a match takes them.
        seconds: for how long each is measured, once about as many matches end as begin; at least
            for two matches, as those of all begin together.
        base: a folder on a disk.
        recorders: how many there are in turn.
    """
    with ExitStack() as ends:
        base = Path(ends.enter_context(tempfile.TemporaryDirectory(dir=base)))
        base.chmod(0o755)
        server = ends.enter_context(postgres.running(*postgres.SAFE, base=base))
        template = postgres.create(server)
        database = Database(template)
        database.upgrade()
        furnish(database, ladders=LADDERS, bots=BOTS)
        database.close()
        like = str(sa.make_url(template).database)
        for workers, length in cases:
            for count in recorders:
                many = f", {count} recorders" if count > 1 else ""
                name = f"{workers:,} workers, {length:g} s a match{many}"
                yield name, _measure(server, like, workers, length, seconds, count)


def _measure(
    server: str, like: str, workers: int, length: float, seconds: float, recorders: int
) -> Figures:
    with (
        postgres.database(server, like=like) as url,
        broker() as queue,
        short_folder() as folder,
        Stand(folder, url, queue.url) as stand,
    ):
        with at_work(stand, workers, length, recorders=recorders) as (_, observer):
            observer.await_results(1.3 * length + WARM_SECONDS)
            found = observer.measure(max(seconds, 2 * length))
        for name in list(stand.processes):
            stand.end(name)
        with stand.database.engine.connect() as connection:
            wrong = counting.problems(connection)
            attempts = counting.attempts(connection)
        assert not wrong, wrong[:5]
        cpu = sum(spent for name, spent in found.cpu.items() if name.startswith("recorder"))
        return {
            "wanted/s": workers / length,
            "issued/s": found.issued / found.seconds,
            "fixed/s": found.fixed / found.seconds,
            "lag p50 s": found.lag(50),
            "lag p95 s": found.lag(95),
            "tick late s": found.late,
            "attempts": attempts,
            "waiting": max(found.waiting, default=0),
            "broker MiB": found.memory / 2**20,
            "recorder ms": 1e3 * cpu / max(1, found.fixed),
            "database ms": found.cpu_ms("database"),
            "broker ms": found.cpu_ms("broker"),
            "others ms": found.cpu_ms("others"),
            "recorder %": 100 * cpu / found.seconds,
            "workers %": 100 * found.cpu["workers"] / found.seconds,
        }
