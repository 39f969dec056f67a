"""Limits: which bots they suit, and those of other users' processes."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import time
from pathlib import Path

import pytest

from tests.requirements import need
from workers.launches import Launch
from workers.limits import Limits, read_limits, set_limits
from workers.users import BotUser

PR_GET_PDEATHSIG = 2
libc = ctypes.CDLL(None)
MIB = 1 << 20
BOT, BUILD = Limits(96 * MIB, 5), Limits(96 * MIB, 5, work_bytes=MIB)
# docs/sandbox.md: what a bot finds inside, and the build box. No page speaks of locked memory,
# message queues, waiting signals and addresses, which no bot needs, or none so many.
ALWAYS = {"core": 0, "memlock": 0, "msgqueue": 0, "sigpending": 64}
BOTS = ALWAYS | {"fsize": 8 * MIB, "nofile": 64}
BUILDS = ALWAYS | {"fsize": 64 * MIB, "nofile": 1024, "cpu": 60}
GROUPLESS = {"data": 104 * MIB, "as": 64 << 30}


@pytest.mark.parametrize(
    ("limits", "metered", "counted", "expected"),
    [
        (BOT, True, False, BOTS),
        (BOT, True, True, BOTS | {"nproc": 5}),
        (BOT, False, True, BOTS | GROUPLESS | {"nproc": 5, "stack": 8 * MIB}),
        (BUILD, True, True, BUILDS | {"nproc": 5}),
        (BUILD, False, False, BUILDS | GROUPLESS),
    ],
)
def test_limits_of_bots_and_builds(
    limits: Limits, metered: bool, counted: bool, expected: dict[str, int]
) -> None:
    """All of them; outside a memory group those of memory, with the 8 MiB that are reserved."""
    found = limits.for_process(metered=metered, counted=counted, reserved_bytes=8 * MIB)
    assert found == expected


def test_what_a_process_may_hold() -> None:
    """A bot its memory and its stack; a build is looked at as a whole."""
    assert (BOT.looked_at_bytes, BUILD.looked_at_bytes) == (104 * MIB, 0)


def died_with() -> int:
    """The signal that this thread gets when its parent ends."""
    signal = ctypes.c_int()
    libc.prctl(PR_GET_PDEATHSIG, ctypes.byref(signal))
    return signal.value


def test_root_sets_limits_of_a_bots_process() -> None:
    """Whatever rights root lacks here; and afterwards it is what it was."""
    need(os.geteuid() == 0, "only root has bots of other users")
    before = (os.getresuid(), os.getresgid(), died_with())
    user = BotUser()
    process = subprocess.Popen([*user.becoming, "/bin/sleep", "1000"])
    try:
        status = Path(f"/proc/{process.pid}/status")
        deadline = time.monotonic() + 5
        while f"Uid:\t{user.number}\t" not in status.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.001)
        set_limits(process.pid, {"nofile": 7, "fsize": 4096}, user.number)
        found = read_limits(process.pid)
        assert (found["nofile"], found["fsize"]) == (7, 4096)
        assert (os.getresuid(), os.getresgid(), died_with()) == before
        with pytest.raises(PermissionError, match="nofile can't be raised from 7 to 8"):
            set_limits(process.pid, {"nofile": 8}, user.number)
        with pytest.raises(ProcessLookupError):
            set_limits(2**22 + 1, {"nofile": 7}, user.number)
        assert (os.getresuid(), os.getresgid(), died_with()) == before
    finally:
        process.kill()
        process.wait()
        user.release()


def test_limits_of_our_own_process() -> None:
    """An ordinary user needs nothing more."""
    process = subprocess.Popen(["/bin/sleep", "1000"])
    try:
        set_limits(process.pid, {"nofile": 7}, None)
        assert read_limits(process.pid)["nofile"] == 7
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 7
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (Launch(("x",), 256 * MIB, threads=16), None),
        (Launch(("x",), 257 * MIB), "its language needs 257 MiB of memory to start"),
        (Launch(("x",), threads=17), "it needs 17 threads, and the limit is 16"),
    ],
)
def test_limits_refuse_with_a_reason(launch: Launch, words: str | None) -> None:
    """What a bot needs and a ladder does not give is said in one sentence."""
    refusal = Limits().refusal(launch)
    assert (refusal is None) == (words is None)
    assert words is None or words in str(refusal)
