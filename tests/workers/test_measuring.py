"""How a worker measures itself: really, in a box, whatever else the machine does meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.measure import Measure
from tests.arena.running import broker
from workers import measured_bot
from workers.cores import BusyError, available, claimed_core, unclaimed_core
from workers.measuring import ClockError, Gauge, measured
from workers.sandbox import Sandbox

ROOT = Path(__file__).parents[2]


def test_a_real_measure(sandbox_at: Callable[[str], Sandbox]) -> None:
    """It is this machine's: within what any can be, whatever it does besides."""
    found = measured(sandbox_at("reduced"), None)
    assert Measure.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert 0.05 < found.interpreted < 20
    assert 0.05 < found.compiled < 20
    assert 0 < found.share <= 1.1
    assert 0 < found.ply_us <= found.slow_ply_us


def test_three_times_the_work_is_a_third_of_the_speed(
    sandbox_at: Callable[[str], Sandbox], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an interpreter that is twice as slow, and a machine that is not, would be seen."""
    code = Path(measured_bot.__file__).read_text()
    slow = tmp_path / "slow.py"
    turns = "INTERPRETED_TURNS, COMPILED_TURNS = "
    before, now = (f"{turns}{factor * measured_bot.INTERPRETED_TURNS}" for factor in (1, 3))
    assert before in code
    slow.write_text(code.replace(before, now))
    box = sandbox_at("reduced")
    usual = measured(box, None)
    monkeypatch.setattr("workers.measuring.CODE", slow)
    after = measured(box, None)
    assert 1.8 < usual.interpreted / after.interpreted < 5
    assert 0.6 < usual.compiled / after.compiled < 1.7


def test_the_piece_in_python_is_what_it_says() -> None:
    """A program in C that goes over the same board found the same number (gcc 12)."""
    assert measured_bot.interpreted(3000) == 3471847345
    assert measured_bot.compiled(2) == measured_bot.compiled(2) != measured_bot.compiled(3)


def test_all_processes_of_a_worker_know_its_measure(sandbox_at: Callable[[str], Sandbox]) -> None:
    """Whichever of them measured; and until then there is none, and nothing by it is played."""
    gauge = Gauge()
    assert (gauge.last, gauge.is_due) == (None, True)
    with pytest.raises(ClockError, match="it does not say how fast it is"):
        gauge.demand_fit()
    child = os.fork()
    if not child:
        gauge.take(sandbox_at("reduced"), None)
        os._exit(0)
    os.waitpid(child, 0)
    assert gauge.last is not None
    assert not gauge.is_due
    gauge.slots = 10_000
    assert "it plays 10000 matches at a time" in gauge.unfit


def test_what_can_not_be_measured_is_not_known(
    sandbox_at: Callable[[str], Sandbox], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And what was known before holds no longer."""
    gauge, box = Gauge(), sandbox_at("reduced")
    gauge.take(box, None)
    assert gauge.last is not None
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit")
    monkeypatch.setattr("workers.measuring.CODE", broken)
    gauge.take(box, None)
    assert gauge.last is None


def test_a_core_that_somebody_has_is_not_measured() -> None:
    """A match there would be disturbed."""
    with ExitStack() as held:
        for _ in available():
            assert held.enter_context(claimed_core()) is not None
        with pytest.raises(BusyError), unclaimed_core():
            pass


WORKER = """
import json, sys, time
from celery.contrib.testing.worker import start_worker
from engine import jobs
from engine.measure import Measure
from workers import clocked
from workers.app import app

done = []

@app.task(name="nothing")
def nothing(number):
    done.append(number)

class Told(clocked.Gauge):
    unfit = "busy"

clocked.GAUGE = gauge = Told()
CLOCKED = f"{jobs.MATCHES_QUEUE}{jobs.CLOCKED}"

def send(number):
    app.send_task("nothing", (number,), queue=CLOCKED)
    app.send_task("nothing", (-number,), queue=jobs.MATCHES_QUEUE)

def wait(*numbers):
    until = time.monotonic() + 20
    while not set(numbers) <= set(done) and time.monotonic() < until:
        time.sleep(0.01)

more = {"perform_ping_check": False, "queues": [jobs.MATCHES_QUEUE]}
with start_worker(app, pool="threads", concurrency=1, **more) as worker:
    queues = clocked.ClockedQueues(worker.consumer)
    for number, words in enumerate(["busy", "", "", "busy", ""], start=1):
        gauge.__class__.unfit = words
        queues.take_if_fit(several=False)
        time.sleep(0.3)
        send(number)
        wait(*([number, -number] if not words else [-number]))
        time.sleep(0.1)
        print(sorted(n for n in done if n > 0))
    wait(1, 4)
print(sorted(n for n in done if n > 0))
"""


def test_a_worker_takes_clocked_matches_while_it_is_fit() -> None:
    """What waits there meanwhile waits for another, or until it is itself again."""
    with broker() as embedded:
        worker = subprocess.run(
            [sys.executable, "-c", WORKER],
            env={**os.environ, "PYTHONPATH": str(ROOT), "ARENA_BROKER": embedded.url},
            capture_output=True,
            check=True,
            text=True,
        )
    assert [json.loads(line) for line in worker.stdout.splitlines()] == [
        [],
        [1, 2],
        [1, 2, 3],
        [1, 2, 3],
        [1, 2, 3, 4, 5],
        [1, 2, 3, 4, 5],
    ]
