"""Runs the whole arena on one machine: broker, recorder, workers, pages and sender.

Theory of operation. The supervisor holds a lock on the data folder, starts each child in a
session of its own (so that Ctrl-C reaches only the supervisor), and watches them. A child that
ends is started again, at once at first and then with growing pauses. When the broker ends, the
children that talk to it are started anew with it, since a consumer that lives on does not take
back what it had in hand. If the supervisor itself is killed, the kernel kills every child with
it (PR_SET_PDEATHSIG). Nothing is lost by any of these deaths: what is to be played and what was
played stands in the database, the broker only wakes whoever works.
"""

from __future__ import annotations

import ctypes
import http.client
import os
import select
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from arena.ground.config import Settings
from arena.ground.file_locks import lock_file
from arena.operation import processes
from arena.operation.broker import EmbeddedBroker
from arena.operation.watchdog import HUNG_SECONDS, VARIABLE, Listener, Pulse
from engine.jobs import results_of
from engine.program import exit_words
from engine.translation import N_, gettext
from engine.unix_sockets import listen_at

FIRST_PAUSE, LONGEST_PAUSE, STEADY = 0.2, 15.0, 30.0
"""Seconds: before the first restart, the longest pause, and until a child counts as healthy."""
REFUSED, REFUSED_PAUSE = 3, 60.0
"""The exit code of a child that can't do its work here, and the seconds until it is asked again."""
START_SECONDS = 60.0
TERM_SECONDS, QUIT_SECONDS, DRAIN_SECONDS = 2.0, 3.0, 3.0
"""What children get to finish what they are at, then to break it off, and the recorder to write
down what came in."""
LOG_LIMIT, LOG_SECONDS = 10_000_000, 60.0
"""Bytes of a child's log after which it is put aside, and how often that is looked at."""
PR_SET_PDEATHSIG = 1

Tell = Callable[[str], None]


