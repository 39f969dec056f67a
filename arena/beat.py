"""The heartbeat: Celery's beat with one entry, the tick. Knows no database, so it is light."""

from __future__ import annotations

from celery import Celery

from arena.config import load
from arena.dispatch import configure
from engine import jobs

settings = load()
app = Celery("arena")
configure(
    app,
    settings.broker,
    beat_schedule={
        "tick": {
            "task": "arena.tick",
            "schedule": settings.tick_seconds,
            # A recorder that was away must not find a heap of ticks.
            "options": {"queue": jobs.RESULTS_QUEUE, "expires": settings.tick_seconds},
        }
    },
    beat_schedule_filename=str(settings.data.resolve() / "beat"),
)
