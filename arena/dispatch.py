"""The queue: tasks by name, sent once a transaction is committed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Protocol

from celery import Celery

from arena.config import Settings
from engine import jobs

TASK = {"match": jobs.PLAY_MATCH, "check": jobs.CHECK_BOT}


class Queue(Protocol):
    """Whatever takes jobs to workers."""

    def send(self, issued: Iterable[jobs.Job], now: datetime) -> None:
        """Sends jobs that were issued in a transaction that is committed."""


class CeleryQueue:
    """The queue of a Celery app."""

    def __init__(self, app: Celery, settings: Settings) -> None:
        self._app = app
        self._expires = settings.take_up_seconds

    def send(self, issued: Iterable[jobs.Job], now: datetime) -> None:
        # One connection and one channel for all of them.
        issued = list(issued)
        if not issued:
            return
        with self._app.producer_pool.acquire(block=True) as producer:
            for job in issued:
                self._app.send_task(
                    TASK[job.lease.kind],
                    (job.to_json(),),
                    queue=jobs.MATCHES_QUEUE,
                    expires=self._expires,
                    producer=producer,
                )


def configure(app: Celery, broker: str, **more: Any) -> None:
    """Settings that every Celery app of the arena shares."""
    app.conf.update(
        broker_url=broker,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        broker_connection_retry_on_startup=True,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_soft_shutdown_timeout=5.0,
        broker_transport_options={
            # How long a message may stay unacknowledged. Every task that is acknowledged late
            # is short, and what is lost is brought back by its lease in any case.
            "visibility_timeout": 120,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
        },
        **more,
    )
