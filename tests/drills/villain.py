"""A seeded villain: what is done to an arena, when, and to whom.

The plan is a function of the seed alone. It is dealt in decks, each of which holds every kind of
blow once, so that a long drill has seen them all.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil
import redis

from engine.jobs import MATCHES_QUEUE, RESULTS_QUEUE
from tests.drills.homes import Homes
from tests.drills.sites import HOME_WORKER, WORKER_SERVICES, Site

CATCH_SECONDS = 1.5
"""How long the recorder is held so that messages gather which can be caught."""


@dataclass(frozen=True, slots=True)
class Blow:
    """One thing that is done."""

    kind: str
    after: float
    """Seconds of peace before it."""
    which: int
    """Chooses among those that it may hit."""
    seconds: float
    """How long it lasts, if it does: always longer than a lease."""


def plan(seed: int, kinds: Sequence[str], *, lease_seconds: float) -> Iterator[Blow]:
    """What is done by this seed, without end."""
    rng = Random(seed)
    while True:
        for kind in rng.sample(sorted(kinds), len(kinds)):
            lasts = lease_seconds + rng.uniform(1.5, 3.5)
            yield Blow(kind, rng.uniform(0.5, 3.0), rng.randrange(1000), lasts)


class Villain:
    """Does blows, and remembers what it did."""

    def __init__(self, kinds: Mapping[str, Callable[[Blow], str]]) -> None:
        """
        Args:
            kinds: what it can do, by name; each says what it did, nothing if nobody was there.
        """
        self.kinds = kinds
        self.done: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        """Blows that found nobody to hit."""

    def do(self, blow: Blow) -> str:
        """Does a blow to its end, and says what it was."""
        try:
            words = self.kinds[blow.kind](blow)
        except (redis.RedisError, psutil.NoSuchProcess, ProcessLookupError) as error:
            words = ""
            self.missed[f"{blow.kind} ({type(error).__name__})"] += 1
        else:
            (self.done if words else self.missed)[blow.kind] += 1
        return words or f"{blow.kind}: nobody there"


class Killer:
    """Blows to the processes, messages and disk of a site, and to the bots at home beside it."""

    def __init__(self, site: Site, homes: Homes, *, fillable: bool) -> None:
        """
        Args:
            fillable: whether the site's disk is one of its own, which may be filled.
        """
        self._site = site
        self.kinds: dict[str, Callable[[Blow], str]] = {
            "kill a worker": lambda blow: self._kill(_one_of(WORKER_SERVICES, blow)),
            "kill a process that plays": self._kill_child,
            "kill a recorder": lambda blow: self._kill(_one_of(site.recorders, blow)),
            "kill the pages": lambda _: self._kill("web"),
            "kill the broker": lambda _: self._kill("broker"),
            "kill the broker, and empty it": self._empty_broker,
            "restart the database": lambda _: self._kill("database", signal.SIGINT),
            "kill the database": lambda _: self._kill("database"),
            "kill everything": self._kill_all,
            "stop a worker": lambda blow: self._stop(_one_of(WORKER_SERVICES, blow), blow),
            "stop a process that plays": self._stop_child,
            "stop a recorder": lambda blow: self._stop(_one_of(site.recorders, blow), blow),
            "stop the broker": lambda blow: self._stop("broker", blow),
            "stop the pages": lambda blow: self._stop("web", blow),
            "double messages": self._double,
            "delay messages": self._delay,
            "kill the home worker": lambda _: self._kill(HOME_WORKER),
            "stop the home worker": lambda blow: self._stop(HOME_WORKER, blow),
            "cut bots at home off": lambda blow: homes.cut(blow.seconds),
            "break the links of bots at home": lambda _: homes.break_off(),
            "kill a client": lambda _: homes.kill(),
        }
        if fillable:
            self.kinds["fill the disk"] = self._fill

    def _kill(self, name: str, number: int = signal.SIGKILL) -> str:
        tree = self._site.tree(name)
        if not tree:
            return ""
        tree[0].send_signal(number)
        return f"{signal.Signals(number).name} to {name}"

    def _child(self, blow: Blow) -> psutil.Process | None:
        children = [child for name in WORKER_SERVICES for child in self._site.tree(name)[1:]]
        return children[blow.which % len(children)] if children else None

    def _kill_child(self, blow: Blow) -> str:
        child = self._child(blow)
        if child is None:
            return ""
        child.kill()
        return f"SIGKILL to the playing process {child.pid}"

    def _kill_all(self, _: Blow) -> str:
        names = self._site.services.keys() - self._site.guests
        killed = [name for name in names if self._kill(name)]
        return f"SIGKILL to {len(killed)} services at once" if killed else ""

    def _empty_broker(self, _: Blow) -> str:
        broker = self._site.services["broker"]
        broker.held = True
        if not self._kill("broker"):
            broker.held = False
            return ""
        while broker.process is not None:
            time.sleep(0.02)
        shutil.rmtree(self._site.disk / "broker/appendonlydir", ignore_errors=True)
        broker.held = False
        return "SIGKILL to broker, its file gone"

    def _stop(self, name: str, blow: Blow) -> str:
        return self._hold(self._site.tree(name), blow.seconds, name)

    def _stop_child(self, blow: Blow) -> str:
        child = self._child(blow)
        return self._hold([child], blow.seconds, f"process {child.pid}") if child else ""

    def _hold(self, processes: Sequence[psutil.Process], seconds: float, what: str) -> str:
        for process in processes:
            process.suspend()
        time.sleep(seconds)
        for process in processes:
            with suppress(psutil.Error):
                process.resume()
        return f"SIGSTOP to {what} for {seconds:.1f} s" if processes else ""

    def _gathered(self) -> tuple[redis.Redis, dict[bytes, list[bytes]]]:
        """What stands in the queues after all recorders were held for a moment; they still are."""
        for process in self._recorders():
            process.suspend()
        time.sleep(CATCH_SECONDS)
        broker = self._site.broker()
        found = {}
        for key in broker.keys("*"):
            # A queue has a list for each priority: its name, and two signs and a digit.
            name = key.partition(b"\x06")[0].decode()
            if name == MATCHES_QUEUE or name.partition(".")[0] == RESULTS_QUEUE:
                found[key] = broker.lrange(key, 0, -1)
        return broker, found

    def _resume_recorders(self) -> None:
        for process in self._recorders():
            process.resume()

    def _recorders(self) -> list[psutil.Process]:
        return [process for name in self._site.recorders for process in self._site.tree(name)]

    def _double(self, _: Blow) -> str:
        """Puts a second copy of every message beside the first, and a third in the other order."""
        try:
            broker, found = self._gathered()
            for key, messages in found.items():
                for message in [*reversed(messages), *messages]:
                    broker.lpush(key, message)
        finally:
            self._resume_recorders()
        return self._tell("doubled", found)

    def _delay(self, blow: Blow) -> str:
        """Takes every message away, and brings it back when its lease is over."""
        found: dict[bytes, list[bytes]] = {}
        try:
            broker, found = self._gathered()
            for key, messages in found.items():
                for message in messages:
                    broker.lrem(key, 1, message)
        finally:
            self._resume_recorders()
        time.sleep(blow.seconds)
        broker = self._site.broker()
        for key, messages in found.items():
            for message in reversed(messages):
                broker.lpush(key, message)
        return self._tell("delayed", found)

    def _tell(self, what: str, found: dict[bytes, list[bytes]]) -> str:
        count = sum(map(len, found.values()))
        return f"{count} messages {what}" if count else ""

    def _fill(self, blow: Blow) -> str:
        ballast = self._site.disk / "ballast"
        size = fill(ballast)
        try:
            time.sleep(blow.seconds)
        finally:
            ballast.unlink()
        return f"the disk full by {size / 1e6:.0f} MB for {blow.seconds:.1f} s"


def fill(ballast: Path) -> int:
    """Fills a file system to its last block with one file; how many bytes that was."""
    block, size = bytes(1 << 16), 0
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while written := file.write(block):
            size += written
    os.sync()
    return size


def _one_of(names: Sequence[str], blow: Blow) -> str:
    return names[blow.which % len(names)]
