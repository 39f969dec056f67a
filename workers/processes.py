"""What processes started, hold and may use, as the kernel tells it; standard library alone."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator, Mapping
from contextlib import suppress

STATUS_BYTES = 1 << 14
"""More than /proc/PID/status has."""
OWN = re.compile(rb"^(?:RssAnon|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
HELD = re.compile(rb"^(?:VmRSS|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
RLIMIT_LOCKS = 10
"""Of asm-generic/resource.h; Python has no name for it."""


def limit_process(pid: int, limits: Mapping[str, int]) -> None:
    """Sets resource limits for good, by the names of RLIMIT_ in lower case; 0 is this process.

    Raises:
        OSError: there is no such process, or it may not be limited.
    """
    for name, value in limits.items():
        number = RLIMIT_LOCKS if name == "locks" else getattr(resource, f"RLIMIT_{name.upper()}")
        resource.prlimit(pid, number, (value, value))


def status_of(pid: int | str) -> dict[str, str]:
    """What /proc/PID/status says; it may be that of a thread, PID/task/TID.

    Raises:
        OSError: there is no such process.
    """
    # A name may be any bytes; nobody here asks for it.
    pairs = (line.partition(":") for line in _status(pid).decode(errors="replace").split("\n"))
    return {key: value.strip() for key, _, value in pairs}


def _status(pid: int | str) -> bytes:
    # Bots are looked at often, and a file object takes longer than all the rest.
    file = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, STATUS_BYTES)
    finally:
        os.close(file)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, those that these started, and so on.

    Orphans belong to the nearest process above them that takes such in.
    """
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):  # it has ended
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children") as file:
                children += map(int, file.read().split())
    return children


def is_stopped(pid: int) -> bool:
    """Whether a process stands still for good, by a stop signal or its end."""
    for thread in _threads(pid):
        with suppress(OSError), open(f"/proc/{thread}/stat", errors="replace") as file:
            if file.read().rpartition(")")[2].split()[0] not in "TtZX":
                return False
    return True


def tasks_of_user() -> int:
    """How many threads this user has on the machine, as RLIMIT_NPROC counts them."""
    own, count = os.geteuid(), 0
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with suppress(OSError):  # it has ended
                if entry.stat().st_uid == own:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
    return count


def _threads(pid: int) -> Iterator[str]:
    """A process's threads below /proc, its first as the process itself.

    That one may have ended while others run on; then it has no memory and is no more than a name.
    """
    yield str(pid)
    with suppress(OSError):
        yield from (f"{pid}/task/{thread}" for thread in os.listdir(f"/proc/{pid}/task"))


def file_slots(pid: int) -> int:
    """How many files a process has room for without asking for more, 64 at least; 0 at its end.

    So many it may have open, sockets and pipes among them: anybody may know that, where only some
    may see the files. Its threads are taken to share them.
    """
    for thread in _threads(pid):
        with suppress(OSError):
            status = status_of(thread)
            if status["State"][0] not in "ZX":
                return int(status["FDSize"])
    return 0


def own_bytes(pid: int) -> int:
    """The memory that a process shares with no file, with the tables that map it; 0 at its end."""
    return _sum_of_status(pid, OWN)


def held_bytes(pid: int) -> int:
    """The memory that a process holds, with the tables that map it; 0 if it has ended."""
    return _sum_of_status(pid, HELD)


def _sum_of_status(pid: int, lines: re.Pattern[bytes]) -> int:
    for thread in _threads(pid):
        with suppress(OSError):
            if found := lines.findall(_status(thread)):
                return sum(map(int, found)) << 10
    return 0
