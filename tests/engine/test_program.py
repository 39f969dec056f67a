"""Programs as processes: how they start, fail to, and end without a trace."""

import resource
import time
from contextlib import suppress
from functools import partial
from itertools import product

import psutil
import pytest

from engine.clock import Allowances, TimeControl
from engine.game import Termination
from engine.match import MatchSpec, play_match
from engine.player import VoidGameError
from engine.process import BotProcess
from engine.program import PlainProgram, exit_words
from tests.engine.leaks import child_processes, highest_file, open_files
from tests.engine.players import BOTS, SMALL, StartBot, play, scripted_program

pytestmark = pytest.mark.usefixtures("no_leaks")

NO_QUIT = Allowances(quit_seconds=0.1)
HASTE = Allowances(newgame_seconds=0.1, quit_seconds=0.02)


def test_a_process_ends_with_all_it_started(start: StartBot):
    """After quit there is a moment to leave; then the bot is killed, its children with it."""
    bot = start(
        allowances=NO_QUIT,
        newgame="child = os.fork()\nif not child: time.sleep(60)\nhonest()",
        go="say(f'# child {child}\\n'); honest()",
        quit="time.sleep(60)",
    )
    record = play(bot)
    child = psutil.Process(int(record.plies[0].values["child"]))
    before = time.monotonic()
    bot.close()
    assert time.monotonic() - before >= 0.1
    # Nobody but init can reap it, and init may take its time.
    with suppress(psutil.NoSuchProcess):
        while child.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < before + 50
            time.sleep(0.01)


@pytest.mark.parametrize("missing", ["no/such/bot", "/", __file__])
def test_a_command_that_cannot_be_started(missing, start: StartBot):
    """A missing program, a folder, a file that is none: the bot's fault, by name."""
    bot = BotProcess(lambda: PlainProgram([missing]))
    record = play(bot)
    assert record.termination == Termination.CRASH
    assert f"can't be started: {missing}" in record.faults[0].detail


class Boxed(PlainProgram):
    """A program whose box says that it died at its memory limit."""

    isolation = "good"

    def kill(self) -> str:
        super().kill()
        return "memory: 256 MiB"


def test_the_memory_limit_has_a_name_of_its_own():
    """What the box says of a death, the record says; and in which box the bot sat."""
    bot = BotProcess(
        lambda: Boxed(["sh", "-c", "read hello; echo ready a; read newgame; kill -9 $$"])
    )
    record = play(bot)
    assert record.termination == Termination.MEMORY
    assert record.faults[0].detail == "was killed at its memory limit"
    assert record.isolation == "good"


def test_our_own_shortages_are_nobodys_fault(tmp_path):
    """Where a pipe or a file can't be had, the game is void, and nothing is left behind."""
    before = open_files()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    started = 0
    try:
        for spare in range(16):
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest_file() + 1 + spare, hard))
            try:
                scripted_program().kill()
                started += 1
            except VoidGameError:
                assert not started, "more files made it fail"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert started
    assert open_files() == before
    # A program that another thread's child still holds open from when it was written.
    bot = tmp_path / "bot"
    with bot.open("w") as file:
        file.write("#!/bin/sh\n")
        file.flush()
        bot.chmod(0o755)
        with pytest.raises(VoidGameError, match="no bot can be started now"):
            PlainProgram([str(bot)])


def test_nothing_is_left_after_fifty_games():
    """No process and no open file outlives its match, whatever way its games ended."""
    hello = "read line; echo ready a; read line; echo ok; "
    ways = [
        ["sh", str(BOTS / "first.sh")],
        ["sh", "-c", hello + "exit 3"],
        ["sh", "-c", hello + "read line; sleep 60"],
        ["sh", "-c", "echo"],
        ["no/such/bot"],
    ]
    spec = MatchSpec(SMALL, ("a", "b"), TimeControl(move_ms=20, charge="wall"))
    before = open_files(), child_processes()
    for pair in product(ways, repeat=2):
        starts = [partial(PlainProgram, command) for command in pair]
        players = [partial(BotProcess, start, allowances=HASTE) for start in starts]
        play_match(spec, lambda entrant, players=players: players[entrant]())
    assert (open_files(), child_processes()) == before


def test_what_an_ended_program_leaves():
    """Its CPU time can still be read, and how it ended be asked, more than once."""
    program = PlainProgram(["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"])
    assert program.wait(10)
    used = program.cpu_us()
    assert used > 1000
    program.freeze()
    program.thaw()
    assert program.cpu_us() == used
    assert (program.kill(), program.kill()) == ("exit 0", "exit 0")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "exit 0"),
        (127, "exit 127"),
        (-9, "killed by SIGKILL"),
        (-11, "killed by SIGSEGV"),
        (-63, "killed by signal 63"),
    ],
)
def test_how_it_ended_in_words(code, words):
    """Codes as subprocess has them: below zero it was a signal."""
    assert exit_words(code) == words
