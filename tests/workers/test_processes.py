"""What the kernel tells of processes, of odd ones too."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from workers.processes import Usage, is_stopped, status_of, usage

MIB = 1 << 20
BUSY = """
import ctypes, os, sys, threading
held = bytearray(os.urandom(32 << 20))
pipes = [os.pipe() for _ in range(150)]
def work():
    print("up", flush=True)
    while True: held[0] += 0
threading.Thread(target=work).start()
"""
# The call exit ends one thread (asm/unistd_64.h, asm-generic/unistd.h).
WITHOUT_ITS_FIRST = f"""{BUSY}
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)
"""


@contextmanager
def running(source: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as it:
        try:
            assert it.stdout is not None
            assert it.stdout.readline() == "up\n"
            yield it
        finally:
            it.kill()


@pytest.mark.parametrize("source", [BUSY, WITHOUT_ITS_FIRST], ids=["whole", "without its first"])
def test_threads_of_a_process(source: str) -> None:
    """A process whose first thread has ended still runs, and holds what it holds."""
    with running(source) as process:
        deadline = time.monotonic() + 5
        ended = source is WITHOUT_ITS_FIRST
        while (status_of(process.pid)["State"][0] == "Z") != ended and time.monotonic() < deadline:
            time.sleep(0.001)
        assert (status_of(process.pid)["State"][0] == "Z") == ended
        assert not is_stopped(process.pid)
        used = usage(process.pid)
        assert 300 <= used.file_slots < 1024
        assert 32 * MIB <= used.own_bytes <= used.held_bytes < 128 * MIB
    assert is_stopped(process.pid)
    assert usage(process.pid) == Usage(0, 0, 0)
