"""What is held against a bot: what it used, and not what others did to it."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine import clock, threads
from engine.channel import Answer, HeadAndTail, PipeChannel
from engine.clock import Allowances, Limit, TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.player import GameSetup, TimeForfeitError
from engine.program import PlainProgram, Program
from engine.referee import play_game
from tests.engine.players import (
    PLENTY,
    SCRIPTED,
    SMALL,
    FirstMove,
    StartBot,
    play,
    scripted_program,
)

MINUTE = 60_000_000
WIDE = GAMES["clobber"].variant(size="6x6")

pytestmark = pytest.mark.usefixtures("no_leaks")


@contextmanager
def channel_to(program: Program) -> Iterator[PipeChannel]:
    """A channel to a program that has begun its first game; it is killed afterwards."""
    channel = PipeChannel(program, HeadAndTail(1000))
    try:
        channel.ask("newgame\n", Limit(MINUTE))
        yield channel
    finally:
        program.kill()


def bind(program: Program) -> None:
    """Leaves a program one core."""
    os.sched_setaffinity(program.pid, {min(os.sched_getaffinity(0))})


@contextmanager
def starved(program: Program) -> Iterator[None]:
    """Leaves a program a seventieth of its core, as Linux weighs nice 19 beside nice 0."""
    spinner = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    with subprocess.Popen(spinner) as other:
        try:
            bind(program)
            os.sched_setaffinity(other.pid, os.sched_getaffinity(program.pid))
            os.setpriority(os.PRIO_PROCESS, program.pid, 19)
            yield
        finally:
            other.kill()


def ask(channel: PipeChannel, limit: Limit) -> tuple[Answer | None, str, float]:
    """The answer to a request, or the words of its timeout; and the seconds that it took."""
    before = time.monotonic()
    try:
        return channel.ask("go\n", limit), "", time.monotonic() - before
    except TimeForfeitError as error:
        return None, error.detail, time.monotonic() - before


def test_who_waits_for_a_core_does_not_lose_by_it():
    """What it waited is told beside the true time, and none of it counts as its own."""
    with channel_to(scripted_program(newgame="say('ok\\n')", go="burn(6); say('move a\\n')")) as to:
        with starved(to.program):
            answer, words, seconds = ask(to, Limit(100_000, MINUTE, MINUTE))
        assert words == ""
        assert answer is not None
        assert answer.wall_us > 200_000
        assert 0 <= seconds - answer.wall_us / 1e6 < 0.2
        assert 0 <= answer.wall_us - answer.waited_us < 150_000


def test_preparing_is_judged_with_the_same_mercy(start: StartBot, monkeypatch: pytest.MonkeyPatch):
    """A bot has its whole time before its first move as well, whoever else has its core."""
    monkeypatch.setattr(clock, "HARD", 100)
    program = scripted_program(newgame="burn(12); honest()")
    bot = start(program=program, allowances=Allowances(newgame_seconds=0.5))
    bot.start()
    before = time.monotonic()
    with starved(program):
        bot.new_game(GameSetup(SMALL, 0, PLENTY, 1))
    assert time.monotonic() - before > 0.5


def test_so_is_the_end(start: StartBot, monkeypatch: pytest.MonkeyPatch):
    """Large libraries take their time to be taken down, and more where others have the core."""
    monkeypatch.setattr(clock, "HARD", 100)
    program = scripted_program(quit="burn(12); honest()")
    bot = start(program=program, allowances=Allowances(quit_seconds=0.5))
    bot.start()
    before = time.monotonic()
    with starved(program):
        bot.close()
    assert time.monotonic() - before > 0.5
    assert program.kill() == "exit 0"


@pytest.mark.parametrize("go", ["burn(60_000)", "time.sleep(60)"])
def test_mercy_ends(go: str):
    """It does at a limit that is hard, and for who sleeps at the one before."""
    with channel_to(scripted_program(newgame="say('ok\\n')", go=go)) as to:
        with starved(to.program):
            answer, words, seconds = ask(to, Limit(100_000, 400_000, MINUTE))
        assert answer is None
        assert words.startswith("no reply within 100 ms of wall time")
        if "burn" in go:
            assert "in which it waited for a core" in words
            assert seconds >= 0.4
        assert seconds < 1


OWN_DELAY = [
    # Of two threads at a time one waits for the other, and the rest of the time nobody does.
    "burn_in_threads(6, 20); time.sleep(60)",
    "for _ in range(9): burn_in_threads(2, 5)\ntime.sleep(60)",
    # Whenever somebody looks, it runs; it wakes the referee by itself.
    "while True: say('#'); burn(2); time.sleep(0.002)",
    # The same in two threads of which each finds the other at work.
    "threading.Thread(target=lambda: [(burn(1), time.sleep(0.001)) for _ in range(9999)]).start()\n"
    "while True: say('#'); burn(1); time.sleep(0.001)",
]


@pytest.mark.parametrize("go", OWN_DELAY, ids=["threads", "ends", "looks", "looks at two"])
def test_nobody_keeps_itself_waiting(go: str):
    """A bot's threads may wait for each other, and look busy; that brings it next to nothing."""
    with channel_to(scripted_program(newgame="say('ok\\n')", go=go)) as to:
        bind(to.program)
        answer, _, seconds = ask(to, Limit(300_000, MINUTE, MINUTE))
        assert answer is None
        assert seconds < 3


MANY_WAIT = """
import hashlib
def work():
    for _ in range(20): hashlib.sha256(bytes(1 << 20))
many = [threading.Thread(target=work) for _ in range(14)]
time.sleep(0.2)
before, burnt = time.monotonic(), time.process_time()
for one in many: one.start()
for one in many: one.join()
complain(f'{time.monotonic() - before} {time.process_time() - burnt}')
time.sleep(60)"""


