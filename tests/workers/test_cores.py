"""Cores are shared out between all runs of a machine, and given back."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.requirements import need
from workers import cores
from workers.cores import available, claimed_core, on_core

ROOT = Path(__file__).parents[2]
CLAIMS = """
import os, sys
from workers import cores
cores.CORES = type(cores.CORES)(sys.argv[1])
with cores.claimed_core() as core:
    print(core, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of cores of our own: other tests and runs claim those of the machine meanwhile."""
    for core in available():
        (tmp_path / f"cpu{core}").mkdir()
    monkeypatch.setattr(cores, "CORES", tmp_path)
    return tmp_path


@pytest.fixture
def elsewhere(places: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds a claim."""
    with subprocess.Popen(
        [sys.executable, "-c", CLAIMS, str(places)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    ) as process:
        yield process
        process.kill()


def test_the_machine_has_such_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every core of a real machine that may be used can be claimed, by any user."""
    monkeypatch.undo()
    assert all((cores.CORES / f"cpu{core}").is_dir() for core in available())
    assert not os.stat(cores.CORES).st_mode & 0o022
    with claimed_core() as core:
        assert core in available()


def test_claims_are_spread_evenly() -> None:
    """No core has two claims more than another, and each is given back."""
    with ExitStack() as held:
        found = Counter(held.enter_context(claimed_core()) for _ in range(3 * len(available())))
        assert found == dict.fromkeys(available(), 3)
    with claimed_core() as first, claimed_core() as second:
        assert first != second or len(available()) == 1


def test_runs_see_each_other(elsewhere: subprocess.Popen[str]) -> None:
    """What another process has claimed is taken last; once it was killed it is free again."""
    need(len(available()) > 1, "this machine has one core")
    assert elsewhere.stdout
    taken = int(elsewhere.stdout.readline())
    with ExitStack() as held:
        others = {held.enter_context(claimed_core()) for _ in range(len(available()) - 1)}
        assert others == available() - {taken}
        elsewhere.kill()
        elsewhere.wait()
        assert held.enter_context(claimed_core()) == taken


def test_a_smaller_mask_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores that were taken from this process are claimed no more."""
    left = min(available())
    monkeypatch.setattr(cores, "available", lambda: {left})
    with claimed_core() as first, claimed_core() as second:
        assert first == second == left


def test_a_core_that_was_taken_away_is_no_failure() -> None:
    """What is started on it goes where this process may."""
    before = os.sched_getaffinity(0)
    with on_core(1 << 10):
        assert os.sched_getaffinity(0) == before
    with on_core(max(before)):
        assert os.sched_getaffinity(0) == {max(before)}
    assert os.sched_getaffinity(0) == before


def test_a_stranger_with_locks_stops_nobody(places: Path) -> None:
    """Who locks all there is for himself alone has others play where the kernel puts them."""
    with ExitStack() as held:
        for folder in (places, *places.iterdir()):
            handle = os.open(folder, os.O_RDONLY)
            held.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        with claimed_core() as core:
            assert core is None


def test_without_such_folders_no_core_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without /sys."""
    monkeypatch.setattr(cores, "CORES", Path("/nonexistent"))
    with claimed_core() as core:
        assert core is None
