"""How a worker takes messages from the queue, in a real broker."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import redis
from celery import Celery

from engine import timers
from tests.arena.running import broker
from workers import app as workers_app
from workers import tasks
from workers.app import MANY, UNHEARD
from workers.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
MESSAGES = 50
WORKER = """
import json, sys, time
from celery.contrib.testing.worker import start_worker
from engine import jobs
from workers.app import app

done = []

@app.task(name="nothing")
def nothing(number):
    done.append(number)

for number in range(int(sys.argv[1])):
    app.send_task("nothing", (number,), queue=jobs.MATCHES_QUEUE)
app.send_task("nothing", (-1,), queue=jobs.RESULTS_QUEUE)
more = {"perform_ping_check": False, "queues": [jobs.MATCHES_QUEUE]}
with start_worker(app, pool="threads", concurrency=1, **more) as worker:
    while len(done) < int(sys.argv[1]):
        time.sleep(0.01)
    channel = worker.consumer.task_consumer.channel
    kept = len(channel.qos._delivered) + len(channel.qos._dirty)
    # One that it has and has not begun.
    assert channel.basic_get(jobs.RESULTS_QUEUE)
print(json.dumps([done, kept]))
"""


def test_what_is_taken_is_neither_kept_nor_put_back() -> None:
    """Of the messages of months nothing stays in memory; and a worker's login may put none back."""
    with broker() as embedded:
        worker = subprocess.run(
            [sys.executable, "-c", WORKER, str(MESSAGES)],
            env={**os.environ, "PYTHONPATH": str(ROOT), "ARENA_BROKER": embedded.url},
            capture_output=True,
            check=True,
        )
        address = embedded.url.removeprefix("redis+socket://")
        with redis.Redis(unix_socket_path=address) as client:
            left = [key for key in client.scan_iter() if not key.startswith(b"_kombu.")]
    done, kept = json.loads(worker.stdout)
    assert done == list(range(MESSAGES))
    # The last message, and that it was acknowledged.
    assert kept <= 2
    assert left == []


@pytest.mark.parametrize("level", ["full", "good"])
def test_only_strong_boxes_take_jobs_of_several_processes(
    level: str, sandbox_at: Callable[[str], Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have queues of their own, which other workers do not look into."""
    monkeypatch.setattr(tasks, "sandbox", lambda: sandbox_at(level))
    worker = SimpleNamespace(app=Celery("workers"), concurrency=1)
    worker.app.conf.task_queues = workers_app.queues()
    tasks.probe(instance=worker)
    taken = worker.app.amqp.queues.consume_from
    one = {queue for queue in taken if not queue.endswith("+processes")}
    assert "matches" in one
    assert taken.keys() - one == (
        {f"{queue}+processes" for queue in one} if level == "full" else set()
    )
    assert all(queue.no_declare for queue in taken.values())


def test_little_is_said_to_who_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    """All while few messages wait; now and then while many do, and less if they are very many."""
    said: list[dict[str, int]] = []
    now, waiting = [1000.0], [0]

    def say(_: str, told: dict[str, int]) -> int:
        said.append(told)
        return waiting[0]

    monkeypatch.setattr(workers_app, "say", say)
    monkeypatch.setattr(timers.time, "monotonic", lambda: now[0])
    murmur = workers_app.Murmur(10.0)
    for length, times in ((0, 300), (MANY, 30), (UNHEARD, 5), (0, 295)):
        # What it hears of the length is what came of the message before.
        murmur._waiting = waiting[0] = length
        said.clear()
        for _ in range(300):
            now[0] += 1
            murmur.say("task", {})
        assert len(said) == pytest.approx(times, abs=5)


def test_a_full_broker_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report waits for room, which a recorder soon makes; a login that is refused does not."""
    monkeypatch.setattr(workers_app, "PAUSES", [0.01] * 3)
    with broker() as embedded:
        monkeypatch.setattr(workers_app.app.conf, "broker_url", embedded.url)
        address = embedded.url.removeprefix("redis+socket://")
        with redis.Redis(unix_socket_path=address) as client:
            assert workers_app.say("task", {}) == 1
            client.config_set("maxmemory", 1)
            with pytest.raises(redis.OutOfMemoryError):
                workers_app.say("task", {})
            monkeypatch.setattr(
                workers_app.time, "sleep", lambda _: client.config_set("maxmemory", 0)
            )
            assert workers_app.say("task", {}) == 2
        workers_app._speaker(embedded.url).close()


@pytest.mark.parametrize(
    ("said", "name"),
    [("box1", "box1"), (" box 1\n", "box 1"), ("", None), ("  ", None)],
    ids=["a name", "with blanks", "none", "blanks alone"],
)
def test_what_a_worker_calls_itself(
    monkeypatch: pytest.MonkeyPatch, said: str, name: str | None
) -> None:
    """A name that can be typed into any form, and by default the host's."""
    monkeypatch.setenv("ARENA_WORKER_NAME", said)
    assert workers_app.worker_name() == (name or socket.gethostname())
