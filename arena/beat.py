"""The heartbeat: Celery's beat with one entry, the tick. Knows no database, so it is light.

It keeps nothing on disk, and counts time by a clock that nobody sets: on the wall clock, an hour
set back would be an hour without ticks.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery
from celery.beat import ScheduleEntry, Scheduler, SchedulingError
from celery.schedules import schedule

from arena.config import load
from arena.dispatch import configure
from engine import jobs
from engine.every import Every

COMPLAINT_SECONDS = 300.0
"""How often it is said that the broker takes no ticks."""
log = logging.getLogger("arena.beat")
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def steady_now() -> datetime:
    """A time that goes on evenly, whatever is done to the machine's clock."""
    return EPOCH + timedelta(seconds=time.monotonic())


class Ticking(Scheduler):
    """Says in a line, now and then, that the broker takes no ticks, and once that it does again.

    Celery's own writes a traceback at each tick.
    """

    _complaint: Every | None = None
    """There is one while ticks are not taken."""

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            self._complain(error.__context__ or error)
            return
        if self._complaint:
            self._complaint = None
            log.warning("the broker takes ticks again")

    def _ensure_connected(self) -> Any:
        forever = self.app.conf.broker_connection_max_retries
        return self.connection.ensure_connection(lambda error, _: self._complain(error), forever)

    def _complain(self, error: BaseException) -> None:
        self._complaint = self._complaint or Every(COMPLAINT_SECONDS)
        if self._complaint.is_due():
            problem = (str(error) or repr(error)).splitlines()[0].rstrip(".")
            words = "the broker of ARENA_BROKER takes no ticks: %s; each is tried anew"
            log.error(words, problem)


settings = load()
app = Celery("arena")
configure(
    app,
    settings,
    beat_scheduler=f"{__name__}:{Ticking.__name__}",
    beat_schedule={
        "tick": {
            "task": "arena.tick",
            "schedule": schedule(timedelta(seconds=settings.tick_seconds), nowfun=steady_now),
            # A recorder that was away must not find a heap of ticks; one that is a little late
            # is to find some.
            "options": {"queue": jobs.RESULTS_QUEUE, "expires": 5 * settings.tick_seconds},
        }
    },
)
