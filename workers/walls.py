"""How a box is closed around a bot before a line of it has run.

Two kinds of box are here. `NamespaceBox` is built by bubblewrap out of namespaces, with a
memory group if there is a place for one; `LandlockBox` is what remains where no namespaces can
be had. Which of them is used, and why, is the affair of workers/sandbox.py.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Protocol

from engine.program import stderr_file
from engine.translation import N_, gettext, translated
from workers import seccomp
from workers.box_folder import remove_tree
from workers.bubblewrap import (
    DEVICES,
    LIBRARY,
    RUNTIME,
    SCRATCH,
    SYSTEM_PATHS,
    Bubblewrap,
    complaint,
)
from workers.cgroups import Group, GroupError, Places
from workers.cores import on_core
from workers.landlock import READY, Specification
from workers.launches import BOX_PATH, Launch
from workers.limits import KEEPER, Limits, set_limits
from workers.processes import tasks_of_user
from workers.program import END_SECONDS, BoxError, BoxProgram, close_pipes, written
from workers.users import BotUser, BoxUserError

OTHERS_TASKS = 256
"""Room for what else the worker's user starts while a bot plays, where all are counted together."""
ONE_PROCESS = N_(
    "bots of several processes need a box of level 'full', where they are frozen, limited and "
    "charged as one"
)
"""Why no other box has them."""
START_SECONDS = 10.0
"""The time of building a box; past it the machine is at fault, not the bot."""


class Box(Protocol):
    """A way to start bots apart from the rest of the machine."""

    @property
    def level(self) -> str:
        """How far apart: one of engine.referee.ISOLATION_LEVELS."""

    def start(
        self, folder: Path, launch: Launch, limits: Limits, *, core: int | None = None
    ) -> BoxProgram:
        """Starts a bot.

        Raises:
            BoxError: the box can't be built.
        """


@dataclass(frozen=True, slots=True)
class NamespaceBox:
    """Boxes of namespaces, a call filter and resource limits, with memory groups at FULL."""

    bubblewrap: Bubblewrap
    library: Path
    places: Places | None
    """The folders where memory groups are made; None for boxes of level GOOD."""

    @property
    def level(self) -> str:
        return "full" if self.places else "good"

    def start(
        self, folder: Path, launch: Launch, limits: Limits, *, core: int | None = None
    ) -> BoxProgram:
        launch = launch.placed(LIBRARY, RUNTIME)
        # What is lent is closed when the box stands or has failed; what is kept, only then.
        with _our_fault(), ExitStack() as lent, ExitStack() as kept:
            stderr, user = _claim(kept)
            folder = user.lend(folder, self.library.parent) if user else folder
            group = self._group(limits)
            if group:
                kept.callback(group.remove)
            own_limits = limits.for_process(
                metered=group is not None, counted=True, reserved_bytes=launch.reserved_bytes
            )
            scratch_bytes = limits.work_bytes or (limits.scratch_bytes if group else 0)
            # Bubblewrap takes a closed pipe for leave to go on, so this end is closed last.
            block, release = _pipe(lent)
            status, tell = _pipe(kept)
            words = [
                *("--block-fd", str(block.fileno()), "--json-status-fd", str(tell.fileno())),
                *self.bubblewrap.arguments(
                    folder,
                    self.library,
                    environment(launch, LIBRARY),
                    scratch_bytes=scratch_bytes,
                    readable=launch.readable,
                    runtime=launch.runtime,
                    itself=launch.itself,
                    shared_bytes=limits.scratch_bytes if limits.processes > 1 else 0,
                ),
            ]
            with block, tell, _call_filter(limits, group) as calls, _arguments(words) as more:
                command = [str(self.bubblewrap.path), "--seccomp", str(calls.fileno())]
                command += ["--args", str(more.fileno()), "--", *launch.command]
                passed = [file.fileno() for file in (block, tell, calls, more)]
                monitor = _spawn(kept, command, {}, passed, stderr, user, core)
            pid = _child_pid(status, monitor, stderr)
            program = BoxProgram(
                monitor,
                pid,
                stderr,
                self.level,
                group=group,
                user=user,
                processes=limits.processes,
                told_by=launch.told_by,
                scratch_bytes=scratch_bytes,
                memory_bytes=0 if group else limits.looked_at_bytes,
                status=status,
            )
            kept.pop_all()
            kept.callback(program.kill)
            if group:
                group.add(pid)
            own_limits[KEEPER] = monitor.pid
            set_limits(pid, own_limits, user.number if user else None)
            if program.wait(0):
                raise BoxError(
                    gettext("the box ended: %(reason)s", reason=complaint(written(stderr)))
                )
            release.write(b"\n")
            kept.pop_all()
            return program

    def _group(self, limits: Limits) -> Group | None:
        if self.places is None:
            _refuse_several(limits)
            return None
        # What lies in a writable folder is memory, too.
        memory_bytes = limits.memory_bytes + limits.work_bytes
        return self.places.make(
            memory_bytes=memory_bytes, tasks=limits.tasks, freezable=limits.processes > 1
        )


