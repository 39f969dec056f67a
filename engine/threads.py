"""What the kernel shows to others of a process's threads (Linux; see proc(5)).

Anybody may read it, of a bot in a box as well. Where a system shows nothing of it, no thread is
known to run, and none to wait for a core.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

STATE, THREADS = 0, 17
"""Fields of a file stat, counted behind the name."""
WAITED_NS = 1
"""Field of a file schedstat: for how long a thread waited for a core, until it last got one. Before
it stands for how long it ran, behind it how often."""
STANDING = frozenset({b"T", b"t", b"Z", b"X"})
"""States of threads that do nothing until they are told to, or never again."""
RUNNABLE, ASLEEP = b"R", b"S"
UNTOLD = b"0 0 0\n"
"""A schedstat of a kernel that does not count, or of a thread that has never run."""
LINE_BYTES = 4096
"""How much is read of such a file: more than it has."""


class Standstill:
    """Whether a process stands still, asked at every move.

    A stopped thread that slept before has to get a core once more, to heed it; on a busy
    machine that takes a while. It does nothing else there, so it is not waited for.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._asleep: bytes | None = None
        # They are kept open since that takes a third of the time; they can't become another's.
        self._files: list[int] = []
        with suppress(OSError):  # it has ended, or this system has no such files
            for name in ("stat", "schedstat"):
                self._files.append(os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC))

    def begin(self) -> None:
        """Is called before the process is stopped."""
        self._asleep = None
        with suppress(OSError):  # it has ended
            if len(self._files) == 2:
                stat, schedstat = self._files
                schedule = os.pread(schedstat, LINE_BYTES, 0)
                fields = stat_fields(os.pread(stat, LINE_BYTES, 0))
                if fields[STATE] == ASLEEP and fields[THREADS] == b"1" and schedule != UNTOLD:
                    self._asleep = schedule

    def reached(self) -> bool:
        """Whether each of its threads has stopped or ended, or is about to and nothing else."""
        if not self._files:
            return True
        try:
            # It slept, and has had no core since.
            if self._asleep and os.pread(self._files[1], LINE_BYTES, 0) == self._asleep:
                return True
            fields = stat_fields(os.pread(self._files[0], LINE_BYTES, 0))
        except OSError:
            return True  # it has ended
        # Once the first one has stopped all have been told to, so that none begins another.
        if fields[STATE] not in STANDING:
            return False
        return fields[THREADS] == b"1" or all(
            state(thread) in STANDING for thread in threads_of(self._pid)
        )

    def close(self) -> None:
        """Gives back what it holds; after that nothing is known any more."""
        for file in self._files:
            os.close(file)
        self._files.clear()


def state(thread: str) -> bytes:
    """What a thread does, by its folder below /proc: a letter of proc(5)."""
    try:
        return stat_fields(_read(f"{thread}/stat"))[STATE]
    except OSError:
        return b"X"  # it has ended


def schedules(threads: Iterable[str]) -> dict[str, bytes]:
    """What the kernel tells of each thread's turns on a core, as it is written there.

    As long as that stays the same the thread has not left a core, nor got one. Those of which it
    tells nothing are left out.
    """
    found = {}
    for thread in threads:
        with suppress(OSError):  # it has ended
            schedule = _read(f"{thread}/schedstat")
            if schedule != UNTOLD:
                found[thread] = schedule
    return found


def waited_ns(schedule: bytes) -> int:
    """How long a thread has waited for a core, from what `schedules` tells of it."""
    return int(schedule.split()[WAITED_NS])


def threads_of(pid: int) -> list[str]:
    """The folders of a process's threads below /proc."""
    try:
        return [f"/proc/{pid}/task/{thread}" for thread in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []  # it has ended, or this system shows none


def stat_fields(stat: bytes) -> list[bytes]:
    """What a file stat says behind the name, which may be any bytes."""
    return stat[stat.rindex(b")") + 2 :].split(b" ", THREADS + 1)


def _read(path: str) -> bytes:
    # A file object takes longer than all the rest.
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, LINE_BYTES)
    finally:
        os.close(file)
