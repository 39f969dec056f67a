"""How bridges wait, and how they end: no program is left behind, whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.bridges.bot import READY_SECONDS
from engine.clock import ALLOWANCES, TimeControl
from engine.game import Termination
from engine.process_tree import MARK, marked, members
from tests.engine.bridges.test_bridges import ARENA, BOTS, bridge, play

HASTY = """\
from engine.bridges import gtp, ugi
gtp.READY_SECONDS = ugi.READY_SECONDS = 0.2
from arena.cli import main
main()
"""
"""The bridge's program, if the referee allowed a fifth of a second for `hello`."""
ENGINE = [sys.executable, str(BOTS / "foreign_engine.py")]
OWN_SESSION = {
    "by itself": ["setsid", "-w"],
    # As launchers of others do, that stay beside it.
    "by a launcher": ["sh", "-c", 'setsid -w "$@"; exit', "launcher"],
    "as a service": ["sh", "-c", 'exec 3<&0; setsid "$@" <&3 & sleep 60', "launcher"],
}


def lives(pid: int) -> bool:
    """Whether a process has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def none_left(mark: str) -> bool:
    """Whether soon none of a family lives."""
    deadline = time.monotonic() + 60
    while any(map(lives, members(mark))):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def begun(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A bridge that has said it is ready, with nobody to look after it, and its family's mark."""
    environment = marked() | {"GAME": "clobber"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("hello 1\n")
        process.stdin.flush()
        while (said := process.stdout.readline()).startswith("# option "):
            pass
        assert said.startswith("ready ")
        yield process, environment[MARK]
        process.kill()


@pytest.mark.parametrize("kind", OWN_SESSION)
def test_a_program_in_a_session_of_its_own_ends_with_its_game(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hears no signal to the bridge's group, and would wait for a minute."""
    monkeypatch.setenv("LOOKED_FOR", mark := os.urandom(8).hex())
    command = [*ARENA, "bridge", "ugi", "--", *OWN_SESSION[kind], *ENGINE, "uci", "sleeps"]
    (record,), _ = play(command, "clobber size=5x6", time=TimeControl(move_ms=300, charge="wall"))
    assert [fault.termination for fault in record.faults] == [Termination.TIMEOUT]
    sought = f"LOOKED_FOR={mark}".encode()
    deadline = time.monotonic() + 60
    while left := [pid for pid in os.listdir("/proc") if pid.isdecimal() and told(pid, sought)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def told(pid: str, sought: bytes) -> bool:
    """Whether another process than this has something in its environment."""
    try:
        return int(pid) != os.getpid() and sought in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (signal.SIGTERM, "by itself"),
        (signal.SIGTERM, "by a launcher"),
        (signal.SIGHUP, "as a service"),
        # Then the kernel ends the program that was started; of a launcher's own it knows nothing,
        # and whoever started the bridge has to look for them (tests/engine/test_process_tree.py).
        (signal.SIGKILL, "by itself"),
    ],
)
def test_a_bridge_that_is_ended_ends_its_program(number: signal.Signals, kind: str) -> None:
    """Also if nobody looks after it."""
    with begun(*ARENA, "bridge", "ugi", "--", *OWN_SESSION[kind], *ENGINE, "uci") as (
        process,
        mark,
    ):
        assert len(members(mark)) > 1
        process.send_signal(number)
        assert process.wait(60) == (-number if number == signal.SIGKILL else 1)
        assert none_left(mark)


def test_a_program_may_take_its_time_for_readyok() -> None:
    """A net may be loaded then, and again for each game. The bridge says that it waits."""
    assert READY_SECONDS < ALLOWANCES.newgame_seconds == ALLOWANCES.start_seconds
    newgame = "newgame clobber size=5x6 seats=2 you=1 move=1000 seed=1\n"
    command = [sys.executable, "-c", HASTY, "bridge", "ugi", "--", *ENGINE, "uci", "loads"]
    with begun(*command) as (process, _):
        said, errors = process.communicate(f"{newgame}quit\n", timeout=60)
    assert errors.count(" gave no 'readyok' in time\n") == 2
    assert (process.returncode, said.splitlines()[-1:]) == (0, ["ok"])


@pytest.mark.parametrize(("protocol", "what"), [("ugi", "'uciok'"), ("gtp", "'name'")])
def test_a_bridge_does_not_outlive_its_referee(protocol: str, what: str) -> None:
    """It waits for a program as long as somebody waits for it."""
    dialect = "uci" if protocol == "ugi" else "gtp"
    environment = marked() | {"GAME": "clobber"}
    said = subprocess.run(
        [sys.executable, "-c", HASTY, "bridge", protocol, "--", *ENGINE, dialect, "mute"],
        input="hello 1\n",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    late, gone = said.stderr.splitlines()
    assert what in late
    assert late.endswith(" in time")
    assert (gone, said.returncode) == ("arena bridge: its referee has gone", 1)
    assert none_left(environment[MARK])


@pytest.mark.parametrize(
    ("flaw", "words"),
    [
        ("shuts", "closed its output before it gave bestmove"),
        ("stubborn", "'s answer is no move: 'stubborn' is not legal"),
    ],
)
def test_a_failure_is_told_before_the_clock_has_run_out(flaw: str, words: str) -> None:
    """Whatever the program does after it: a crash with its reason, and no timeout without. The
    machine may be busy for as long as the clock runs, but hardly three times."""
    short = TimeControl(move_ms=450, charge="wall")
    told = []
    while len(told) < 3 and ("crash", True) not in told:
        (record,), _ = play(bridge("ugi", "ugi", flaw), "clobber size=5x6", time=short)
        (fault,) = record.faults
        told.append((str(fault.termination), words in fault.detail))
    assert ("crash", True) in told, told
