"""Boxes of every level: what their Program promises the referee, and what a bot finds inside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.player import VoidGameError
from engine.process import BotProcess
from engine.program import Program
from engine.referee import play_game
from tests.engine.players import FirstMove
from tests.packages import Installer
from tests.requirements import need
from tests.workers.conftest import (
    LIMITS,
    processes_with,
    python_launch,
    said,
    write,
)
from workers.languages import LanguageError, find_language, language_named
from workers.launches import Launch, launch_file
from workers.limits import Limits
from workers.program import BoxError, BoxProgram
from workers.sandbox import Sandbox
from workers.users import BotUser, BoxUserError

ROOT = Path(__file__).parents[2]
MIB = 1 << 20


@pytest.fixture
def run(sandbox: Sandbox, bot_folder: Path) -> Iterator[Callable[..., Program]]:
    """Starts ``bot.py`` of this source in a box; what still runs at the end is killed."""
    started: list[Program] = []

    def start(
        source: str, *arguments: str, limits: Limits = LIMITS, core: int | None = None
    ) -> Program:
        write(bot_folder, source)
        program = sandbox.start(bot_folder, python_launch(*arguments), limits, core=core)
        started.append(program)
        return program

    yield start
    for program in started:
        program.kill()


def test_stdio_of_a_bot(run: Callable[..., Program]) -> None:
    """It reads requests, answers them, and complains into a file that the referee may empty."""
    program = run("import sys\nprint(input()[::-1])\nprint('hm', file=sys.stderr)\ninput()")
    os.write(program.stdin, b"abc\n")
    assert said(program) == "cba"
    os.write(program.stdin, b"end\n")
    assert program.wait(60)
    assert os.pread(program.stderr, 100, 0) == b"hm\n"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "exit 0"),
        ("import sys; sys.exit(3)", "exit 3"),
        ("import sys; sys.exit(255)", "exit 255"),
        ("raise ValueError", "exit 1"),
        ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
    ],
)
def test_end_of_a_bot_in_words(run: Callable[..., Program], source: str, words: str) -> None:
    """How it ended by itself is told, also when that is asked twice."""
    program = run(source)
    assert program.wait(60)
    assert program.kill() == words
    assert program.kill() == words


def test_kill_of_a_running_bot(run: Callable[..., Program]) -> None:
    """It ends at once, and nothing of it is left."""
    marker = uuid.uuid4().hex
    program = run("print('up', flush=True)\ninput()", marker)
    assert said(program) == "up"
    assert processes_with(marker) != []
    assert not program.wait(0)
    start = time.monotonic()
    assert program.kill() == "still running"
    assert time.monotonic() - start < 0.5
    assert processes_with(marker) == []


BURN = """
import threading, zlib
def burn():
    while True:
        zlib.crc32(bytes(100000))
threading.Thread(target=burn, daemon=True).start()
print('up', flush=True)
burn()
"""


def cpu_at_rest(program: Program) -> int:
    """Its CPU time once it stands still; on a busy machine a thread takes a while to stop."""
    before, now = -1, program.cpu_us()
    deadline = time.monotonic() + 60
    while now != before and time.monotonic() < deadline:
        time.sleep(0.02)
        before, now = now, program.cpu_us()
    return now


def await_work(program: Program, cpu_us: int) -> None:
    """Waits until it has used so much time."""
    deadline = time.monotonic() + 60
    while program.cpu_us() < cpu_us:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_frozen_bot_uses_no_time(run: Callable[..., Program]) -> None:
    """All its threads stand still until it is thawed; freezing twice is freezing."""
    program = run(BURN)
    assert said(program) == "up"
    program.freeze()
    program.freeze()
    before = cpu_at_rest(program)
    time.sleep(0.05)
    assert program.cpu_us() < before + 1_000
    program.thaw()
    await_work(program, before + 5_000)


def test_cpu_time_is_that_of_the_bot(run: Callable[..., Program]) -> None:
    """Its clock agrees with its own, threads included, and stands after its end."""
    program = run(
        "import threading, time, zlib\n"
        "def burn():\n"
        "    while time.thread_time() < 0.03: zlib.crc32(bytes(100000))\n"
        "others = [threading.Thread(target=burn) for _ in range(2)]\n"
        "for other in others: other.start()\n"
        "for other in others: other.join()\n"
        "print(time.process_time(), flush=True)\n"
        "input()\n"
    )
    own_us = float(said(program)) * 1e6
    assert own_us > 60_000
    assert own_us <= program.cpu_us() < own_us + 5_000
    os.write(program.stdin, b"\n")
    assert program.wait(60)
    last = program.cpu_us()
    assert last >= own_us
    program.kill()
    assert program.cpu_us() == last


def test_bot_is_bound_to_its_core(run: Callable[..., Program]) -> None:
    """It runs on one core alone, and whoever started it does not."""
    before = os.sched_getaffinity(0)
    core = max(before)
    program = run("import os; print(*os.sched_getaffinity(0), flush=True)", core=core)
    assert said(program) == str(core)
    assert os.sched_getaffinity(0) == before


def test_bots_of_the_kit_import_the_engine(sandbox: Sandbox, bot_folder: Path) -> None:
    """A Python bot has the engine, as it is here, and its own modules beside it."""
    write(
        bot_folder,
        "import own, sys\n"
        "from engine.games import GAMES\n"
        "variant = GAMES[own.GAME].variant(size='4x4')\n"
        "print(variant.initial().text(), *sys.argv[1:], flush=True)\n",
    )
    (bot_folder / "own.py").write_text("GAME = 'clobber'")
    program = sandbox.start(bot_folder, python_launch("argument"), Limits())
    expected = GAMES["clobber"].variant(size="4x4").initial().text()
    assert said(program) == f"{expected} argument"
    program.kill()


@pytest.mark.parametrize("level", ["good", "reduced"])
def test_bots_import_the_games_of_other_packages(
    level: str, open_folder: Path, bot_folder: Path, packages: Installer
) -> None:
    """The shelf in the box has what is installed here, with its version, but what can't be."""
    packages.install("other-games", "ONE = game('one')", "one = other_games:ONE")
    packages.install("absent-games", "", "two = no_such_module:TWO")
    sandbox = Sandbox("none", open_folder / "box_folder-with-games", maximum=level)
    need(sandbox.level == level, f"no {level!r} box here")
    write(
        bot_folder,
        "from engine.games import GAMES\n"
        "start = GAMES['one'].variant(size='4x4').initial()\n"
        "print(GAMES.rules('one'), start.text(), 'two' in GAMES, flush=True)\n",
    )
    program = sandbox.start(bot_folder, python_launch(), Limits())
    expected = GAMES["clobber"].variant(size="4x4").initial().text()
    assert said(program) == f"other-games 1.5 {expected} False"
    program.kill()


