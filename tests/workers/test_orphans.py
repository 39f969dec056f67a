"""What a worker that was killed leaves of its boxes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.requirements import need
from workers.bubblewrap import Bubblewrap, candidates
from workers.cgroups import PREFIX, GroupError, find_places
from workers.cleanup import ENDING_SECONDS
from workers.orphans import end_orphans
from workers.processes import is_stopped
from workers.sandbox import Sandbox

TRIES = 50
ROOT = Path(__file__).parents[2]
WORKER = """
import os, sys
from pathlib import Path
from workers.launches import Launch, box_python
from workers.sandbox import Sandbox
box_folder, folder, level = sys.argv[1:]
launch = Launch((box_python(), "-u", "-S", "./bot.py"))
program = Sandbox(level, Path(box_folder), maximum=level).start(Path(folder), launch)
assert os.read(program.stdout, 5) == b"again"
print(program.pid, flush=True)
input()
"""
CHANGES_THREAD = """
import os, sys, threading, time
if len(sys.argv) == 1:
    again = (sys.executable, [sys.executable, "-u", "-S", "bot.py", "again"])
    threading.Thread(target=os.execv, args=again).start()
else:
    print("again")
time.sleep(1000)
"""


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
        ended = end_orphans(bubblewrap.path)
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
            end_orphans(bubblewrap.path)
        assert all(outer.poll() is None and lives(inner) for outer, inner in boxes)
    finally:
        for outer, _ in boxes:
            outer.kill()
            outer.wait()
        end_orphans(bubblewrap.path)


def test_no_box_in_a_container_is_ended(bubblewrap: Bubblewrap) -> None:
    """A worker of the host sees the boxes of a worker that has a namespace of processes itself."""
    box = [bubblewrap.path, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/"]
    container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    # The shell stays beside its box, as a worker does.
    shell = ["sh", "-c", '"$@"; true', "sh", *box, "sh", "-c", "echo up; sleep 1000"]
    with subprocess.Popen([*container, *shell], stdout=subprocess.PIPE) as outside:
        try:
            assert outside.stdout
            assert outside.stdout.readline() == b"up\n"
            end_orphans(bubblewrap.path)
            assert select.select([outside.stdout], [], [], 0.2)[0] == []
        finally:
            outside.kill()


@pytest.mark.parametrize("level", ["full", "good", "reduced"])
def test_a_bot_that_forgets_its_worker_is_ended(
    level: str, sandbox_at: Callable[[str], Sandbox], bot_folder: Path, open_folder: Path
) -> None:
    """Executing from a second thread, it loses the tie to its worker; it is found, and no other."""
    sandbox = sandbox_at(level)
    (bot_folder / "bot.py").write_text(CHANGES_THREAD)
    box_folder = str(open_folder / "box_folder")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, box_folder, str(bot_folder), level],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
        )
        for _ in range(2)
    ]
    try:
        bots = [int(worker.stdout.readline()) for worker in workers if worker.stdout]
        workers[0].kill()
        deadline = time.monotonic() + 5
        while lives(bots[0]):  # until its keeper has ended, it is no orphan
            sandbox.end_orphans()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert lives(bots[1])
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
        sandbox.end_orphans()


def test_a_name_that_is_no_text_hides_nobody() -> None:
    """Whoever calls itself so keeps no worker from looking at all processes."""
    code = "open('/proc/self/comm', 'wb').write(b'\\xff'); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as named:
        assert named.stdout
        named.stdout.readline()
        assert b"\xff" in Path(f"/proc/{named.pid}/comm").read_bytes()
        end_orphans(None)
        assert not is_stopped(named.pid)
        named.communicate(b"\n")


@pytest.mark.parametrize("asked", [True, False])
def test_groups_of_the_dead_are_removed(asked: bool) -> None:
    """A process that plays was killed, and left its bots' groups; the next one removes them.

    Nobody may have asked for its end yet, so that it is still to be seen.
    """
    try:
        places = find_places()
    except GroupError as error:
        need(False, f"no memory groups here: {error}")
        raise
    gone = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, gone.pid, os.WEXITED | (0 if asked else os.WNOWAIT))
    left = [folder / f"{PREFIX}{gone.pid}-1" for folder in places.folders]
    sandbox = Sandbox("full")
    for folder in left:
        folder.mkdir()
    sandbox.end_orphans()
    gone.wait()
    assert not any(folder.exists() for folder in left)


AS_ANOTHER = """
import os, sys, threading
from workers.cgroups import GroupError, find_places
os.setuid(int(sys.argv[1]))
try:
    find_places()
except GroupError:
    print(threading.active_count())
"""


def test_groups_of_others_hold_up_nobody() -> None:
    """An ordinary user can't remove what a worker of root's left, and does not try to for long."""
    try:
        places = find_places()
    except GroupError as error:
        need(False, f"no memory groups here: {error}")
        raise
    if os.geteuid() != 0:
        return  # then nobody else's can be left here
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    left = places.memory / f"{PREFIX}{gone.pid}-1"
    left.mkdir()
    try:
        began = time.monotonic()
        command = [sys.executable, "-c", AS_ANOTHER, "60790"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("1\n", "")
        assert time.monotonic() - began < ENDING_SECONDS
    finally:
        left.rmdir()
