"""Whatever sits in a seat during a game, and the ways in which it can fail.

A `BotError` is the bot's own fault: the referee turns it into a result. A `VoidGameError` is
ours (a broken host, a lost process that was not the bot's doing): the game never happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from engine.clock import Clock, TimeControl
from engine.game import Seat, State, Termination, Variant


class BotError(Exception):
    """A bot's own fault, in one sentence for its author."""

    termination: ClassVar[Termination]

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class StartError(BotError):
    """No ``ready`` or ``ok`` in time."""

    termination = Termination.START


class TimeForfeitError(BotError):
    """The clock, or the wall clock behind it, ran out."""

    termination = Termination.TIMEOUT


class CrashError(BotError):
    """The process ended or closed its output."""

    termination = Termination.CRASH


class MemoryForfeitError(BotError):
    """The process was killed at its memory limit."""

    termination = Termination.MEMORY


class ProtocolError(BotError):
    """Output that is unreadable, too long, or was not asked for."""

    termination = Termination.PROTOCOL


class VoidGameError(Exception):
    """Our own fault: the game does not count and is played again."""


@dataclass(frozen=True, slots=True)
class GameSetup:
    """What a player is told when a game begins."""

    variant: Variant
    seat: Seat
    time: TimeControl
    seed: int


class Turn(NamedTuple):
    """What a player is told when it is to move.

    A tuple, as `Choice` is: one is made at every ply, and a tuple is made in half the time.
    """

    state: State
    ply: int
    history: str
    """Every move so far as ``S:M S:M ...``, the opening included."""
    clocks: Sequence[Clock]
    out: Sequence[tuple[Seat, int]]
    """The seats that left by a fault, each with the ply before which it left."""
    clock: Clock
    """The clock of the player itself."""


class Choice(NamedTuple):
    """A player's answer: its move as it wrote it, and what the move cost."""

    move: str
    text: str = ""
    cpu_us: int = 0
    wall_us: int = 0
    values: Mapping[str, float] = {}
    """The numbers that it gave for this ply, by their keys."""
    waited_us: int = 0
    """How much of the wall time it waited for a core, as far as that is known."""
    tags: tuple[str, ...] = ()
    """The words by which it marked this ply."""
    pv: tuple[str, ...] = ()
    """The moves that it expects from here, its own first."""


@dataclass(frozen=True, slots=True)
class GameEnd:
    """How a game ended, as its players are told."""

    ranks: Sequence[int]
    scores: Sequence[float]
    termination: Termination


LogSoFar = Callable[[], str]
"""Puts a log together as it was at some moment; that takes its time, and any thread may do it."""


class Player(Protocol):
    """A seat's occupant. To play on with one that has left is a VoidGameError."""

    @property
    def isolation(self) -> str:
        """How it is kept from the rest of the machine, for the record."""

    @property
    def closed(self) -> bool:
        """Whether it has left for good, by a fault or by `close`."""

    def new_game(self, setup: GameSetup) -> None:
        """Takes its seat in a new game.

        Raises:
            BotError: it failed, and leaves.
            VoidGameError: we did.
        """

    def choose(self, turn: Turn) -> Choice:
        """Answers with a move; its legality is the referee's to judge.

        Raises:
            BotError, VoidGameError: as for `new_game`.
        """

    def end_turn(self) -> None:
        """Has no more to say to its last turn.

        Raises:
            BotError: it has, or failed otherwise, and leaves.
            VoidGameError: we failed.
        """

    def end_game(self, end: GameEnd) -> None:
        """Learns how the game ended."""

    def take_log(self) -> str:
        """What it logged since the last call, for its owner alone."""

    def log_so_far(self) -> LogSoFar:
        """What `take_log` would give now, which stays; it is not to think meanwhile."""

    def close(self, *, kill: bool = False) -> None:
        """Leaves, at once if ``kill``; safe to call twice."""
