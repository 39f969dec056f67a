"""Hostile bots in boxes of every level: how each game ends, and what stays untouched.

At `full` they are tried twice: as one process, and granted several, which one level alone has.

The bots are the programs in tests/hostile, one threat each. Each plays a real game against an
honest sibling in a box of the same kind, which must then play on as if nothing had happened.
"""

from __future__ import annotations

import json
import re
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.process import LOG_BYTES, BotProcess
from engine.program import PlainProgram
from engine.record import GameRecord
from engine.referee import play_game
from tests.engine.players import FirstMove
from tests.workers.conftest import (
    BOX_LEVELS,
    HOSTILE,
    LEVELS_OF_ATTACKS,
    LIMITS,
    Canary,
    boxed,
    processes_with,
)
from tests.workers.runtimes import small_runtime
from workers.launches import box_python
from workers.runtimes import IDLE, THREADS
from workers.sandbox import Sandbox

NORMAL, MEMORY, TIMEOUT = Termination.NORMAL, Termination.MEMORY, Termination.TIMEOUT
CRASH, PROTOCOL = Termination.CRASH, Termination.PROTOCOL

Expected = tuple[Termination, str]
"""How the game ends, and what the bot says of its attack or, failing that, the referee of it."""

VARIABLES = " ".join(sorted({*THREADS, *IDLE, "HOME", "LANG", "PATH", "PYTHONPATH"})).replace(
    "PATH PYTHONPATH", "PATH (PWD )?PYTHONPATH"
)
"""The variables of a bot with a runtime."""


SEVERAL = "several processes"
PROCESSES = 8
KINDS = (*BOX_LEVELS, SEVERAL)
"""The levels, and the one that has several processes, with them."""


def everywhere(termination: Termination, words: str = "") -> Mapping[str, Expected]:
    """The same at every level."""
    return dict.fromkeys(KINDS, (termination, words))


def grouped(full: Expected, others: Expected) -> Mapping[str, Expected]:
    """One thing where a memory group counts, another where it doesn't."""
    return {"full": full, "good": others, "reduced": others, SEVERAL: full}


def forking(termination: Termination, words: str) -> Mapping[str, Expected]:
    """What it takes several processes for; a single one is refused the first step."""
    return {**everywhere(NORMAL, "PermissionError"), SEVERAL: (termination, words)}


