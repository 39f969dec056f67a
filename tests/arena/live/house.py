"""Matches under way that are watched: real pages, broker and process, and a worker's own words."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import redis

from arena.cli import connections
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Match
from arena.recorder import recording
from arena.schedule import matchmaking
from arena.web.app import create_app
from arena.web.handover import hands_over
from engine import jobs, reporting
from engine.game import State
from engine.live import channel_of, log_channel_of
from engine.match import MatchResult, Players
from engine.messages import address_of
from engine.player import Player
from engine.record import Ply
from engine.unix_sockets import listen_at
from tests.arena.issuing import issued
from tests.arena.running import broker, environment, until
from tests.arena.simulator import CALM, LotPlayer, Simulation, give_sign
from workers.live import LiveMatch


class House:
    """An arena of one ladder, with its pages; matches are played by who asks for them here."""

    def __init__(self, folder: Path, broker_url: str, game: str, **options: str) -> None:
        self.database = Database(f"sqlite:///{folder}/arena.db")
        self.database.upgrade()
        Simulation(self.database, 3, CALM).furnish([(game, options)], bots=3)
        self.settings = Settings(data=folder, database=self.database.url, broker=broker_url)
        self.broker, self.folder = broker_url, folder
        self.port = 0
        self._listener = listen_at(self.settings.live_socket)
        self.live: subprocess.Popen[bytes] | None = None

    def start_live(self) -> None:
        """Starts the process that tells who watches; whoever came meanwhile is told then."""
        number = self._listener.fileno()
        own = self.settings.environment() | {"ARENA_LIVE_LISTENER": str(number)}
        with (self.folder / "live.log").open("ab") as log:
            self.live = subprocess.Popen(
                [sys.executable, "-P", "-m", "arena.live.process"],
                env=environment(**own),
                stdout=log,
                stderr=log,
                pass_fds=[number],
            )

    def kill_live(self) -> None:
        """Ends it at once, with every connection."""
        if self.live:
            self.live.kill()
            self.live.wait()

    def close(self) -> None:
        """Ends what it has."""
        self.kill_live()
        self._listener.close()
        self.database.close()

    @contextmanager
    def pages(self) -> Iterator[None]:
        """Serves the pages, by the arena's own server."""
        app = create_app(self.settings)
        server = connections.listen(hands_over(app.wsgi_app), host="127.0.0.1", port=0, threads=4)
        self.port = server.effective_listen[0][1]
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.close()
            thread.join(5)
            app.extensions["arena.database"].close()

    def issue(self) -> jobs.Job:
        """A match that a worker takes up."""
        now = datetime.now(UTC)
        with self.database.begin() as session:
            match = next(matchmaking.new_matches(session, now), None)
            assert match is not None
            job = issued(session, match, self.settings, now)
            match.worker = "one"
        assert isinstance(job, jobs.Job)
        return job

    def change(self, job: jobs.Job, change: Callable[[Match], None]) -> None:
        """Changes a match in the database."""
        with self.database.begin() as session:
            change(session.get_one(Match, job.lease.job))

    def play(
        self,
        job: jobs.Job,
        after_ply: Callable[[int, State, int], None] = lambda *_: time.sleep(0.01),
        *,
        lease: jobs.Lease | None = None,
        player: Callable[[], Player] = LotPlayer,
    ) -> MatchResult:
        """Plays a match as a worker does, which tells of it.

        Args:
            after_ply: is called with the game, the position, and the number of the ply.
            lease: what the worker says that it has; by default the match's own.
            player: makes each bot.
        """
        match = LiveMatch(lease or job.lease, self.broker)
        match.begin()

        def watch(game: int) -> Callable[[State, Any], None]:
            def see(state: State, plies: list[Ply]) -> None:
                after_ply(game, state, len(plies))

            return match.also(game, see, players.logs)

        players = Players(lambda _: player())
        result = players.play(job.spec, watch=watch)
        match.end()
        return result

    def report(self, job: jobs.Job, result: MatchResult) -> None:
        """Has what was played recorded."""
        report = reporting.MatchReport(job.lease, "one", result.games, result.logs)
        with self.database.begin() as session:
            give_sign(session, "one", datetime.now(UTC), slots=1)
            recording.take_in(session, [report], self.settings, datetime.now(UTC))


@contextmanager
def house(folder: Path, game: str = "clobber", **options: str) -> Iterator[House]:
    """An arena with its pages and the process of live matches."""
    with ExitStack() as ending:
        made = House(folder, ending.enter_context(broker()).url, game, **options)
        ending.callback(made.close)
        made.start_live()
        ending.enter_context(made.pages())
        yield made


def broker_of(arena: House) -> redis.Redis:
    """A connection to its broker."""
    return redis.Redis.from_url(address_of(arena.broker))


def listeners(arena: House, job: jobs.Job) -> list[int]:
    """How many listen to what is told of a match, and of its logs."""
    channels = channel_of(job.lease.job), log_channel_of(job.lease.job)
    with broker_of(arena) as client:
        return [count for _, count in client.pubsub_numsub(*channels)]


class Watcher:
    """Somebody who reads a stream as browsers do, which come back with the id of the last event."""

    def __init__(self, house: House, match: int, *, polls: bool = False) -> None:
        self._house, self._match, self._polls = house, match, polls
        self.events: list[tuple[str, str, Any]] = []
        self.heads: list[dict[str, str]] = []
        self.statuses: list[int] = []
        self.is_over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def seen(self) -> str:
        """The id of the last event."""
        return self.events[-1][1] if self.events else ""

    def plies(self) -> list[tuple[int, int, int]]:
        """The game, the try, and how many plies led to it, of each board that came."""
        found = []
        for kind, _, data in self.events:
            if kind == "plies":
                numbers = range(data["first"], data["first"] + len(data["boards"]))
                found += [(data["game"], data["again"], number) for number in numbers]
        return found

    def _run(self) -> None:
        while not self.is_over:
            try:
                (self._poll if self._polls else self._read)()
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.05)

    def _read(self) -> None:
        path = f"/matches/{self._match}/stream"
        with self._ask(path, {"Last-Event-ID": self.seen}) as answer:
            fields: dict[str, str] = {}
            while line := answer.readline():
                key, _, value = line.decode().rstrip("\n").partition(": ")
                if key:
                    fields[key] = value
                elif "data" in fields:
                    self._take(fields["event"], fields["id"], json.loads(fields["data"]))
                    fields = {}

    def _poll(self) -> None:
        path = f"/matches/{self._match}/stream?once=1&after={self.seen}"
        with self._ask(path, {}) as answer:
            if answer.status == 200:
                for event in json.loads(answer.read()):
                    self._take(*event)

    @contextmanager
    def _ask(self, path: str, headers: dict[str, str]) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self._house.port, timeout=30)
        try:
            connection.request("GET", path, headers=headers)
            with connection.getresponse() as answer:
                self.statuses.append(answer.status)
                self.heads.append(dict(answer.getheaders()))
                yield answer
        finally:
            connection.close()

    def _take(self, kind: str, seen: str, data: Any) -> None:
        self.events.append((kind, seen, data))
        self.is_over = self.is_over or kind == "over"

    def wait(self) -> None:
        """Waits until it was told that the match is over."""
        until(lambda: self.is_over, f"the end; it heard {self.events[-2:]}"[:500], seconds=20)
