"""What an arena costs as it grows: in games that were played, in ladders that rest, in bots."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from arena.fake.fill import fill
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    Competition,
    CompetitionState,
    Ladder,
)
from arena.operation.backup import write_backup
from arena.recorder import rebuild
from arena.recorder.process import Recorder
from arena.web.app import create_app
from tests import postgres
from tests.arena.running import broker, short_folder
from tests.benchmarks import bench_matchmaking, bench_pages
from tests.scale.figures import Figures
from tests.scale.stand import Stand, at_work

PAGES = ("front", "leaderboard", "game")
BOTS, LADDERS = 1000, 20
"""Of a made-up past."""
LENGTH, WORKERS, WARM_SECONDS = 2.0, 20, 8.0
"""Workers that play on beside a past, how long a match takes them, and until they are in full
swing."""
PLAYED_ON = ("blocco", "clobber", "oxoxo")
"""Games that are played quickly when they are played by lot."""
TIMES = 9
LADDER = "/ladders/ladder-1"
DAY = 86400.0


@contextmanager
def _server(base: Path) -> Iterator[str]:
    """A PostgreSQL on a disk, for which it does not wait: pasts may be larger than memory."""
    with tempfile.TemporaryDirectory(dir=base) as place:
        Path(place).chmod(0o755)
        with postgres.running("max_wal_size=4GB", "shared_buffers=256MB", base=Path(place)) as url:
            yield url


def games(sizes: Sequence[int], seconds: float, base: Path) -> Iterator[tuple[str, Figures]]:
    """A made-up past of so many games: pages, ticks, checks, backups, and what a result costs.

    Args:
        seconds: for how long results are recorded beside it.
        base: a folder on a disk with room for all.
    """
    with _server(base) as server:
        for size in sizes:
            with postgres.database(server) as url, closing(Database(url)) as database:
                yield f"{size:,} games", _past(database, size, seconds, base)


def _past(database: Database, size: int, seconds: float, base: Path) -> Figures:
    database.upgrade()
    empty, began = _bytes(database), time.process_time()
    made = fill(database, bots=BOTS, ladders=LADDERS, games=size, seed=1, now=datetime.now(UTC))
    filled = time.process_time() - began
    _tidy(database)
    found = {
        "fill ms/game": 1e3 * filled / made,
        "database B/game": (_bytes(database) - empty) / made,
        **_pages(database),
        **_tick(database),
        **_check(database, made),
        **_backup(database, made, base),
    }
    return {**found, **_played_on(database, seconds)}


def _bytes(database: Database) -> int:
    with database.read() as session:
        return session.scalar(sa.text("SELECT pg_database_size(current_database())")) or 0


def _tidy(database: Database) -> None:
    """What would be done soon by itself, and is measured for itself."""
    with database.begin() as session:
        session.execute(sa.update(Competition).values(checked=datetime.now(UTC)))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for words in bench_pages.TIDY:
            connection.execute(sa.text(words))


def _pages(database: Database) -> Figures:
    """CPU time of the page's process, without the database's."""
    took = bench_pages.measure(database, 0)
    found = {f"{name} ms": median(took[name].cpu_ms) for name in PAGES}
    app = create_app(Settings(database=database.url))
    client, times = app.test_client(), []
    try:
        for _ in range(TIMES):
            began = time.process_time()
            assert client.get("/metrics").status_code == 200
            times.append(1e3 * (time.process_time() - began))
    finally:
        app.extensions["arena.database"].close()
    return {**found, "/metrics ms": median(times)}


def _tick(database: Database) -> Figures:
    """Ticks in which nothing is to do, and each fifth, which sees to what may wait: their CPU time
    in the recorder."""
    times: dict[bool, list[float]] = {False: [], True: []}
    with broker() as queue:
        recorder = Recorder(Settings(database=database.url, broker=queue.url, check_seconds=DAY))
        try:
            recorder.take_over()
            for whole in (True, False) * TIMES:
                began = time.process_time()
                recorder.tick(whole=whole)
                times[whole].append(1e3 * (time.process_time() - began))
        finally:
            recorder.close()
    return {"empty tick ms": median(times[False]), "each fifth ms": median(times[True])}


def _check(database: Database, made: int) -> Figures:
    """What `arena ratings rebuild --check` does."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    with database.read() as session:
        for ladder in session.scalars(sa.select(Ladder).order_by(Ladder.id)).all():
            found = rebuild.rebuild(session, ladder, write=False)
            assert found.equal, found.differences[:3]
    took = time.process_time() - cpu
    return {"check s": time.perf_counter() - wall, "check ms CPU/game": 1e3 * took / made}


