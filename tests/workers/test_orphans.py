"""What a worker that was killed leaves of a box that was just being built."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from tests.requirements import need
from workers.bubblewrap import Bubblewrap, candidates
from workers.cgroups import PREFIX, GroupError, find_places
from workers.sandbox import Sandbox

TRIES = 50


@pytest.fixture
def bubblewrap() -> Bubblewrap:
    """A program that makes namespaces here."""
    for path in candidates():
        command = [path, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "/bin/true"]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return Bubblewrap(path)
    need(False, "no bubblewrap makes namespaces here")
    raise AssertionError


def start(bubblewrap: Bubblewrap) -> tuple[subprocess.Popen[bytes], int]:
    """A box whose inner process was started a moment ago."""
    command = [bubblewrap.path, "--unshare-user", "--unshare-pid", "--die-with-parent"]
    outer = subprocess.Popen([*command, "--ro-bind", "/", "/", "/bin/sleep", "1000"])
    children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
    while not (found := children.read_text().split()):
        assert outer.poll() is None
    return outer, int(found[0])


def lives(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_an_orphan_is_ended(bubblewrap: Bubblewrap) -> None:
    """Bubblewrap, killed at the wrong moment, leaves a process; that one is found and ended."""
    for _ in range(TRIES):
        outer, inner = start(bubblewrap)
        outer.kill()
        outer.wait()
        ended = bubblewrap.end_orphans()
        if ended:
            break
    assert ended, "the moment was never met: does bubblewrap notice by now?"
    deadline = time.monotonic() + 20
    while lives(inner):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_no_living_box_is_ended(bubblewrap: Bubblewrap) -> None:
    """Whoever's it is, and at whatever moment of its building."""
    boxes = []
    try:
        for _ in range(10):
            boxes.append(start(bubblewrap))
            bubblewrap.end_orphans()
        assert all(outer.poll() is None and lives(inner) for outer, inner in boxes)
    finally:
        for outer, _ in boxes:
            outer.kill()
            outer.wait()
        bubblewrap.end_orphans()


def test_groups_of_the_dead_are_removed() -> None:
    """A process that plays was killed, and left its bots' groups; the next one removes them."""
    try:
        places = find_places()
    except GroupError as error:
        need(False, f"no memory groups here: {error}")
        raise
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    left = [folder / f"{PREFIX}{gone.pid}-1" for folder in places.folders]
    sandbox = Sandbox("full")
    for folder in left:
        folder.mkdir()
    sandbox.end_orphans()
    assert not any(folder.exists() for folder in left)