@dataclass(frozen=True, slots=True)
class LandlockBox:
    """Boxes without namespaces, of level REDUCED: Landlock, a call filter, resource limits."""

    python: str
    """The interpreter for the launcher."""
    launcher: Path
    """Contains the package `workers` with the launcher."""
    library: Path

    @property
    def level(self) -> str:
        return "reduced"

    def start(
        self, folder: Path, launch: Launch, limits: Limits, *, core: int | None = None
    ) -> BoxProgram:
        _refuse_several(limits)
        launch = launch.placed(str(self.library), str(launch.runtime))
        with _our_fault(), ExitStack() as lent, ExitStack() as kept:
            stderr, user = _claim(kept)
            folder = user.lend(folder, self.library.parent) if user else folder
            variables = environment(launch, str(self.library))
            work = self._work_folder(kept, user) if limits.work_bytes else None
            if work:
                variables |= {"HOME": str(work), "TMPDIR": str(work)}
            # Node gives up on a configuration that it may not read, but not on a missing one.
            readable = [*SYSTEM_PATHS, "/etc/ssl/openssl.cnf", *launch.readable, str(self.library)]
            readable += [str(launch.runtime)] if launch.runtime else []
            specification: Specification = {
                "command": list(launch.command),
                "environment": variables,
                "folder": str(folder),
                "readable": [path for path in readable if os.path.exists(path)],
                "devices": [path for path in DEVICES if os.path.exists(path)],
                "work": str(work) if work else None,
                "private_user": user is not None,
                "limits": self._limits(launch, limits, user),
                "parent": os.getpid(),
            }
            report, tell = _pipe(lent)
            with tell:
                command = [self.python, "-P", "-s", "-S", "-B", "-m", "workers.landlock"]
                command += [str(tell.fileno()), json.dumps(specification)]
                path = {"PYTHONPATH": str(self.launcher)}
                bot = _spawn(kept, command, path, [tell.fileno()], stderr, user, core)
            words = _read_until(report, READY)
            if words != READY:
                raise BoxError(
                    gettext(
                        "the reduced box can't be built: %(reason)s",
                        reason=words or written(stderr),
                    )
                )
            program = BoxProgram(
                bot,
                bot.pid,
                stderr,
                self.level,
                user=user,
                work=work,
                memory_bytes=limits.looked_at_bytes,
            )
            kept.pop_all()
            return program

    def _limits(self, launch: Launch, limits: Limits, user: BotUser | None) -> dict[str, int]:
        """The resource limits of a bot or build."""
        found = limits.for_process(
            metered=False, counted=user is not None, reserved_bytes=launch.reserved_bytes
        )
        if not limits.work_bytes:  # which has a supervisor of its own
            found[KEEPER] = os.getpid()
        if user is None:
            # The worker's own user counts the worker's processes too, which may become more
            # while a bot plays; all the same nothing may run without this limit.
            most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
            wanted = tasks_of_user() + limits.threads + (0 if limits.work_bytes else OTHERS_TASKS)
            found["nproc"] = wanted if most == resource.RLIM_INFINITY else min(most, wanted)
        return found

    def _work_folder(self, kept: ExitStack, user: BotUser | None) -> Path:
        """A writable folder for a build, on disk."""
        folder = Path(tempfile.mkdtemp(prefix=".work-", dir=self.launcher.parent))
        kept.callback(remove_tree, folder)
        if user:
            os.chown(folder, user.number, user.number)
        return folder


