"""What a game costs besides the game: Celery, its broker, both tasks and the database.

A whole arena (`arena up`) plays matches of two games and of four between bots that answer at
once. What its broker, its workers' own processes and its recorder use meanwhile is divided by the
games that were recorded; what the same games take a referee in the same boxes, measured in turn
with it in as many processes that do nothing else, is taken off. Bots are processes of their own
and not counted. What is left has the replay by the rules in it, which is the recorder's; how much
that is, the same processes measure. In turn with all that a worker of Celery that does nothing
takes tasks from the same broker: so much is Celery's alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from multiprocessing import Process, Queue
from random import Random
from statistics import mean

import psutil
import sqlalchemy as sa
from celery import Celery

from arena.bots import furnish
from arena.bots.submissions import enter, submit
from arena.ground.db import Database
from arena.models import (
    Check,
    Competition,
    CompetitionState,
    JobStatus,
    Match,
    OpeningPolicy,
    User,
    VersionStatus,
)
from arena.operation.broker import EmbeddedBroker
from engine.clock import TimeControl
from engine.game import Variant
from engine.games import GAMES
from engine.match import MatchSpec, entrants_needed, play_match
from engine.process import BotProcess
from engine.record import GameRecord, replay
from tests.arena.running import RunningArena, short_folder, until
from tests.benchmarks.bench_arena import SMOKE_SECONDS, cpu_seconds, games, stop
from tests.benchmarks.bench_games import random_game
from tests.benchmarks.instant import InstantBot, instant_bot
from tests.benchmarks.table import Table
from workers import bundles
from workers.limits import Limits
from workers.sandbox import Sandbox

WORKERS = 4
BOTS = 8
MATCHES = {"clobber": {"size": "6x7"}, "blokus": {}}
"""Games of two and of four seats, and their options."""
ROLES = ("broker", "workers", "recorder")
CALMLY = {
    "ARENA_GAMES": "oxoxo",
    "ARENA_TICK_SECONDS": "5",
    "ARENA_TAKE_UP_SECONDS": "60",
    "ARENA_LEASE_SECONDS": "30",
    "ARENA_TRICKLE_SECONDS": "0",
}
"""What an arena has by default, where the tests' own is in more of a hurry; but no ladder rests
when all is known of it, or there would be hardly a game to measure."""
TASKS = 500
FEW_TASKS = 20
ROUNDS = 4
"""How many rounds arena and referee take turns in."""
REFEREED = 20
"""Matches whose referee is measured in each process, at most."""


def bare_app(broker: str) -> Celery:
    """An app with a queue of its own and as few features as the arena's."""
    made = Celery("bare", broker=broker)
    made.conf.update(
        task_ignore_result=True,
        task_default_queue="bare",
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
    )
    return made


app = bare_app(os.environ.get("BARE_BROKER", ""))


@app.task(name="nothing")
def nothing(data: str) -> None:
    """Takes a text, and does nothing."""


def run(seconds: float) -> Table:
    """A row for Celery alone, and one for each number of games."""
    quick = seconds < SMOKE_SECONDS
    rounds, workers = (1, 1) if quick else (ROUNDS, WORKERS)
    rows: list[list[str]] = []
    with ExitStack() as ends:
        folder = ends.enter_context(short_folder())
        pace = CALMLY | {"ARENA_WORKERS": str(workers)}
        pace |= {"ARENA_TICK_SECONDS": "0.5"} if quick else {}
        arena = ends.enter_context(RunningArena(folder / "data", **pace))
        arena.start()
        database = Database(f"sqlite:///{arena.data / 'arena.db'}")
        ends.callback(database.close)
        rest(database)
        bare: list[float] = []
        for name, options in list(MATCHES.items())[: 1 if quick else None]:
            variant = GAMES[name].variant(**options)
            with instant_bot(random_game(variant, Random(1))[1]) as bot:
                ladder = open_ladder(arena, database, variant, bot)
                count, spent, refereed = 0, Counter[str](), []
                for _ in range(rounds):
                    bare.append(bare_task(arena, FEW_TASKS if quick else TASKS))
                    resume(database, ladder)
                    more, used = play(arena, database, seconds / len(MATCHES) / rounds)
                    count, spent = count + more, spent + used
                    rest(database)
                    refereed += referee(variant, bot, workers, 1 if quick else REFEREED)
            each = [1e3 * spent[role] / count for role in ROLES]
            alone, replayed = (1e3 * mean(times) for times in zip(*refereed, strict=True))
            rows.append(
                [
                    f"a game of {name}, {entrants_needed(variant)} in a match",
                    *(f"{cost:.2f}" for cost in each),
                    f"{alone:.2f}",
                    f"{sum(each) - alone:.2f}",
                    f"{replayed:.2f}",
                ]
            )
        stop(arena)
    cost = f"{1e3 * mean(bare):.2f}"
    rows.insert(0, ["a task of Celery that does nothing", *"----", cost, "-"])
    return Table(
        f"The queue: CPU time in ms, {workers} workers on one machine",
        ["what", *ROLES, "referee alone", "overhead", "of which replay"],
        rows,
    )


