"""Resource limits of other users' processes."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import time
from pathlib import Path

import pytest

from tests.requirements import need
from workers.limits import read_limits, set_limits
from workers.runtime import BotUser

PR_GET_PDEATHSIG = 2
libc = ctypes.CDLL(None)


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
