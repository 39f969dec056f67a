"""The queue of results, as the one recorder reads it.

A message is read where it stands, and taken off the queue when it is handled: so it is never lost,
whatever becomes of the recorder, and none is held anywhere else. That takes no memory of the
broker, and neither does anything else here: a broker that is full, so that it refuses whoever sends
something, is emptied like any other. What can't be read is taken off at once.

The broker puts no bound on what a login may send, so it is put here: of more than `MOST_WAITING`
the oldest are dropped, of which most counts no longer.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import redis

from arena.operation import queues
from arena.schedule.occurrences import DROPPED, UNREADABLE
from engine import jobs
from engine.messages import UnreadableError, pack, unpack
from engine.reporting import SIGNS
from engine.timers import Every

TOGETHER = 16
"""What is handled at once, at most, of all that workers say: what it waits for stays short.

The last message may bring more.
"""
LIGHT_TOGETHER = 1024
"""So many signs are handled at once, at most: workers of a release before put them here, too."""
LIGHT_READ = 64
"""How many messages are read by one command after a sign: mostly signs follow each other."""
TOGETHER_BYTES = 8_000_000
"""How many bytes are read at once before no more is: a message may have eight times as many."""
UNREADABLE_AT_ONCE = 1000
"""So many that can't be read are dropped before something else is done."""
PACE_SECONDS = 0.25
"""Messages that follow each other faster are handled together, so many seconds' of them: a
transaction for each would cost several times as much, and workers have a match waiting
meanwhile."""
GLANCE_SECONDS = 0.05
"""How often the queue is looked at meanwhile, for what nobody lets wait; and a full broker's."""
MOST_WAITING = 50_000
"""Messages. A thousand workers say as much in some minutes."""
ANSWER_SECONDS = 30.0
COMPLAINT_SECONDS = 10.0
"""How often it is said of a broker that it does not answer, or of messages that none can read."""
OF_THE_RELEASE_BEFORE = "unacked.results", "unacked.results.index", "unacked.results.mutex"
"""Where Celery kept what it had in hand. What was reported there is played again."""

log = logging.getLogger("arena.recorder")


@dataclass(frozen=True, slots=True)
class Said:
    """A message: the name of a task of the recorder, and what it is told."""

    task: str
    args: Sequence[Any]
    named: Mapping[str, Any]
    raw: bytes
    """The message as it stands in the queue."""


def _weight(said: Said) -> float:
    """How much it is of what is handled at once."""
    count = max(1, len(said.args))
    return count * TOGETHER / LIGHT_TOGETHER if said.task in SIGNS else count


class Backlog:
    """Knows up to when everything that was said has been handled.

    By this process's clock alone: it remembers how much waited at which moment.
    """

    def __init__(self) -> None:
        self._handled = 0
        self._seen: deque[tuple[datetime, int]] = deque(maxlen=10_000)
        self._heard: datetime | None = None

    def note(self, waiting: int, now: datetime) -> None:
        """Takes in that so many messages wait now."""
        if self._seen:
            # What waited and does not any more is gone, as with a broker that was emptied.
            self._handled = max(self._handled, self._seen[-1][1] - waiting)
        self._seen.append((now, self._handled + waiting))
        self.handled(0)

    def handled(self, count: int) -> None:
        """Takes in that so many more are handled, the oldest."""
        self._handled += count
        while self._seen and self._seen[0][1] <= self._handled:
            self._heard, _ = self._seen.popleft()

    def heard(self, now: datetime) -> datetime | None:
        """The last moment up to which all is handled; None if that is before the first look."""
        return self._heard and min(self._heard, now)


