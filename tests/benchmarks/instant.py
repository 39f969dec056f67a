"""Bots that answer at once, so that what a game costs is what the arena costs.

An instant bot knows the whole game beforehand: asked for ply 17 it says line 17 of a file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from engine.game import Move, Variant
from engine.games import GAMES
from workers.launches import Launch, box_python

SOURCE_C = r"""
#include <stdio.h>
#include <string.h>

static char moves[512][32], line[1 << 16];

int main(void)
{
    int plies = 0, ply;
    FILE *file = fopen("moves.txt", "r");

    while (plies < 512 && fscanf(file, "%31s", moves[plies]) == 1)
        plies++;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "go %d", &ply) == 1)
            printf("move %s\n", moves[ply]);
        else if (!strncmp(line, "hello", 5))
            puts("ready instant");
        else if (!strncmp(line, "newgame", 7))
            puts("ok");
        else if (!strncmp(line, "quit", 4))
            return 0;
        fflush(stdout);
    }
    return 0;
}
"""
SOURCE_PYTHON = """
import sys

moves = open("moves.txt").read().split()
for line in sys.stdin:
    word, _, rest = line.partition(" ")
    if word == "go":
        print("move " + moves[int(rest.split()[0])], flush=True)
    elif word == "hello":
        print("ready instant", flush=True)
    elif word == "newgame":
        print("ok", flush=True)
    elif word.strip() == "quit":
        break
"""


@dataclass(frozen=True, slots=True)
class InstantBot:
    """The folder of one, and how it is started there."""

    folder: Path
    launch: Launch
    language: str


@contextmanager
def instant_bot(moves: Sequence[Move]) -> Iterator[InstantBot]:
    """A bot that plays these, ply by ply; compiled C if there is a compiler, else Python."""
    with TemporaryDirectory(prefix="arena-bench-") as name:
        folder = Path(name)
        (folder / "moves.txt").write_text("\n".join(moves))
        if compiler := shutil.which("cc") or shutil.which("gcc"):
            compile_c(compiler, SOURCE_C, folder / "bot")
            launch = Launch(("./bot",))
        else:
            (folder / "bot.py").write_text(SOURCE_PYTHON)
            launch = Launch((box_python(), "-u", "-s", "-S", "./bot.py"))
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755)
        yield InstantBot(folder, launch, "C" if compiler else "Python")


def compile_c(compiler: str, source: str, program: Path) -> None:
    """Makes a program from one file of C."""
    command = [compiler, "-O2", "-x", "c", "-o", str(program), "-"]
    subprocess.run(command, input=source.encode(), check=True)


def game_of(variant: Variant, plies: int) -> list[Move]:
    """The moves of a random game that has just so many plies."""
    for seed in count():
        random, state = Random(seed), variant.initial()
        moves: list[Move] = []
        while state.to_move is not None and len(moves) <= plies:
            moves.append(random.choice(state.legal_moves()))
            state = state.play(moves[-1])
        if len(moves) == plies and state.to_move is None:
            return moves
    raise AssertionError


def clobber(size: str) -> Variant:
    """Clobber on a board of this size."""
    return GAMES["clobber"].variant(size=size)


@contextmanager
def on_one_core() -> Iterator[int]:
    """Keeps this process on one core, and all that it starts; gives its number."""
    before = os.sched_getaffinity(0)
    core = max(before)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, before)
