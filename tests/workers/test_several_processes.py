"""Bots of several processes, which full boxes alone have: all that a box holds one to, of all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.channel import HeadAndTail, PipeChannel
from engine.clock import Limit, apart
from engine.program import Program
from tests.workers.conftest import HOSTILE, processes_with, python_launch, said, write
from workers.launches import Launch
from workers.limits import Limits
from workers.program import BoxError
from workers.sandbox import Sandbox

LIMITS = Limits(memory_bytes=64 << 20, threads=12, processes=4)
MINUTE = Limit(60_000_000)
STOP = apart(1.0)

Run = Callable[[str], PipeChannel]


@pytest.fixture
def run(sandbox_at: Callable[[str], Sandbox], bot_folder: Path) -> Iterator[Run]:
    """Starts ``bot.py`` of this source in a box, and leads to it; at last it is killed."""
    started: list[Program] = []

    def start(source: str) -> PipeChannel:
        write(bot_folder, f"{TOOLS}{source}")
        core = min(os.sched_getaffinity(0))
        program = sandbox_at("full").start(bot_folder, python_launch(), LIMITS, core=core)
        started.append(program)
        return PipeChannel(program, HeadAndTail(1000))

    yield start
    for program in started:
        program.kill()


TOOLS = """
import os, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
def child(work):
    number = os.fork()
    if number == 0:
        work()
        os._exit(0)
    return number
def say(text): os.write(1, f'{text}\\n'.encode())
"""


def test_several_processes_only_with_a_group(sandbox: Sandbox, bot_folder: Path) -> None:
    """A bot that forks is run in a full box, as one; in any other it is refused."""
    marker = uuid.uuid4().hex
    source = (HOSTILE / "grandchild.py").read_text()
    write(bot_folder, source.replace("play(attack)", "print(attack(), flush=True)\ninput()"))
    shutil.copy(HOSTILE / "frame.py", bot_folder)
    (bot_folder / "targets.json").write_text("{}")
    if sandbox.level != "full":
        words = "bots of several processes need a box of level 'full'"
        with pytest.raises(BoxError, match=f"{words}.* the best box here is '{sandbox.level}'"):
            sandbox.start(bot_folder, python_launch(marker), LIMITS)
        assert sandbox.box
        with pytest.raises(BoxError, match=words):
            sandbox.box.start(bot_folder, python_launch(marker), LIMITS)
        return
    program = sandbox.start(bot_folder, python_launch(marker), LIMITS)
    try:
        assert said(program) == "left one behind"
        # Bubblewrap, the bot and its grandchild.
        assert len(processes_with(marker)) == 3
        assert len(program.threads()) == 2
        assert program.cpu_us() > 0
        program.freeze()
    finally:
        program.kill()
    assert processes_with(marker) == []
    assert program.threads() == []


def test_who_needs_more_than_is_granted_is_refused(
    sandbox_at: Callable[[str], Sandbox], bot_folder: Path
) -> None:
    """Before it is started, with the numbers."""
    launch = Launch(("/bin/true",), processes=5)
    with pytest.raises(BoxError, match="it needs 5 processes, and the limit is 4"):
        sandbox_at("full").start(bot_folder, launch, LIMITS)


CHAIN = """
def forks():
    while True:
        if os.fork(): os._exit(0)
        burn(0.0002)
child(forks)
"""
WORK = {
    "children": "for _ in range(3): child(lambda: burn(1000))",
    "threads of a child": "import threading\n"
    "child(lambda: [threading.Thread(target=burn, args=(1000,)).start() for _ in range(3)])",
    "a chain": CHAIN,
    "a daemon": "child(lambda: (os.setsid(), child(lambda: burn(1000))))",
    "stopped ones": "import signal\n"
    "pids = [child(lambda: burn(1000)) for _ in range(2)]\nos.kill(pids[0], signal.SIGSTOP)",
    # Who waits for a child that shares its memory is in the kernel, where it hears nothing.
    "a child of vfork": "import threading\nthreading.Thread(target=lambda: os.posix_spawn("
    "'/bin/sh', ['sh', '-c', 'while :; do :; done'], {})).start()",
}


@pytest.mark.parametrize("work", WORK)
def test_all_stand_still(run: Run, work: str) -> None:
    """Whatever they are at when they are frozen, and whatever they start just then."""
    bot = run(f"input()\n{WORK[work]}\nsay('there')\nfor line in sys.stdin: say('there')")
    for _ in range(5):
        assert bot.ask("go\n", MINUTE, then_stop=STOP).line == "there"
        before = bot.program.cpu_us()
        time.sleep(0.01)
        # What the last of them took on its way to a halt.
        assert bot.program.cpu_us() - before < 200
        time.sleep(0.01)


HIDDEN = {
    "children that ended": "for _ in range(4): os.waitpid(child(lambda: burn(0.01)), 0)",
    "a daemon that ended": """
read, write = os.pipe()
def daemon():
    os.setsid()
    child(lambda: (burn(0.04), os.write(write, b'x')))
os.waitpid(child(daemon), 0)
os.read(read, 1)""",
    "a hundred short ones": "for _ in range(100): os.waitpid(child(lambda: burn(0.0004)), 0)",
    "a child that is still there": """
read, write = os.pipe()
child(lambda: (burn(0.04), os.write(write, b'x'), time.sleep(60)))
os.read(read, 1)""",
    "programs": "import subprocess\nfor _ in range(2): subprocess.run([sys.executable, '-SEc', "
    "'import time\\nwhile time.process_time() < 0.02: pass'])",
}


@pytest.mark.parametrize("work", HIDDEN)
def test_all_is_charged(run: Run, work: str) -> None:
    """It is to the move in which it was used, also if whoever used it has ended."""
    bot = run(f"input()\nsay('up')\ninput()\n{HIDDEN[work]}\nsay('done')\ninput()")
    bot.ask("go\n", MINUTE, then_stop=STOP)
    answer = bot.ask("go\n", MINUTE, then_stop=STOP)
    assert answer.line == "done"
    # To start and end a process costs something, too: a program of Python more than a child.
    room = {"programs": 60_000, "a hundred short ones": 80_000}.get(work, 15_000)
    assert 40_000 <= answer.cpu_us <= 40_000 + room


def test_who_waits_for_a_core_does_not_lose_by_it(run: Run) -> None:
    """A bot whose work a child does waits for a core where the child does."""
    work = "os.waitpid(child(lambda: burn(0.06)), 0)"
    bot = run(f"input()\nsay('up')\ninput()\n{work}\nsay('done')")
    bot.ask("go\n", MINUTE, then_stop=STOP)
    spinner = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    others = [subprocess.Popen(spinner, start_new_session=True) for _ in range(3)]
    try:
        for other in others:
            os.sched_setaffinity(other.pid, {min(os.sched_getaffinity(0))})
        time.sleep(0.05)
        answer = bot.ask("go\n", Limit(90_000, 60_000_000, 60_000_000))
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert answer.line == "done"
    assert answer.wall_us > 110_000
    assert 0 <= answer.wall_us - answer.waited_us < 150_000


def test_libraries_for_several_processes_work(run: Run) -> None:
    """Python's pools share locks below /dev/shm."""
    bot = run(
        "import multiprocessing\ninput()\n"
        "with multiprocessing.Pool(2) as pool: say(sum(pool.map(abs, range(-9, 0))))"
    )
    assert bot.ask("go\n", MINUTE).line == "45"
