"""The workers' Celery app, and how they speak to the recorder.

A worker holds no database address and no secret but its queue's login. Jobs come from the queue
``matches``; what is said of them goes by name to ``results``.
"""

from __future__ import annotations

import os
import socket
from typing import Any
from urllib.parse import urlsplit

from celery import Celery, bootsteps
from kombu import Queue

from engine import jobs


def worker_name() -> str:
    """What this worker calls itself, the same after a restart."""
    return os.environ.get("ARENA_WORKER_NAME") or socket.gethostname()


class LoginError(RuntimeError):
    """A login of the broker by which this worker can't work; one sentence that says what to do."""


def demand_own_login() -> None:
    """Refuses another worker's login: who ends a login is to know which worker that stops.

    Raises:
        LoginError: it is that of another name (see `arena.broker_users`).
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
QUEUES = [Queue(name, no_declare=True) for name in (jobs.MATCHES_QUEUE, jobs.RESULTS_QUEUE)]

app = Celery("workers")
app.conf.update(
    broker_url=os.environ.get("ARENA_BROKER", ""),
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    task_default_queue=jobs.MATCHES_QUEUE,
    task_queues=QUEUES,
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
    # A match took long: its report waits for a broker that is away, about as long as its lease.
    task_publish_retry_policy={
        "max_retries": 20,
        "interval_start": 0.2,
        "interval_step": 0.2,
        "interval_max": 2.0,
    },
    # No note of a message in hand is left in the broker, nor looked for there.
    broker_transport_options={"ack_emulation": False},
)
app.steps["consumer"].add(KeepTaken)


def say(task: str, *told: dict[str, Any]) -> None:
    """Sends a message to the recorder."""
    # Without the text of it for people that Celery adds, which takes long and nobody reads.
    app.send_task(task, told, queue=jobs.RESULTS_QUEUE, argsrepr="")
