"""What it costs to find who meets next on a large ladder, and beside many ladders that rest.

A ladder of BOTS bots of as many people, all known well but some, of whom pairs have met as many as
a row says, makes and issues 16 matches, again and again; between them those are recorded as the
recorder does it, which is not counted. Beside that, RESTING ladders of which every rating is
converged cost a tick of the recorder, /metrics and the front page. Everything is filled by SQL and
measured in a process of its own: its CPU time, and what the largest of it held beyond what it began
with. A PostgreSQL's own CPU time is not in it.
"""

from __future__ import annotations

import gc
import multiprocessing
import resource
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.rosters import Rosters
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Mark,
    Match,
    Meeting,
    Place,
    User,
    VersionStatus,
)
from arena.operation import health
from arena.recorder import recording
from arena.recorder.process import Recorder
from arena.schedule import allocation, leases
from arena.web.app import create_app
from tests import postgres
from tests.arena.running import broker
from tests.arena.simulator import give_sign, report_of
from tests.benchmarks.table import Table

SLOTS = 8
"""How many slots the workers have: 16 matches are made at once for them."""
FIELDS = ((1_000, 40_000), (10_000, 28_000), (10_000, 400_000), (10_000, 2_000_000))
"""Bots of a ladder, and about how many pairs of them have met."""
RESTING = (100, 1_000)
BOTS_OF_EACH = 4
LATELY = 2_200
"""Matches that were played last on a ladder, by which people take turns."""
LEAST = 4
"""How often each step is taken at least."""
SMOKE_SECONDS = 1.0
"""The time below which all is small."""


def run(seconds: float) -> Table:
    """A row for each size and database."""
    is_small = seconds < SMOKE_SECONDS
    fields = ((20, 40),) if is_small else FIELDS
    resting = (3,) if is_small else RESTING
    share = seconds / 2 / (len(fields) + 3 * len(resting))
    rows: list[list[str]] = []
    with databases() as found:
        for name, fresh in found:
            for bots, pairs in fields:
                with fresh() as url:
                    in_process(furnish_field, url, bots, pairs)
                    what = f"{bots:,} bots, {pairs:,} pairs met: 16 matches"
                    rows.append([f"{name}, {what}", *in_process(measure_batches, url, share)])
            for ladders in resting:
                with fresh() as url, broker() as its_broker:
                    in_process(furnish_resting, url, ladders)
                    for what, measure in (
                        ("a tick", partial(measure_ticks, False)),
                        ("each fifth tick", partial(measure_ticks, True)),
                        ("/metrics", partial(measure_page, "/metrics")),
                        ("front page", partial(measure_page, "/")),
                    ):
                        settings = Settings(database=url, broker=its_broker.url, check_seconds=1e9)
                        cells = in_process(measure, settings, share)
                        rows.append([f"{name}, {ladders:,} ladders at rest: {what}", *cells])
    columns = ("what", "first, CPU ms", "then, CPU ms", "least", "times", "MiB")
    return Table("Who meets next", columns, rows)


@contextmanager
def databases() -> Iterator[list[tuple[str, Callable[[], Any]]]]:
    """The ways to open an empty database, by the names of their kinds."""
    with TemporaryDirectory(prefix="arena-bench-") as folder:

        @contextmanager
        def sqlite() -> Iterator[str]:
            file = Path(folder, "arena.db")
            yield f"sqlite:///{file}"
            for one in file.parent.glob("arena.db*"):
                one.unlink()

        if postgres.programs() is None:
            yield [("SQLite", sqlite)]
            return
        with postgres.running() as url:
            yield [("SQLite", sqlite), ("PostgreSQL", partial(postgres.database, url))]


def in_process(do: Callable[..., Any], *args: Any) -> Any:
    """What something gives in a process of its own, whose memory is nobody else's."""
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        return pool.apply(do, args)


class NothingLeft(Exception):
    """A step has not what it takes to be like those before."""