def environment(launch: Launch, library: str) -> dict[str, str]:
    """All of a boxed bot's environment."""
    common = {"PATH": BOX_PATH, "LANG": "C.UTF-8", "HOME": SCRATCH, "PYTHONPATH": library}
    return common | dict(launch.environment)


@contextmanager
def _our_fault() -> Iterator[None]:
    """Whatever fails while a box is built is no fault of the bot."""
    try:
        yield
    except (OSError, GroupError, BoxUserError) as error:
        raise BoxError(
            gettext("no box can be built: %(reason)s", reason=complaint(str(error)))
        ) from None


def _refuse_several(limits: Limits) -> None:
    if limits.processes > 1:
        raise BoxError(translated(ONE_PROCESS))


def _claim(kept: ExitStack) -> tuple[int, BotUser | None]:
    """A file for standard error, and a user of its own for a bot of a root worker."""
    stderr = stderr_file()
    kept.callback(os.close, stderr)
    user = BotUser() if os.geteuid() == 0 else None
    if user:
        kept.callback(user.release)
    return stderr, user


def _spawn(
    kept: ExitStack,
    command: Sequence[str],
    env: Mapping[str, str],
    passed: Sequence[int],
    stderr: int,
    user: BotUser | None,
    core: int | None,
) -> subprocess.Popen[bytes]:
    """Starts a program as the bot's user, on one core if that is wished."""
    with on_core(core):
        process = subprocess.Popen(
            [*(user.becoming if user else ()), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            cwd="/",
            env=env,
            pass_fds=passed,
            start_new_session=True,
        )
    kept.callback(_abandon, process)
    return process


def _abandon(process: subprocess.Popen[bytes]) -> None:
    """Ends a program whose box was never finished, and its child, which might not heed it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    close_pipes(process)


def _child_pid(status: FileIO, monitor: subprocess.Popen[bytes], stderr: int) -> int:
    """The bot's process as bubblewrap tells it, in several pieces."""
    try:
        return int(json.loads(_read_until(status, "}"))["child-pid"])
    except (ValueError, KeyError):
        monitor.wait(END_SECONDS)
        raise BoxError(f"bubblewrap: {complaint(written(stderr))}") from None


def _read_until(pipe: FileIO, last: str) -> str:
    """What comes through a pipe until that or its end."""
    words = b""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    deadline = time.monotonic() + START_SECONDS
    while not words.endswith(last.encode()):
        if not poll.poll(max(0, deadline - time.monotonic()) * 1000):
            raise BoxError(
                gettext("no box was built within %(seconds)s s", seconds=f"{START_SECONDS:g}")
            )
        data = pipe.read(4096)
        if not data:
            break
        words = (words + data).rstrip()
    return words.decode(errors="replace")


def _pipe(holder: ExitStack) -> tuple[FileIO, FileIO]:
    """A pipe, its reading end first."""
    read, write = os.pipe()
    return holder.enter_context(FileIO(read, "r")), holder.enter_context(FileIO(write, "w"))


def _memory_file(content: bytes) -> FileIO:
    """A file in memory to be read from its beginning."""
    file = FileIO(os.memfd_create("box"), "r+")
    file.write(content)
    file.seek(0)
    return file


def _arguments(words: Sequence[str]) -> FileIO:
    """Arguments for bubblewrap that no list of processes shows."""
    return _memory_file("".join(word + "\0" for word in words).encode())


def _call_filter(limits: Limits, group: Group | None) -> FileIO:
    """Writes the call filter's program where a box reads it."""
    building = limits.work_bytes > 0
    one_process = limits.processes == 1 and not building
    return _memory_file(_filter_code(one_process, group is not None, building))


@cache
def _filter_code(one_process: bool, metered: bool, building: bool) -> bytes:
    return seccomp.program(
        os.uname().machine,
        single_process=one_process,
        metered_memory=metered,
        building=building,
    )
