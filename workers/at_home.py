"""Bots at home in a worker's matches: what a home worker has beside any other (`workers.home`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from engine.clock import ALLOWANCES as OF_BOXED
from engine.player import Choice, CrashError, GameSetup, Turn, VoidGameError
from engine.process import BotProcess
from engine.program import Program
from workers.home.program import GRACE_NS, HomeProgram

ALLOWANCES = replace(OF_BOXED, start_seconds=60.0, newgame_seconds=20.0)
"""A model is loaded, maybe, and the way is longer."""


AWAY_PAUSE = 0.2
"""Seconds between looks whether a bot is back."""


class AwayError(VoidGameError):
    """A bot at home is not connected: nobody's fault, and no job's."""


class AtHome(Protocol):
    """The bots that are connected to this worker."""

    def start(self, version: int) -> Program:
        """Starts a bot's program at its home.

        Raises:
            AwayError: it is away.
        """

    def connected(self) -> Mapping[int, int]:
        """The versions that are connected, each with how many games it takes at once."""

    @property
    def turns(self) -> AbstractContextManager[object]:
        """What a bot in a box holds while it thinks, since its match has no core of its own."""


class _Here:
    at_home: AtHome | None = None


def open_here(at_home: AtHome) -> None:
    """Has this worker play with bots at home from now on."""
    _Here.at_home = at_home


def here() -> AtHome | None:
    """The bots that are connected here; None for a worker whose bots are all in boxes."""
    return _Here.at_home


def demand() -> AtHome:
    """The bots that are connected here.

    Raises:
        VoidGameError: this is no home worker.
    """
    if _Here.at_home is None:
        raise VoidGameError("this worker has no bots at home")
    return _Here.at_home


class Starter:
    """Starts the programs of a bot at home in a match.

    That it is away when its match begins is nobody's fault, and the match is played another time.
    Once it has begun, it is given as long as in a game to come back, and then that is its own.
    """

    def __init__(self, version: int) -> None:
        self._version = version
        self._home = demand()
        self._has_begun = False

    def __call__(self) -> Program:
        """Starts a program at home, as soon as its bot can take one.

        Raises:
            AwayError: it is away, and its match has not begun.
            CrashError: it went away.
        """
        until = time.monotonic() + GRACE_NS / 1e9
        while True:
            try:
                started = self._home.start(self._version)
            except AwayError:
                if not self._has_begun:
                    raise
                if time.monotonic() > until:
                    raise CrashError("it went away, and did not come back") from None
                time.sleep(AWAY_PAUSE)
            else:
                self._has_begun = True
                return started


def boxed_player() -> Callable[..., BotProcess]:
    """What a bot in a box is in a match of this worker."""
    home = _Here.at_home
    return BotProcess if home is None else partial(TurnTaker, turns=home.turns)


class HomePlayer(BotProcess):
    """A player at home. Its clock is the wall's, whatever others are charged."""

    def new_game(self, setup: GameSetup) -> None:
        self.start()
        if self._channel and isinstance(self._channel.program, HomeProgram):
            self._channel.program.begin_game()
        super().new_game(replace(setup, time=replace(setup.time, charge="wall")))

    def choose(self, turn: Turn) -> Choice:
        clock = turn.clock
        by_wall = replace(clock, control=replace(clock.control, charge="wall"))
        choice = super().choose(turn._replace(clock=by_wall))
        # So that it is charged just this by the clock that its opponents' CPU time is charged to.
        return choice._replace(cpu_us=choice.wall_us)


class TurnTaker(BotProcess):
    """A boxed player of whom no more think at once than there are cores.

    Matches that wait for bots at home are many, and nobody's clock is to run while others think.
    """

    def __init__(self, *given: Any, turns: AbstractContextManager[object], **named: Any) -> None:
        super().__init__(*given, **named)
        self._turns = turns

    def new_game(self, setup: GameSetup) -> None:
        with self._turns:
            super().new_game(setup)

    def choose(self, turn: Turn) -> Choice:
        with self._turns:
            return super().choose(turn)
