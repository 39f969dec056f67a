"""So many open pages of ladders on which much is played: what they are told, how soon, for what.

Half of the pages are of people who are signed in, and one ladder is private, with pages of its
members alone. A page is what a browser does once it has the page: it asks each `INTERVAL` for the
board, with the ETag of what it has. All of them are one process, and the web's processes, recorder,
database and broker are an arena's own.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import re
import resource
import tempfile
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions import members
from arena.ground.db import Database
from arena.models import Competition, MemberRole, Visibility
from tests import postgres
from tests.arena.running import broker, free_port, short_folder, until
from tests.arena.web.signing_in import person, signed_in
from tests.benchmarks.bench_matchmaking import in_process
from tests.scale.figures import Figures
from tests.scale.stand import Stand, at_work, furnish

LADDERS, BOTS, PEOPLE = 20, 40, 20
"""Ladders, the bots on each, and accounts that pages are signed in to."""
WORKERS, LENGTH = 100, 10.0
"""Workers, and how many seconds a match takes them: ten new results a second."""
WARM_SECONDS = 15.0
"""How long it takes until results come, and until all pages have asked twice."""
INTERVAL = 5.0
"""As `hx-trigger` of a ladder's board says it."""
LOOK_SECONDS = 0.2
ANSWER_SECONDS = 30.0
GAMES = re.compile(r"<dt>Games played</dt><dd>(.+?)</dd>")
ACCEPTED = (
    "HX-Request: true\r\nAccept: text/html\r\nAccept-Encoding: gzip, deflate, br\r\n"
    "Accept-Language: en-US,en;q=0.9\r\nSec-Fetch-Site: same-origin\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/131.0 Safari/537.36\r\n"
)


@dataclass(slots=True)
class Told:
    """What pages were told."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    late: list[float] = field(default_factory=list)
    """How many seconds each new board came after something newer than the one before was stored."""


class Clock:
    """When each ladder had come to which number of games, seen in the database."""

    def __init__(self, url: str) -> None:
        self._url, self._ended = url, threading.Event()
        self._seen: dict[int, tuple[list[int], list[float]]] = {}
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        database = Database(self._url)
        query = sa.select(Competition.id, Competition.games)
        while not self._ended.wait(LOOK_SECONDS):
            with database.read() as session:
                found = session.execute(query).all()
            now = time.monotonic()
            for number, games in found:
                counts, times = self._seen.setdefault(number, ([], []))
                if not counts or counts[-1] != games:
                    counts.append(games)
                    times.append(now)
        database.close()

    def end(self) -> None:
        """Looks no more."""
        self._ended.set()
        self._thread.join()

    def when_more(self, number: int, games: int) -> float | None:
        """When a ladder was first seen to have more games; None if it was not yet."""
        counts, times = self._seen.get(number, ([], []))
        at = bisect_left(counts, games + 1)
        return times[at] if at < len(times) else None


@dataclass(slots=True)
class Page:
    """An open page of a ladder."""

    port: int
    number: int
    """The number of the ladder, which is in its name."""
    cookie: str
    clock: Clock
    told: Told
    games: int | None = None
    tag: str = ""

    async def stay_open(self, first: float) -> None:
        """Asks again and again."""
        await asyncio.sleep(first)
        due = time.monotonic()
        while True:
            began = time.monotonic()
            status = "no answer"
            with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
                async with asyncio.timeout(ANSWER_SECONDS):
                    status = await self._ask()
            self.told.seconds.append(time.monotonic() - began)
            self.told.statuses[status] += 1
            due = max(due + INTERVAL, time.monotonic())
            await asyncio.sleep(due - time.monotonic())

    async def _ask(self) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            asked = f"GET /ladders/ladder-{self.number}/board HTTP/1.1\r\n"
            asked += f"Host: 127.0.0.1:{self.port}\r\n{ACCEPTED}"
            asked += f"Cookie: {self.cookie}\r\n" if self.cookie else ""
            asked += f"If-None-Match: {self.tag}\r\n" if self.tag else ""
            writer.write(f"{asked}\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = head.lower().split("\r\n")[1:]
            headers = dict(line.split(": ", 1) for line in lines if line)
            self.told.bytes += len(head)
            status = head.split()[1]
            if status == "200":
                body = await reader.readexactly(int(headers["content-length"]))
                self.told.bytes += len(body)
                self.tag = headers["etag"].replace("w/", "W/")
                if headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                self._read(body)
            return status
        finally:
            writer.close()

    def _read(self, body: bytes) -> None:
        found = GAMES.search(body.decode())
        assert found, body[:500]
        games = int(re.sub(r"\D", "", found[1]))
        if self.games is not None and games > self.games:
            newer = self.clock.when_more(self.number, self.games)
            if newer is not None:
                self.told.late.append(time.monotonic() - newer)
        self.games = games


async def _stay_open(
    url: str, ports: Sequence[int], cookies: Sequence[str], pages: int, seconds: float
) -> Told:
    clock, told, rng = Clock(url), Told(), random.Random(1)
    opened = []
    for n in range(pages):
        number = 1 + n % LADDERS
        # Of the private ladder, which is the last, members alone have pages.
        is_member = number == LADDERS or (n // LADDERS) % 2
        cookie = cookies[n % len(cookies)] if is_member else ""
        opened.append(Page(ports[n % len(ports)], number, cookie, clock, told))
    tasks = [asyncio.create_task(page.stay_open(rng.uniform(0, INTERVAL))) for page in opened]
    await asyncio.sleep(2 * INTERVAL)
    told.seconds, told.statuses, told.bytes, told.late = [], Counter(), 0, []
    await asyncio.sleep(seconds)
    found = Told(list(told.seconds), Counter(told.statuses), told.bytes, list(told.late))
    for task in tasks:
        if task.done():
            task.result()  # raises what ended it
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    clock.end()
    return found


def _in_its_process(
    url: str, ports: Sequence[int], cookies: Sequence[str], pages: int, seconds: float
) -> tuple[Told, float]:
    """What pages were told, and the CPU time that all of them took."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    found = asyncio.run(_stay_open(url, ports, cookies, pages, seconds))
    return found, time.process_time()


