"""The queue: tasks by name, sent once a transaction is committed."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from math import ceil
from typing import Any, Protocol

from celery import Celery
from celery.signals import after_setup_logger

from arena.config import Settings
from engine import jobs
from engine.logs import use_json

TASK = {"match": jobs.PLAY_MATCH, "check": jobs.CHECK_BOT, "move": jobs.PLAY_MOVE}
WAKE = "arena.wake"
FIRST, LATER = 0, 6
"""Priorities; people wait for bots' moves, which overtake what waits in the queue."""


class Queue(Protocol):
    """Whatever takes jobs to workers."""

    def send(self, issued: Iterable[jobs.Batch], now: datetime) -> None:
        """Sends jobs that were issued in a transaction that is committed."""


class CeleryQueue:
    """The queue of a Celery app."""

    def __init__(self, app: Celery[Any], settings: Settings) -> None:
        self._app = app
        self._expires = settings.take_up_seconds

    def send(self, issued: Iterable[jobs.Batch], now: datetime) -> None:
        # One connection and one channel for all of them.
        issued = list(issued)
        if not issued:
            return
        with self._app.producer_pool.acquire(block=True) as producer:
            for batch in issued:
                self._app.send_task(
                    TASK[batch[0].lease.kind],
                    tuple(job.to_json() for job in batch),
                    queue=jobs.MATCHES_QUEUE,
                    expires=self._expires,
                    priority=FIRST if isinstance(batch[0], jobs.MoveJob) else LATER,
                    time_limit=jobs.GRACE_SECONDS + ceil(sum(map(_longest_seconds, batch))),
                    argsrepr="",  # a text of it for people, which takes long and nobody reads
                    producer=producer,
                )


def _longest_seconds(job: jobs.AnyJob) -> float:
    """How long a job may take by its clocks; a check plays one game of its match."""
    if isinstance(job, jobs.Job):
        return job.spec.longest_seconds
    return job.game.time.longest_ms(seats=1, plies=1) / 1000


def configure(app: Celery[Any], settings: Settings, **more: Any) -> None:
    """Settings that every Celery app of the arena shares."""
    if settings.log == "json":
        after_setup_logger.connect(_log_json, weak=False)
    app.conf.update(
        broker_url=settings.broker,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        broker_connection_retry_on_startup=True,
        # For good: Celery gives up after a hundred times, and takes an hour for them.
        broker_connection_max_retries=None,
        # A broker whose disk is full takes nothing; it is waited for like one that is away.
        broker_channel_error_retry=True,
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
            # Keys of its own: a worker's login opens none of these (see `arena.broker_users`).
            "unacked_key": "unacked.results",
            "unacked_index_key": "unacked.results.index",
            "unacked_mutex_key": "unacked.results.mutex",
        },
        **more,
    )


def _log_json(logger: logging.Logger, **_: Any) -> None:
    use_json(logger)
