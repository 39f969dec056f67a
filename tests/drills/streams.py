"""`make streams`: thousands watch matches under way; what that takes, and what kills cost them.

The pages and the process that tells who watches are the arena's own, each by itself. What workers
tell is told here by their own code, of matches between players that draw lots at a set pace, so
that a ply's way to a reader of its stream can be timed: each move is remarked on with the time.

Run it as ``python -m tests.drills.streams``. It ends with 1 if anybody missed a ply or was told one
twice, or was not told on after a kill.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import psutil

from engine.player import Choice, Turn
from tests.arena.live.house import House
from tests.arena.running import broker, environment, free_port, until
from tests.arena.simulator import LotPlayer
from tests.drills.sizes import asked_for
from tests.drills.viewers import Person, Watching


@dataclass(frozen=True, slots=True)
class Size:
    """How large it is, by STREAMS_ and the name in capitals."""

    people: int = 2000
    matches: int = 4
    seconds: int = 30
    """How long is measured before anything is killed, and after each kill."""
    milliseconds: int = 1000
    """The time between two plies of a match."""

    @classmethod
    def read(cls) -> Size:
        """What the environment asks for."""
        return cls(**{name: int(text) for name, text in asked_for(cls, "STREAMS").items()})


class Timed(LotPlayer):
    """It takes its time, and says when it was done."""

    seconds = 1.0

    def choose(self, turn: Turn) -> Choice:
        time.sleep(self.seconds)
        return super().choose(turn)._replace(text=f"at {time.time():.4f}", cpu_us=1, wall_us=1)


class Pages:
    """The arena's server of pages, which is started again when it ends."""

    def __init__(self, house: House) -> None:
        house.port = free_port()
        own = house.settings.environment() | {"ARENA_PORT": str(house.port)}
        self._environment, self._log = environment(**own), house.folder / "web.log"
        self._port = house.port
        self.process = self._start()

    def answer(self) -> bool:
        """Whether they do."""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
            return True
        return False

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-c", "from arena.cli.serve import main; main()"]
        with self._log.open("ab") as log:
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def kill(self) -> None:
        """Ends it at once."""
        self.process.kill()
        self.process.wait()

    def again(self) -> None:
        """Starts it again."""
        self.process = self._start()


class Drill:
    """All of it."""

    def __init__(self, house: House, size: Size) -> None:
        self.house, self.size = house, size
        self.seen = Watching(house.port)

    def play_on(self, place: int) -> None:
        """Plays one match after the other, for ever."""
        while True:
            job = self.house.issue()
            if place < len(self.seen.running):
                self.seen.running[place] = job.lease.job
            else:
                self.seen.running.append(job.lease.job)
            result = self.house.play(job, lambda *_: None, player=Timed)
            with suppress(Exception):
                self.house.report(job, result)

    async def run(self, pages: Pages) -> bool:
        """Whether all went well."""
        people = [Person(self.seen, number) for number in range(self.size.people)]
        tasks = [asyncio.create_task(one.watch()) for one in people]
        begun = time.monotonic()
        while any(not one.heard for one in people):
            await asyncio.sleep(0.5)
            if time.monotonic() - begun > 300:
                print("not all came in within five minutes")
                return False
        print(f"{len(people)} came in within {time.monotonic() - begun:.1f} s")
        assert self.house.live
        await self._measure("all watch", pages, self.house.live)
        pages.kill()
        pages.again()
        await self._measure("the server of pages was killed", pages, self.house.live)
        while not pages.answer():
            await asyncio.sleep(0.5)
        self.house.kill_live()
        self.house.start_live()
        killed = time.monotonic()
        while missing := sum(one.heard < killed for one in people):
            await asyncio.sleep(0.2)
            if time.monotonic() - killed > 120:
                print(f"{missing} are not told on")
                return False
        late = time.monotonic() - killed
        print(f"the process that tells was killed: all are told on {late:.1f} s later")
        assert self.house.live
        await self._measure("after that", pages, self.house.live)
        for task in tasks:
            task.cancel()
        print("streams that broke or were refused:", dict(self.seen.breaks))
        print(f"plies missed or told twice: {len(self.seen.wrong)}")
        print("\n".join(self.seen.wrong[:5]))
        return not self.seen.wrong

    async def _measure(self, what: str, pages: Pages, live: subprocess.Popen[bytes]) -> None:
        await asyncio.sleep(5)
        self.seen.delays.clear()
        self.seen.events = self.seen.bytes = 0
        processes = {"live": psutil.Process(live.pid), "pages": psutil.Process(pages.process.pid)}
        before = {name: sum(one.cpu_times()[:2]) for name, one in processes.items()}
        begun = time.monotonic()
        await asyncio.sleep(self.size.seconds)
        seconds = time.monotonic() - begun
        words = [
            f"{name} {(sum(one.cpu_times()[:2]) - before[name]) / seconds:.2f} cores, "
            f"{one.memory_info().rss / 2**20:.0f} MiB"
            for name, one in processes.items()
        ]
        if len(self.seen.delays) < 2:
            self.seen.wrong.append(f"{what}: nothing was told")
            return
        parts = quantiles(self.seen.delays, n=100)
        median, late = parts[49], parts[98]
        events, megabytes = self.seen.events / seconds, self.seen.bytes / seconds / 1e6
        print(
            f"{what}: {events:.0f} events/s, {megabytes:.1f} MB/s, "
            f"from move to reader {median * 1000:.0f} ms (median), {late * 1000:.0f} ms (99 %); "
            + "; ".join(words),
            flush=True,
        )


@contextmanager
def _house(folder: Path) -> Iterator[House]:
    with broker() as embedded:
        made = House(folder, embedded.url, "clobber", size="8x8")
        made.start_live()
        try:
            yield made
        finally:
            made.close()


def main() -> int:
    """Runs it, and says what came of it."""
    size = Size.read()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    Timed.seconds = size.milliseconds / 1000
    with tempfile.TemporaryDirectory() as folder, _house(Path(folder)) as house:
        pages = Pages(house)
        drill = Drill(house, size)
        try:
            for place in range(size.matches):
                threading.Thread(target=drill.play_on, args=(place,), daemon=True).start()
                while len(drill.seen.running) <= place:
                    time.sleep(0.1)
            until(pages.answer, "the pages", seconds=120)
            return 0 if asyncio.run(drill.run(pages)) else 1
        finally:
            pages.kill()


if __name__ == "__main__":
    sys.exit(main())
