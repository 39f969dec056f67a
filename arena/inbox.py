"""What else waits in the queue of results, for a recorder that is handling a message of it.

Celery hands out one message at a time, and acknowledges it when it is handled. What is taken here
beside it is acknowledged by whoever took it, once it is handled too: until then it is the
broker's, which brings it back when the recorder dies.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from celery import Celery
from kombu import Connection, Message, Queue

from engine import jobs
from engine.every import Every

TOGETHER = 16
"""What is handled at once, at most, of all that workers say: what it waits for stays short.

The last message may bring more.
"""
PACE_SECONDS = 0.25
"""Of messages that follow each other faster, so many seconds' are handled together: a transaction
for each would cost several times as much, and workers have a match waiting meanwhile."""
GLANCE_SECONDS = 0.05
"""How often the queue is looked at meanwhile, for what nobody lets wait."""

log = logging.getLogger("arena.recorder")


@dataclass(frozen=True, slots=True)
class Said:
    """A message: the name of a task of the recorder, and what it is told."""

    task: str
    args: Sequence[Any]
    named: Mapping[str, Any]
    message: Message | None = None
    """As it was taken from the queue; None for the one that Celery acknowledges."""

    def acknowledge(self) -> None:
        """Takes it off the broker: it is handled."""
        if self.message is not None:
            # If the broker is away it comes again, and changes nothing.
            self.message.ack_log_error(log, Exception)


class Inbox:
    """The queue of results, through a connection of its own."""

    def __init__(self, app: Celery[Any], often: Container[str]) -> None:
        """A queue of results.

        Args:
            often: the tasks that come often, and that others may follow before they are handled.
        """
        self._app, self._often = app, often
        self._paced = Every(PACE_SECONDS)
        self._connection: Connection | None = None
        self._queue: Queue | None = None

    def gather(self, most: int) -> list[Said]:
        """What waits, or comes soon where the last messages were gathered a moment ago.

        Nothing more is waited for once there is a message that does not come often, such as that
        of a person who waits for a bot's move.

        Args:
            most: as with `take`.
        """
        found: list[Said] = []
        while True:
            found += self.take(most - sum(len(said.args) for said in found))
            is_full = sum(len(said.args) for said in found) >= most
            rest = self._paced.remaining()
            if is_full or rest <= 0 or any(said.task not in self._often for said in found):
                self._paced.begin()
                return found
            time.sleep(min(rest, GLANCE_SECONDS))

    def take(self, most: int) -> Iterator[Said]:
        """What waits now, the oldest first; nothing without a broker, or while it is away.

        Args:
            most: what is said by all messages together; the last one may go beyond it.
        """
        while most > 0 and self._app.conf.broker_url:
            try:
                message = self._open().get(accept=self._app.conf.accept_content)
            except Exception as error:
                # Whoever may write to the queue may write anything.
                log.warning("nothing more was taken from the queue of results: %r", error)
                self.close()
                return
            if message is None:
                return
            try:
                said = _read(message)
            except Exception as error:
                log.warning("what is no message was dropped: %r", error)
                said = None
            if said is None:
                message.ack_log_error(log, Exception)
                most -= 1
                continue
            yield said
            most -= max(1, len(said.args))

    def close(self) -> None:
        """Gives back what was taken and not acknowledged; the next one is taken anew."""
        if self._connection is not None:
            with suppress(Exception):
                self._connection.release()
        self._connection = self._queue = None

    def _open(self) -> Queue:
        if self._queue is None:
            # Nothing in this queue has a priority, so that it need not be looked for by each.
            options = {"priority_steps": [0]}
            self._connection = self._app.connection_for_read(transport_options=options)
            self._queue = Queue(jobs.RESULTS_QUEUE, no_declare=True).bind(
                self._connection.channel()
            )
        return self._queue


def _read(message: Message) -> Said | None:
    """What a message says; None if it says that it is too late for it."""
    expires = message.headers.get("expires")
    if expires and datetime.fromisoformat(expires) < datetime.now(UTC):
        return None
    args, named, _ = message.decode()
    return Said(str(message.headers["task"]), list(args), dict(named), message)