ATTACKS: Mapping[str, Mapping[str, Expected]] = {
    "memory_bomb": grouped((MEMORY, "memory limit"), (NORMAL, "MemoryError")),
    "shared_memory_bomb": grouped((MEMORY, "memory limit"), (NORMAL, r"took \[\]")),
    "growing_map_bomb": grouped((MEMORY, "memory limit"), (NORMAL, "PermissionError")),
    "backlog_bomb": grouped((MEMORY, "memory limit"), (NORMAL, "OSError")),
    "page_table_bomb": everywhere(MEMORY, "memory limit"),
    "stack_bomb": grouped((MEMORY, "memory limit"), (NORMAL, "all refused")),
    "attribute_bomb": everywhere(NORMAL, "PermissionError"),
    "read_only_bomb": everywhere(MEMORY, "memory limit"),
    "split_stack_bomb": everywhere(MEMORY, "memory limit"),
    "fork_bomb": {
        **everywhere(NORMAL, "all refused"),
        SEVERAL: (NORMAL, r"fork \(.*unavailable\), posix_spawn \(.*unavailable.*, subprocess"),
    },
    # The limit is 12, the first thread included; where threads are not counted apart from
    # those of other processes, 256 more are allowed.
    "thread_bomb": {
        "full": (NORMAL, r"threads ([0-9]|1[01])$"),
        "good": (NORMAL, r"threads ([0-9]|1[01])$"),
        "reduced": (NORMAL, r"threads ([0-9]|1[01]|[12]\d\d)$"),
        SEVERAL: (NORMAL, r"threads ([0-9]|1[0-8])$"),
    },
    "disk_fill": {
        **grouped((NORMAL, r"^/tmp=[1-8]\d{6}$"), (NORMAL, "nowhere")),
        SEVERAL: (NORMAL, r"^/tmp=[1-8]\d{6} /dev/shm=[1-8]\d{6}$"),
    },
    "inode_bomb": grouped((MEMORY, "memory limit"), (NORMAL, "OSError|PermissionError")),
    "line_flood": everywhere(PROTOCOL, "without being asked"),
    "endless_line": everywhere(PROTOCOL, "a line of more than"),
    "stderr_flood": everywhere(NORMAL, "flooded"),
    "stderr_tricks": everywhere(NORMAL, "got through: holes$"),
    "network": everywhere(NORMAL, "all refused"),
    "snoop": everywhere(NORMAL, "all refused"),
    "environment": everywhere(NORMAL, rf"files \[\] variables {VARIABLES}$"),
    "signals": everywhere(NORMAL, "all refused"),
    "ptrace": everywhere(NORMAL, "all refused"),
    # That signal wakes nobody whom the group has frozen.
    "forbidden_calls": {
        **everywhere(NORMAL, "all refused"),
        SEVERAL: (NORMAL, "got through: its own SIGCONT, a thread's SIGCONT$"),
    },
    "foreign_calls": everywhere(NORMAL, "all refused"),
    "kernel_log": everywhere(NORMAL, "all refused"),
    "page_cache": everywhere(NORMAL, "all refused"),
    # Before Linux 6.15 "killed by SIGKILL, or exit 137".
    "looks_killed": everywhere(CRASH, "exit 137$"),
    "slow_end": everywhere(TIMEOUT, "of (wall|CPU) time"),
    "sleeper": everywhere(TIMEOUT, "of wall time"),
    "spinner": everywhere(TIMEOUT, "of CPU time"),
    "ponderer": everywhere(NORMAL, "ponders"),
    "grinder": everywhere(NORMAL, "all refused"),
    "waker": everywhere(NORMAL, "timer_create"),
    "bad_name": everywhere(TIMEOUT, "of wall time"),
    "bad_bytes": everywhere(PROTOCOL, "UTF-8"),
    # As process 1 it can't even abort but by an instruction that faults.
    "abort": {
        "full": (CRASH, "SIGSEGV|SIGABRT|SIGILL"),
        "good": (CRASH, "SIGSEGV|SIGABRT|SIGILL"),
        "reduced": (CRASH, "SIGABRT"),
        SEVERAL: (CRASH, "SIGSEGV|SIGABRT|SIGILL"),
    },
    # Bubblewrap holds the pipe open as well, so that only the deadline tells.
    "close_stdout": {
        "full": (TIMEOUT, "of wall time"),
        "good": (TIMEOUT, "of wall time"),
        "reduced": (CRASH, "closed its output"),
        SEVERAL: (TIMEOUT, "of wall time"),
    },
    "grandchild": forking(NORMAL, "left one behind"),
    "forker": forking(NORMAL, "forks"),
    "offspring": forking(NORMAL, "ponders"),
    "hidden_time": forking(TIMEOUT, "of CPU time"),
    "heir": forking(CRASH, "exit 3$"),
    "children_bomb": forking(MEMORY, "memory limit"),
    "interjector": forking(PROTOCOL, "without being asked"),
    "civil_war": forking(NORMAL, "all refused"),
    "tamper": everywhere(NORMAL, "all refused"),
}

VARIANT = GAMES["clobber"].variant(size="4x4")
MOVE_TIME = TimeControl(move_ms=100)
PATIENT = TimeControl(move_ms=3000)
"""The time for those that take the longer the busier the machine is: bombs, whose fuse burns
meanwhile, and who uses up its own time by a thread beside that of its moves."""


def furnish(folder: Path, name: str, canary: Canary) -> Path:
    """Puts a bot of tests/hostile into a folder of its own."""
    home = folder / name
    home.mkdir()
    home.chmod(0o755)
    shutil.copy(HOSTILE / f"{name}.py", home / "bot.py")
    shutil.copy(HOSTILE / "frame.py", home)
    (home / "targets.json").write_text(json.dumps(canary.targets))
    for file in home.iterdir():
        file.chmod(0o644)
    return home


def of_the_first(record: GameRecord) -> Expected:
    """What became of the first seat, and the words for it."""
    for fault in record.faults:
        assert fault.seat == 0, fault
        return fault.termination, fault.detail
    return record.termination, record.plies[0].text


