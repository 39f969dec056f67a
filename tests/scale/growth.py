"""What an arena costs as it grows: in games that were played, in ladders that rest, in bots."""

from __future__ import annotations

import gc
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from arena.fake.fill import fill
from arena.fake.season import DAYS
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    Checkpoint,
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
from tests.benchmarks import bench_lists, bench_matchmaking, bench_pages
from tests.scale import counting
from tests.scale.figures import Figures
from tests.scale.generations import play_again
from tests.scale.stand import Stand, at_work

PAGES = ("front", "leaderboard", "game")
BOTS, LADDERS = 1000, 20
"""How many bots and ladders a made-up past has."""
FIRST = 100_000
"""Games of a past up to which all are made up; a longer one is so many played again and again."""
BACKUP = "backup.tar"
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
    made = make_past(database, size)
    filled = time.process_time() - began
    _tidy(database)
    found = {
        "games": made,
        "fill ms/game": 1e3 * filled / made,
        "database B/game": (_bytes(database) - empty) / made,
        **_pages(database),
        **_lists(database),
        **_tick(database),
        **_check(database, made),
        **_daily_check(database),
    }
    with tempfile.TemporaryDirectory(dir=base) as place:
        found |= _backup(database, Path(place), made)
        found |= _played_on(database, seconds)
        found |= _increment(database, Path(place))
    return found


def make_past(database: Database, size: int) -> int:
    """Makes up a past of at least so many games; gives how many there are."""
    times = max(1, round(size / FIRST))
    span, now = timedelta(days=DAYS / times), datetime.now(UTC)
    made = fill(
        database, bots=BOTS, ladders=LADDERS, games=math.ceil(size / times), seed=1,
        now=now - (times - 1) * span, days=DAYS / times,
    )  # fmt: skip
    if times > 1:
        play_again(database, times, span)
    with database.read() as session:
        all_ladders = session.scalars(sa.select(Ladder)).all()
        of_two = [ladder.id for ladder in all_ladders if ladder.variant.seats == 2]
        wrong = counting.problems(session.connection(), of_two, rated=size <= FIRST)
    assert not wrong, wrong[:5]
    return made * times


def _bytes(database: Database) -> int:
    with database.read() as session:
        return session.scalar(sa.text("SELECT pg_database_size(current_database())")) or 0


def _tidy(database: Database) -> None:
    """What would be done soon by itself, and is measured for itself."""
    _see_checked(database)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for words in bench_pages.TIDY:
            connection.execute(sa.text(words))


def _see_checked(database: Database) -> None:
    with database.begin() as session:
        session.execute(sa.update(Competition).values(checked=datetime.now(UTC)))


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


def _lists(database: Database) -> Figures:
    """Finding a page of games by each filter: CPU time with the database's."""
    took = {words: median(one.cpu_ms) for words, one in bench_lists.measure(database, 0).items()}
    return {"a list ms": median(took.values()), "the longest list ms": max(took.values())}


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


def _daily_check(database: Database) -> Figures:
    """What the recorder does of itself each day, when it has done so before: its CPU time, and the
    longest part, in which it takes no results."""
    now, times = datetime.now(UTC), list[float]()
    for day in (2, 4):
        upkeep, times = rebuild.Upkeep(DAY), []
        is_over = False
        while not is_over:
            cpu = time.process_time()
            found = upkeep.go_on(database, now + timedelta(days=day))
            assert found is None or found.equal
            times.append(time.process_time() - cpu)
            is_over = not (found or upkeep.is_at_work)
    with database.read() as session:
        kept = session.scalar(sa.select(sa.func.sum(sa.func.length(Checkpoint.state))))
    _see_checked(database)
    return {
        "daily check s CPU": sum(times),
        "its longest part ms": 1e3 * max(times),
        "checkpoints MB": (kept or 0) / 1e6,
    }


def _backup(database: Database, place: Path, made: int) -> Figures:
    took, size, wall = _write_backup(database, place, BACKUP, None)
    return {
        "backup s": wall,
        "backup ms CPU/game": 1e3 * took / made,
        "backup B/game": size / made,
    }


def _increment(database: Database, place: Path) -> Figures:
    """A backup that leaves out what the one before has, some results later."""
    took, size, _ = _write_backup(database, place, "increment.tar", place / BACKUP)
    return {"increment s CPU": took, "increment MB": size / 1e6}


def _write_backup(
    database: Database, place: Path, name: str, since: Path | None
) -> tuple[float, int, float]:
    """CPU time in seconds, bytes, and seconds."""
    settings = Settings(data=place, database=database.url)
    wall, cpu = time.perf_counter(), time.process_time()
    write_backup(database, settings, place / name, lambda _: None, since=since)
    took = time.process_time() - cpu
    return took, (place / name).stat().st_size, time.perf_counter() - wall


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