class StartupError(RuntimeError):
    """The arena can't be started; one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Visitors:
    """A Unix socket at which somebody comes for a process."""

    place: Path
    listener: socket.socket
    environment: Callable[[int], Mapping[str, str]]
    """What the process is told of the descriptor that it inherits."""

    @classmethod
    def at(cls, place: Path, environment: Callable[[int], Mapping[str, str]]) -> Visitors:
        """The visitors who come at a path."""
        return cls(place, listen_at(place), environment)

    def close(self) -> None:
        """Lets nobody in any more."""
        self.listener.close()
        self.place.unlink(missing_ok=True)


@dataclass(slots=True)
class Child:
    """One process under the supervisor."""

    name: str
    command: Sequence[str]
    follows_broker: bool = True
    listener: Listener | None = None
    """Where it gives signs of life, if it does; without any it is ended."""
    heard: float = 0.0
    """The time of its last sign."""
    visitors: Visitors | None = None
    """Where somebody has to come in before it is started; it is given that then."""
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE
    due: float = 0.0

    @property
    def runs(self) -> bool:
        """Whether its process is alive."""
        return self.process is not None and self.process.poll() is None

    @property
    def is_wanted(self) -> bool:
        """Whether it is to run: one that waits for visitors is, once there was one."""
        if self.visitors is None or self.started:
            return True
        return bool(select.select([self.visitors.listener], [], [], 0)[0])

    def go_on(self) -> None:
        """Lets a process begin that was started to wait."""
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()


class Supervisor:
    """The arena's process tree on one machine."""

    def __init__(self, settings: Settings) -> None:
        self.data = settings.data.resolve()
        self._broker = None if settings.broker else EmbeddedBroker(self.data)
        self.settings = replace(
            settings,
            data=self.data,
            database=settings.database_url,
            broker=self._broker.url if self._broker else settings.broker,
            workers=settings.workers or len(os.sched_getaffinity(0)),
        )
        self._children: list[Child] = []
        self._signals = 0
        self._logs_due = 0.0
        self._watched = 0.0
        """When the children were last looked at."""
        self._pulse = Pulse()

    def run(self, announce: Tell, complain: Tell, over: Callable[[], bool] = lambda: False) -> None:
        """Runs until SIGINT, SIGTERM or SIGHUP, then ends every child in order.

        Args:
            announce: told the address once the pages answer.
            complain: told of what goes wrong meanwhile, a line each time.
            over: asked ten times a second; once it says so, that is the end, too.

        Raises:
            BrokerError, StartupError: it can't be started.
        """
        # First of all: whoever sees the lock may count on an orderly end.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup a hangup is to be ignored.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._stop)
        lock = self._lock()
        try:
            self._check_port()
            self._children = self._plan()
            self._start_all()
            self._pulse.ready()
            if not self._signals:
                announce(f"http://{self._address()}/")
            while not self._signals and not over():
                self._watch(complain)
                self._pulse.beat()
                time.sleep(0.1)
            if self._signals:
                complain(
                    gettext("ending; Ctrl-C again ends at once, and nothing is lost either way")
                )
        finally:
            self._end_all()
            for child in self._children:
                if child.listener:
                    child.listener.close()
                if child.visitors:
                    child.visitors.close()
            os.close(lock)

    def _stop(self, _number: int, _frame: object) -> None:
        self._signals += 1

    def _lock(self) -> int:
        try:
            self.data.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.data / "logs").mkdir(exist_ok=True)
            (self.data / "logs").chmod(0o700)
            lock = os.open(self.data / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StartupError(
                gettext(
                    "can't write the data folder %(folder)s: %(problem)s; choose another with "
                    "--data",
                    folder=self.data,
                    problem=error.strerror,
                )
            ) from None
        if not lock_file(lock):
            os.close(lock)
            raise StartupError(
                gettext(
                    "an arena runs on %(folder)s already; stop it, or choose another folder with "
                    "--data",
                    folder=self.data,
                )
            )
        return lock

    def _check_port(self) -> None:
        host, port = self.settings.host, self.settings.port
        try:
            for family, kind, _, _, address in socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            ):
                with socket.socket(family, kind) as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(address)
        except OSError as error:
            raise StartupError(
                gettext(
                    "can't serve on %(host)s:%(port)s: %(problem)s; choose another place with "
                    "--port or --host",
                    host=host,
                    port=port,
                    problem=error.strerror,
                )
            ) from None

    def _prepare(self) -> None:
        """Brings the database up to date in a process of its own, so that this one stays small."""
        with subprocess.Popen(
            processes.prepare(),
            env=self._environment("prepare"),
            cwd=self.data,
            stdin=subprocess.DEVNULL,
            # Its words are for people, and a command's output may be for programs.
            stdout=2,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # The supervisor has one thread, so a hook between fork and exec is safe.
            preexec_fn=_end_with(os.getpid()),  # noqa: PLW1509
        ) as process:
            complaint = self._read_patiently(process)
        if process.returncode:
            lines = complaint.decode(errors="replace").strip().splitlines()
            problem = (
                lines[-1]
                if lines
                else gettext("preparing ended with %(code)s", code=process.returncode)
            )
            raise (StartupError if process.returncode == 2 else RuntimeError)(problem)

    def _read_patiently(self, process: subprocess.Popen[bytes]) -> bytes:
        """What a process writes to standard error until it ends, however long that takes."""
        while True:
            self._pulse.beat()
            try:
                return process.communicate(timeout=1)[1]
            except subprocess.TimeoutExpired:
                continue

    def _environment(self, name: str) -> dict[str, str]:
        """What a process is told; who runs strangers' code learns no database."""
        strangers = name in ("worker", "home")
        settings = self.settings.without_secrets if strangers else self.settings
        # Signs of life of this process are for itself to give.
        others = {key: value for key, value in os.environ.items() if key != VARIABLE}
        return {**others, **settings.environment()}

    def _plan(self) -> list[Child]:
        """The children in the order in which they start."""
        settings = self.settings
        home = Visitors.at(settings.home_socket, partial(processes.home_environment, settings))
        live = Visitors.at(settings.live_socket, processes.live_environment)
        children = [
            Child("recorder", processes.recorder(), listener=Listener()),
            Child("web", processes.web(wait=True), follows_broker=False),
            Child("worker", processes.worker(self.settings.workers)),
            Child("home", processes.home_worker(), visitors=home),
            Child("live", processes.live(), visitors=live),
            Child("sender", processes.sender(), follows_broker=False),
        ]
        if self._broker:
            children.insert(0, Child("broker", self._broker.prepare(), follows_broker=False))
        return children

    def _start_all(self) -> None:
        # What the pages are made of takes as long to import as the database to prepare, and
        # who starts an arena looks at its pages first: nothing else runs beside the two.
        (web,) = (child for child in self._children if child.name == "web")
        self._start(web, waiting=True)
        self._prepare()
        for child in self._children:
            if self._signals:
                return
            if child is web:
                web.go_on()
                self._await(web, self._web_answers, N_("the pages did not start; %(log)s says why"))
                continue
            if not child.is_wanted:
                continue
            self._start(child)
            if child.name == "broker":
                words = N_("the broker did not start; %(log)s says why")
                self._await(child, self._broker_lives, words)

    def _await(self, child: Child, answers: Callable[[], bool], words: str) -> None:
        """Waits until a child answers.

        Args:
            words: what is said if it does not.

        Raises:
            StartupError: it did not in time, or it ended.
        """
        deadline = time.monotonic() + START_SECONDS
        while not self._signals and not answers():
            self._pulse.beat()
            if not child.runs or time.monotonic() > deadline:
                raise StartupError(gettext(words, log=self._log(child)))
            time.sleep(0.02)

    def _broker_lives(self) -> bool:
        return self._broker is None or self._broker.answers()

    def _address(self) -> str:
        """Where a browser of this machine finds the pages."""
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
        host = everywhere.get(self.settings.host, self.settings.host)
        return f"[{host}]:{self.settings.port}" if ":" in host else f"{host}:{self.settings.port}"

    def _web_answers(self) -> bool:
        # No urllib: it would ask a proxy of the environment.
        connection = http.client.HTTPConnection(self._address(), timeout=1)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _log(self, child: Child) -> Path:
        return self.data / "logs" / f"{child.name}.log"

    def _start(self, child: Child, *, waiting: bool = False) -> None:
        environment = self._environment(child.name)
        if child.listener:
            environment[VARIABLE] = child.listener.address
        inherited: tuple[int, ...] = ()
        if child.visitors:
            inherited = (child.visitors.listener.fileno(),)
            environment |= child.visitors.environment(*inherited)
        with self._log(child).open("ab") as log:
            child.process = subprocess.Popen(
                child.command,
                env=environment,
                # Not where the user is: a random.py there would stand in for Python's.
                cwd=self.data,
                stdin=subprocess.PIPE if waiting else subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with(os.getpid()),  # noqa: PLW1509
                pass_fds=inherited,
            )
        child.started = child.heard = time.monotonic()

    def _watch(self, complain: Tell) -> None:
        """Starts again what has ended, and ends what hangs."""
        now = time.monotonic()
        # Who was stopped itself can't say that others gave no sign meanwhile.
        was_away, self._watched = now - self._watched > START_SECONDS, now
        for child in self._children:
            if child.listener and (child.listener.heard() or was_away):
                child.heard = now
            if child.listener and child.process and now - child.heard > HUNG_SECONDS:
                complain(
                    gettext(
                        "%(process)s hangs: no sign of life for %(seconds)s s; it is killed",
                        process=child.name,
                        seconds=f"{HUNG_SECONDS:.0f}",
                    )
                )
                child.heard = now
                child.process.kill()
            if child.process is not None and not child.runs:
                complain(self._bury(child, child.process, now))
                if child.name == "broker":
                    for other in self._children:
                        if other.follows_broker:
                            _kill(other)
            if child.process is None and now >= child.due and self._can_start(child):
                self._start(child)
        if now >= self._logs_due:
            self._logs_due = now + LOG_SECONDS
            for child in self._children:
                shorten(self._log(child))

    def _can_start(self, child: Child) -> bool:
        return child.is_wanted and (not child.follows_broker or self._broker_lives())

    def _bury(self, child: Child, process: subprocess.Popen[bytes], now: float) -> str:
        """Takes note of a child's end, and says when it is started again."""
        code = process.returncode
        _kill(child)
        if now - child.started > STEADY:
            child.pause = FIRST_PAUSE
        pause = REFUSED_PAUSE if code == REFUSED else child.pause
        child.due = now + pause
        child.pause = min(child.pause * 2, LONGEST_PAUSE)
        if code == REFUSED:
            return gettext(
                "%(process)s: %(problem)s; it is tried again in a minute",
                process=child.name,
                problem=_last_line(self._log(child)),
            )
        return gettext(
            "%(process)s ended (%(how)s); started again in %(seconds)s s; see %(log)s",
            process=child.name,
            how=exit_words(code),
            seconds=f"{pause:.1f}",
            log=self._log(child),
        )

    def _end_all(self) -> None:
        """Ends the children: first who makes work, last who carries it."""
        self._end("web", "worker", "home", "sender")
        self._drain()
        self._end("recorder")
        self._end("broker")
        if self._broker:
            self._broker.leave()

    def _drain(self) -> None:
        """Lets the recorder write down what the workers have reported."""
        deadline = time.monotonic() + DRAIN_SECONDS
        while (
            self._broker
            and any(
                self._broker.waiting(results_of(shard)) for shard in range(self.settings.shards)
            )
            and any(child.name == "recorder" and child.runs for child in self._children)
            and time.monotonic() < deadline
            and self._signals < 2
        ):
            time.sleep(0.05)

    def _end(self, *names: str) -> None:
        children = [child for child in self._children if child.name in names and child.process]
        # A match that is broken off is rolled back by the next start, and played again.
        for number, seconds in ((signal.SIGTERM, TERM_SECONDS), (signal.SIGQUIT, QUIT_SECONDS)):
            deadline = time.monotonic() + seconds
            for child in children:
                if child.process and child.runs:
                    child.process.send_signal(number)
            while (
                any(child.runs for child in children)
                and time.monotonic() < deadline
                and self._signals < 2
            ):
                time.sleep(0.02)
        for child in children:
            _kill(child)


def is_running(settings: Settings) -> bool:
    """Whether an arena plays what is in the data folder: on this machine, or with a broker of its
    own anywhere.
    """
    if not settings.embedded:
        return True
    try:
        lock = os.open(settings.data / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not lock_file(lock)
    finally:
        os.close(lock)


def _kill(child: Child) -> None:
    """Ends a child at once, with all that it left in its session."""
    if child.process is None:
        return
    try:
        os.killpg(child.process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    child.go_on()  # where it waited: its end of the pipe is gone, and so is ours
    child.process.wait()
    child.process = None


def shorten(log: Path) -> None:
    """Puts a log of more than LOG_LIMIT aside; whoever writes it must append to it."""
    try:
        if log.stat().st_size > LOG_LIMIT:
            shutil.copyfile(log, log.with_suffix(".log.1"))
            os.truncate(log, 0)
    except OSError:
        return


def _last_line(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 2000))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def _end_with(parent: int) -> Callable[[], None]:
    """Makes a child end when the supervisor does, however that ends."""
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return prepare