def measure(
    cases: Sequence[tuple[int, int]], seconds: float, base: Path
) -> Iterator[tuple[str, Figures]]:
    """A line for each case.

    Args:
        cases: how many pages are open, and how many web processes there are.
        seconds: for how long each is measured.
        base: a folder on a disk.
    """
    for pages, processes in cases:
        with ExitStack() as ends:
            place = Path(ends.enter_context(tempfile.TemporaryDirectory(dir=base)))
            place.chmod(0o755)
            server = ends.enter_context(postgres.running(*postgres.SAFE, base=place))
            url = ends.enter_context(postgres.database(server))
            queue, folder = ends.enter_context(broker()), ends.enter_context(short_folder())
            stand = ends.enter_context(Stand(folder, url, queue.url))
            many = "process" if processes == 1 else "processes"
            name = f"{pages:,} open pages, {processes} web {many}"
            yield name, _measure(stand, url, pages, processes, seconds)


def _cookies(database: Database) -> list[str]:
    """Those of sessions of people, members of the last ladder, which is private."""
    from arena.ground.config import Settings
    from arena.web.app import create_app

    people = [person(database, f"person-{number}") for number in range(PEOPLE)]
    with database.begin() as session:
        hidden = session.get_one(Competition, LADDERS)
        hidden.visibility = Visibility.PRIVATE
        for one in people:
            its = session.merge(one)
            members.add(session, ARENA, hidden, its, MemberRole.MEMBER, datetime.now(UTC))
    app = create_app(Settings(database=database.url))
    try:
        found = [signed_in(app, one.name).client.get_cookie("arena") for one in people]
    finally:
        app.extensions["arena.database"].close()
    return [f"{one.key}={one.value}" for one in found if one is not None]


def _measure(stand: Stand, url: str, pages: int, processes: int, seconds: float) -> Figures:
    stand.database.upgrade()
    furnish(stand.database, ladders=LADDERS, bots=BOTS)
    cookies = _cookies(stand.database)
    with at_work(stand, WORKERS, LENGTH) as (_, observer):
        names = [f"web {number}" for number in range(1, processes + 1)]
        ports = [free_port() for _ in names]
        for name, port in zip(names, ports, strict=True):
            stand.start(name, ARENA_PORT=str(port))
        for name, port in zip(names, ports, strict=True):
            until(lambda port=port: _answers(port), f"{name}: {stand.log(name)}", seconds=120)
        observer.await_results(WARM_SECONDS)
        reader = threading.Thread(
            target=lambda: found.append(
                in_process(_in_its_process, url, ports, cookies, pages, seconds)
            )
        )
        found: list[tuple[Told, float]] = []
        reader.start()
        time.sleep(2 * INTERVAL)
        beside = observer.measure(seconds)
        reader.join()
    ((told, client),) = found
    answers = max(1, len(told.seconds))
    web = sum(beside.cpu[name] for name in names)
    return {
        "wanted/s": pages / INTERVAL,
        "answers/s": answers / seconds,
        "not new %": 100 * told.statuses["304"] / answers,
        "failed": answers - told.statuses["200"] - told.statuses["304"],
        "answer p50 ms": 1e3 * _part(told.seconds, 50),
        "p95 ms": 1e3 * _part(told.seconds, 95),
        "news p50 s": _part(told.late, 50),
        "p95 s": _part(told.late, 95),
        "web ms/answer": 1e3 * web / answers,
        "web %": 100 * web / beside.seconds,
        "database %": 100 * beside.cpu["database"] / beside.seconds,
        "recorder %": 100 * beside.cpu["recorder 1"] / beside.seconds,
        "fixed/s": beside.fixed / beside.seconds,
        "kB/s": told.bytes / 1e3 / seconds,
        "pages' ms/answer": 1e3 * client / answers,
    }


def _part(values: Sequence[float], percent: int) -> float:
    if len(values) < 2:
        return values[0] if values else float("nan")
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def _answers(port: int) -> bool:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
