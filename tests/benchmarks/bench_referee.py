"""What a ply costs the referee beside bots that answer at once, and how many games that makes.

All take turns on one core, round by round, a game of 60 plies each, and processes are kept.
Everything is CPU time of this process, for a whole game divided by its plies: rules, clocks,
the bots' CPU time, the record. Other Python loops stand beside it: one that only writes a request,
polls and reads, which nothing in Python could beat; where the package `chess` is installed, a game
through that package's engines; and where `kaggle_environments` is, one of that program's own games
between functions, without processes or pipes.

A core's games a second are told by the CPU time of all: the referee's and the bots'.
"""

from __future__ import annotations

import os
import select
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from engine.clock import TimeControl
from engine.game import Variant
from engine.process import BotProcess
from engine.program import PlainProgram, Program
from engine.referee import play_game
from tests.benchmarks.instant import (
    InstantBot,
    clobber,
    compile_c,
    game_of,
    instant_bot,
    on_one_core,
)
from tests.benchmarks.packaged import NAME, packaged
from tests.benchmarks.table import Table
from workers.limits import Limits
from workers.sandbox import Sandbox

PLIES = 60
"""How many plies random games last, about, on a board of 10x10."""
SHORT_PLIES = 40
"""How many they last on one of 8x8."""
CONNECT_X_PLIES = 19
"""How many connectx has (7 columns of 6) where both always fill the leftmost column that is not
full: at the plies 1, 7, 13 and 19 the first gets four squares in a row, the lowest ones."""
TIME = TimeControl(time_ms=60_000, inc_ms=1000)
PLAIN = "no box, not frozen"
CHESS_C = r"""
#include <stdio.h>
#include <string.h>

static char line[1 << 16];

int main(void)
{
    static const char *moves[] = {"g1f3", "g8f6", "f3g1", "f6g8"};
    int plies = 0;

    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "uci\n", 4))
            puts("id name instant\nuciok");
        else if (!strncmp(line, "isready", 7))
            puts("readyok");
        else if (!strncmp(line, "position", 8)) {
            plies = 0;
            char *word = strstr(line, " moves");
            while (word && (word = strchr(word + 1, ' ')))
                plies++;
        } else if (!strncmp(line, "go", 2))
            printf("bestmove %s\n", moves[plies % 4]);
        else if (!strncmp(line, "quit", 4))
            return 0;
        fflush(stdout);
    }
    return 0;
}
"""
Job = Callable[[], float]
"""Plays a game, and says how many seconds of CPU time it took."""
Start = Callable[[], Program]


class UnfrozenProgram(PlainProgram):
    """One that is never stopped between its turns."""

    def freeze(self) -> None:
        pass

    def stands(self) -> bool:
        return True

    def thaw(self) -> None:
        pass


def run(seconds: float) -> Table:
    """A row for each way to play, measured for about so many seconds in all."""
    long, short = clobber("10x10"), clobber("8x8")
    with ExitStack() as ends:
        core = ends.enter_context(on_one_core())
        bot = ends.enter_context(instant_bot(game_of(long, PLIES)))
        short_bot = ends.enter_context(instant_bot(game_of(short, SHORT_PLIES)))
        jobs: dict[str, tuple[Job, int]] = {
            "write, poll, read": (ends.enter_context(bare_loop(bot)), PLIES)
        }
        for name, start in starts(bot, core).items():
            jobs[name] = ends.enter_context(games(long, start)), PLIES
        # Its own module, imported from elsewhere and reached by the shelf.
        other = ends.enter_context(packaged("clobber")).variant(size="10x10")
        assert type(other).__module__ == NAME
        plain = partial(UnfrozenProgram, bot.launch.command, cwd=bot.folder)
        jobs[f"{PLAIN}, rules from a package"] = ends.enter_context(games(other, plain)), PLIES
        for name, start in starts(short_bot, core).items():
            game = ends.enter_context(games(short, start, bots_too=True))
            jobs[f"{name}, {SHORT_PLIES} plies"] = game, SHORT_PLIES
        compiler = shutil.which("cc") or shutil.which("gcc")
        if find_spec("chess") and compiler:
            jobs["python-chess, no box"] = ends.enter_context(chess_games(compiler)), PLIES
        if find_spec("kaggle_environments"):
            jobs["kaggle-environments, functions as bots"] = connect_x_games(), CONNECT_X_PLIES
        spent: dict[str, list[float]] = {name: [] for name in jobs}
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline or not all(spent.values()):
            for name, (job, _) in jobs.items():
                spent[name].append(job())
    bare = min(spent["write, poll, read"]) / PLIES
    rows = []
    for name, (_, plies) in jobs.items():
        best = min(spent[name])
        whole_core = name.endswith(f"{SHORT_PLIES} plies")
        rows.append(
            [
                name,
                len(spent[name]),
                f"{best / plies * 1e6:.1f}",
                f"{median(spent[name]) / plies * 1e6:.1f}",
                "-" if whole_core else f"{best / plies / bare:.1f}",
                f"{1 / best:,.0f}" if whole_core else "-",
            ]
        )
    return Table(
        f"A ply on one core: Clobber, {bot.language} bots that answer at once; rows of "
        f"{SHORT_PLIES} plies count the bots' CPU time too",
        ["way", "games", "µs a ply, best", "median", "times the first row", "games/s, best"],
        rows,
    )


