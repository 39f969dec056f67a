"""Boxes of every level, bots' folders, and a canary outside of them."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.process import BotProcess
from engine.program import Program
from tests.requirements import need
from tests.workers.runtimes import small_runtime
from workers.languages import language_named
from workers.launches import Launch, box_python
from workers.limits import Limits
from workers.runtimes import UnpackedRuntime
from workers.sandbox import Sandbox

HOSTILE = Path(__file__).parents[1] / "hostile"
BOX_LEVELS = ("full", "good", "reduced")
LIMITS = Limits(memory_bytes=48 << 20, threads=12)


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter, as pytest's own can't be."""
    folder = Path(tempfile.mkdtemp(prefix="arena-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def sandbox_at(open_folder: Path) -> Callable[[str], Sandbox]:
    """The sandbox of exactly that level; skips the test where the machine can't build it."""

    @cache
    def build(level: str) -> Sandbox:
        return Sandbox("none", open_folder / "box_folder", maximum=level)

    def get(level: str) -> Sandbox:
        sandbox = build(level)
        need(sandbox.level == level, f"no {level!r} box here: {'; '.join(sandbox.failures)}")
        return sandbox

    return get


LEVELS_OF_ATTACKS = [
    pytest.param(level, marks=pytest.mark.long if level == "good" else ()) for level in BOX_LEVELS
]
"""Attacks are many: the walls of the level between are those of the one or the other."""


@pytest.fixture(params=BOX_LEVELS)
def sandbox(request: pytest.FixtureRequest, sandbox_at: Callable[[str], Sandbox]) -> Sandbox:
    """A sandbox of each level."""
    return sandbox_at(request.param)


@pytest.fixture
def runtime(sandbox: Sandbox, tmp_path: Path) -> UnpackedRuntime:
    """A small runtime, unpacked for that sandbox."""
    return small_runtime(tmp_path, sandbox)


@pytest.fixture
def bot_folder(open_folder: Path) -> Iterator[Path]:
    """An empty folder for a bot's files, which its user can read."""
    folder = Path(tempfile.mkdtemp(prefix="bot-", dir=open_folder))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def python_launch(*arguments: str) -> Launch:
    """Runs ``bot.py``, with Python's site left out so that it is up a little earlier."""
    return Launch((box_python(), "-u", "-s", "-S", "./bot.py", *arguments))


def boxed(
    sandbox: Sandbox,
    folder: Path,
    *arguments: str,
    limits: Limits = LIMITS,
    core: int | None = None,
    runtime: UnpackedRuntime | None = None,
) -> BotProcess:
    """A player of ``bot.py`` in that folder."""
    launch = python_launch(*arguments)
    if runtime:
        launch = runtime.given_to(launch, language_named("python"), 1)
    return BotProcess(lambda: sandbox.start(folder, launch, limits, core=core))


def processes_with(marker: str) -> list[int]:
    """Processes of the whole machine that have this among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in words:
            found.append(int(path.parent.name))
    return found


@dataclass
class Canary:
    """Things outside of the boxes that no bot may get at."""

    folder: Path
    """Open to everybody on the machine."""
    closed: Path
    """Open to the worker's user alone."""
    process: subprocess.Popen[bytes]
    listeners: list[socket.socket] = field(default_factory=list)
    targets: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Fails if anything was touched."""
        for folder in (self.folder, self.closed):
            assert {
                file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()
            } == {"canary": b"sings"}
        assert self.process.poll() is None
        state = Path(f"/proc/{self.process.pid}/status").read_text().partition("State:")[2]
        assert state.split()[0] in "SR"
        for listener in self.listeners:
            with pytest.raises(BlockingIOError):
                listener.recv(1) if listener.type == socket.SOCK_DGRAM else listener.accept()


@pytest.fixture
def canary() -> Iterator[Canary]:
    """A canary, to be checked by the test."""
    with tempfile.TemporaryDirectory(prefix="arena-canary-") as name:
        closed, folder = Path(name), Path(tempfile.mkdtemp(prefix="arena-open-"))
        folder.chmod(0o777)
        for place in (closed, folder):
            (place / "canary").write_bytes(b"sings")
            (place / "canary").chmod(0o644)
        pieces = folder / "runtime" / "packages" / "pieces"
        pieces.mkdir(parents=True)
        (pieces / "__init__.py").touch()
        process = subprocess.Popen(["/bin/sleep", "1000"], stdin=subprocess.DEVNULL)
        found = Canary(folder, closed, process)
        tcp, path, abstract = (
            socket.socket(family) for family in (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX)
        )
        tcp.bind(("127.0.0.1", 0))
        path.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        abstract.bind(f"\0arena-canary-{os.getpid()}")
        datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        datagrams.bind(str(folder / "datagrams"))
        (folder / "datagrams").chmod(0o777)
        for listener in (tcp, path, abstract, datagrams):
            listener.setblocking(False)
            if listener.type == socket.SOCK_STREAM:
                listener.listen()
            found.listeners.append(listener)
        found.targets = {
            "referee": os.getpid(),
            "canary": process.pid,
            "open_folder": str(folder),
            "closed_folder": str(closed),
            "files": [str(folder / "canary"), str(closed / "canary")],
            "port": tcp.getsockname()[1],
            "socket": str(folder / "socket"),
            "runtime": str(folder / "runtime"),
            "abstract": f"arena-canary-{os.getpid()}",
            "datagrams": str(folder / "datagrams"),
        }
        try:
            yield found
        finally:
            for listener in found.listeners:
                listener.close()
            process.kill()
            process.wait()
            shutil.rmtree(folder)


def write(folder: Path, source: str) -> None:
    """Makes ``bot.py`` of a folder."""
    file = folder / "bot.py"
    # An earlier bot of the same test may not have read it yet.
    if not file.exists() or file.read_text() != source:
        file.write_text(source)
        file.chmod(0o644)


def said(program: Program, *, seconds: float = 60.0) -> str:
    """What it writes within that time, up to the end of its first line."""
    poll = select.poll()
    poll.register(program.stdout, select.POLLIN)
    words = b""
    while not words.endswith(b"\n") and poll.poll(seconds * 1000):
        data = os.read(program.stdout, 65536)
        if not data:
            break
        words += data
    return words.decode().strip()
