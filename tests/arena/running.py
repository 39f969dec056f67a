"""A whole arena as a test runs it: the command `arena up` and every process under it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil

from arena.operation.broker import EmbeddedBroker

COMMAND = [sys.executable, "-P", "-c", "from arena.cli import main; main()"]
PATIENCE = 60.0
"""Seconds that a loaded machine may take for anything at all."""
QUICK = {
    "ARENA_GAMES": "oxoxo",
    "ARENA_WORKERS": "2",
    "ARENA_TICK_SECONDS": "0.5",
    "ARENA_TAKE_UP_SECONDS": "3",
    "ARENA_LEASE_SECONDS": "3",
}


def until(
    condition: Callable[[], object], what: str, *, seconds: float = PATIENCE, pause: float = 0.1
) -> None:
    """Waits until a condition holds, and fails with ``what`` if it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(pause)


await_politely = partial(until, seconds=300)
"""Waits for what a process does that gives way to all that other tests have running."""


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder with a path short enough for a socket, which pytest's own seldom is."""
    folder = Path(tempfile.mkdtemp(prefix="arena-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def broker() -> Iterator[EmbeddedBroker]:
    """A broker of its own, running."""
    with short_folder() as folder:
        embedded = EmbeddedBroker(folder)
        process = subprocess.Popen(embedded.prepare(), stdout=subprocess.DEVNULL)
        try:
            until(embedded.answers, "the broker's start")
            yield embedded
        finally:
            process.kill()
            process.wait()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without its settings of an arena, and with other ones."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
    return {**own, "PYTHONWARNINGS": "default", **QUICK, **variables}


def arena(
    *words: str, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs one command line to its end."""
    return subprocess.run(
        [*COMMAND, *words],
        env=environment(**variables),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


class RunningArena:
    """`arena up` on a data folder, to be started, hurt and stopped."""

    def __init__(self, data: Path, *, cwd: Path | None = None, **variables: str) -> None:
        self.data = data
        self.port = free_port()
        self.variables = variables
        self._cwd = cwd
        self.mark = uuid.uuid4().hex
        """A part of the file names of its bots, which are to be found in a box, too."""
        self._environment = environment(TEST_RUN=self.mark, **variables)
        self.supervisor: subprocess.Popen[str] | None = None

    def __enter__(self) -> RunningArena:
        # Processes that are killed leave what they made for a while; it goes with this folder.
        self._home = Path(tempfile.mkdtemp(prefix="arena-run-"))
        self._environment["TMPDIR"] = str(self._home)
        self.said = self._home / "said"
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes():
            process.kill()
        if self.supervisor:
            self.supervisor.kill()
            self.supervisor.wait()
        shutil.rmtree(self._home)

    def command(self) -> list[str]:
        """What starts it."""
        return [*COMMAND, "up", "--data", str(self.data), "--port", str(self.port)]

    def launch(self) -> None:
        """Starts it as a shell does: in a process group of its own."""
        with self.said.open("w") as said:
            self.supervisor = subprocess.Popen(
                # Tests that run under nohup send hangups all the same.
                ["env", "--default-signal=HUP", *self.command()],
                env=self._environment,
                cwd=self._cwd,
                stdout=said,
                stderr=said,
                text=True,
                process_group=0,
            )

    def start(self) -> None:
        """Starts it, and waits until it has said where it is."""
        self.launch()
        until(lambda: "the arena is at" in self.output() or self.ended, "the arena's start")
        assert not self.ended, self.output()

    @property
    def ended(self) -> bool:
        """Whether the supervisor has ended."""
        assert self.supervisor is not None
        return self.supervisor.poll() is not None

    def output(self) -> str:
        """What it wrote to the terminal since its last start."""
        return self.said.read_text()

    def interrupt(self, number: signal.Signals = signal.SIGINT) -> None:
        """Signals its process group, as a terminal does."""
        assert self.supervisor is not None
        os.killpg(self.supervisor.pid, number)

    def wait(self) -> int:
        """Waits for its end, and gives the exit code."""
        assert self.supervisor is not None
        return self.supervisor.wait(PATIENCE)

    def processes(self) -> list[psutil.Process]:
        """Every process of any run of this arena, bots and their boxes too."""
        return [process for process in psutil.process_iter() if self._owns(process)]

    def _owns(self, process: psutil.Process) -> bool:
        """Whether a process is of it: by its environment, where it works, or the bot it runs."""
        try:
            return (
                process.environ().get("TEST_RUN") == self.mark
                or Path(process.cwd()).is_relative_to(self.data)
                or self.mark in " ".join(process.cmdline())
            )
        except psutil.Error:
            return False

    def await_end(self, of_what: str) -> None:
        """Waits until no process is left, and fails with those that are."""
        left: list[psutil.Process] = []

        def none() -> bool:
            left[:] = self.processes()
            return not left

        try:
            until(none, of_what)
        except AssertionError as error:
            words = [" ".join(process.cmdline()) for process in left if process.is_running()]
            raise AssertionError(f"{error}: {left} {words}") from None

    def process(self, word: str) -> psutil.Process:
        """The child of the supervisor that has this in its command line."""
        assert self.supervisor is not None
        until(lambda: self._children(word), f"a process with {word}")
        return self._children(word)[0]

    def _children(self, word: str) -> list[psutil.Process]:
        assert self.supervisor is not None
        found = []
        for child in psutil.Process(self.supervisor.pid).children():
            try:
                if word in " ".join(child.cmdline()):
                    found.append(child)
            except psutil.Error:
                continue
        return found

    def page(self, path: str) -> tuple[int, str]:
        """A page's status and text."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()

    def log(self, name: str) -> str:
        """The log of a child."""
        return (self.data / "logs" / f"{name}.log").read_text(errors="replace")
