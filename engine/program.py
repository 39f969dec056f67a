"""A started bot program: pipes, a file for its complaints, a clock, and power over it.

`Program` is what the referee's side asks of one, boxed or not. `PlainProgram` is one without a
box: an ordinary process of this user, stopped and killed by signals to its group; at its end
what left that is looked for, too (see `engine.process_tree`). Its CPU clock is read from
outside, which needs no trust and covers all its threads.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from engine.clock import Limit
from engine.player import CrashError, VoidGameError
from engine.process_tree import MARK, descendants, end_all, marked, members
from engine.stopwatch import Stopwatch
from engine.threads import Standstill, stat_fields, threads_of
from engine.translation import gettext

OUR_SHORTAGES = frozenset(
    {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.ETXTBSY}
)
"""Why a program may fail to start without a fault of its own: the machine is full, or another
thread's child still holds the file open from when it was written."""


class Program(Protocol):
    """A started bot program. The file descriptors are the caller's ends."""

    stdin: int
    stdout: int
    stderr: int
    """A file, not a pipe; the program appends to it."""
    isolation: str
    pid: int
    """Its process as this side sees it."""
    processes: int
    """How many processes it may have."""
    told_by: str
    """The beginning of the lines of its standard error by which a bridge tells of the program
    behind it; empty if there is none."""

    def cpu_us(self) -> int:
        """CPU time used so far by all its threads, in microseconds."""

    def threads(self) -> list[str]:
        """The folders below /proc of all its threads, those of each of its processes."""

    def watch(self, limit: Limit, cpu_start_us: int | None = None) -> Stopwatch:
        """What times a request to it, from now on; the arguments are those of `Stopwatch`."""

    def freeze(self) -> None:
        """Stops it from running, as soon as its threads heed it."""

    def stands(self) -> bool:
        """Whether all its threads have heeded that it was stopped."""

    def thaw(self) -> None:
        """Lets a frozen program run again."""

    def look(self) -> None:
        """Ends it, if it went beyond a limit that nobody else holds it to; is called often."""

    def wait(self, seconds: float) -> bool:
        """Whether it ended by itself within that time."""

    def kill(self) -> str:
        """Ends it and all it started, if it still runs, closes the pipes, and says how it ended.

        Safe to call again. The word ``memory`` begins the answer if a memory limit killed it.
        """


def cpu_clock(pid: int) -> int:
    """The clock of a process's CPU time, all threads (Linux; see clock_getcpuclockid)."""
    return ~pid << 3 | 2


def has_forked(pid: int) -> bool:
    """Whether a process has children, or had some that it waited for (Linux; see proc(5))."""
    try:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            if children.read_text().strip():
                return True
        # No process runs without a page fault: those of children that ended are cminflt, field 11.
        return stat_fields(Path(f"/proc/{pid}/stat").read_bytes())[8] != b"0"
    except OSError:
        return False  # it has ended


def stderr_file() -> int:
    """A file in memory for a program's standard error; it appends, so it may be truncated."""
    file = os.memfd_create("stderr")
    fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
    return file


def exit_words(code: int) -> str:
    """A return code of subprocess in words."""
    if code >= 0:
        return f"exit {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


class PlainProgram:
    """A bot as an ordinary process of this user, in no box."""

    isolation = "none"
    processes = 1

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        told_by: str = "",
    ) -> None:
        """Starts a process.

        Raises:
            CrashError: the command can't be started.
            VoidGameError: this machine can't start anything just now.
        """
        self.told_by = told_by
        environment = marked(env)
        self._mark = environment[MARK]
        try:
            with ExitStack() as undo:
                self.stderr = stderr_file()
                undo.callback(os.close, self.stderr)
                # A process group of its own, so that all it starts can be stopped together and
                # Ctrl-C at a terminal reaches only the referee.
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self.stderr,
                    bufsize=0,
                    cwd=cwd,
                    env=environment,
                    process_group=0,
                )
                undo.callback(self._reap)
                # The process is reaped in kill() and nowhere else: until then its number, and
                # that of its group, can't become somebody else's.
                self._pidfd = os.pidfd_open(self._process.pid)
                undo.pop_all()
        except OSError as error:
            if error.errno in OUR_SHORTAGES:
                raise VoidGameError(
                    gettext("no bot can be started now: %(reason)s", reason=error.strerror)
                ) from error
            raise CrashError(f"can't be started: {command[0]}: {error.strerror}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.pid = self._process.pid
        self.stdin = self._process.stdin.fileno()
        self.stdout = self._process.stdout.fileno()
        self._clock = cpu_clock(self.pid)
        self._cpu_us = 0
        self._standstill = Standstill(self.pid)
        self._ended: str | None = None

    def cpu_us(self) -> int:
        try:
            self._cpu_us = max(self._cpu_us, time.clock_gettime_ns(self._clock) // 1000)
        except OSError:
            pass  # it has ended: the last reading stands
        return self._cpu_us

    def threads(self) -> list[str]:
        return threads_of(self.pid)

    def watch(self, limit: Limit, cpu_start_us: int | None = None) -> Stopwatch:
        return Stopwatch(self, limit, cpu_start_us)

    def freeze(self) -> None:
        self._standstill.begin()
        self._signal(signal.SIGSTOP)

    def stands(self) -> bool:
        return self._standstill.reached()

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        """Signals the bot's group; should it have left that, the bot alone."""
        for send in (os.killpg, os.kill):
            try:
                send(self._process.pid, number)
                return
            except ProcessLookupError:
                pass

    def look(self) -> None:
        pass  # it has no limits

    def wait(self, seconds: float) -> bool:
        return ended_within(self._pidfd, seconds)

    def kill(self) -> str:
        if self._ended is None:
            own_end = self.wait(0)
            code = self._reap(own_end=own_end)
            self._ended = exit_words(code) if own_end else "still running"
            self._standstill.close()
            os.close(self._pidfd)
            os.close(self.stderr)
        return self._ended

    def _reap(self, *, own_end: bool = False) -> int:
        # What left the group is reached by no signal to it. It is the bot's while that lives, and
        # stands still; with the bot's end others have taken it in.
        self._signal(signal.SIGSTOP)
        pid = self._process.pid
        end_all(lambda: members(self._mark) if own_end else descendants(pid))
        self._signal(signal.SIGKILL)
        self._process.kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        return code


def ended_within(pidfd: int, seconds: float) -> bool:
    """Whether the process behind a pidfd ends within that time."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