def _backup(database: Database, made: int, base: Path) -> Figures:
    with tempfile.TemporaryDirectory(dir=base) as place:
        file = Path(place, "backup.tar")
        settings = Settings(data=Path(place), database=database.url)
        wall, cpu = time.perf_counter(), time.process_time()
        write_backup(database, settings, file, lambda _: None)
        took, size = time.process_time() - cpu, file.stat().st_size
    return {
        "backup s": time.perf_counter() - wall,
        "backup ms CPU/game": 1e3 * took / made,
        "backup B/game": size / made,
    }


def _played_on(database: Database, seconds: float) -> Figures:
    """What a result costs as workers play on, on the ladders whose games are played quickly."""
    with database.begin() as session:
        session.execute(
            sa.update(Competition)
            .where(Competition.game.in_(PLAYED_ON))
            .values(state=CompetitionState.OPEN)
        )
    with ExitStack() as ends:
        folder, queue = ends.enter_context(short_folder()), ends.enter_context(broker())
        stand = ends.enter_context(Stand(folder, database.url, queue.url))
        _, observer = ends.enter_context(at_work(stand, WORKERS, LENGTH))
        observer.await_results(WARM_SECONDS)
        found = observer.measure(seconds)
    return {
        "fixed/s": found.fixed / found.seconds,
        "recorder ms/result": found.cpu_ms("recorder 1"),
        "database ms/result": found.cpu_ms("database"),
        "others ms/result": found.cpu_ms("others"),
    }


def ladders(sizes: Sequence[int], seconds: float, base: Path) -> Iterator[tuple[str, Figures]]:
    """So many ladders that rest: a tick, /metrics and the front page."""
    with _server(base) as server:
        for size in sizes:
            with postgres.database(server) as url, broker() as queue:
                bench_matchmaking.in_process(bench_matchmaking.furnish_resting, url, size)
                settings = Settings(database=url, broker=queue.url, check_seconds=DAY)
                found = {}
                for what, measure in (
                    ("empty tick ms", partial(bench_matchmaking.measure_ticks, False)),
                    ("each fifth ms", partial(bench_matchmaking.measure_ticks, True)),
                    ("/metrics ms", partial(bench_matchmaking.measure_page, "/metrics")),
                    ("front ms", partial(bench_matchmaking.measure_page, "/")),
                    ("ladder page ms", partial(bench_matchmaking.measure_page, LADDER)),
                ):
                    cells = bench_matchmaking.in_process(measure, settings, seconds)
                    found[what] = _number(cells[1])
                yield f"{size:,} ladders at rest", found


def bots(sizes: Sequence[int], seconds: float, base: Path) -> Iterator[tuple[str, Figures]]:
    """A ladder of so many bots, of whom some pairs have met: 16 matches made and issued at once."""
    with _server(base) as server:
        for size in sizes:
            for pairs in (size * 4, size * 200):
                if pairs > size * (size - 1) // 2:
                    continue
                with postgres.database(server) as url:
                    bench_matchmaking.in_process(bench_matchmaking.furnish_field, url, size, pairs)
                    measure = bench_matchmaking.measure_batches
                    first, then, _, _, mib = bench_matchmaking.in_process(measure, url, seconds)
                    yield (
                        f"{size:,} bots, {pairs:,} pairs met",
                        {"16 matches ms": _number(then), "first ms": _number(first),
                         "MiB": _number(mib)},
                    )  # fmt: skip


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))
