"""What a bot may use, and how the kernel is told."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workers.languages import Launch

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
ADDRESS_BYTES = 64 << 30
"""Address space of a bot outside a memory group.

Nothing else bounds the tables that map it, which take a page for every 2 MiB of addresses.
"""
CAP_SYS_RESOURCE = 24
PRLIMIT = "/usr/bin/prlimit"
"""Sets resource limits from inside a box."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bot may use."""

    memory_bytes: int = 256 * MIB
    threads: int = 16
    """Threads at once, those of its interpreter included."""
    scratch_bytes: int = 8 * MIB
    """The size of /tmp in a box with a memory group; the others have no writable place."""
    several_processes: bool = False
    """Whether it may fork: only in a box with a memory group that can be frozen."""
    work_bytes: int = 0
    """The size of the writable folder in which bots are built; 0 for a bot that plays.

    A build is no player: it may fork and lock files in any box, and nobody freezes it.
    """

    def refusal(self, launch: Launch) -> str | None:
        """Why a bot can't be run within these limits, in one sentence; None if it can."""
        if launch.memory_bytes > self.memory_bytes:
            need, have = launch.memory_bytes // MIB, self.memory_bytes // MIB
            return f"its language needs {need} MiB of memory to start, and the limit is {have} MiB"
        if launch.threads > self.threads:
            return f"it needs {launch.threads} threads, and the limit is {self.threads}"
        return None

    def for_process(self, *, metered: bool, counted: bool) -> dict[str, int]:
        """The resource limits of the bot's process, by the names of RLIMIT_ in lower case.

        For a bot no limit of CPU time is among them: it would make the process's own clock
        coarse, and the referee has a better one.

        Args:
            metered: a memory group counts its memory.
            counted: its threads are counted apart from those of other processes.
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
            limits["nproc"] = self.threads
        if not metered:
            limits |= {"data": self.memory_bytes, "as": ADDRESS_BYTES}
        return limits


def set_limits(pid: int, limits: Mapping[str, int]) -> None:
    """Sets the resource limits of a process for good.

    Raises:
        OSError: it has ended, or belongs to another user (see `may_limit_others`).
    """
    for name, value in limits.items():
        resource.prlimit(pid, getattr(resource, f"RLIMIT_{name.upper()}"), (value, value))


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
    "Max core file size": "core",
    "Max locked memory": "memlock",
    "Max msgqueue size": "msgqueue",
    "Max pending signals": "sigpending",
    "Max processes": "nproc",
    "Max data size": "data",
    "Max address space": "as",
}


@cache
def may_limit_others() -> bool:
    """Whether `set_limits` works on a bot: it has our own user, or we have the privilege.

    A root worker's bots have users of their own, and in many containers root lacks it.
    """
    if os.geteuid() != 0:
        return True
    status = Path("/proc/self/status").read_text()
    capabilities = int(status.partition("CapEff:")[2].split()[0], 16)
    return bool(capabilities >> CAP_SYS_RESOURCE & 1)


def limiting_command(limits: Mapping[str, int]) -> list[str]:
    """A command in front of the bot's that sets its limits from inside the box."""
    return [PRLIMIT, *(f"--{name}={value}" for name, value in limits.items()), "--"]
