"""Players for tests: scripted ones in this process, and real programs that misbehave to order."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.clock import TimeControl
from engine.game import Variant
from engine.games import GAMES
from engine.player import BotError, Choice, GameEnd, GameSetup, LogSoFar, Turn, VoidGameError
from engine.process import BotProcess
from engine.program import PlainProgram
from engine.record import GameRecord
from engine.referee import play_game

BOTS = Path(__file__).parents[1] / "bots"
SMALL = GAMES["clobber"].variant(size="4x3")
"""A game of some eight plies."""
PLENTY = TimeControl(move_ms=5000)
"""The time for bots whose time is not the point, on the busiest machine."""
SCRIPTED = [sys.executable, "-I", "-S", str(BOTS / "scripted.py")]
"""Started so, Python is up in a few hundredths of a second."""


def scripted_program(**events: str) -> PlainProgram:
    """tests/bots/scripted.py with this code at these events."""
    return PlainProgram([*SCRIPTED, *(f"{event}={code}" for event, code in events.items())])


StartBot = Callable[..., BotProcess]
"""What the fixture `start` is: a scripted bot of these events."""


class FirstMove:
    """Plays the first legal move, each at the same cost, and keeps what it was told."""

    isolation = "full"

    def __init__(self, *, cpu_us: int = 0, wall_us: int = 0) -> None:
        self.closed = False
        self.cost = (cpu_us, wall_us)
        self.setups: list[GameSetup] = []
        self.turns: list[Turn] = []
        self.ends: list[GameEnd] = []
        self.killed: bool | None = None

    def new_game(self, setup: GameSetup) -> None:
        assert not self.closed
        self.setups.append(setup)

    def choose(self, turn: Turn) -> Choice:
        assert not self.closed
        self.turns.append(turn)
        return Choice(turn.state.legal_moves()[0], "", *self.cost)

    def end_turn(self) -> None:
        assert not self.closed

    def end_game(self, end: GameEnd) -> None:
        assert not self.closed
        self.ends.append(end)

    def take_log(self) -> str:
        return f"{len(self.turns)} turns"

    def log_so_far(self) -> LogSoFar:
        return self.take_log

    def close(self, *, kill: bool = False) -> None:
        if not self.closed:
            self.killed = kill
        self.closed = True


class Scripted(FirstMove):
    """Plays what it is told, in order; an exception in the script is raised instead.

    It fails when it is asked for more than its script holds. `finish` complains of a rest.
    """

    def __init__(
        self, *script: str | Choice | BotError | VoidGameError, start: BotError | None = None
    ) -> None:
        super().__init__()
        self.script = deque(script)
        self.start = start

    def new_game(self, setup: GameSetup) -> None:
        super().new_game(setup)
        if self.start:
            raise self.start

    def choose(self, turn: Turn) -> Choice:
        assert not self.closed
        assert self.script, f"asked for a move at ply {turn.ply}; the script has no more"
        self.turns.append(turn)
        step = self.script.popleft()
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Choice) else Choice(step)

    def finish(self) -> None:
        assert not self.script, f"never asked for {list(self.script)}"


class Starts:
    """A `StartPlayer` that counts, and keeps every player that it made."""

    def __init__(self, make: Mapping[int, Callable[[], FirstMove]] | None = None) -> None:
        self.make = make or {}
        self.made: list[tuple[int, FirstMove]] = []

    def __call__(self, entrant: int) -> FirstMove:
        player = self.make.get(entrant, FirstMove)()
        self.made.append((entrant, player))
        return player


def play(bot: BotProcess, time: TimeControl = PLENTY, *, variant: Variant = SMALL) -> GameRecord:
    """A game of the bot in seat 1."""
    return play_game(variant, [bot, FirstMove()], time=time)
