"""An arena's real processes for measuring: recorders and pages on a database and a broker.

They are started from the environment alone, as a service manager does it. What each uses is read
from /proc, with all that it has started; the database's server and the broker are children of this
process and counted as well.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

import psutil
import redis
import sqlalchemy as sa

from arena.bots.furnish import open_ladder
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    JobStatus,
    Mark,
    Match,
    User,
    VersionStatus,
)
from arena.operation import processes, queues
from arena.operation.health import TICK_MARK
from arena.ratings.trueskill import MU, SIGMA
from engine.games import GAMES
from tests import postgres
from tests.arena.running import environment, free_port, until
from tests.scale.crew import Crew

CALMLY = {
    "ARENA_TICK_SECONDS": "2",
    "ARENA_TAKE_UP_SECONDS": "60",
    "ARENA_LEASE_SECONDS": "30",
    "ARENA_TRICKLE_SECONDS": "0",
}
"""What an arena has by default, where tests are in more of a hurry; but no ladder rests, or there
would soon be nothing to measure."""
LOOK_SECONDS, GLANCE_SECONDS, AT_ONCE = 1.0, 0.1, 500
"""How often it is seen how long queues are, and which matches are fixed."""
SERVERS = {"database": "postgres", "broker": "valkey-server"}


class Stand:
    """Processes of one arena, which end with it."""

    def __init__(self, folder: Path, database: str, broker: str, **settings: str) -> None:
        """An arena of which nothing runs yet.

        Args:
            folder: of this arena alone, for its data and logs.
            database: the URL of a database with the schema.
            broker: the address of an empty broker.
            settings: of the arena, as its variables.
        """
        self.folder, self.broker = folder, broker
        self.database = Database(database)
        self.port = free_port()
        self._variables = {
            **CALMLY,
            "ARENA_DATA": str(folder),
            "ARENA_DATABASE": database,
            "ARENA_BROKER": broker,
            "ARENA_PORT": str(self.port),
            **settings,
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Stand:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.processes):
            self.end(name)
        self.database.close()

    @property
    def tick_seconds(self) -> float:
        """How often the recorder is to tick."""
        return float(self._variables["ARENA_TICK_SECONDS"])

    @property
    def url(self) -> str:
        """Where the pages are."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, *names: str, **settings: str) -> None:
        """Starts processes.

        Args:
            names: each of a process as `arena run` calls it; of several of one kind with a number
                behind it, as ``recorder 2``.
            settings: of these processes alone.
        """
        for name in names:
            with (self.folder / f"{name}.log").open("ab") as log:
                self.processes[name] = subprocess.Popen(
                    processes.OF_THE_ARENA[name.partition(" ")[0]](),
                    env=environment(**{**self._variables, **settings}),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    preexec_fn=postgres.end_with_parent,
                )

    def end(self, name: str) -> None:
        """Ends one in order, or else by force."""
        process = self.processes.pop(name)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def log(self, name: str) -> str:
        """What a process wrote."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def await_ticks(self) -> None:
        """Waits until the recorder is at work."""

        def ticks() -> bool:
            with self.database.read() as session:
                return session.get(Mark, TICK_MARK) is not None

        until(ticks, "the recorder's first tick")

    def cpu_seconds(self) -> Mapping[str, float]:
        """What each process has used so far, and as *others* what they have started: who judges
        games and makes final tables gives way to all else."""
        found = dict.fromkeys((*self.processes, *SERVERS, "others"), 0.0)
        for name, process in self.processes.items():
            with suppress(psutil.Error):
                found[name], others = _cpu_of(psutil.Process(process.pid))
                found["others"] += others
        for child in psutil.Process().children():
            for role, word in SERVERS.items():
                with suppress(psutil.Error, IndexError):
                    if word in child.cmdline()[0]:
                        found[role] = sum(_cpu_of(child))
        return found


def _cpu_of(process: psutil.Process) -> tuple[float, float]:
    """Seconds of CPU time of a process, and those of its children, which may have ended."""
    times = process.cpu_times()
    others: float = times.children_user + times.children_system
    for child in process.children(recursive=True):
        with suppress(psutil.Error):
            others += sum(child.cpu_times()[:4])
    return times.user + times.system, others


def furnish(database: Database, *, ladders: int, bots: int) -> None:
    """Open ladders of Clobber, with bots of one person on all of them that nobody knows yet."""
    variant, now = GAMES["clobber"].variant(size="6x7"), datetime.now(UTC)
    with database.begin() as session:
        owner = User(name="somebody", created=now)
        versions = [
            BotVersion(
                bot=Bot(name=f"bot-{number}", owner=owner, created=now),
                number=1,
                digest=f"{number:064x}",
                size=1,
                language="Python",
                status=VersionStatus.READY,
                created=now,
            )
            for number in range(1, bots + 1)
        ]
        made = [open_ladder(GAMES["clobber"], variant, now) for _ in range(ladders)]
        for number, ladder in enumerate(made, start=1):
            ladder.name, ladder.title = f"ladder-{number}", f"Ladder {number}"
        session.add_all([*versions, *made])
        session.flush()
        session.add_all(
            Entrant(
                competition_id=ladder.id,
                version_id=version.id,
                state=EntrantState.ACTIVE,
                entered=now,
                entered_after=0,
                mu=MU,
                sigma=SIGMA,
            )
            for ladder in made
            for version in versions
        )


@dataclass(slots=True)
class Measured:
    """What workers and an arena did in some seconds."""

    seconds: float
    issued: int = 0
    reported: int = 0
    fixed: int = 0
    lags: list[float] = field(default_factory=list)
    """How many seconds after its report it was seen of each match that it was fixed."""
    ticks: list[float] = field(default_factory=list)
    """Seconds between two ticks, each later than it is to be by what is beyond that."""
    late: float = 0.0
    """The most by which a tick was late."""
    waiting: list[int] = field(default_factory=list)
    """Messages in the queue of results, each second."""
    memory: int = 0
    """The most bytes that the broker held."""
    cpu: dict[str, float] = field(default_factory=dict)
    """Seconds of CPU time of each process."""

    def lag(self, percent: int) -> float:
        """Seconds that so many of a hundred results did not take longer than; NaN of none."""
        if len(self.lags) < 2:
            return self.lags[0] if self.lags else float("nan")
        return quantiles(self.lags, n=100, method="inclusive")[percent - 1]

    def cpu_ms(self, name: str) -> float:
        """Milliseconds of CPU time of a process for each result."""
        return 1e3 * self.cpu.get(name, 0.0) / max(1, self.fixed)


class Observer:
    """Watches an arena from outside: its database and its broker."""

    def __init__(self, stand: Stand, crew: Crew) -> None:
        self._stand, self._crew = stand, crew
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._unseen: set[int] = set()
        """Matches that were reported, and not seen fixed."""
        self.seen: dict[int, float] = {}
        """When each match that was reported was first seen fixed."""
        self.waiting: list[int] = []
        self.memory = 0
        self.ticked: list[datetime] = []

    def __enter__(self) -> Observer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        looked = 0.0
        with queues.connect(self._stand.broker) as broker:
            # Many that are not fixed are asked for less often.
            while not self._ended.wait(GLANCE_SECONDS * (1 + len(self._unseen) / AT_ONCE)):
                self._unseen |= self._crew.sent.keys() - self.seen.keys()
                with self._stand.database.read() as session:
                    its = sa.select(Match.id).where(Match.status == JobStatus.FIXED)
                    found = session.scalars(its.where(Match.id.in_(self._unseen))).all()
                    tick = session.scalar(sa.select(Mark.value).where(Mark.key == TICK_MARK))
                self.seen.update(dict.fromkeys(found, time.time()))
                self._unseen.difference_update(found)
                if tick and (moment := datetime.fromisoformat(tick)) not in self.ticked[-1:]:
                    self.ticked.append(moment)
                if time.monotonic() - looked >= LOOK_SECONDS:
                    looked = time.monotonic()
                    with suppress(redis.RedisError):
                        self.waiting.append(waiting_results(broker))
                        self.memory = max(self.memory, broker.info("memory")["used_memory"])

    def await_results(self, seconds: float) -> None:
        """Waits until there are results, and then for so long that as many begin as end."""
        until(lambda: self.seen, "the first result", seconds=600)
        time.sleep(seconds)

    def measure(self, seconds: float) -> Measured:
        """What happens in the next seconds."""
        before, taken = self._stand.cpu_seconds(), self._crew.taken
        fakes, sent, began = self._crew.cpu_seconds, len(self._crew.sent), time.time()
        looks, self.memory = len(self.waiting), 0
        time.sleep(seconds)
        ended = time.time()
        found = Measured(ended - began, self._crew.taken - taken, len(self._crew.sent) - sent)
        after = self._stand.cpu_seconds()
        found.cpu = {name: after[name] - before.get(name, 0.0) for name in after}
        found.cpu["workers"] = self._crew.cpu_seconds - fakes
        fixed = {one: when for one, when in list(self.seen.items()) if began <= when < ended}
        found.fixed = len(fixed)
        reports = self._crew.sent
        found.lags = [when - reports[one] for one, when in fixed.items() if one in reports]
        found.waiting, found.memory = self.waiting[looks:], self.memory
        moments = [one.timestamp() for one in self.ticked if one.timestamp() >= began]
        moments.insert(0, max((t for o in self.ticked if (t := o.timestamp()) < began), default=0))
        gaps = [b - a for a, b in zip(moments, [*moments[1:], ended], strict=True)]
        found.late = max(0.0, max(gaps) - self._stand.tick_seconds)
        return found


def waiting_results(broker: redis.Redis) -> int:
    """How many messages of workers nobody has handled yet."""
    return sum(broker.llen(key) for key in queues.keys_of_results(broker))


@contextmanager
def at_work(
    stand: Stand, workers: int, seconds: float, *, slots: int = 1, recorders: int = 1
) -> Iterator[tuple[Crew, Observer]]:
    """Has recorders and workers at work, and somebody who watches them.

    Args:
        seconds: how long a match takes.
        recorders: how many there are, each of a shard.
    """
    shards = {"ARENA_SHARDS": str(recorders)} if recorders > 1 else {}
    stand.start(*(f"recorder {number}" for number in range(1, recorders + 1)), **shards)
    stand.await_ticks()
    crew = Crew(
        stand.broker, workers, seconds, slots=slots,
        editions=[str(GAMES.edition("clobber"))],
    )  # fmt: skip
    crew.start()
    try:
        with Observer(stand, crew) as observer:
            yield crew, observer
    finally:
        crew.stop()
