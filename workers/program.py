"""A bot that runs in a box, as the referee handles it."""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import time
from contextlib import suppress
from io import FileIO
from pathlib import Path

from engine.clock import Limit
from engine.player import VoidGameError
from engine.program import cpu_clock, ended_within, exit_words
from engine.stopwatch import Stopwatch
from engine.threads import Standstill, threads_of
from workers.box_folder import remove_tree
from workers.bubblewrap import SCRATCH, complaint
from workers.cgroups import Group
from workers.cleanup import finish_later
from workers.processes import exit_status, usage
from workers.users import BotUser

END_SECONDS = 0.5
LOOK_SECONDS = 0.02
"""How often the memory of a running bot is looked at."""
LAST_SECONDS = 10.0
"""What a build's supervisor may take to end all that the build started, and bubblewrap to tell how
a bot ended."""
MOST_COUNTED = 100_000
"""Files, where a look at them would take too long."""
LISTABLE = stat.S_IRUSR | stat.S_IXUSR


class BoxError(VoidGameError):
    """A box can't be built, which is never a bot's fault; one sentence that says why."""


class BoxProgram:
    """A bot in a box; an `engine.program.Program`."""

    def __init__(
        self,
        monitor: subprocess.Popen[bytes],
        pid: int,
        stderr: int,
        isolation: str,
        *,
        group: Group | None = None,
        user: BotUser | None = None,
        processes: int = 1,
        told_by: str = "",
        work: Path | None = None,
        scratch_bytes: int = 0,
        memory_bytes: int = 0,
        status: FileIO | None = None,
    ) -> None:
        """Takes over a started bot and all that is to be given back at its end.

        Args:
            monitor: the process to wait for, bubblewrap or the bot itself.
            pid: the bot's process as the host sees it.
            processes: how many it may have; several are those of its group.
            told_by: as `engine.program.Program` has it.
            work: a folder on disk in which it could write.
            scratch_bytes: the size of such a folder in memory.
            memory_bytes: how much of it is too much, where no memory group counts it; or 0.
            status: what bubblewrap tells of the box, where that builds it.

        Raises:
            OSError: the bot has ended already; nothing was taken over.
        """
        assert monitor.stdin is not None
        assert monitor.stdout is not None
        self.stdin = monitor.stdin.fileno()
        self.stdout = monitor.stdout.fileno()
        self.stderr = stderr
        self.isolation = isolation
        self.pid = pid
        self.processes = processes
        self.told_by = told_by
        self._monitor = monitor
        self._group = group
        self._user = user
        self._work = work
        self._scratch_bytes = scratch_bytes
        self._memory_bytes = memory_bytes
        self._took_too_much = False
        self._next_look = 0.0
        self._status = status
        # One process is stopped by a signal and has one clock; for several there is the group.
        self._whole = group if processes > 1 else None
        self._pidfd = os.pidfd_open(pid)
        # Made once, since every reading of the clock asks it.
        self._end = select.poll()
        self._end.register(self._pidfd, select.POLLIN)
        self._monitor_pidfd = os.pidfd_open(monitor.pid)
        self._standstill = Standstill(pid)
        self._clock = cpu_clock(pid)
        self._cpu_us = 0
        self._frozen = False
        self._ended: str | None = None

    def written(self) -> tuple[int, int]:
        """How many files it has in its writable folder, and how many bytes of the disk or memory.

        Zeros where the kernel doesn't let this process see, and while bubblewrap builds the box.
        """
        if self._work:
            return _disk_use(self._work)
        try:
            found = os.statvfs(f"/proc/{self.pid}/root{SCRATCH}")
        except OSError:
            return 0, 0
        if found.f_blocks != -(-self._scratch_bytes // found.f_frsize):
            return 0, 0  # of the host it is, or on the way from there
        used = (found.f_blocks - found.f_bfree) * found.f_frsize
        return found.f_files - found.f_ffree, used

    def cpu_us(self) -> int:
        try:
            used = (
                self._whole.cpu_us() if self._whole else time.clock_gettime_ns(self._clock) // 1000
            )
            # Bubblewrap reaps the bot, so its number may be another's by now.
            if self._whole or not self._end.poll(0):
                self._cpu_us = max(self._cpu_us, used)
        except OSError:
            pass  # it has ended: the last reading stands
        return self._cpu_us

    def threads(self) -> list[str]:
        try:
            return self._whole.threads() if self._whole else threads_of(self.pid)
        except OSError:
            return []  # all have ended, and the group is gone

    def watch(self, limit: Limit, cpu_start_us: int | None = None) -> Stopwatch:
        return Stopwatch(self, limit, cpu_start_us)

    def freeze(self) -> None:
        self._frozen = True
        if self._whole:
            self._whole.freeze(True)
        else:
            self._standstill.begin()
            self._signal(signal.SIGSTOP)

    def stands(self) -> bool:
        if not self._whole:
            return self._standstill.reached()
        return self._whole.is_frozen() or bool(self._end.poll(0))

    def thaw(self) -> None:
        if not self._frozen:
            return  # nobody else stops it, so there is nothing to undo
        self._frozen = False
        if self._whole:
            self._whole.freeze(False)
        else:
            self._signal(signal.SIGCONT)

    def look(self) -> None:
        # A group of the first version that has no more room loses one process of several.
        if self._whole and self.memory_kills():
            self._whole.kill()
        # RLIMIT_DATA forgets what a bot has written once it may only read it. It counts no tables
        # and no stack, whose pieces, marked in different ways, may each be as long as the whole.
        if self._memory_bytes and (now := time.monotonic()) >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            if usage(self.pid).own_bytes > self._memory_bytes and not self._end.poll(0):
                self._took_too_much = True
                self._signal(signal.SIGKILL)

    def memory_kills(self) -> int:
        """How many of its processes the limit of its memory group has killed."""
        return self._group.memory_kills() if self._group else 0

    def wait(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self._end.poll(min(left, LOOK_SECONDS) * 1000):
                return True
            self.look()
        return bool(self._end.poll(0))

    def kill(self) -> str:
        """As `engine.program.Program` has it.

        Raises:
            BoxError: it ended while its box was still being built, before it ran at all.
        """
        if self._ended is None:
            own_end = self.wait(0)
            # Beside a writable folder on disk stands a supervisor that ends the rest first.
            self._signal(signal.SIGTERM if self._work else signal.SIGKILL)
            if self._group:
                self._group.kill()
            # Bubblewrap is left to reap the bot: killed first, it would leave a zombie to the
            # host's init. Of a bot that has ended it is about to tell how.
            patience = LAST_SECONDS if self._work or own_end else END_SECONDS
            gone = ended_within(self._monitor_pidfd, patience)
            words = self._how() if gone else "still running"
            self._ended = words if own_end else "still running"
            if self._took_too_much or self.memory_kills():
                self._ended = "memory limit reached"
            unfinished = self._what_failed() if gone and self._ended == words else None
            close_pipes(self._monitor)
            if self._status:
                self._status.close()
            self._standstill.close()
            os.close(self.stderr)
            if not (gone and self._give_back()):
                finish_later(self._give_back)
            if unfinished:
                raise BoxError(f"the box ended: {unfinished}")
        return self._ended

    def _how(self) -> str:
        """How a bot ended whose monitor has ended, too."""
        code = self._monitor.wait()
        # Bubblewrap tells a signal as a shell does, so that an exit code may look like one.
        if self.pid == self._monitor.pid or not 128 < code <= 128 + signal.SIGRTMAX:
            return exit_words(code)
        status = exit_status(self._pidfd)
        if status is None:
            return f"{exit_words(128 - code)}, or exit {code}"
        return exit_words(status)

    def _give_back(self) -> bool:
        """Gives back what it had once it is gone; says whether it is."""
        if self._monitor.poll() is None or not self._end.poll(0):
            return False
        if self._group and not self._group.remove():
            return False
        if self._work:
            remove_tree(self._work)
        if self._user:
            self._user.release()
        for file in (self._pidfd, self._monitor_pidfd):
            os.close(file)
        return True

    def _what_failed(self) -> str | None:
        """Why the box of a bot that has ended was never finished; None if it was."""
        if self._status is None or b"exit-code" in (self._status.read() or b""):
            return None
        # Bubblewrap tells no exit code either where there is no program to run in the box.
        words = complaint(written(self.stderr))
        return None if words.startswith("execvp ") else words

    def _signal(self, number: signal.Signals) -> None:
        try:
            signal.pidfd_send_signal(self._pidfd, number)
        except ProcessLookupError:
            pass


def _disk_use(folder: Path) -> tuple[int, int]:
    """The number of files below a folder that others may change meanwhile, and their bytes."""
    files = size = 0
    try:
        for _, folders, names, handle in os.fwalk(folder, follow_symlinks=False):
            files += len(folders)
            for name in folders:
                with suppress(OSError):
                    _open_to_owner(name, handle)
            for name in names:
                files += 1
                with suppress(OSError):
                    info = os.stat(name, dir_fd=handle, follow_symlinks=False)
                    size += info.st_blocks * 512
            if files > MOST_COUNTED:
                break
    except RecursionError:
        files += MOST_COUNTED  # folders in folders, deeper than can be followed
    return files, size


def _open_to_owner(name: str, parent: int) -> None:
    """Makes a folder one that its owner can list; a build's files could hide in it."""
    mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    if mode & LISTABLE == LISTABLE:
        return
    # What has that name may be another thing by now, which must not be a link.
    found = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{found}", stat.S_IMODE(mode) | LISTABLE)
    finally:
        os.close(found)


def close_pipes(process: subprocess.Popen[bytes]) -> None:
    """Closes the caller's ends of a process's pipes."""
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


def written(stderr: int) -> str:
    """The beginning of what has been written to standard error."""
    return os.pread(stderr, 4096, 0).decode(errors="replace").strip()
