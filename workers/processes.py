"""What processes started, hold and may use, as the kernel tells it; standard library alone."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

STATUS_BYTES = 1 << 14
"""How much is read of /proc/PID/status: more than it has."""
USED = re.compile(rb"^(RssAnon|VmRSS|VmSwap|VmPTE|FDSize):\s+(\d+)", re.MULTILINE)
"""Fields of it, in KiB but the last, which is a number."""
ENDED = re.compile(rb"^State:\s+[ZX]", re.MULTILINE)
PIDFD_INFO = "Q52xi"
"""What is asked and told of a process by its pidfd, ``struct pidfd_info``: a mask, and how it
ended; its group, numbers and users stand between them."""
PIDFD_GET_INFO, PIDFD_INFO_EXIT = 0xC040FF0B, 1 << 3
RLIMIT_LOCKS = 10
"""The number in asm-generic/resource.h; Python has no name for it."""


def exit_status(pidfd: int) -> int | None:
    """How a process ended for whose end somebody else has waited (linux/pidfd.h).

    Returns:
        Its exit code, or the negative number of the signal that ended it; None on a kernel before
        6.15, which does not tell.
    """
    asked = struct.pack(PIDFD_INFO, PIDFD_INFO_EXIT, 0)
    try:
        told = fcntl.ioctl(pidfd, PIDFD_GET_INFO, asked)
    except OSError:
        return None
    mask, status = struct.unpack(PIDFD_INFO, told)
    return os.waitstatus_to_exitcode(status) if mask & PIDFD_INFO_EXIT else None


def limit_process(pid: int, limits: Mapping[str, int]) -> None:
    """Sets resource limits for good, by the names of RLIMIT_ in lower case; 0 is this process.

    Raises:
        OSError: there is no such process, or it may not be limited.
    """
    for name, value in limits.items():
        number = RLIMIT_LOCKS if name == "locks" else getattr(resource, f"RLIMIT_{name.upper()}")
        try:
            resource.prlimit(pid, number, (value, value))
        except PermissionError as error:
            # In many a container root can't do it either.
            _, most = resource.prlimit(pid, number)
            words = f"the limit {name} can't be raised from {most} to {value} (see ulimit -H)"
            raise PermissionError(error.errno, words) from None


def status_of(pid: int) -> dict[str, str]:
    """What /proc/PID/status says.

    Raises:
        OSError: there is no such process.
    """
    # A name may be any bytes; nobody here asks for it.
    pairs = (line.partition(":") for line in _status(str(pid)).decode(errors="replace").split("\n"))
    return {key: value.strip() for key, _, value in pairs}


def _status(thread: str) -> bytes:
    # Bots are looked at often, and a file object takes longer than all the rest.
    file = os.open(f"/proc/{thread}/status", os.O_RDONLY | os.O_CLOEXEC)
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


def lives(pid: int) -> bool:
    """Whether there is a process that has not ended.

    One that has ended stays visible until whoever takes it in asks for its end: in a container that
    may be never.
    """
    for thread in _threads(pid):
        with suppress(OSError):
            if not ENDED.search(_status(thread)):
                return True
    return False


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


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process uses; nothing at its end."""

    own_bytes: int = 0
    """Memory that it shares with no file, with the tables that map it."""
    held_bytes: int = 0
    """All memory that it holds, with those tables."""
    file_slots: int = 0
    """How many files it has room for without asking for more, 64 at least.

    So many it may have open, sockets and pipes among them: anybody may know that, where only some
    may see the files. Its threads are taken to share them.
    """


def usage(pid: int) -> Usage:
    """What a process uses at this moment."""
    for thread in _threads(pid):
        with suppress(OSError):
            status = _status(thread)
            if ENDED.search(status):
                continue
            used = {name: int(number) for name, number in USED.findall(status)}
            tables = used.get(b"VmSwap", 0) + used.get(b"VmPTE", 0)
            own, held = used.get(b"RssAnon", 0) + tables, used.get(b"VmRSS", 0) + tables
            return Usage(own << 10, held << 10, used[b"FDSize"])
    return Usage()
