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
from typing import Any

import pytest
import redis
from celery import Celery

from engine import jobs, timers
from engine.messages import unpack
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
    """Nothing of the messages of months stays in memory; and a worker's login may put none back."""
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
    monkeypatch.setattr(timers, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(workers_app.Murmur, "_is_heard", lambda *_: False)
    murmur = workers_app.Murmur("field", 10.0)
    for length, times in ((0, 300), (MANY, 30), (UNHEARD, 5), (0, 295)):
        # What it hears of the length is what came of the message before.
        murmur._waiting = waiting[0] = length
        said.clear()
        for _ in range(300):
            now[0] += 1
            murmur.say("task", {})
        assert len(said) == pytest.approx(times, abs=5)


def test_of_what_is_said_anew_the_last_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has another way than reports; and theirs, too, if nobody takes it from there for long."""
    with broker() as embedded, _its_client(embedded.url) as client:
        monkeypatch.setattr(workers_app.app.conf, "broker_url", embedded.url)
        one, another = workers_app.Murmur("one", 10.0), workers_app.Murmur("another", 10.0)
        for number in range(3):
            one.say("task", {"number": number})
        another.say("task", {})
        assert _fields(client) == {b"one": [{"number": 2}], b"another": [{}]}
        assert client.llen(jobs.RESULTS_QUEUE) == 0
        one._heard -= workers_app.UNHEARD_SECONDS
        one.say("task", {"number": 3})
        assert _fields(client)[b"one"] == [{"number": 3}]
        assert client.llen(jobs.RESULTS_QUEUE) == 1
        client.delete(jobs.SIGNS)  # as who takes it does
        for number in range(4, 6):
            one.say("task", {"number": number})
        assert _fields(client) == {b"one": [{"number": 5}]}
        assert client.llen(jobs.RESULTS_QUEUE) == 1
        late = workers_app.Murmur("late", 10.0)
        late._heard -= workers_app.UNHEARD_SECONDS
        late.say("task", {})  # of which nobody can have taken one before
        assert client.llen(jobs.RESULTS_QUEUE) == 2
        workers_app._speaker(embedded.url).close()


def test_a_login_of_before_says_all_by_one_way(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its operator is told to write it anew; it is not tried again each time."""
    with broker() as embedded, _its_client(embedded.url) as client:
        rules = ["on", "nopass", "+ping", "+hello", "+client", f"~{jobs.RESULTS_QUEUE}", "+lpush"]
        client.execute_command("ACL", "SETUSER", "worker-a", "reset", *rules)
        # Whoever comes by the socket is the broker's default user; this one says who it is.
        old = redis.Redis(
            unix_socket_path=embedded.url.removeprefix("redis+socket://"), username="worker-a"
        )
        with old:
            monkeypatch.setattr(workers_app, "_speaker", lambda _: old)
            monkeypatch.setattr(workers_app.app.conf, "broker_url", embedded.url)
            for _ in range(2):
                workers_app.Murmur("field", 10.0).say("task", {})
        assert client.llen(jobs.RESULTS_QUEUE) == 2
        assert client.exists(jobs.SIGNS) == 0
        assert len(client.acl_log()) == 1
    assert caplog.text.count("this login is of a release before") == 1


def _its_client(url: str) -> redis.Redis:
    return redis.Redis(unix_socket_path=url.removeprefix("redis+socket://"))


def _fields(client: redis.Redis) -> dict[bytes, list[Any]]:
    """What stands in each field of the hash of signs."""
    found = client.hgetall(jobs.SIGNS)
    assert isinstance(found, dict)
    return {field: list(unpack(raw).args) for field, raw in found.items()}


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
