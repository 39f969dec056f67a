"""What a bot may use, and how the kernel is told."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.translation import gettext
from workers.launches import Launch
from workers.processes import limit_process

MIB = 1 << 20
FILE_BYTES = 8 * MIB
"""The longest file a bot can write; its standard error is one, and is emptied as it grows."""
OPEN_FILES = 64
BUILD_FILE_BYTES = 64 * MIB
"""The longest file that a build can write."""
BUILD_OPEN_FILES = 1024
BUILD_CPU_SECONDS = 60
"""CPU time of each process of a build; all together have the core and the time of the build."""
PENDING_SIGNALS = 64
"""Signals and timers that the kernel keeps for it."""
STACK_BYTES = 8 * MIB
"""The stack of the first thread, which RLIMIT_DATA does not count, outside a memory group.

It is the usual limit, since that of every other thread follows from it.
"""
ADDRESS_BYTES = 64 << 30
"""Address space of a bot outside a memory group.

Nothing else bounds the tables that map it, which take a page for every 2 MiB of addresses.
"""
KEEPER = "locks"
"""A limit that Linux heeds no more (getrlimit(2)) and no bot can change.

There stands the process that has a bot end with it, so that `workers.orphans` knows it.
"""
libc = ctypes.CDLL(None, use_errno=True)
SET_REAL_IDS = {"x86_64": (119, 117), "aarch64": (149, 147)}
"""The calls setresgid and setresuid (asm/unistd_64.h, asm-generic/unistd.h).

Of the kernel itself they are: they change one thread, where libc's change all.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bot may use."""

    memory_bytes: int = 256 * MIB
    threads: int = 16
    """Threads at once, those of its interpreter included."""
    processes: int = 1
    """Processes at once. More than one only in a box that freezes, counts and ends them as one.

    Each beyond the first brings a thread more, its own first one; whether a bot has threads or
    processes of what that makes is its affair, as the kernel counts them together.
    """
    scratch_bytes: int = 8 * MIB
    """The size of /tmp in a box with a memory group; the others have no writable place."""
    work_bytes: int = 0
    """The size of the writable folder in which bots are built; 0 for a bot that plays.

    A build is no player: it may fork and lock files in any box, and nobody freezes it.
    """

    def refusal(self, launch: Launch) -> str | None:
        """Why a bot can't be run within these limits, in one sentence; None if it can."""
        if launch.memory_bytes > self.memory_bytes:
            need, have = launch.memory_bytes // MIB, self.memory_bytes // MIB
            return gettext(
                "its language needs %(need)s MiB of memory to start, and the limit is %(have)s MiB",
                need=need,
                have=have,
            )
        if launch.threads > self.threads:
            return gettext(
                "it needs %(need)s threads, and the limit is %(have)s",
                need=launch.threads,
                have=self.threads,
            )
        if launch.processes > self.processes:
            return gettext(
                "it needs %(need)s processes, and the limit is %(have)s",
                need=launch.processes,
                have=self.processes,
            )
        return None

    @property
    def tasks(self) -> int:
        """How many threads all its processes may have together."""
        return self.threads + self.processes - 1

    @property
    def looked_at_bytes(self) -> int:
        """What a bot's process may hold as others see it; 0 for a build, which is watched."""
        return 0 if self.work_bytes else self.memory_bytes + STACK_BYTES

    def for_process(
        self, *, metered: bool, counted: bool, reserved_bytes: int = 0
    ) -> dict[str, int]:
        """The resource limits of the bot's process, by the names of RLIMIT_ in lower case.

        For a bot no limit of CPU time is among them: it would make the process's own clock
        coarse, and the referee has a better one.

        Args:
            metered: a memory group counts its memory.
            counted: its tasks are counted apart from those of other processes.
            reserved_bytes: memory that it asks for and hardly uses. The limit on data can't tell
                it from what is used; whoever looks at what is held can (`looked_at_bytes`).
        """
        limits = {
            "fsize": BUILD_FILE_BYTES if self.work_bytes else FILE_BYTES,
            "nofile": BUILD_OPEN_FILES if self.work_bytes else OPEN_FILES,
            "core": 0,
            "memlock": 0,
            "msgqueue": 0,
            "sigpending": PENDING_SIGNALS,
        }
        if self.work_bytes:
            limits["cpu"] = BUILD_CPU_SECONDS
        if counted:
            limits["nproc"] = self.tasks
        if not metered:
            limits |= {"data": self.memory_bytes + reserved_bytes, "as": ADDRESS_BYTES}
            if not self.work_bytes:  # what builds hold is looked at as a whole
                limits["stack"] = STACK_BYTES
        return limits


def set_limits(pid: int, limits: Mapping[str, int], user: int | None) -> None:
    """Sets the resource limits of a process for good.

    Args:
        user: whose process it is, if this process is root; None for one of our own.

    Raises:
        OSError: it has ended.
    """
    with _related_to(user):
        limit_process(pid, limits)


@contextmanager
def _related_to(user: int | None) -> Iterator[None]:
    """Makes a user this thread's real one, and its group too, while it stays what it is in effect.

    By them the kernel knows whose limits one may set. Root may set all, but has no such right in
    many containers (CAP_SYS_RESOURCE).
    """
    if user is None:
        yield
        return
    _set_real_ids(user)
    try:
        yield
    finally:
        _set_real_ids(0)


def _set_real_ids(number: int) -> None:
    same = ctypes.c_long(-1)
    for call in SET_REAL_IDS[os.uname().machine]:
        if libc.syscall(call, ctypes.c_long(number), same, same):
            raise OSError(ctypes.get_errno(), f"no thread can have the real user {number}")


def read_limits(pid: int) -> dict[str, int]:
    """The hard limits of a process, by the names of RLIMIT_ in lower case."""
    found = {}
    for line in Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]:
        words = line[26:].split()
        name = LIMIT_NAMES.get(line[:26].strip())
        if name and words[1].isdecimal():
            found[name] = int(words[1])
    return found


LIMIT_NAMES = {
    "Max cpu time": "cpu",
    "Max file size": "fsize",
    "Max open files": "nofile",
    "Max stack size": "stack",
    "Max core file size": "core",
    "Max locked memory": "memlock",
    "Max msgqueue size": "msgqueue",
    "Max file locks": "locks",
    "Max pending signals": "sigpending",
    "Max processes": "nproc",
    "Max data size": "data",
    "Max address space": "as",
}