def starts(bot: InstantBot, core: int) -> dict[str, Start]:
    """The ways to start a bot, by their names."""
    command, folder = bot.launch.command, bot.folder
    found: dict[str, Start] = {
        PLAIN: partial(UnfrozenProgram, command, cwd=folder),
        "no box": partial(PlainProgram, command, cwd=folder),
    }
    for level in ("reduced", "good", "full"):
        sandbox = Sandbox("none", maximum=level)
        if sandbox.level == level:
            found[level] = partial(sandbox.start, folder, bot.launch, Limits(), core=core)
    return found


@contextmanager
def games(variant: Variant, start: Start, *, bots_too: bool = False) -> Iterator[Job]:
    """Games of a pair of processes that are kept.

    Args:
        bots_too: counts the bots' CPU time as well.
    """
    programs: list[Program] = []

    def started() -> Program:
        programs.append(start())
        return programs[-1]

    players = [BotProcess(started) for _ in range(variant.seats)]
    for player in players:
        player.start()

    def job() -> float:
        bots = sum(program.cpu_us() for program in programs)
        began = time.process_time()
        record = play_game(variant, players, time=TIME)
        spent = time.process_time() - began
        assert not record.faults, record.faults
        bots = sum(program.cpu_us() for program in programs) - bots
        return spent + (bots / 1e6 if bots_too else 0.0)

    try:
        yield job
    finally:
        for player in players:
            player.close(kill=True)


@contextmanager
def bare_loop(bot: InstantBot) -> Iterator[Job]:
    """No game at all: as many requests and answers as a game has plies."""
    program = PlainProgram(bot.launch.command, cwd=bot.folder)
    write, read = program.stdin, program.stdout
    poll = select.poll()
    poll.register(read, select.POLLIN)

    def job() -> float:
        began = time.process_time()
        for _ in range(PLIES):
            os.write(write, b"go 0 clocks=60000,60000 moves\n")
            poll.poll(1000)
            assert os.read(read, 4096)
        return time.process_time() - began

    try:
        yield job
    finally:
        program.kill()


@contextmanager
def chess_games(compiler: str) -> Iterator[Job]:
    """Games in which two knights go to and fro, by python-chess's own loop of a game."""
    chess, chess_engine = import_module("chess"), import_module("chess.engine")
    with TemporaryDirectory() as name, ExitStack() as ends:
        program = Path(name) / "bot"
        compile_c(compiler, CHESS_C, program)
        engines = [
            ends.enter_context(chess_engine.SimpleEngine.popen_uci(str(program))) for _ in range(2)
        ]
        limit = chess_engine.Limit(white_clock=60, black_clock=60)

        def job() -> float:
            began = time.process_time()
            board = chess.Board()
            for ply in range(PLIES):
                board.push(engines[ply % 2].play(board, limit).move)
            return time.process_time() - began

        yield job


def connect_x_games() -> Job:
    """Games of connectx, as kaggle-environments runs functions that are bots."""
    # It prints which of its own environments it can't load.
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        environment = import_module("kaggle_environments").make("connectx")

    def leftmost(observation: Any, _: Any) -> int:
        return [int(square) for square in observation.board[:7]].index(0)

    def job() -> float:
        environment.reset()
        began = time.process_time()
        steps = environment.run([leftmost, leftmost])
        spent = time.process_time() - began
        assert len(steps) - 1 == CONNECT_X_PLIES, len(steps)
        return spent

    return job
