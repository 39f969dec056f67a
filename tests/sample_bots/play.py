"""Starts bots for the tests of this folder, talks to them, and plays games between them."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from engine.clock import Clock, TimeControl
from engine.game import State, Variant
from engine.match import MatchSpec, play_match
from engine.player import Choice, GameSetup, Turn
from engine.process import BotProcess
from engine.program import PlainProgram
from engine.record import GameRecord
from tests.requirements import need
from workers.launches import command_for

BOTS = Path(__file__).parents[2] / "bots"
KIT = BOTS / "kit"
SAMPLES: list[dict[str, Any]] = tomllib.loads((BOTS / "samples.toml").read_text())["bot"]

RULES = Path(__file__).parent / "rules.cpp"
"""Makes a compiled sample tell the legal moves."""

PROGRAMS = Path(__file__).parents[2] / ".pytest_cache" / "samples"
"""Where compiled samples are."""

Command = Sequence[str]


def command(file: Path, *arguments: str) -> Command:
    """The command of a bot's file; its interpreter must be there."""
    if file.suffix in (".js", ".mjs"):
        need(shutil.which("node"), "node is not installed")
    if file.suffix == ".cpp":
        return [built(file), *arguments]
    return [*command_for(file), *arguments]


@cache
def built(file: Path) -> str:
    """The program of a compiled sample, which tells legal moves if it is asked for `rules`.

    It is compiled once for all processes of tests, and for later runs until something changes.
    """
    need(shutil.which("g++"), "g++ is not installed")
    checks = ("-std=c++20", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    digest = hashlib.sha256(repr(checks).encode())
    digest.update(subprocess.check_output(["g++", "--version"]))
    for part in (file, RULES, *sorted(KIT.glob("*.hpp"))):
        digest.update(part.read_bytes())
    program = PROGRAMS / f"{file.stem}-{digest.hexdigest()[:16]}"
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    with (PROGRAMS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            made = program.with_suffix(".made")
            its = ("-I", KIT, "-D", f'SAMPLE="{file}"', RULES, "-o", made)
            subprocess.run(["g++", *checks, *its], check=True)
            made.rename(program)
    return str(program)


def sample(name: str, *arguments: str) -> Command:
    """The command of the sample bot of this name."""
    (file,) = (entry["file"] for entry in SAMPLES if entry["name"] == name)
    return command(BOTS / file, *arguments)


def load(name: str) -> ModuleType:
    """A bot's file as a module."""
    spec = importlib.util.spec_from_file_location(f"bots_{name}", BOTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def samples_of(game: str) -> list[str]:
    """The names of the samples that are entered in a game."""
    return [entry["name"] for entry in SAMPLES if game in entry.get("games", [game])]


def start(bot: Command, chosen: Mapping[str, str] | None = None) -> BotProcess:
    """A player with that bot behind it, told what is chosen of its options."""
    return BotProcess(lambda: PlainProgram(bot), chosen=chosen)


def play(
    variant: Variant,
    bots: Sequence[Command],
    *,
    seed: int = 0,
    opening: Sequence[str] = (),
    move_ms: int = 60_000,
    chosen: Sequence[Mapping[str, str]] = (),
) -> tuple[GameRecord, ...]:
    """One match of these bots, with time enough if nothing else is said.

    Args:
        chosen: of the options of each, if anything is.
    """
    names = tuple(f"bot {number}" for number in range(len(bots)))
    time = TimeControl(move_ms=move_ms)
    spec = MatchSpec(variant.drawn(seed), names, time, tuple(opening), seed)
    told = chosen or [{} for _ in bots]
    return play_match(spec, lambda entrant: start(bots[entrant], told[entrant])).games


def random_moves(variant: Variant, seed: int) -> list[str]:
    """The moves of a whole random game."""
    dice = Random(seed)
    state: State = variant.initial()
    moves = []
    while codes := state.codes():
        code = codes[int(dice.random() * len(codes))]
        moves.append(state.word(code))
        state = state.play_code(code)
    return moves


def ask(bot: BotProcess, variant: Variant, moves: Sequence[str], time: TimeControl) -> Choice:
    """A bot's answer in a new game, in the seat that is to move after some moves.

    Raises:
        BotError: it failed, by its clock for instance.
    """
    state: State = variant.initial()
    history = []
    for move in moves:
        assert state.to_move is not None
        history.append(f"{state.to_move + 1}:{move}")
        state = state.play(move)
    assert state.to_move is not None
    clocks = [Clock.start(time)] * variant.seats
    bot.new_game(GameSetup(variant, state.to_move, time, 1))
    choice = bot.choose(
        Turn(state, len(moves), " ".join(history), clocks, [], clocks[state.to_move])
    )
    assert state.is_legal(choice.move)
    return choice


def talk(bot: Command, text: str, *, cwd: Path | None = None) -> tuple[list[str], str]:
    """What a bot says to a whole conversation: its lines, and its standard error."""
    done = subprocess.run(
        bot, input=text.encode("ascii"), capture_output=True, timeout=60, cwd=cwd, check=True
    )
    lines = done.stdout.decode("utf-8").split("\n")
    assert lines.pop() == "", "the last line was not ended"
    return [line.removesuffix("\r") for line in lines], done.stderr.decode("utf-8")
