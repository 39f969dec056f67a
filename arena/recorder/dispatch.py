"""The queue: jobs, sent once a transaction is committed, and the word that wakes the recorder."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any

import redis

from arena.ground.config import Settings
from arena.operation import queues
from engine import jobs
from engine.games import GAMES
from engine.messages import UnreadableError, unpack

# Celery is imported by who makes an app of it, in pages when somebody plays: it would cost every
# start of theirs a tenth of a second.
if TYPE_CHECKING:
    from celery import Celery

TASK = {
    "match": jobs.PLAY_MATCH,
    "check": jobs.CHECK_BOT,
    "move": jobs.PLAY_MOVE,
    "question": jobs.ASK_BOT,
}
WAKE = "arena.wake"
log = logging.getLogger("arena.recorder.dispatch")
FIRST, LATER = 0, 6
"""Priorities; people wait for bots' moves, which overtake what waits in the queue."""


class CeleryQueue:
    """Jobs on their way to workers, through a Celery app's broker."""

    def __init__(self, app: Celery[Any], settings: Settings) -> None:
        self._app = app
        self._broker = settings.broker

    def send(self, issued: Sequence[jobs.Batch]) -> None:
        """Sends jobs that were issued in a transaction that is committed."""
        # One connection and one channel for all of them.
        if not issued:
            return
        with self._app.producer_pool.acquire(block=True) as producer:
            for batch in issued:
                self._app.send_task(
                    TASK[batch[0].lease.kind],
                    tuple(job.to_json() for job in batch),
                    queue=_queue_of(batch[0]),
                    priority=FIRST if isinstance(batch[0], jobs.MoveJob) else LATER,
                    time_limit=jobs.GRACE_SECONDS + ceil(sum(map(_longest_seconds, batch))),
                    argsrepr="",  # a text of it for people, which takes long and nobody reads
                    producer=producer,
                )

    def wake(self, shards: Iterable[int]) -> None:
        """Has the recorders of shards issue at once what is due."""
        with self._app.producer_pool.acquire(block=True) as producer:
            for shard in shards:
                self._app.send_task(WAKE, queue=jobs.results_of(shard), producer=producer)

    def withdraw(
        self, standing: Collection[jobs.Attempt], shards: Collection[int] = (0,)
    ) -> set[jobs.Attempt] | None:
        """Takes out of the queue what waits there and counts no longer.

        By the arena's clock, and not those of workers, who would throw away what they take.

        Args:
            standing: the attempts that still count.
            shards: whose jobs; those of others are left alone, which may have just been issued.

        Returns:
            What no worker will take any more; None if the broker does not say.
        """
        found: set[jobs.Attempt] = set()
        try:
            with queues.connect(self._broker) as client:
                for key in queues.keys_of_jobs(client):
                    for raw in client.lrange(key, 0, -1):
                        waiting = _leases(raw)
                        if any(lease.shard not in shards for lease in waiting):
                            continue
                        attempts = {lease.attempt_of for lease in waiting}
                        if attempts.isdisjoint(standing) and client.lrem(key, 0, raw):
                            found |= attempts
        except redis.RedisError as error:
            log.warning("the broker does not say which jobs wait: %.200s", error)
            return None
        return found


def _queue_of(job: jobs.AnyJob) -> str:
    """Where a job waits for the workers that can do it."""
    if jobs.is_at_home(job):
        return jobs.HOME_QUEUE
    edition = GAMES.edition(jobs.variant_of(job).game)
    return jobs.queue_of(
        edition,
        jobs.platforms_of(job),
        several=job.grant.processes > 1,
        clocked=jobs.is_clocked(job),
    )


def _leases(raw: bytes) -> list[jobs.Lease]:
    """What a message of the queue of jobs is about; nothing if it is none of ours."""
    try:
        return [jobs.Lease.from_json(job["lease"]) for job in unpack(raw).args]
    except (UnreadableError, jobs.JobError, LookupError, TypeError):
        return []


def _longest_seconds(job: jobs.AnyJob) -> float:
    """How long a job may take by its clocks; a check plays one game of its match."""
    if isinstance(job, jobs.Job):
        return job.spec.longest_seconds
    plies = len(job.plies) if isinstance(job, jobs.AskJob) else 1
    return plies * job.game.time.longest_ms(seats=1, plies=1) / 1000


def configure(app: Celery[Any], settings: Settings, **more: Any) -> None:
    """Settings that every Celery app of the arena shares."""
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
        **more,
    )


def wake(settings: Settings) -> None:
    """Asks the recorder to issue at once what is due; if that fails, its next tick does."""
    if not settings.broker:
        return
    from kombu.exceptions import OperationalError

    try:
        _sender(settings).send_task(WAKE, queue=jobs.RESULTS_QUEUE, retry=False)
    except OperationalError as error:
        log.warning("the recorder was not woken: %s", error)


@cache
def _sender(settings: Settings) -> Celery:
    from celery import Celery

    app = Celery("arena.pages", set_as_current=False)
    # Whoever asked for the page is not to wait until a broker can be reached, or has room.
    configure(app, settings, broker_transport_options={"max_retries": 0})
    return app