def measured(step: Callable[[], None], seconds: float, between: Callable[[], None]) -> list[str]:
    """What a step costs at first, and then: for so long, or until nothing is left for one.

    Raises:
        NothingLeft: of the first few steps.
    """
    gc.collect()
    gc.freeze()
    before = psutil.Process().memory_info().rss
    took: list[float] = []
    deadline = time.monotonic() + seconds
    while len(took) < LEAST or time.monotonic() < deadline:
        between()
        cpu = time.process_time()
        try:
            step()
        except NothingLeft:
            if len(took) < LEAST:
                raise
            break
        took.append(1e3 * (time.process_time() - cpu))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    first, *then = took
    cells = (f"{first:,.1f}", f"{median(then):,.1f}", f"{min(then):,.1f}", f"{len(then)}")
    return [*cells, f"{max(0, most - before) / 2**20:,.0f}"]


def measure_batches(url: str, seconds: float) -> list[str]:
    """16 matches made and issued at once, each time after 16 that were made before are recorded."""
    settings, rosters = Settings(database=url), Rosters()
    with closing(Database(url)) as database:
        waiting: deque[Any] = deque()

        def record() -> None:
            now = datetime.now(UTC)
            reports = [report_of(waiting.popleft(), "worker", 10.0) for _ in range(len(waiting))]
            with database.begin() as session:
                fates = recording.take_in(session, reports, settings, now)
                give_sign(session, "worker", now, slots=SLOTS)
            assert set(fates) <= {leases.Fate.FIXED}

        def make() -> None:
            with database.begin() as session:
                issued = allocation.fill(session, settings, datetime.now(UTC), rosters)
            waiting.extend(chain.from_iterable(issued))
            if len(waiting) < 2 * SLOTS:
                raise NothingLeft("fewer bots are unsure than can be kept busy")

        return measured(make, seconds, record)


def measure_ticks(whole: bool, settings: Settings, seconds: float) -> list[str]:
    """Ticks of a recorder in which nothing is to do.

    Args:
        whole: whether they see to what may wait, too.
    """
    recorder = Recorder(settings)
    recorder.take_over()
    database = recorder.writer.database

    def sign() -> None:
        recorder.tasks.turn()  # all that was said is heard
        with database.begin() as session:
            give_sign(session, "worker", datetime.now(UTC), slots=SLOTS)

    try:
        cells = measured(partial(recorder.tick, whole=whole), seconds, sign)
        with database.read() as session:
            assert not session.scalar(sa.select(sa.func.count()).select_from(Match))
    finally:
        recorder.close()
    return cells


def measure_page(path: str, settings: Settings, seconds: float) -> list[str]:
    """A page as this machine's browser gets it."""
    app = create_app(settings)
    client = app.test_client()

    def get() -> None:
        assert client.get(path).status_code == 200

    try:
        return measured(get, seconds, lambda: None)
    finally:
        app.extensions["arena.database"].close()


