"""Cores of the processor, shared out between all that plays on a machine.

All bots of a match are on one core, since only one of them runs at any time. Which one that is
must be agreed between runs that know nothing of each other: workers, ``arena play`` in two
terminals, another user's tests. A claim of a core is a shared lock on its folder below /sys,
which everybody may open and nobody can write to, so that root's runs and those of ordinary users
see each other, and the kernel gives back what a run held that was killed. How many claims there
are on a core stands in /proc/locks; the one with the fewest is taken, so that more matches than
cores share them evenly.

A stranger on the machine may hold such locks for ever. That makes others crowd on fewer cores,
which the same stranger reaches by computing: no claim decides more than where a bot runs. A bot
has neither /sys nor locks. Containers see each other's claims only if they share the network,
as each network has a /sys of its own.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CORES = Path("/sys/devices/system/cpu")
LOCKS = Path("/proc/locks")
CHOOSING_SECONDS = 0.2
"""How long others may take to choose; who holds that lock for longer is not waited for."""
_WITNESS = os.getpid()
"""The process of which this module was a part first: a worker's own, or the command. Its first
thread starts no bots as a rule, so that its mask is what the machine grants."""


class BusyError(RuntimeError):
    """There is no core on which nobody plays."""


def available() -> set[int]:
    """The cores on which this process may run now; that can change at any time (cpuset(7))."""
    try:
        return os.sched_getaffinity(_WITNESS)
    except ProcessLookupError:
        return os.sched_getaffinity(0)


@contextmanager
def claimed_core() -> Iterator[int | None]:
    """A core for the bots of a match, or for a build; None where cores can't be claimed."""
    claim = _claim()
    if claim is None:
        yield None
        return
    core, handle = claim
    try:
        yield core
    finally:
        os.close(handle)


@contextmanager
def unclaimed_core() -> Iterator[int | None]:
    """A core that nobody else has claimed; None where cores can't be claimed.

    Raises:
        BusyError: all are claimed.
    """
    with claimed_core() as core:
        if core is not None and _claims_on(core) > 1:
            raise BusyError("every core is claimed")
        yield core


@contextmanager
def on_core(core: int | None) -> Iterator[None]:
    """Runs this thread on a core, since what it starts meanwhile stays there for good.

    A core that was taken from this process a moment ago can't be had: what is started then goes
    where this process may.
    """
    if core is None:
        yield
        return
    before = available()
    with suppress(OSError):
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        # Where another thread knows it, to the mask of now, which may have grown since.
        now = before if threading.get_native_id() == _WITNESS else available()
        with suppress(OSError):
            os.sched_setaffinity(0, now)


def _claim() -> tuple[int, int] | None:
    """Claims the core with the fewest claims; returns it, and what holds the claim while open."""
    handles: dict[int, int] = {}
    choosing = None
    try:
        choosing = _alone()
        handles = {core: os.open(CORES / f"cpu{core}", os.O_RDONLY) for core in available()}
        claims = _claims()
        # Of equals the last: interrupts are mostly served by the first.
        for core in sorted(handles, key=lambda one: (claims[_lock_name(handles[one])], -one)):
            with suppress(BlockingIOError):  # somebody has locked it for himself alone
                fcntl.flock(handles[core], fcntl.LOCK_SH | fcntl.LOCK_NB)
                return core, handles.pop(core)
    except OSError:
        pass  # there are no such files here
    finally:
        for handle in (*handles.values(), *([] if choosing is None else [choosing])):
            os.close(handle)
    return None


def _claims_on(core: int) -> int:
    handle = os.open(CORES / f"cpu{core}", os.O_RDONLY)
    try:
        return _claims()[_lock_name(handle)]
    finally:
        os.close(handle)


def _alone() -> int:
    """Keeps others from choosing at the same time, while what it returns is open."""
    handle = os.open(CORES, os.O_RDONLY)
    deadline = time.monotonic() + CHOOSING_SECONDS
    while time.monotonic() < deadline:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.001)
    return handle


def _claims() -> Counter[str]:
    """How many locks there are on each file of the machine, by the name that the kernel gives it.

    Of locks in namespaces of processes above this one, such as the host's, a container sees none.
    """
    # 1: FLOCK  ADVISORY  READ 14043 00:16:3578 0 EOF
    lines = (line.split() for line in LOCKS.read_text().splitlines())
    return Counter(words[5] for words in lines if len(words) > 5 and words[1] == "FLOCK")


def _lock_name(handle: int) -> str:
    """What /proc/locks calls an open file."""
    info = os.stat(handle)
    return f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}:{info.st_ino}"
