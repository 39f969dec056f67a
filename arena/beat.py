"""The heartbeat: Celery's beat with one entry, the tick. Knows no database, so it is light.

It keeps nothing on disk, and counts time by a clock that nobody sets: on the wall clock, an hour
set back would be an hour without ticks.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from celery import Celery
from celery.schedules import schedule

from arena.config import load
from arena.dispatch import configure
from engine import jobs

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def steady_now() -> datetime:
    """A time that goes on evenly, whatever is done to the machine's clock."""
    return EPOCH + timedelta(seconds=time.monotonic())


settings = load()
app = Celery("arena")
configure(
    app,
    settings,
    beat_scheduler="celery.beat:Scheduler",
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