@pytest.mark.parametrize("name", ["Python", "JavaScript", "Perl", "Lua", "Ruby", "shell"])
def test_every_language_starts_within_its_needs(
    name: str, sandbox: Sandbox, bot_folder: Path
) -> None:
    """With no more memory and threads than its entry says, an interpreter speaks."""
    language = language_named(name)
    assert language is not None
    hello = {"JavaScript": 'console.log("hi")', "Lua": 'print("hi")', "Perl": 'print "hi\\n"'}
    hello |= {"Python": 'print("hi")', "Ruby": 'puts "hi"', "shell": "echo hi"}
    file = bot_folder / f"bot{language.suffixes[0]}"
    file.write_text(hello[name])
    file.chmod(0o644)
    try:
        launch = launch_file(file.name, find_language(file))
    except LanguageError as error:
        need(False, str(error))
    limits = Limits(memory_bytes=launch.memory_bytes, threads=launch.threads)
    program = sandbox.start(bot_folder, launch, limits)
    assert said(program) == "hi", os.pread(program.stderr, 500, 0).decode()
    program.kill()


def test_a_program_by_itself_runs(
    sandbox: Sandbox, bot_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with a first line that names its interpreter is started directly."""
    monkeypatch.chdir(bot_folder.parent)
    (bot_folder / "bot").write_text("#!/bin/sh\necho $0 $PATH\n")
    (bot_folder / "bot").chmod(0o755)
    program = sandbox.start(Path(bot_folder.name), launch_file("bot", None), LIMITS)
    assert said(program) == "./bot /usr/local/bin:/usr/bin:/bin"
    program.kill()


def test_command_that_is_not_there(sandbox: Sandbox, bot_folder: Path) -> None:
    """It is the bot's own fault: a crash, whose reason stands in its log."""
    bot = BotProcess(lambda: sandbox.start(bot_folder, Launch(("./missing",)), LIMITS))
    record = play_game(
        GAMES["clobber"].variant(size="3x2"), [bot, FirstMove()], time=TimeControl(move_ms=100)
    )
    assert record.faults[0].termination is Termination.CRASH
    assert "No such file" in bot.take_log()


def test_users_of_bots(run: Callable[..., Program]) -> None:
    """A root worker's bots share a user with nobody; those of an ordinary user have its own."""
    programs = [run("print('up', flush=True)\ninput()") for _ in range(3)]
    users = []
    for program in programs:
        assert said(program) == "up"
        status = Path(f"/proc/{program.pid}/status").read_text()  # type: ignore[attr-defined]
        users.append(status.partition("Uid:")[2].split()[:4])
    numbers = {int(number) for four in users for number in four}
    if os.geteuid() == 0:
        assert all(len(set(four)) == 1 for four in users)
        assert len(numbers) == 3
        assert 0 not in numbers
    else:
        assert numbers == {os.geteuid()}


def test_bot_ends_with_its_referee(sandbox: Sandbox, bot_folder: Path, open_folder: Path) -> None:
    """When the worker is killed, the kernel ends its boxes."""
    marker = uuid.uuid4().hex
    write(bot_folder, "print('up', flush=True)\ninput()")
    code = (
        "import os, sys; from pathlib import Path\n"
        "from workers.launches import Launch, box_python\n"
        "from workers.sandbox import Sandbox\n"
        "box_folder, folder, level, marker = sys.argv[1:]\n"
        "sandbox = Sandbox(level, Path(box_folder), maximum=level)\n"
        "launch = Launch((box_python(), '-S', './bot.py', marker))\n"
        "program = sandbox.start(Path(folder), launch)\n"
        "print(os.read(program.stdout, 10), flush=True)\n"
        "input()\n"
    )
    box_folder = str(open_folder / "box_folder")
    worker = subprocess.Popen(
        [sys.executable, "-c", code, box_folder, str(bot_folder), sandbox.level, marker],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )
    with worker:
        assert worker.stdout is not None
        assert b"up" in worker.stdout.readline()
        worker.kill()
    deadline = time.monotonic() + 60
    while processes_with(marker) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert processes_with(marker) == []


def test_nothing_is_left_open(sandbox: Sandbox, bot_folder: Path) -> None:
    """Starting and ending a bot, also one that fails to start, costs no file for good."""
    write(bot_folder, "input()")
    sandbox.start(bot_folder, python_launch(), LIMITS).kill()
    before = sorted(os.listdir("/proc/self/fd"))
    sandbox.start(bot_folder, python_launch(), LIMITS).kill()
    with pytest.raises(BoxError):
        sandbox.start(bot_folder / "missing", python_launch(), LIMITS)
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("os._exit(3)", "exit 3"),
        # What a shell would say of a process that a signal ended (POSIX, 2.8.2).
        ("os._exit(137)", "exit 137"),
        ("os._exit(139)", "exit 139"),
        ("ctypes.string_at(0)", "killed by SIGSEGV"),
    ],
)
def test_an_exit_code_is_no_signal(end: str, words: str, run: Callable[..., Program]) -> None:
    """How a bot ended is the kernel's word; where it has none, both are told."""
    program = run(f"import ctypes, os\nprint('up', flush=True)\n{end}")
    assert said(program) == "up"
    assert program.wait(60)
    told = program.kill()
    major, minor = map(int, os.uname().release.split(".")[:2])
    assert told == words if (major, minor) >= (6, 15) else words in told


