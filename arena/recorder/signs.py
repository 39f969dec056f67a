"""What workers say that counts only until they say it anew, as the one recorder reads it.

Each sign stands in a field of a hash, whose name nobody else can guess, and the next one takes its
place. So no more than the last of each worker and of each job waits, however far behind the
recorder is, and no report waits for any of them.

What is there is taken at once, by another name for the hash, and gone through piece by piece
between reports. It stays until it is handled: the next recorder goes on with what one that died had
taken. That is done as often as `PACE_SECONDS` says, and where there is much of it more seldom, so
that it takes no more than a `SHARE` of the time: then less is seen of how far matches are, while
reports are recorded as before.

The broker puts no bound on what a login may say, so it is put here: of more than `MOST` what is
beyond is dropped, whichever that is. Nor is more of it read at once than this process has room for,
which needs fifteen times as much for what it reads.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime

import redis

from arena.operation import queues
from arena.recorder.inbox import ANSWER_SECONDS, COMPLAINT_SECONDS, TOGETHER_BYTES, Said
from arena.schedule.occurrences import DROPPED
from engine.messages import UnreadableError, unpack
from engine.timers import Every

PACE_SECONDS = 0.5
SHARE = 0.1
LONGEST_PACE_SECONDS = 5.0
"""The longest pause between two looks: less than leases last, and than workers are silent that are
taken for dead."""
AT_ONCE = 500
"""About so many are handled at once: what is reported meanwhile waits for no more."""
FEW, HEAVY_BYTES = 8, 32_000_000
"""So few are fetched at once where all weigh more."""
MOST = 20_000
"""The most signs that are taken at once: those of a thousand workers, and of the most matches that
they are given."""
LONGEST = 4_000_000
"""Bytes of one; the findings of a check may be long."""

log = logging.getLogger("arena.recorder")


class Signs:
    """The hash of signs of a broker."""

    def __init__(
        self, broker: str, key: str, counts: Counter[str], refuse: Callable[[Exception], None]
    ) -> None:
        """A hash of signs.

        Args:
            broker: its address; nothing comes without one.
            key: its name there.
            counts: where it is counted what was too much.
            refuse: is told of one that can't be read.
        """
        self._client = queues.connect(broker, seconds=ANSWER_SECONDS) if broker else None
        self._key, self._taken = key, f"{key}.taken"
        self._counts, self._refuse = counts, refuse
        self._heard: datetime | None = None
        self._is_taken = True  # perhaps by a recorder before
        self._since: datetime | None = None
        """When what is in hand was taken; None if nobody knows."""
        self._cursor: int | None = None
        """How far what was taken is fetched; None if that is not begun, 0 at its end."""
        self._read, self._fetched = 0, list[bytes]()
        self._at_once = AT_ONCE
        self._due = self._began = 0.0
        self._spent = 0.0
        self._complaints = Every(COMPLAINT_SECONDS)

    def remaining(self) -> float:
        """The seconds until there may be something to take; 0 or less if there is."""
        return self._due - time.monotonic()

    def heard(self, now: datetime) -> datetime | None:
        """The last moment up to which all is handled; None if that is before the first look."""
        return self._heard and min(self._heard, now)

    def take(self, now: datetime) -> list[Said]:
        """A piece of what was said, to be handled before `done` is called; nothing before its time,
        or while the broker is away."""
        if self._client is None:
            self._heard = now
        if self._client is None or self.remaining() > 0:
            return []
        self._began = time.monotonic()
        try:
            if self._is_taken and (found := self._next_piece(self._client)):
                return found
            if self._take_all(self._client, now):
                return self._next_piece(self._client)
        except redis.RedisError as error:
            self._due = time.monotonic() + PACE_SECONDS
            if self._complaints.is_due():
                log.warning("the broker does not give its signs: %.200s; waiting", error)
        return []

    def _take_all(self, client: redis.Redis, now: datetime) -> bool:
        """Takes what is there; False if nothing is."""
        self._due = self._began + PACE_SECONDS
        if not client.exists(self._key):
            self._heard = now
            return False
        # Left alone if there is one that was taken before: it is handled first.
        if client.renamenx(self._key, self._taken):
            self._since = now
        self._is_taken, self._due = True, 0.0
        return True

    def _next_piece(self, client: redis.Redis) -> list[Said]:
        found, size = list[Said](), 0
        while len(found) < AT_ONCE and size < TOGETHER_BYTES and self._fetch(client):
            raw = self._fetched.pop()
            size += len(raw)
            try:
                if len(raw) > LONGEST:
                    raise UnreadableError(f"it is longer than {LONGEST} bytes")
                message = unpack(raw)
            except UnreadableError as error:
                self._refuse(error)
                continue
            found.append(Said(message.task, message.args, message.named, raw))
        if not found and self._is_at_its_end:
            self.done()
        return found

    def _fetch(self, client: redis.Redis) -> bool:
        """Whether there is a next one, which is fetched by then."""
        if self._cursor is None:
            weight = client.memory_usage(self._taken, samples=0) or 0
            self._at_once = AT_ONCE if weight <= HEAVY_BYTES else FEW
        while not self._fetched and not self._is_at_its_end:
            self._cursor, fields = client.hscan(self._taken, self._cursor or 0, count=self._at_once)
            assert isinstance(fields, dict)
            self._read += len(fields)
            self._fetched = [one for one in fields.values() if isinstance(one, bytes)]
        return bool(self._fetched)

    @property
    def _is_at_its_end(self) -> bool:
        return not self._fetched and (self._cursor == 0 or self._read >= MOST)

    def done(self) -> None:
        """The piece that was taken last is handled."""
        assert self._client is not None
        self._spent += time.monotonic() - self._began
        if not self._is_at_its_end:
            return
        try:
            if self._cursor:
                excess = int(self._client.hlen(self._taken)) - self._read
                self._counts[DROPPED] += excess
                log.warning("more than %s signs waited: %s were dropped", MOST, excess)
            self._client.unlink(self._taken)
        except redis.RedisError:
            pass  # it is gone through once more, which changes nothing
        pace = min(max(PACE_SECONDS, self._spent / SHARE), LONGEST_PACE_SECONDS)
        self._due = time.monotonic() + pace
        self._heard = self._since or self._heard
        self._since, self._is_taken = None, False
        self._cursor, self._read = None, 0
        self._spent = 0.0

    def close(self) -> None:
        """Ends the connection."""
        if self._client is not None:
            self._client.close()
