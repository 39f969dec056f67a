"""Bots that outlived their keeper: they are found and ended.

A bot's keeper is the process that has the kernel end it with itself: bubblewrap, or the worker
where there are no namespaces. Two ways lead past that. A bot may execute a program from a second
thread, which then is its only one, and was never tied to anybody. And bubblewrap's inner process
waits for the outer one to set up its namespace before it ties itself; where the outer one is
killed before that, the inner one waits for ever.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

from workers.limits import KEEPER, read_limits
from workers.processes import status_of
from workers.users import BOT_USERS


def end_orphans(bubblewrap: Path | None = None) -> int:
    """Ends every orphan that this user may.

    Args:
        bubblewrap: the program whose own orphans are ended as well.

    Returns:
        How many there were.
    """
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    return sum(_end_if_orphan(pid, bubblewrap) for pid in pids)


def _end_if_orphan(pid: int, bubblewrap: Path | None) -> bool:
    try:
        # Opened first, so that whatever is found out is of the process that is ended.
        pidfd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        status = status_of(pid)
        if not (_lost_keeper(pid, status) or (bubblewrap and _was_forgotten(status, bubblewrap))):
            return False
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        return True
    except OSError:  # it has ended, or is another user's
        return False
    finally:
        os.close(pidfd)


def _lost_keeper(pid: int, status: Mapping[str, str]) -> bool:
    """Whether it is a bot, and no child of its keeper any more."""
    limits = read_limits(pid)
    keeper = limits.get(KEEPER)
    owner = int(status["Uid"].split()[0])
    ours = owner in BOT_USERS if os.geteuid() == 0 else owner == os.geteuid()
    if keeper is None or limits["msgqueue"] or status["Seccomp"] != "2" or not ours:
        return False
    # What a bot starts in a box has its limits, too, and ends with the first process there.
    numbers = status["NSpid"].split()
    if len(numbers) > _depth(status_of(os.getpid())) and numbers[-1] != "1":
        return False
    # In a container, where the worker may be, the keeper has another number than here.
    return str(keeper) not in status_of(int(status["PPid"]))["NSpid"].split()


def _was_forgotten(status: Mapping[str, str], bubblewrap: Path) -> bool:
    """Whether it is an inner process of bubblewrap without its outer one."""
    # The first of its namespace; an outer one in a container is only deeper than this process.
    inner = status["NSpid"].split()[1:][-1:] == ["1"]
    parent = int(status["PPid"])
    return inner and _program(int(status["Pid"])) == str(bubblewrap) != _program(parent)


def _depth(status: Mapping[str, str]) -> int:
    """How deep a process's own namespace of processes is."""
    return len(status["NSpid"].split())


def _program(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return ""
    return os.fsdecode(words.partition(b"\0")[0])
