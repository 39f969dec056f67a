"""What a process started, and the end of all that, wherever it went (Linux; see proc(5)).

A program that begins a session of its own leaves its group, and signals to that reach it no more.
It is still found: as a descendant while those above it live, and when they have ended before it by
a mark in its environment, which it got from them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

MARK = "ARENA_FAMILY"
"""The variable of the environment by which a family is known."""
PASSES = 100
"""How often those that still run are looked for, at most, before all are ended."""
PASS_SECONDS = 0.001


def marked(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment, by default our own, for the first process of a family of its own."""
    return {**(os.environ if environment is None else environment), MARK: os.urandom(8).hex()}


def descendants(pid: int) -> list[int]:
    """The processes that a process started, those that these started, and so on.

    Orphans belong to the nearest process above them that takes such in. (`workers.processes` has
    the same for launchers of boxes, which see nothing of the engine.)
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


def members(mark: str) -> list[int]:
    """Those processes that have a mark, as far as this user may see that; takes milliseconds."""
    sought = f"{MARK}={mark}".encode()
    found: list[int] = []
    with suppress(OSError):  # no file more may be opened
        for entry in filter(str.isdecimal, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
                if sought in file.read().split(b"\0"):
                    found.append(int(entry))
    return found


def end_all(find: Callable[[], list[int]]) -> None:
    """Ends all processes that are found, and what they start meanwhile.

    They are stopped first, so that at last none can start another.
    """
    found: list[int] = []
    for _ in range(PASSES):
        found = find()
        running = [pid for pid in found if _state(pid) not in "TtZX"]
        if not running:
            break
        _signal(running, signal.SIGSTOP)
        time.sleep(PASS_SECONDS)
    _signal(found, signal.SIGKILL)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _state(pid: int) -> str:
    """Its letter; that of one that has ended, if there is none."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
