"""Who watches which match, and what they are told: connections, and what comes from the broker.

Theory of operation. The event loop has the connections and nothing else: what takes longer, such as
rules, pictures and the database, runs in one other thread, a match at a time, so that rules that
hang hold up no connection. For each match that is watched there is a task: it takes in what came
from the worker, and tells each viewer what follows on what they have seen, which is made once for
all who have seen the same. Nothing is kept here that can't be had anew: of a process that dies the
worker sees that nobody listens, the next one hears all of the match, and browsers say what they
have seen.

What bots log is told to those alone whom the pages say may read it, and heard of the broker only
while one of them is here, or was a moment ago. They lose their connection now and then, and come
back by the pages, which then say again what they may.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import redis.asyncio
from sqlalchemy.exc import SQLAlchemyError

from arena.ground.catalogues import translation
from arena.live.shows import LiveEvent, LiveShow, Seen, read_seen
from engine.faulty_rules import take_off_if_raised
from engine.games import GAMES
from engine.jobs import JobError
from engine.live import CHANNELS, LOGS, LiveLog, LivePlies, LiveWord, channel_of, log_channel_of
from engine.translation import gettext, speaking

PACE_SECONDS = 0.1
"""The least time between two moments at which the viewers of a match are told something."""
LOOK_SECONDS = 1.0
"""How often the database is asked how matches stand."""
LINGER_SECONDS = 15.0
"""How long a match is followed that nobody watches any more; they may come back."""
SIGN_SECONDS = 15.0
"""How often a stream is told that it lives; proxies end what is silent for long."""
READ_SECONDS = 60.0
"""How long it is taken for granted that somebody may read a log; until the next sign."""
MOST_WAITING = 1 << 18
"""Bytes that a viewer may leave waiting before they are told no more, until they took them."""
MOST_PENDING = 10_000
"""Messages of a match that wait to be taken in; of more the oldest are dropped, and told again."""
RETRY_MS = 1000, 4000
"""The least and the most after which browsers come back whose stream broke, so that not all do at
once."""
HEAD = (
    "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\nX-Accel-Buffering: no\r\nConnection: close\r\n{more}\r\n"
)

log = logging.getLogger("arena.live")


class Stands(Protocol):
    """How matches stand, by the database; is called in another thread."""

    def show(self, number: int) -> LiveShow | None:
        """A new show of a match; None if there is no such match."""

    def look(self, shows: Mapping[int, LiveShow]) -> set[int]:
        """Tells shows how their matches stand by now; those of which that is something new."""

    def take(self, show: LiveShow, told: LiveWord) -> None:
        """Has a show take in what is told, if it comes from the worker that has the match."""


class Telling(NamedTuple):
    """What somebody is to be told."""

    once: bool
    seen: Seen
    reads: frozenset[int]
    heard: int
    language: str


class Viewer(asyncio.Protocol):
    """A connection whose request was read by the pages: a stream, or a single answer."""

    def __init__(
        self,
        hall: Hall,
        match: int,
        seen: Seen,
        client: str,
        *,
        once: bool,
        reads: frozenset[int],
        language: str,
    ) -> None:
        self.match, self.seen, self.client, self.once = match, seen, client, once
        self.reads = reads
        """The entrants whose logs it is told."""
        self.language = language
        self.heard = 0
        """The number of the last change of a log of which it was told."""
        self._until = asyncio.get_running_loop().time() + READ_SECONDS
        self._hall = hall
        self._transport: asyncio.Transport | None = None
        self._is_full = self._is_slow = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=MOST_WAITING)
        if not self.once:
            retry = random.randint(*RETRY_MS)
            head = HEAD.format(status="200 OK", kind="text/event-stream", more="")
            transport.write(f"{head}retry: {retry}\n\n".encode())
        self._hall.welcome(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._hall.miss(self)

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._hall.wake(self.match)

    @property
    def is_free(self) -> bool:
        """Whether it can be told something."""
        return self._transport is not None and not self._is_full

    @property
    def telling(self) -> Telling:
        """What it is to be told, by what it follows; who have the same are told the same."""
        return Telling(self.once, self.seen, self.reads, self.heard, self.language)

    def tell(self, events: bytes, seen: Seen, heard: int, *, is_over: bool) -> None:
        """Tells it what follows, and what it has seen and heard then."""
        self.seen, self.heard = seen, heard
        if self._transport is None:
            return
        if self.once:
            more = f"Content-Length: {len(events)}\r\n"
            head = HEAD.format(status="200 OK", kind="application/json", more=more)
            self._transport.write(head.encode())
        self._transport.write(events)
        if self.once or is_over:
            self.close()

    def sign(self) -> None:
        """Tells it that it lives, or cuts it off if something waited for it the last time, too."""
        if self._transport is None or self.once:
            return
        if self.reads and asyncio.get_running_loop().time() > self._until:
            self.close()  # it comes back, if it still may
            return
        waits = self._transport.get_write_buffer_size() > 0
        if waits and self._is_slow:
            self._transport.abort()
        elif not waits:
            self._transport.write(b": still here\n\n")
        self._is_slow = waits

    def refuse(self, status: str, words: str) -> None:
        """Ends it without an answer, if it had none yet."""
        if self._transport is None:
            return
        if self.once:
            body = json.dumps({"detail": words}).encode()
            more = f"Content-Length: {len(body)}\r\n"
            head = HEAD.format(status=status, kind="application/json", more=more)
            self._transport.write(head.encode() + body)
        self.close()

    def close(self) -> None:
        """Ends it, once it has what was said."""
        if self._transport is not None:
            self._transport.close()


class _Watched:
    """A match that is watched."""

    def __init__(self) -> None:
        self.show: LiveShow | None = None
        self.viewers: set[Viewer] = set()
        self.pending: list[LiveWord] = []
        self.read_until = 0.0
        """The time until which somebody who reads a log may come back."""
        self.hears_logs = False
        self.wake = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class Hall:
    """All who watch.

    Args:
        stands: the database's side of it.
        broker: the address of the broker.
        most: how many may be connected.
    """

    def __init__(self, stands: Stands, broker: str, *, most: int) -> None:
        self._stands, self._most = stands, most
        self._watched: dict[int, _Watched] = {}
        self._viewers: dict[Viewer, None] = {}
        """All, the first that came first."""
        self._client = redis.asyncio.Redis.from_url(broker, socket_connect_timeout=2)
        self._ear = self._client.pubsub()
        self._asking = asyncio.Lock()
        """Held by who says what is to be heard: two at once would open two connections."""
        self._thread = ThreadPoolExecutor(1, "shows")
        self._loop = asyncio.get_running_loop()
        self._tasks = [
            self._loop.create_task(each) for each in (self._listen(), self._look(), self._sign())
        ]

    async def close(self) -> None:
        """Ends all connections, and what goes on."""
        for one in [*self._tasks, *(each.task for each in self._watched.values())]:
            if one:
                one.cancel()
        for viewer in list(self._viewers):
            viewer.close()
        await self._ear.aclose()  # type: ignore[no-untyped-call]
        await self._client.aclose()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def let_in(self, letter: Mapping[str, Any], connection: Any) -> None:
        """Takes in a connection by its letter."""
        match, client, once = int(letter["match"]), str(letter["client"]), bool(letter["once"])
        seen, reads = read_seen(str(letter["after"])), frozenset(map(int, letter["reads"]))
        language = translation(str(letter["language"])).language
        viewer = Viewer(self, match, seen, client, once=once, reads=reads, language=language)
        await self._loop.connect_accepted_socket(lambda: viewer, connection)

    def welcome(self, viewer: Viewer) -> None:
        """Somebody is here; if that is one too many, who has most connections loses the oldest."""
        self._viewers[viewer] = None
        if len(self._viewers) > self._most:
            ((client, _),) = Counter(one.client for one in self._viewers).most_common(1)
            next(one for one in self._viewers if one.client == client).close()
        watched = self._watched.setdefault(viewer.match, _Watched())
        watched.viewers.add(viewer)
        watched.wake.set()
        if watched.task is None:
            watched.task = self._loop.create_task(self._follow(viewer.match, watched))

    def miss(self, viewer: Viewer) -> None:
        """Forgets a viewer who has gone."""
        self._viewers.pop(viewer, None)
        if watched := self._watched.get(viewer.match):
            watched.viewers.discard(viewer)

    def wake(self, match: int) -> None:
        """There may be something to tell of a match."""
        if watched := self._watched.get(match):
            watched.wake.set()

    async def _in_thread(self, do: Callable[..., Any], *given: Any) -> Any:
        return await self._loop.run_in_executor(self._thread, do, *given)

    async def _follow(self, match: int, watched: _Watched) -> None:
        """Follows a match as long as somebody watches it, and a while longer."""
        try:
            watched.show = await self._in_thread(self._stands.show, match)
            if watched.show:
                with suppress(redis.RedisError, OSError):  # when it is there again: `_listen`
                    async with self._asking:
                        await self._ear.subscribe(channel_of(match))
                await self._tell_on(match, watched, watched.show)
        except Exception as error:
            take_off_if_raised(GAMES, error)
            log.exception("match %s can't be shown", match)
        finally:
            self._watched.pop(match, None)
            for viewer in list(watched.viewers):
                with speaking(translation(viewer.language)):
                    words = gettext("There is no such match under way.")
                viewer.refuse("404 Not Found", words)
            with suppress(redis.RedisError, OSError, RuntimeError):
                async with self._asking:
                    if match not in self._watched:  # nobody came back meanwhile
                        await self._ear.unsubscribe(channel_of(match), log_channel_of(match))

    async def _hear_logs(self, match: int, watched: _Watched, show: LiveShow) -> None:
        """Hears what bots log as long as somebody reads that, and a while longer."""
        now = self._loop.time()
        if any(viewer.reads for viewer in watched.viewers):
            watched.read_until = now + LINGER_SECONDS
        if (wanted := now < watched.read_until) == watched.hears_logs:
            return
        watched.hears_logs = wanted
        with suppress(redis.RedisError, OSError):  # when it is there again: `_listen`
            async with self._asking:
                change = self._ear.subscribe if wanted else self._ear.unsubscribe
                await change(log_channel_of(match))
        if not wanted:
            await self._in_thread(show.forget_logs)

    async def _tell_on(self, match: int, watched: _Watched, show: LiveShow) -> None:
        left = self._loop.time()
        while True:
            try:
                await asyncio.wait_for(watched.wake.wait(), LINGER_SECONDS)
            except TimeoutError:
                pass
            watched.wake.clear()
            await self._hear_logs(match, watched, show)
            news, watched.pending = watched.pending, []
            tellings = {one.telling for one in watched.viewers if one.is_free}
            told = await self._in_thread(self._make, show, news, tellings)
            for viewer in list(watched.viewers):
                for_it = told.get(viewer.telling)
                if for_it and viewer.is_free:
                    viewer.tell(*for_it, is_over=show.is_over)
            if watched.viewers:
                left = self._loop.time()
            elif self._loop.time() - left > LINGER_SECONDS or show.is_over:
                return
            await asyncio.sleep(PACE_SECONDS)

    def _make(
        self, show: LiveShow, news: Iterable[LiveWord], tellings: set[Telling]
    ) -> dict[Telling, tuple[bytes, Seen, int]]:
        """What is to be told of each telling: to a stream nothing if that is nothing."""
        for told in news:
            self._stands.take(show, told)
        made: dict[tuple[str, Seen], tuple[list[LiveEvent], Seen]] = {}
        found = {}
        for telling in tellings:
            what = telling.language, telling.seen
            if what not in made:
                with speaking(translation(telling.language)):
                    made[what] = show.since(telling.seen)
            events, then = made[what]
            logs, heard = show.logs_since(telling.heard, telling.reads, telling.seen)
            # Before the end, after which nothing is read.
            all_events = [*logs, *events]
            if telling.once:
                found[telling] = _answer(all_events), then, heard
            elif all_events:
                found[telling] = b"".join(event.text for event in all_events), then, heard
        return found

    async def _listen(self) -> None:
        """Hears what workers tell; of a broker that is away it hears when that is back."""
        while True:
            try:
                async with self._asking:
                    # One that always is, so that there is a connection.
                    read = [match for match, one in self._watched.items() if one.hears_logs]
                    channels = *map(channel_of, self._watched), *map(log_channel_of, read)
                    await self._ear.subscribe(CHANNELS, *channels)
                async for message in self._ear.listen():
                    if message["type"] == "message":
                        self._hear(message["channel"], message["data"])
            except (redis.RedisError, OSError) as error:
                log.warning("the broker is away: %s", error)
                await asyncio.sleep(1)
                async with self._asking:
                    with suppress(redis.RedisError, OSError):
                        await self._ear.aclose()  # type: ignore[no-untyped-call]
                    self._ear = self._client.pubsub()

    def _hear(self, channel: bytes, text: bytes) -> None:
        kind = LiveLog if channel.endswith(LOGS.encode()) else LivePlies
        try:
            told = kind.from_json(text)
        except JobError as error:
            log.info("somebody tells nonsense: %s", error)
            return
        watched = self._watched.get(told.lease.job)
        if watched is None or told.lease.kind != "match":
            return
        if kind is LiveLog and not watched.hears_logs:
            return
        watched.pending.append(told)
        del watched.pending[:-MOST_PENDING]
        watched.wake.set()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            shows = {number: one.show for number, one in self._watched.items() if one.show}
            if shows:
                try:
                    for number in await self._in_thread(self._stands.look, shows):
                        self.wake(number)
                except SQLAlchemyError as error:
                    log.warning("the database is away: %s", error)
                except Exception as error:
                    take_off_if_raised(GAMES, error)
                    log.exception("it can't be said how matches stand")

    async def _sign(self) -> None:
        while True:
            await asyncio.sleep(SIGN_SECONDS)
            for viewer in list(self._viewers):
                viewer.sign()


def _answer(events: Iterable[LiveEvent]) -> bytes:
    return json.dumps([[one.kind, one.id, one.data] for one in events]).encode()