class Inbox:
    """A queue of results of a broker."""

    def __init__(
        self, broker: str, queue: str, often: Container[str], counts: Counter[str]
    ) -> None:
        """A queue of results.

        Args:
            broker: its address; nothing comes without one.
            queue: its name there.
            often: the tasks that come often, and that others may follow before they are handled.
            counts: where it is counted what could not be read, and what was too much.
        """
        self._queue, self._often, self._counts = queue, often, counts
        self._paced = Every(PACE_SECONDS)
        self._client = queues.connect(broker, seconds=ANSWER_SECONDS) if broker else None
        self._held = 0
        self._ahead: deque[bytes] = deque()
        """What was read of the queue and is not in hand, the oldest first."""
        self._was_light = False
        """Whether the last message was."""
        self._done: list[bytes] = []
        """What is handled, and still in the queue since the broker lets nothing be changed."""
        self.backlog = Backlog()
        self._complaints = Every(COMPLAINT_SECONDS)
        self._untold = 0

    def begin(self) -> None:
        """Forgets what the recorder of another release left in hand."""
        if self._client is not None:
            try:
                self._client.delete(*OF_THE_RELEASE_BEFORE)
            except redis.RedisError as error:
                self._complain(error)

    def gather(self, most: int) -> list[Said]:
        """What waits, or comes soon where the last messages were gathered a moment ago.

        Nothing more is waited for once there is a message that does not come often, such as that
        of a person who waits for a bot's move.

        Args:
            most: as with `take`.
        """
        found: list[Said] = []
        while True:
            found += self.take(most - sum(map(_weight, found)))
            is_full = sum(map(_weight, found)) >= most
            rest = self._paced.remaining()
            if not found or is_full or rest <= 0 or any(s.task not in self._often for s in found):
                if found:
                    self._paced.begin()
                return found
            time.sleep(min(rest, GLANCE_SECONDS))

    def take(self, most: float) -> Iterator[Said]:
        """What waits now and is not in hand, the oldest first; nothing while the broker is away.

        Args:
            most: what is said by all messages together, of which light ones count for less; the
                last one may go beyond it.
        """
        size, bad = 0, 0
        while most > 0 and size < TOGETHER_BYTES and bad < UNREADABLE_AT_ONCE and self._clear():
            raw = self._next()
            if raw is None:
                return
            self._held += 1
            try:
                message = unpack(raw)
            except UnreadableError as error:
                self.refuse(error)
                self.acknowledge(Said("", (), {}, raw))
                bad += 1
                continue
            said = Said(message.task, message.args, message.named, raw)
            self._was_light = said.task in SIGNS
            yield said
            most -= _weight(said)
            size += len(raw)

    def _next(self) -> bytes | None:
        if not self._ahead and self._client is not None:
            oldest = -1 - self._held
            newest = oldest - (LIGHT_READ - 1 if self._was_light else 0)
            try:
                found = self._client.lrange(self._queue, newest, oldest)
            except redis.RedisError as error:
                self._complain(error)
                return None
            assert isinstance(found, list)
            self._ahead.extend(raw for raw in reversed(found) if isinstance(raw, bytes))
        return self._ahead.popleft() if self._ahead else None

    def acknowledge(self, *said: Said) -> None:
        """Takes messages off the queue: they are handled.

        If the broker is away, that is done when it is there again.
        """
        self._held -= len(said)
        self._done += [one.raw for one in said]
        self.backlog.handled(len(said))
        self._clear()

    def _clear(self) -> bool:
        """Takes off the queue what is handled; False if the broker does not let it."""
        if not self._done or self._client is None:
            return True
        try:
            with self._client.pipeline(transaction=False) as steps:
                for raw in self._done:
                    # By what it is, and not where: another recorder may have taken over.
                    steps.lrem(self._queue, -1, raw)  # type: ignore[arg-type] # or bytes
                steps.execute()
        except redis.RedisError as error:
            self._complain(error)
            return False
        self._done.clear()
        return True

    def take_strays(self, count: int) -> None:
        """Moves to this queue what waits in those of shards beyond so many."""
        if self._client is None:
            return
        try:
            for key in self._client.scan_iter(match=f"{self._queue}.[0-9]*", count=1000):
                number = key.decode().removeprefix(f"{self._queue}.")
                if number.isdecimal() and int(number) >= count:
                    for _ in range(MOST_WAITING):
                        if self._client.lmove(key, self._queue, "RIGHT", "LEFT") is None:
                            break
        except redis.RedisError as error:
            self._complain(error)

    def pass_on(self, shard: int, task: str, args: Sequence[Any]) -> None:
        """Puts what is of another shard into the queue of that.

        Raises:
            redis.RedisError: the broker does not take it.
        """
        if self._client is not None:
            self._client.lpush(jobs.results_of(shard), pack(task, *args))

    def let_go(self) -> None:
        """Leaves in the queue what was taken and not acknowledged; it is taken again."""
        self._held = 0
        self._ahead.clear()

    def refuse(self, error: Exception) -> None:
        """Counts a message that can't be read, and says so in a line now and then."""
        self._counts[UNREADABLE] += 1
        self._untold += 1
        if self._complaints.is_due():
            words = "%s dropped that can't be read, the last one since: %.200s"
            log.warning(words, self._untold, error)
            self._untold = 0

    def wait(self, seconds: float) -> None:
        """Waits until there is a message, or so long."""
        if self._client is None:
            time.sleep(seconds)
            return
        try:
            # The last message to where it is: nothing but a way to wait for one.
            queue, most = self._queue, max(0.01, seconds)
            self._client.blmove(queue, queue, most, "RIGHT", "RIGHT")  # type: ignore[arg-type]
        except redis.OutOfMemoryError:
            time.sleep(min(seconds, GLANCE_SECONDS))
        except redis.RedisError as error:
            self._complain(error)
            time.sleep(min(seconds, 10 * GLANCE_SECONDS))

    def look(self, now: datetime) -> None:
        """Notes how much waits, and drops what is too much; not while there is something in hand.

        Nothing is noted while the broker is away: what workers say then is still to come.
        """
        if self._client is None:
            self.backlog.note(0, now)
            return
        try:
            waiting = self._client.llen(self._queue)
            assert isinstance(waiting, int)
            if (excess := waiting - MOST_WAITING) > 0:
                self._client.ltrim(self._queue, 0, MOST_WAITING - 1)
                self._counts[DROPPED] += excess
                self.backlog.handled(excess)
                words = "more than %s messages waited: the oldest %s were dropped"
                log.warning(words, MOST_WAITING, excess)
                waiting = MOST_WAITING
            self.backlog.note(waiting, now)
        except redis.RedisError as error:
            self._complain(error)

    def close(self) -> None:
        """Ends the connection."""
        if self._client is not None:
            self._client.close()

    def _complain(self, error: Exception) -> None:
        if self._complaints.is_due():
            log.warning("the broker does not give its queue of results: %.200s; waiting", error)