def furnish_field(url: str, bots: int, pairs: int) -> None:
    """A ladder of so many bots, of which about so many pairs have met."""
    with closing(Database(url)) as database:
        database.upgrade()
        now = datetime.now(UTC)
        with database.begin() as session:
            _people_with_bots(session, bots, now)
            _ladders(session, 1, now, last_match=now - timedelta(days=1))
            _entrants(session, bots, 1, now, converged=False)
            each = min(bots - 1, max(1, pairs // bots))
            first, second = sa.orm.aliased(Entrant), sa.orm.aliased(Entrant)
            met = sa.select(
                first.id, second.id, first.competition_id, *map(sa.literal, (1, 2, 1, 0))
            ).join(second, second.id.between(first.id + 1, first.id + each))
            columns = ["first_id", "second_id", "competition_id", "matches", "games", "wins"]
            session.execute(sa.insert(Meeting).from_select([*columns, "draws"], met))
            _matches_played(session, bots, now)
        _tidy(database)


def furnish_resting(url: str, ladders: int) -> None:
    """So many ladders of which all is known well, each with a few bots of its own."""
    with closing(Database(url)) as database:
        database.upgrade()
        now = datetime.now(UTC)
        with database.begin() as session:
            _people_with_bots(session, BOTS_OF_EACH, now)
            _ladders(session, ladders, now, last_match=now)
            # Nothing was played for long, so that it is asked of each whether that is an alarm.
            for mark, moment in (
                (health.SINCE_MARK, now - timedelta(days=1)),
                (health.TICK_MARK, now),
            ):
                session.add(Mark(key=mark, value=moment.isoformat()))
            _entrants(session, BOTS_OF_EACH, ladders, now, converged=True)
        _tidy(database)


def _people_with_bots(session: Session, bots: int, now: datetime) -> None:
    """So many people, each with a bot of one version; the ids are from 1."""
    numbers = range(1, bots + 1)
    session.execute(
        sa.insert(User), [{"id": n, "name": f"person-{n}", "created": now} for n in numbers]
    )
    session.execute(
        sa.insert(Bot),
        [{"id": n, "name": f"bot-{n}", "owner_id": n, "created": now} for n in numbers],
    )
    version = {
        "number": 1, "digest": "0" * 64, "size": 1, "language": "Python",
        "status": VersionStatus.READY, "created": now,
    }  # fmt: skip
    session.execute(sa.insert(BotVersion), [{"id": n, "bot_id": n, **version} for n in numbers])


def _ladders(session: Session, ladders: int, now: datetime, last_match: datetime) -> None:
    session.add_all(
        Ladder(
            id=number,
            name=f"ladder-{number}",
            title=f"Ladder {number}",
            game="clobber",
            options={"size": "4x3"},
            time_ms=None,
            inc_ms=0,
            move_ms=100,
            charge="cpu",
            memory_bytes=2**28,
            draw_probability=0.1,
            state=CompetitionState.OPEN,
            seed=number,
            created=now - timedelta(days=1),
            checked=now,
            last_match=last_match,
            # Each took 10 s, so that those that are over at once now are not taken for short.
            matches_made=LATELY,
            worker_seconds=10.0 * LATELY,
        )
        for number in range(1, ladders + 1)
    )
    session.flush()


def _entrants(session: Session, bots: int, ladders: int, now: datetime, *, converged: bool) -> None:
    """Each version on each ladder, with mu spread as widely as those of bots that have played."""
    row = {"state": EntrantState.ACTIVE, "entered": now, "entered_after": 0, "best_rank_at": now}
    rows = []
    for ladder in range(1, ladders + 1):
        for number in range(1, bots + 1):
            # One in 50 is in placement, and one in four is not known well yet.
            games = 100 if converged or number % 50 else 10
            sigma = 0.95 if converged or number % 4 else 1.15
            mu = 25 + (number * 7919 % 10_007 / 10_007 - 0.5) * 40
            its = {"competition_id": ladder, "version_id": number, "mu": mu, "sigma": sigma}
            rows.append({**row, **its, "games": games, "wins": games, "best_rank": 1})
    session.execute(sa.insert(Entrant), rows)


def _matches_played(session: Session, bots: int, now: datetime) -> None:
    numbers = range(1, LATELY + 1)
    row = {
        "competition_id": 1, "rated": True, "options": {}, "opening": [], "seed": 0,
        "status": JobStatus.FIXED, "created": now, "fixed": now, "played_by": "worker",
    }  # fmt: skip
    session.execute(sa.insert(Match), [{"id": n, "seq": n, **row} for n in numbers])
    places = [
        {"match_id": n, "number": place, "entrant_id": (2 * n + place) % bots + 1}
        for n in numbers
        for place in (0, 1)
    ]
    session.execute(sa.insert(Place), places)


def _tidy(database: Database) -> None:
    """What PostgreSQL does by itself within minutes would otherwise go on while it is measured."""
    words = ("SELECT setval('match_id_seq', 100000)", "VACUUM ANALYZE", "CHECKPOINT")
    if database.engine.dialect.name == "sqlite":
        words = ("ANALYZE",)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for word in words:
            connection.execute(sa.text(word))