def rest(database: Database) -> None:
    """Pauses every ladder, and waits until nothing is under way."""
    with database.begin() as session:
        session.execute(sa.update(Competition).values(state=CompetitionState.PAUSED))
        open_ones = sa.update(Check).where(Check.status == JobStatus.OPEN)
        session.execute(open_ones.values(status=JobStatus.VOID))

    def rests() -> bool:
        under_way = [JobStatus.OPEN, JobStatus.ISSUED]
        with database.read() as session:
            return not any(
                session.scalar(sa.select(sa.exists().where(kind.status.in_(under_way))))
                for kind in (Match, Check)
            )

    until(rests, "the end of what is under way", seconds=300)


def open_ladder(arena: RunningArena, database: Database, variant: Variant, bot: InstantBot) -> int:
    """The id of a ladder of bots that all play the same game, from the start."""
    bundle = bundles.pack(bot.folder)
    bundles.store(arena.data / "bundles", bundle)
    now = datetime.now(UTC)
    with database.begin() as session:
        owner = User(name=f"owner of {variant.game}", created=now)
        ladder = furnish.open_ladder(GAMES[variant.game], variant, now)
        ladder.openings = OpeningPolicy.EMPTY
        session.add_all([owner, ladder])
        session.flush()
        for number in range(BOTS):
            version = submit(
                session,
                owner,
                f"{variant.game}-{number}",
                digest=bundle.digest,
                size=len(bundle.archive),
                language=bundle.language,
                ladder=ladder,
                now=now,
            )
            version.status = VersionStatus.READY
            enter(session, ladder, version, now)
        session.execute(sa.delete(Check).where(Check.ladder_id == ladder.id))
        return ladder.id


def resume(database: Database, ladder: int) -> None:
    """Has a ladder play."""
    with database.begin() as session:
        session.get_one(Competition, ladder).state = CompetitionState.OPEN


def play(arena: RunningArena, database: Database, seconds: float) -> tuple[int, Counter[str]]:
    """How many games are recorded in so many seconds, and what each role uses meanwhile."""
    first = games(database)
    until(lambda: games(database) > first, "the first game")
    count, before = games(database), cpu_seconds(arena)
    deadline = time.monotonic() + seconds
    until(lambda: time.monotonic() > deadline and games(database) > count, "games", seconds=300)
    after = cpu_seconds(arena)
    return games(database) - count, Counter({role: after[role] - before[role] for role in ROLES})


def referee(
    variant: Variant, bot: InstantBot, workers: int, matches: int
) -> list[tuple[float, float]]:
    """Seconds of CPU time a game, and those of its replay, in each of so many processes at the
    same time.

    The bots are in boxes, and on cores, as the workers' are.
    """
    told: Queue[tuple[float, float]] = Queue()
    cores = sorted(os.sched_getaffinity(0))
    processes = [
        Process(target=_referee, args=(variant, bot, matches, cores[number % len(cores)], told))
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    spent = [told.get() for _ in processes]
    for process in processes:
        process.join()
    return spent


def _referee(
    variant: Variant, bot: InstantBot, matches: int, core: int, told: Queue[tuple[float, float]]
) -> None:
    entrants = entrants_needed(variant)
    limits = Limits(memory_bytes=2**28)
    start = partial(Sandbox("good").start, bot.folder, bot.launch, limits, core=core)
    spec = MatchSpec(variant, ("instant",) * entrants, TimeControl(move_ms=1000))

    def play() -> Sequence[GameRecord]:
        return play_match(spec, lambda _: BotProcess(start)).games

    play()
    began = time.process_time()
    records = [record for _ in range(matches) for record in play()]
    played = time.process_time()
    for record in records:
        replay(record)
    replayed = time.process_time()
    told.put(((played - began) / len(records), (replayed - played) / len(records)))


def bare_task(arena: RunningArena, tasks: int) -> float:
    """Seconds of CPU time that a task takes this process, a broker and a worker that does nothing.

    It carries about as much as the message of a match does.
    """
    broker = EmbeddedBroker(arena.data)
    sender = bare_app(broker.url)
    with bare_worker(broker.url) as worker:
        sender.send_task("nothing", ("x",))
        until(lambda: not broker.waiting("bare"), "the first task")
        time.sleep(1)

        def spent() -> float:
            times = worker.cpu_times()
            return times.user + times.system + time.process_time() + cpu_seconds(arena)["broker"]

        before = spent()
        for _ in range(tasks):
            sender.send_task("nothing", ("x" * 1500,))
        until(lambda: not broker.waiting("bare"), "the end of the tasks")
        time.sleep(0.5)
        return (spent() - before) / tasks


@contextmanager
def bare_worker(broker: str) -> Iterator[psutil.Process]:
    """A worker of the tasks that do nothing."""
    words = ["-A", "tests.benchmarks.bench_queue", "worker", "-P", "solo", "-Q", "bare"]
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", *words, "--without-gossip", "--without-mingle"],
        env={**os.environ, "BARE_BROKER": broker},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()
