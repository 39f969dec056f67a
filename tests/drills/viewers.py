"""Whoever watches matches under way, and notes what is missed or told twice."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from dataclasses import dataclass, field

LONGEST_EVENT = 1 << 22
FIRST = re.compile(rb'"first":(\d+),')
SAID = re.compile(rb"at (\d+\.\d+)")


@dataclass
class Watching:
    """What is watched, and what came of it."""

    port: int
    """Where the pages are, on this machine."""
    running: list[int] = field(default_factory=list)
    """The matches under way; who watches takes the next of them when one is over."""
    delays: list[float] = field(default_factory=list)
    """Seconds from a move to its reader, of moves that are remarked on with the time."""
    wrong: list[str] = field(default_factory=list)
    """Plies that were missed or told twice."""
    events: int = 0
    bytes: int = 0
    breaks: Counter[str] = field(default_factory=Counter)
    """How often a stream broke or was refused, by why."""


class Person:
    """Reads streams as a browser does, one match after the other."""

    def __init__(self, watching: Watching, number: int) -> None:
        self._watching, self._number = watching, number
        self.seen: dict[str, int] = {}
        """How many boards were seen of each game of each match."""
        self.heard = 0.0
        self._id = ""

    async def watch(self) -> None:
        """Watches until it is cancelled."""
        match = 0
        while True:
            running = self._watching.running
            if match not in running:
                match, self._id = running[self._number % len(running)] if running else 0, ""
            try:
                if match and await self._read(match):
                    match = 0
            except (OSError, asyncio.IncompleteReadError, ValueError) as error:
                self._watching.breaks[str(error)[:80] or type(error).__name__] += 1
            await asyncio.sleep(1 + self._number % 100 / 50)

    async def _read(self, match: int) -> bool:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self._watching.port, limit=LONGEST_EVENT
        )
        try:
            writer.write(
                f"GET /matches/{match}/stream HTTP/1.1\r\nHost: here\r\n"
                f"Last-Event-ID: {self._id}\r\n\r\n".encode()
            )
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise ValueError(head[:100])
            self.heard = time.monotonic()
            kind = b""
            while line := await reader.readline():
                if line.startswith(b"event:"):
                    kind = line[7:-1]
                elif line.startswith(b"id:"):
                    self._id = line[4:-1].decode()
                elif line.startswith(b"data:"):
                    self._take(match, kind, line)
                    if kind == b"over":
                        return True
            raise ValueError("it broke")
        finally:
            writer.close()

    def _take(self, match: int, kind: bytes, line: bytes) -> None:
        self._watching.events += 1
        self._watching.bytes += len(line)
        self.heard = time.monotonic()
        if kind != b"plies":
            return
        found = FIRST.search(line)
        assert found
        first, (attempt, game, again, boards) = int(found[1]), map(int, self._id.split("."))
        name = f"{match}.{attempt}.{game}.{again}"
        if first != self.seen.get(name, 0):
            self._watching.wrong.append(f"{name}: {first} after {self.seen.get(name, 0)}")
        self.seen[name] = boards
        if first and (said := SAID.findall(line)):
            self._watching.delays.append(time.time() - float(said[-1]))
