"""Signs of life: whoever gives none is ended by its supervisor and started again."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from arena.ground.config import Settings
from arena.operation import supervisor
from arena.operation.supervisor import Child, Supervisor
from arena.operation.watchdog import ALIVE, READY, VARIABLE, Listener, Pulse
from tests.arena.running import short_folder, until

BEATING = """
import time
from arena.operation.watchdog import Pulse
pulse = Pulse()
pulse._paced._seconds = 0
while True:
    pulse.beat()
    time.sleep(0.05)
"""


def test_systemd_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its protocol goes to a path and to a name in the kernel alone; else nobody is told."""
    with short_folder() as folder:
        for address in (str(folder / "notify"), f"\0arena-test-{os.getpid()}"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
                systemd.bind(address)
                monkeypatch.setenv(VARIABLE, address.replace("\0", "@"))
                pulse = Pulse()
                pulse.ready()
                pulse.beat()
                pulse.beat()  # too soon to be said again
                assert [systemd.recv(99) for _ in range(2)] == [READY, ALIVE]
        pulse.ready()  # there is nobody any more, which is no fault
    monkeypatch.delenv(VARIABLE)
    Pulse().ready()


def test_a_listener_hears_what_was_said_since(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    monkeypatch.setenv(VARIABLE, listener.address)
    assert not listener.heard()
    Pulse().ready()
    assert listener.heard()
    assert not listener.heard()
    listener.close()


def test_who_hangs_is_ended_and_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by SIGSTOP; who gives signs of life is left alone."""
    monkeypatch.setattr(supervisor, "HUNG_SECONDS", 2.0)
    (tmp_path / "logs").mkdir()
    found = Supervisor(Settings(data=tmp_path, broker="redis+socket:///nowhere"))
    child = Child("recorder", [sys.executable, "-c", BEATING], listener=Listener())
    found._children = [child]
    told: list[str] = []

    def watch(*, until_told: bool) -> bool:
        found._watch(told.append)
        return bool(told) is until_told

    child.follows_broker = False
    found._start(child)
    try:
        assert child.listener is not None
        until(child.listener.heard, "a sign of life")
        child.heard = time.monotonic()
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            assert watch(until_told=False), told
            time.sleep(0.05)
        assert child.process is not None
        first = child.process
        os.kill(first.pid, signal.SIGSTOP)
        until(lambda: watch(until_told=True), "it is told", seconds=20)
        assert told[0] == "recorder hangs: no sign of life for 2 s; it is killed"
        until(lambda: watch(until_told=True) and child.runs and child.process is not first, "anew")
    finally:
        supervisor._kill(child)
        child.listener.close()
