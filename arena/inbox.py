"""What else waits in the queue of results, for a recorder that is handling a message of it.

Celery hands out one message at a time, and acknowledges it when it is handled. What is taken here
beside it is acknowledged by whoever took it, once it is handled too: until then it is the
broker's, which brings it back when the recorder dies.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from celery import Celery
from kombu import Connection, Message, Queue

from engine import jobs

TOGETHER = 16
"""What is handled at once, at most, of all that workers say: what it waits for stays short.

The last message may bring more.
"""

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

    def __init__(self, app: Celery[Any]) -> None:
        self._app = app
        self._connection: Connection | None = None
        self._queue: Queue | None = None

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