def test_an_end_that_takes_long_is_waited_for_elsewhere(
    run: Callable[..., Program], sandbox: Sandbox
) -> None:
    """Whoever ends a bot goes on; its user and its group are given back when it is gone."""
    program = run("print('up', flush=True)\ninput()")
    assert said(program) == "up"
    assert isinstance(program, BoxProgram)
    monitor, user, group = program._monitor, program._user, program._group
    if program.pid == monitor.pid:
        return  # at this level nothing stands beside a bot that could be slow
    os.kill(monitor.pid, signal.SIGSTOP)
    began = time.monotonic()
    assert program.kill() == "still running"
    assert time.monotonic() - began < 5
    assert monitor.poll() is None
    if user:
        with pytest.raises(BoxUserError):
            BotUser([user.number])
    assert group is None or any(folder.exists() for folder in group._folders)
    os.kill(monitor.pid, signal.SIGCONT)
    deadline = time.monotonic() + 10
    while any(thread.name == "ending" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert monitor.poll() is not None
    assert group is None or not any(folder.exists() for folder in group._folders)
    if user:
        with pytest.raises(OSError, match="Bad file descriptor"):  # the claim
            os.fstat(user._claim)


def test_missing_folder_is_our_fault(sandbox: Sandbox, bot_folder: Path) -> None:
    """A bundle that can't be reached makes the game void; nobody loses it."""
    with pytest.raises(VoidGameError, match="missing"):
        sandbox.start(bot_folder / "missing", python_launch(), LIMITS)


def test_box_that_fails_late_is_our_fault(sandbox: Sandbox, bot_folder: Path) -> None:
    """Also where the bot's process was there already: no line of the bot has run."""
    box = sandbox.box
    assert box is not None
    bot = BotProcess(lambda: box.start(bot_folder / "missing", python_launch(), LIMITS))
    with pytest.raises(VoidGameError, match="box"):
        bot.start()


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (Launch(("/bin/true",), memory_bytes=96 * MIB), "needs 96 MiB of memory.* limit is 48 MiB"),
        (Launch(("/bin/true",), threads=13), "needs 13 threads, and the limit is 12"),
    ],
)
def test_limits_below_the_needs(
    launch: Launch, words: str, sandbox: Sandbox, bot_folder: Path
) -> None:
    """Such a bot is refused with the reason, before it is started."""
    with pytest.raises(BoxError, match=words):
        sandbox.start(bot_folder, launch, LIMITS)