def test_every_hostile_program_is_in_the_table() -> None:
    """No program lies about untried."""
    files = {file.stem for file in HOSTILE.glob("*.py")} - {"frame", "honest"}
    assert files == ATTACKS.keys()


@pytest.mark.parametrize("kind", [*LEVELS_OF_ATTACKS, SEVERAL])
@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_bot(
    name: str,
    kind: str,
    sandbox_at: Callable[[str], Sandbox],
    bot_folder: Path,
    canary: Canary,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It gets what it deserves; its sibling plays on, and outside nothing is touched.

    It has a runtime, which is one thing more that it sees, and its sibling has none.
    """
    monkeypatch.setenv("ARENA_SECRET", "not for bots")
    sandbox = sandbox_at("full" if kind == SEVERAL else kind)
    limits = replace(LIMITS, processes=PROCESSES) if kind == SEVERAL else LIMITS
    marker = uuid.uuid4().hex
    home = furnish(bot_folder, name, canary)
    sibling_home = furnish(bot_folder, "honest", canary)
    canary.targets["files"].append(str(sibling_home / "bot.py"))
    runtime = small_runtime(tmp_path, sandbox)
    canary.targets["runtime"] = str(runtime.folder)
    (home / "targets.json").write_text(json.dumps(canary.targets))
    hostile = boxed(sandbox, home, marker, limits=limits, runtime=runtime)
    sibling = boxed(sandbox, sibling_home, marker, limits=limits)
    try:
        takes_long = name.endswith("_bomb") or name in ("ponderer", "offspring", "forker")
        time_control = PATIENT if takes_long else MOVE_TIME
        record = play_game(VARIANT, [hostile, sibling], time=time_control)
        termination, words = of_the_first(record)
        expected, pattern = ATTACKS[name][kind]
        assert (termination, words) == (expected, words)
        assert re.search(pattern, words), words
        assert record.isolation == sandbox.level
        again = play_game(VARIANT, [sibling, FirstMove()], time=MOVE_TIME)
        assert again.termination is NORMAL
        assert len(hostile.take_log()) < 5 * LOG_BYTES + 1000
    finally:
        hostile.close(kill=True)
        sibling.close()
    deadline = time.monotonic() + 20
    while processes_with(marker) and name == "slow_end":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert processes_with(marker) == []
    canary.check()


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("network", "tcp.*udp.*netlink.*abstract.*path.*datagram"),
        ("snoop", "/etc/passwd.*/proc/self/status.*canary"),
        ("environment", "ARENA_SECRET"),
        ("waker", "ponders"),
        ("grinder", "MADV_POPULATE_READ.*MAP_POPULATE, mincore, remap_file_pages, readahead"),
        ("forbidden_calls", "vmsplice.*memfd.*inotify.*flock.*lockf.*nice.*outlive.*mark.*hint"),
        ("kernel_log", "two lines.*seccomp.*PR_SET_SECCOMP"),
        ("page_cache", "evict.*cold.*paged out.*past the cache.*past the cache later.*fiemap"),
        ("ptrace", "attach.*prlimit.*setpriority.*affinity.*pidfd"),
        ("tamper", "write.*replace.*remove.*chmod.*preload.*others"),
        ("fork_bomb", "posix_spawn, subprocess"),
    ],
)
def test_attacks_work_without_a_box(
    name: str, pattern: str, bot_folder: Path, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A box is not praised for refusing what would have failed anyway."""
    monkeypatch.setenv("ARENA_SECRET", "not for bots")
    home = furnish(bot_folder, name, canary)
    if name == "fork_bomb":
        bomb = (home / "bot.py").read_text().replace("while True:", "for _ in range(2):")
        (home / "bot.py").write_text(bomb)
    bot = BotProcess(lambda: PlainProgram([box_python(), "-s", "./bot.py"], cwd=home))
    try:
        record = play_game(VARIANT, [bot, FirstMove()], time=TimeControl(move_ms=1000))
    finally:
        bot.close(kill=True)
    assert re.search(pattern, record.plies[0].text), record.plies[0].text