def test_waits_at_the_same_time_are_one():
    """Many threads keep each other waiting; each wait ends at another time."""
    with channel_to(scripted_program(newgame="say('ok\\n')", go=MANY_WAIT)) as to:
        bind(to.program)
        _, words, _ = ask(to, Limit(300_000, MINUTE, MINUTE))
        seconds, cpu_seconds = map(float, os.pread(to.program.stderr, 99, 0).split())
    found = re.search(r"beside (\d+) ms", words)
    assert found
    # Of the time from their start to their end they ran for a part, which they may gain again.
    assert int(found[1]) / 1000 <= seconds + 0.05
    assert cpu_seconds > 0.1


@pytest.mark.parametrize("told", [b"", threads.UNTOLD], ids=["no file", "zeros"])
def test_where_the_kernel_counts_no_waits_the_limit_stands(
    told: bytes, monkeypatch: pytest.MonkeyPatch
):
    """Rather than that somebody is believed to wait who may be asleep (fs/proc/base.c)."""
    read = threads._read

    def read_there(path: str) -> bytes:
        if not path.endswith("schedstat"):
            return read(path)
        if not told:
            raise FileNotFoundError(path)
        return told

    monkeypatch.setattr(threads, "_read", read_there)
    with channel_to(scripted_program(newgame="say('ok\\n')", go="burn(60_000)")) as to:
        _, words, seconds = ask(to, Limit(100_000, MINUTE, MINUTE))
        assert words == "no reply within 100 ms of wall time"
        assert seconds < 0.3


REFEREE = """
import sys
from engine.channel import HeadAndTail, PipeChannel
from engine.clock import Limit
from engine.program import PlainProgram
program = PlainProgram(sys.argv[1:])
channel = PipeChannel(program, HeadAndTail(1000))
try:
    print(*channel.ask("go\\n", Limit(int(400e3))))
finally:
    program.kill()
"""
STOPS_ITS_REFEREE = """go=
os.kill(os.getppid(), 19); time.sleep(0.6); os.kill(os.getppid(), 18); time.sleep(0.1)
say("move a\\n")"""


def test_a_referee_that_was_stopped_charges_nothing_for_it():
    """As by Ctrl-Z at a terminal: wall time, where it is charged, is that in which both ran."""
    command = [sys.executable, "-c", REFEREE, *SCRIPTED, STOPS_ITS_REFEREE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.stderr == ""
    *line, _cpu_us, wall_us, _waited_us = done.stdout.split()
    assert line == ["move", "a"]
    assert 90_000 <= int(wall_us) < 390_000


GRINDS = """
import ctypes, mmap
size = 1 << 31
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
found = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, 0x4022, -1, ctypes.c_long(0))
def grind():
    libc.madvise(found, size, 22)
grind()
"""


class Onlooker(FirstMove):
    """Looks, as soon as it is asked, what another program uses."""

    def __init__(self, program: PlainProgram) -> None:
        super().__init__()
        self.program = program
        self.used_us: list[int] = []

    def choose(self, turn):
        before = self.program.cpu_us()
        time.sleep(0.02)
        self.used_us.append(self.program.cpu_us() - before)
        return super().choose(turn)


def test_nobody_is_asked_before_the_other_stands(start: StartBot):
    """A thread in a long call of the kernel does not heed a stop, and is paid for."""
    program = scripted_program(
        start=GRINDS,
        go="say(f'# ms {1000 * time.process_time()}\\n')\n"
        "threading.Thread(target=grind).start(); time.sleep(0.005); honest()",
    )
    onlooker = Onlooker(program)
    record = play_game(SMALL, [start(program=program), onlooker], time=PLENTY)
    assert record.faults == ()
    assert max(onlooker.used_us) < 1000
    own = record.plies[::2]
    spent_ms = own[-1].values["ms"] - own[0].values["ms"]
    assert spent_ms > 20, "the kernel had nothing to do"
    assert sum(ply.cpu_us for ply in own[:-1]) / 1000 == pytest.approx(spent_ms, rel=0.1, abs=6)


def test_who_does_not_stop_has_lost(start: StartBot):
    """Soon, by a fault of its own."""
    program = scripted_program(
        start=GRINDS,
        go="threading.Thread(target=lambda: [grind() for _ in range(99)]).start()\n"
        "time.sleep(0.005); honest()",
    )
    bot = start(program=program, allowances=Allowances(stop_seconds=0.001))
    record = play(bot)
    assert record.termination is Termination.TIMEOUT
    assert "was not to be stopped within 1 ms" in record.faults[0].detail
    assert bot.closed


def test_every_part_of_a_tick_is_charged(start: StartBot):
    """Also of a bot that is at work whenever its clock is read, and between the kernel's ticks."""
    bot = start(
        go="coarse = lambda: time.clock_gettime(6)\n"  # CLOCK_MONOTONIC_COARSE
        "tick = coarse()\nwhile coarse() == tick: pass\n"
        "say(f'# ms {1000 * time.process_time()}\\n'); burn(2.5); honest()\n"
        "while not select.select([0], [], [], 0)[0]: pass",
        start="import select",
    )
    own = play(bot, TimeControl(time_ms=60_000), variant=WIDE).plies[::2]
    spent_ms = own[-1].values["ms"] - own[0].values["ms"]
    charged_ms = sum(ply.cpu_us for ply in own[:-1]) / 1000
    assert charged_ms == pytest.approx(spent_ms, rel=0.1, abs=6)
