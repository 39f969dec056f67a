"""What a real worker says of its jobs: of quick ones and slow ones, and when its process dies."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis
from celery import Celery

from arena.operation import processes
from arena.operation.broker import EmbeddedBroker
from engine import jobs, reporting
from engine.clock import TimeControl
from engine.games import GAMES
from engine.match import MatchSpec
from engine.messages import unpack
from tests.arena.running import environment, short_folder, until
from workers import bundles

QUICK = (Path(__file__).parents[2] / "bots" / "random_bot.py").read_text()
SLOW = QUICK.replace("import sys\n", "import sys\nimport time\n\ntime.sleep(1.5)\n")
SLOWEST = SLOW.replace("1.5", "60")
TRIES = 20
SPEC = MatchSpec(GAMES["clobber"].variant(size="3x2"), ("one", "one"), TimeControl(move_ms=500))


class Worker:
    """A worker of one slot, and what it says to the recorder."""

    def __init__(self, process: psutil.Process, folder: Path, url: str) -> None:
        self.process = process
        self._folder = folder
        self._app = Celery("arena", broker=url, set_as_current=False)
        self._client = redis.Redis(unix_socket_path=url.removeprefix("redis+socket://"))

    def play(self, number: int, *sources: str) -> None:
        """Sends matches, from this number on, each of a bot against itself; by one message."""
        args = tuple(self._job(number + each, source) for each, source in enumerate(sources))
        self._app.send_task(jobs.PLAY_MATCH, args, queue=jobs.MATCHES_QUEUE)

    def _job(self, number: int, source: str) -> dict[str, Any]:
        bot = self._folder / f"bot-{number}"
        bot.mkdir()
        (bot / "bot.py").write_text(source)
        bundle = bundles.pack(bot)
        files = jobs.BotFiles(bundle.digest, str(bundles.store(self._folder / "stored", bundle)))
        grant = jobs.Grant(memory_bytes=2**28, threads=16, log_bytes=1000)
        lease = jobs.Lease("match", number, 1, "ticket")
        return jobs.Job(lease, SPEC, (files, files), grant, 30.0).to_json()

    def messages(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """What it said so far of its jobs, in its order."""
        messages = map(json.loads, reversed(self._client.lrange(jobs.RESULTS_QUEUE, 0, -1)))
        told = [
            (message["headers"]["task"], json.loads(base64.b64decode(message["body"]))[0])
            for message in messages
        ]
        return [(task, data) for task, data in told if task != jobs.WORKER_ALIVE]

    def said(self) -> list[tuple[str, dict[str, Any]]]:
        """The same one by one."""
        return [(task, data) for task, several in self.messages() for data in several]

    def signs(self) -> dict[int, tuple[str, dict[str, Any]]]:
        """What it said last of each job that is not over at once."""
        found = {}
        for raw in self._client.hvals(jobs.SIGNS):
            message = unpack(raw)
            if message.task != jobs.WORKER_ALIVE:
                found[message.args[0]["lease"]["job"]] = message.task, message.args[0]
        return found

    def await_beginning(self, number: int) -> None:
        """Waits until it has said that it has a job."""
        until(lambda: number in self.signs(), "a word of the beginning")

    def await_word(self, task: str) -> dict[str, Any]:
        """Waits until it has said something, and gives what."""
        until(lambda: task in [said for said, _ in self.said()], task)
        return dict(self.said())[task]


@pytest.fixture
def worker() -> Iterator[Worker]:
    """One at work, with a broker of its own and no recorder."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        folder.chmod(0o711)
        broker = EmbeddedBroker(folder)
        box_folder = folder / "box_folder"
        variables = environment(ARENA_BROKER=broker.url, ARENA_BOX_FOLDER=str(box_folder))
        started = []
        for command in (broker.prepare(), processes.worker(1)):
            process = subprocess.Popen(
                command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            until(broker.answers, "the broker's start")
            started.append(process)
        yield Worker(psutil.Process(started[1].pid), folder, broker.url)


def test_what_is_over_at_once_is_only_reported(worker: Worker) -> None:
    """A report says that its match was taken up, too. On a busy machine the first may be slow."""
    for number in range(1, TRIES):
        before = len(worker.said())
        worker.play(number, QUICK)
        until(lambda before=before: len(worker.said()) > before, "a word")
        assert worker.said()[-1][0] == jobs.RECORD_MATCH
        if number not in worker.signs():
            return
    raise AssertionError("each match was said to have begun")


@pytest.mark.long
def test_what_takes_longer_is_said_to_have_begun(worker: Worker) -> None:
    """Before it ends."""
    worker.play(1, SLOW)
    worker.await_beginning(1)
    report = worker.await_word(jobs.RECORD_MATCH)
    assert len(worker.said()) == 1
    task, data = worker.signs()[1]
    sign = reporting.SIGNS[task](data)
    assert isinstance(sign, reporting.Started | reporting.Progress)
    assert sign.lease == reporting.MatchReport.from_json(report).lease
    assert sign.worker == report["worker"]


@pytest.mark.long
@pytest.mark.parametrize("after", [True, False], ids=["later", "at once"])
def test_a_process_that_is_killed_is_told_of(worker: Worker, after: bool) -> None:
    """Its job is not waited for until the lease ends; the next one is played."""
    worker.play(1, SLOWEST)
    if after:
        worker.await_beginning(1)
    else:
        until(lambda: plays(worker.process), "the bot's start", pause=0.01)
    began = time.monotonic()
    for process in worker.process.children():
        process.kill()
    void = worker.await_word(jobs.RECORD_VOID)
    assert time.monotonic() - began < 15
    assert void["lease"]["job"] == 1
    assert "signal 9" in void["problem"]
    assert void["worker"]
    worker.play(2, QUICK)
    assert worker.await_word(jobs.RECORD_MATCH)["lease"]["job"] == 2


def numbers(told: list[dict[str, Any]]) -> list[int]:
    """The jobs that something was said of."""
    return [data["lease"]["job"] for data in told]


def test_short_matches_are_reported_together(worker: Worker) -> None:
    """All in one message, or in two on a busy machine; none is said to have begun."""
    worker.play(1, *[QUICK] * 3)
    until(lambda: len(worker.said()) >= 3, "the reports")
    assert {task for task, _ in worker.messages()} == {jobs.RECORD_MATCH}
    assert len(worker.messages()) < 3
    assert numbers([data for _, data in worker.said()]) == [1, 2, 3]


def test_a_report_does_not_wait_for_a_long_match(worker: Worker) -> None:
    """What is over is told when the next one takes longer than was thought."""
    worker.play(1, QUICK, SLOWEST, QUICK)
    worker.await_beginning(2)
    assert (jobs.RECORD_MATCH, [1]) in [(task, numbers(told)) for task, told in worker.messages()]


def test_of_several_matches_none_is_to_blame_for_a_lost_process(worker: Worker) -> None:
    """All of its message are given back; the one that was over before is known already."""
    worker.play(1, QUICK, SLOWEST, QUICK)
    worker.await_beginning(2)
    for process in worker.process.children():
        process.kill()
    until(lambda: len([1 for task, _ in worker.said() if task == jobs.RECORD_VOID]) == 3, "all")
    for task, data in worker.said():
        assert task != jobs.RECORD_VOID or data["failed"] is False
    worker.play(4, QUICK)
    until(lambda: worker.said()[-1][0] == jobs.RECORD_MATCH, "the next report")


def plays(worker: psutil.Process) -> bool:
    """Whether a bot of a worker runs."""
    with suppress(psutil.NoSuchProcess):
        return any("bot.py" in word for one in worker.children(True) for word in one.cmdline())
    return False
