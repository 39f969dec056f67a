"""Hostile builds in build boxes of every level: what becomes of each, and what stays untouched.

The builds are the files of tests/hostile/builds, one threat each: shell scripts that a bot.toml
names, and sources for the compiler. Nothing of them may be left when they have ended: no
process, no mount, no file, no memory group.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.requirements import need
from tests.workers.conftest import BOX_LEVELS, HOSTILE, LEVELS_OF_ATTACKS, Canary, processes_with
from workers import building
from workers.archives import MIB, collect
from workers.building import LOG_BYTES, BuildError, build
from workers.cgroups import PREFIX, GroupError, find_places
from workers.languages import LanguageError
from workers.manifest import read_manifest
from workers.sandbox import Sandbox

BUILDS = HOSTILE / "builds"
LIMITS = replace(building.LIMITS, memory_bytes=192 * MIB, work_bytes=96 * MIB, threads=48)
"""Smaller than the real ones, so that bombs go off sooner."""
PATIENCE = 20.0
SHORT = {"sleeper": 0.5, "spinner": 0.5, "runner": 5.0}
"""Seconds for those that would use up all they are given."""

Verdict = tuple[str, str]
"""What the author is told, ``built`` if it was, and what the log says besides."""


def everywhere(verdict: str, log: str = "") -> Mapping[str, Verdict]:
    """The same at every level."""
    return dict.fromkeys(BOX_LEVELS, (verdict, log))


def grouped(full: str, others: str) -> Mapping[str, Verdict]:
    """One verdict where a memory group counts, another where it doesn't."""
    return {"full": (full, ""), "good": (others, ""), "reduced": (others, "")}


COUNTED = "the build used more than 192 MiB of memory"
ENDED = "the build failed: (memory|exit)"
UNTOUCHED = r"\A(?!(?s:.*)(wrote|changed|read|reached|got) )(?s:.*)tried"
"""The log of one that tells its successes, and has none to tell."""

ATTACKS: Mapping[str, Mapping[str, Verdict]] = {
    "include_passwd": {
        "full": (ENDED, "passwd: No such file"),
        "good": (ENDED, "passwd: No such file"),
        "reduced": (ENDED, "passwd: Permission denied"),
    },
    "include_zero": {
        "full": (ENDED, "zero: No such file"),
        "good": (ENDED, "zero: No such file"),
        "reduced": (ENDED, "zero: Permission denied"),
    },
    "include_random": grouped(ENDED, f"{COUNTED}|{ENDED}"),
    "template_bomb": grouped(ENDED, f"{COUNTED}|{ENDED}"),
    "memory_bomb": grouped("the build failed: memory", COUNTED),
    "table_bomb": grouped("the build failed: memory", COUNTED),
    "socket_bomb": grouped(ENDED, "the build had room for more than 4096 open files"),
    "daemon": everywhere("built"),
    "runner": everywhere("built"),
    "fork_bomb": everywhere(f"{ENDED}|more than 48 processes|took more than"),
    "kill_all": everywhere("built|the build failed: (exit|killed)"),
    "write_outside": everywhere("built", UNTOUCHED),
    "read_outside": everywhere("built", UNTOUCHED),
    "network": everywhere("built", UNTOUCHED),
    "calls": everywhere("built", UNTOUCHED),
    "disk_fill": everywhere(f"{ENDED}|the build (wrote|used) more than"),
    "hidden_folder": {
        **everywhere(f"{ENDED}|the build wrote more than"),
        "reduced": ("the build wrote more than 96 MiB", ""),
    },
    "closed_folders": everywhere("built|the build failed: exit"),
    "deep_folders": everywhere("the build had more than 10000 files|can't be taken: "),
    "many_files": everywhere("the build had more than 10000 files|took more than 20 s"),
    "few_thousand_files": everywhere("can't be taken: there are more than 1000 files"),
    "large_result": everywhere("the built files have more than 64 MiB|files have more than 64"),
    "symlink": everywhere("can't be taken: 'bot' is a link"),
    "hard_link": everywhere("can't be taken: '(bot|twin)' is a link"),
    "fifo": everywhere("can't be taken: 'pipe' is no plain file"),
    "no_bot": everywhere("built"),
    "log_flood": everywhere("built|the build failed: exit"),
    "sleeper": everywhere("the build took more than 0.5 s"),
    "spinner": everywhere("the build took more than 0.5 s"),
}


def furnish(folder: Path, name: str, canary: Canary, marker: str) -> None:
    """Makes a folder a bot with that build."""
    source = next(BUILDS.glob(f"{name}.*"))
    shutil.copy(source, folder / f"bot{source.suffix}" if source.suffix == ".cpp" else folder)
    if source.suffix == ".sh":
        (folder / "bot.toml").write_text(f'build = "sh {source.name}"\nrun = "./bot"\n')
    targets = {
        "MARKER": marker,
        "REFEREE": os.getpid(),
        "CANARY": canary.process.pid,
        "OPEN_FOLDER": canary.folder,
        "CLOSED_FOLDER": canary.closed,
        "SOURCES": folder,
        "PORT": canary.targets["port"],
        "SOCKET": canary.targets["socket"],
        "ABSTRACT": canary.targets["abstract"],
    }
    lines = [f"{key}={shlex.quote(str(value))}\n" for key, value in targets.items()]
    (folder / "targets.sh").write_text("".join(lines))
    for file in folder.iterdir():
        file.chmod(0o644)


def left_behind(box_folder: Path) -> list[str]:
    """Files, mounts and memory groups that a build could leave."""
    found = [str(path) for path in box_folder.rglob(".work-*")]
    found += [
        line for line in Path("/proc/self/mounts").read_text().splitlines() if "/bot " in line
    ]
    try:
        folders = find_places().folders
    except GroupError:
        folders = set()
    found += [str(path) for folder in folders for path in folder.glob(f"{PREFIX}{os.getpid()}-*")]
    return found


def test_every_hostile_build_is_in_the_table() -> None:
    """No file lies about untried."""
    assert {file.stem for file in BUILDS.iterdir()} == ATTACKS.keys()


@pytest.mark.parametrize("sandbox", LEVELS_OF_ATTACKS, indirect=True)
@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_build(
    name: str, sandbox: Sandbox, bot_folder: Path, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its author is told what it did; outside nothing is touched, and nothing of it is left."""
    monkeypatch.setenv("ARENA_SECRET", "not for bots")
    marker = uuid.uuid4().hex
    furnish(bot_folder, name, canary, marker)
    before = {path.name: path.read_bytes() for path in bot_folder.iterdir()}
    files = collect(bot_folder).files
    try:
        command = read_manifest(files).building(files)
    except LanguageError as error:
        need(False, str(error))
    seconds = SHORT.get(name, PATIENCE)
    try:
        built, log = build(sandbox, bot_folder, command, limits=LIMITS, wall_seconds=seconds)
        verdict = "built"
        assert name == "no_bot" or built["bot"].executable
    except BuildError as error:
        verdict, log = str(error), error.log
    pattern, words = ATTACKS[name][sandbox.level]
    assert re.search(pattern, verdict), (verdict, log[-1000:])
    assert re.search(words, log), log[-2000:]
    assert "root:" not in log
    assert "not for bots" not in log
    assert len(log) <= LOG_BYTES + 100
    assert {path.name: path.read_bytes() for path in bot_folder.iterdir()} == before
    deadline = time.monotonic() + 60
    while processes_with(marker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert processes_with(marker) == []
    assert left_behind(sandbox.builds.parent) == []
    canary.check()
