"""The workers' Celery app, and how they speak to the recorder.

A worker holds no database address and no secret but its queue's login. Jobs come from the queue
``matches`` and those of other people's games; what came of them goes by name to ``results``, and
what counts only until it is said anew into a field of ``signs``.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from functools import cache
from math import inf
from typing import Any
from urllib.parse import urlsplit

import redis
from celery import Celery, bootsteps
from kombu import Queue

from engine import jobs
from engine.games import GAMES
from engine.messages import address_of, pack
from engine.timers import Every
from workers.runtimes import platforms_here

ANSWER_SECONDS = 30.0

log = logging.getLogger("workers")


def worker_name() -> str:
    """What this worker calls itself, the same after a restart."""
    return os.environ.get("ARENA_WORKER_NAME", "").strip() or socket.gethostname()


class LoginError(RuntimeError):
    """A login of the broker by which this worker can't work; one sentence that says what to do."""


def demand_own_login() -> None:
    """Refuses another worker's login: who ends a login is to know which worker that stops.

    Raises:
        LoginError: it is that of another name (see `arena.operation.broker_users`).
    """
    user = urlsplit(app.conf.broker_url).username or ""
    own = user.removeprefix("worker-")
    if own not in (user, worker_name()):
        raise LoginError(
            f"it is called {worker_name()}, and its login {user} is of the worker {own}: set "
            f"ARENA_WORKER_NAME={own}, or use the login worker-{worker_name()}"
        )


class KeepTaken(bootsteps.StartStopStep):
    """Puts no message back that was taken, as Celery would at the worker's end.

    A worker's login may not, and what is lost is brought back by its lease.
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent: Any) -> None:
        """Is called with Celery's consumer for each connection, which has a new channel."""
        parent.task_consumer.channel.do_restore = False


# Never declared: a worker's login may change nothing about the queues themselves.
def queues(*, several: bool = False, clocked: bool = False) -> list[Queue]:
    """Queues for each package of games that this worker has, and for its platforms of runtimes.

    It takes no job of any other game, or with a runtime for any other platform.

    Args:
        several: those of jobs that grant bots several processes.
        clocked: those of matches by the reference machine's clock.
    """
    platforms = platforms_here()
    names = {
        name
        for edition in GAMES.editions()
        for name in jobs.queues_of(edition, platforms, several=several, clocked=clocked)
    }
    return [Queue(name, no_declare=True) for name in sorted(names)]


app = Celery("workers")
app.conf.update(
    broker_url=os.environ.get("ARENA_BROKER", ""),
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    task_default_queue=jobs.MATCHES_QUEUE,
    task_queues=queues(),
    task_time_limit=jobs.GRACE_SECONDS,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    # For good: Celery gives up after a hundred times, and takes an hour for them.
    broker_connection_max_retries=None,
    # A broker whose disk is full takes nothing; it is waited for like one that is away.
    broker_channel_error_retry=True,
    # No note of a message in hand is left in the broker, nor looked for there.
    broker_transport_options={"ack_emulation": False},
)
app.steps["consumer"].add(KeepTaken)


def say(task: str, *told: dict[str, Any]) -> int:
    """Sends a message to the recorder, and says how many wait for it now.

    A match took long: its report waits for a broker that is away or full, about as long as its
    lease.

    Raises:
        redis.RedisError: the broker did not take it in time, or refuses this login.
    """
    message = pack(task, *told)
    queue = jobs.results_of(max((_shard_of(one) for one in told), default=0))
    for pause in (*PAUSES, None):
        try:
            return int(_speaker(app.conf.broker_url).lpush(queue, message))
        except redis.exceptions.NoPermissionError:
            if queue == jobs.RESULTS_QUEUE:
                raise
            queue = jobs.RESULTS_QUEUE  # this login is older than the shard; it is passed on there
        except redis.AuthenticationError:
            raise
        except redis.RedisError:
            if pause is None:
                raise
            time.sleep(pause)
    raise AssertionError("unreachable")


def _shard_of(told: dict[str, Any]) -> int:
    """The shard of the job that something is said of; the first's of nothing."""
    lease = told.get("lease")
    return int(lease.get("shard", 0)) if isinstance(lease, dict) else 0


PAUSES = [min(2.0, 0.2 * number) for number in range(1, 21)]
"""Seconds before each new try."""


@cache
def _speaker(broker: str) -> redis.Redis:
    return redis.Redis.from_url(address_of(broker), socket_timeout=ANSWER_SECONDS)


class Murmur:
    """Says what counts only until it is said anew, where no more than the last of it waits.

    A broker that is away or full is not waited for: it is said again soon. What an arena of the
    release before does not hear there, or a login of that time may not say there, goes to the queue
    of results; and little of it while many messages wait, as it would make a recorder that is
    behind later still, and fill the broker of one that is away.
    """

    def __init__(self, field: str, seconds: float) -> None:
        """Somebody who says such things.

        Args:
            field: where nobody else says anything: what others can't guess.
            seconds: how often it must be said all the same, so that the recorder, behind as it is,
                does not take this worker for dead.
        """
        self._field = field
        self._heard = time.monotonic()
        self._is_first = True
        """Whether nothing was said yet that somebody could have taken."""
        self._waiting = 0
        self._behind, self._away = Every(seconds), Every(max(seconds, AWAY_SECONDS))

    def say(self, task: str, told: dict[str, Any]) -> None:
        """Says it; a broker that does not take it is noted in the log."""
        try:
            if not self._is_heard(pack(task, told)):
                self._say_by_queue(task, told)
        except redis.RedisError as error:
            log.warning("the broker did not take a sign of this worker's: %.200s", error)

    def _is_heard(self, message: bytes) -> bool:
        """Says it, and whether somebody hears such things, as far as that is known."""
        if _refusals.get(app.conf.broker_url, -inf) > time.monotonic() - REFUSED_SECONDS:
            return False
        try:
            is_new = _speaker(app.conf.broker_url).hset(jobs.SIGNS, self._field, message)
        except redis.exceptions.NoPermissionError:
            _refusals[app.conf.broker_url] = time.monotonic()
            log.warning("this login is of a release before: write its line anew (arena acl)")
            return False
        if is_new and not self._is_first:  # the last one was taken
            self._heard = time.monotonic()
        self._is_first = False
        return time.monotonic() - self._heard < UNHEARD_SECONDS

    def _say_by_queue(self, task: str, told: dict[str, Any]) -> None:
        """Sends a message, unless many wait and one was sent a moment ago."""
        if self._waiting >= UNHEARD:
            may = self._away.is_due()
        else:
            may = self._waiting < MANY or self._behind.is_due()
        if may:
            self._waiting = say(task, told)


MANY, UNHEARD = 2000, 20_000
"""So many messages wait for a recorder that is behind; and for none but one that is away."""
AWAY_SECONDS = 60.0
UNHEARD_SECONDS = 15.0
"""How long what counts only until it is said anew waits for somebody to take it; less than a worker
is silent that is taken for dead."""
REFUSED_SECONDS = 600.0
"""How long what a login may not do is not tried again."""
_refusals: dict[str, float] = {}
"""When a broker last refused that."""
