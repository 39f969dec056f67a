"""Whether this worker takes matches by the reference machine's clock, and when it measures itself.

Those have queues of their own. It takes from them while it may play them; that can change at any
time, as its machine gets busy or is itself again.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

from kombu import Queue

from workers.app import queues
from workers.cores import BusyError, unclaimed_core
from workers.measuring import Gauge
from workers.sandbox import Sandbox

log = logging.getLogger("workers.clocked")

GAUGE = Gauge()
"""How fast this worker is."""


def measure_if_idle(box: Sandbox) -> None:
    """Measures this machine again if that is due, and there is a core on which nobody plays."""
    if GAUGE.is_due:
        with suppress(BusyError), unclaimed_core() as core:
            GAUGE.take(box, core)


class ClockedQueues:
    """The queues of these matches, as this worker takes from them or does not."""

    def __init__(self, consumer: Any) -> None:
        """Takes from none of them yet.

        Args:
            consumer: Celery's own.
        """
        self._consumer = consumer
        self._is_away: bool | None = None
        """Whether it takes from none; None before anything was said of it."""

    def take_if_fit(self, *, several: bool) -> None:
        """Begins to take from them, or ceases to, and says so in the log.

        Args:
            several: whether this worker takes jobs that grant bots several processes, too.
        """
        words = GAUGE.unfit
        if bool(words) is self._is_away:
            return
        before, self._is_away = self._is_away, bool(words)
        if words:
            log.warning("no match by the reference machine's clock is played here: %s", words)
        else:
            log.info("matches by the reference machine's clock are played here")
        if before is not None or not words:
            for its in (False, True) if several else (False,):
                for queue in queues(several=its, clocked=True):
                    self._consumer.call_soon(self._leave if words else self._join, queue)

    def _join(self, queue: Queue) -> None:
        known = self._consumer.app.amqp.queues
        # Celery knows by its own list which queues are never to be declared.
        known.select_add(queue)
        if self._consumer.task_consumer is not None:  # else the connection is just made anew
            self._consumer.add_task_queue(queue.name)

    def _leave(self, queue: Queue) -> None:
        self._consumer.app.amqp.queues.deselect(queue.name)
        if self._consumer.task_consumer is not None:
            self._consumer.cancel_task_queue(queue.name)
