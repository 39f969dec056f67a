"""How a worker takes messages from the queue, in a real broker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import redis

from arena.broker import EmbeddedBroker
from tests.arena.running import short_folder, until

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
    with short_folder() as folder:
        embedded = EmbeddedBroker(folder)
        process = subprocess.Popen(embedded.prepare(), stdout=subprocess.DEVNULL)
        try:
            until(embedded.answers, "the broker's start")
            worker = subprocess.run(
                [sys.executable, "-c", WORKER, str(MESSAGES)],
                env={**os.environ, "PYTHONPATH": str(ROOT), "ARENA_BROKER": embedded.url},
                capture_output=True,
                check=True,
            )
            address = embedded.url.removeprefix("redis+socket://")
            with redis.Redis(unix_socket_path=address) as client:
                left = [key for key in client.scan_iter() if not key.startswith(b"_kombu.")]
        finally:
            process.kill()
            process.wait()
    done, kept = json.loads(worker.stdout)
    assert done == list(range(MESSAGES))
    # The last message, and that it was acknowledged.
    assert kept <= 2
    assert left == []
