"""What the compliance tester speaks with: a channel that listens longer, and a game begun.

The channel says requests in any way that the protocol allows, and hears what is said unasked.
In the game the bot has one seat, and chance plays the others.
"""

from __future__ import annotations

import fcntl
import sys
import termios
import time as wall
from collections.abc import Callable
from random import Random
from typing import ClassVar

from engine import protocol
from engine.channel import Answer, HeadAndTail, TracedChannel
from engine.clock import Clock, Limit, TimeControl
from engine.game import IllegalMoveError, Seat, State, Termination, Variant
from engine.player import BotError, Choice, CrashError, GameEnd, ProtocolError, Turn
from engine.process import BotProcess
from engine.program import Program
from engine.referee import RESIGN

PAUSE_MS = 30
"""How long it listens whether anything is said unasked."""
READ_SECONDS = 1.0
"""How long it waits before that until the bot has read what was said, on a busy machine."""
SHORT_REQUEST = 4096
"""Bytes that surely go into a pipe at once."""

Dialect = Callable[[str], str]
"""Says a request in another way that the protocol allows."""


class PatientChannel(TracedChannel):
    """One that says requests in its dialect, and hears what is said unasked."""

    def __init__(
        self,
        program: Program,
        errors: HeadAndTail,
        tell: Callable[[str, str], None],
        dialect: Dialect,
    ) -> None:
        super().__init__(program, errors, tell)
        self._dialect = dialect
        self.wall_us = 0
        """How long the last reply took."""

    def ask(self, request: str, limit: Limit, *, then_stop: Limit | None = None) -> Answer:
        quiet, verb, rest = request.rpartition("go ") if "go " in request else ("", "", request)
        if 0 < len(quiet) <= SHORT_REQUEST:
            # What needs no answer comes by itself, so that an answer to it can be told.
            super().send(self._dialect(quiet))
            self.program.thaw()
            try:
                self._listen()
            except ProtocolError as error:
                raise ProtocolError(f"{error.detail}: only 'go' needs an answer") from None
            request = verb + rest
        answer = super().ask(self._dialect(request), limit)
        self.wall_us = answer.wall_us
        try:
            self._listen()
        except ProtocolError as error:
            raise ProtocolError(f"{error.detail}, after its reply {answer.line[:60]!r}") from None
        except CrashError:
            pass  # the reply comes first; the next request finds that nobody is there
        if then_stop:
            self.stop(then_stop)
        return answer

    def send(self, text: str) -> None:
        super().send(self._dialect(text))
        if text != protocol.QUIT:
            self._listen()

    def _listen(self) -> None:
        """Lets the bot read what it was told, and run on for a moment.

        Raises:
            ProtocolError: it said what nobody asked for.
            CrashError: it closed its output.
        """
        patience = wall.monotonic() + READ_SECONDS
        while self._is_unread() and wall.monotonic() < patience and not self._output.poll(1):
            self.program.look()
        end = wall.monotonic() + PAUSE_MS / 1000
        self.hear_out()
        while (left := end - wall.monotonic()) > 0:
            if self._output.poll(left * 1000):
                self.hear_out()

    def _is_unread(self) -> bool:
        """Whether anything lies in the pipe to the bot."""
        size = fcntl.ioctl(self.program.stdin, termios.FIONREAD, bytes(4))
        return int.from_bytes(size, sys.byteorder) > 0


class _IllegalError(BotError):
    """An answer that is no legal move."""

    termination: ClassVar[Termination] = Termination.ILLEGAL


class TestedGame:
    """A game of which the bot plays one seat, and chance the others."""

    def __init__(self, variant: Variant, time: TimeControl, seat: Seat, seed: int) -> None:
        self.time = time
        self.seat = seat
        self.asked_at = 0
        self.doubt = ""
        """What no page can show of all that the bot said of its moves; the first such thing."""
        self._state: State = variant.initial(seed)
        self._history: list[str] = []
        self._clocks = [Clock.start(time)] * variant.seats
        self._out: list[tuple[Seat, int]] = []
        self._dice = Random(seed)

    def copy(self) -> TestedGame:
        """The game as it stands."""
        copy = TestedGame(self._state.variant, self.time, self.seat, 0)
        copy._state, copy._history = self._state, list(self._history)
        copy._clocks, copy._out = list(self._clocks), list(self._out)
        return copy

    def to_seat(self) -> bool:
        """Lets the others play until the bot is to move; false if it never is."""
        while self._state.to_move not in (None, self.seat):
            self.play_random()
        return self._state.to_move is not None

    def turn(self) -> Turn:
        """What the bot is told now."""
        ply, history = len(self._history), " ".join(self._history)
        mine = self._clocks[self.seat]
        return Turn(self._state, ply, history, tuple(self._clocks), tuple(self._out), mine)

    def ask(self, player: BotProcess) -> Choice | None:
        """The bot's next move, played; None when the game is over.

        Raises:
            BotError: a fault of the bot.
        """
        if not self.to_seat():
            return None
        self.asked_at = len(self._history)
        choice = player.choose(self.turn())
        self._clocks[self.seat] = self._clocks[self.seat].after(
            choice.cpu_us, choice.wall_us, choice.waited_us
        )
        if choice.move == RESIGN:
            self.leave(self.seat)
            return choice
        self.doubt = self.doubt or doubt(self._state, choice)
        try:
            self._play(self._state.canonical(choice.move))
        except IllegalMoveError as error:
            raise _IllegalError(str(error)) from None
        return choice

    def play_random(self) -> None:
        """Plays any move for whoever is to move."""
        if codes := self._state.codes():
            self._play(self._state.word(codes[int(self._dice.random() * len(codes))]))

    def leave(self, seat: Seat) -> bool:
        """Lets a seat leave by a fault; whether the others play on."""
        self._out.append((seat, len(self._history)))
        self._state = self._state.retire(seat)
        return self._state.to_move is not None

    def finish(self) -> GameEnd:
        """Ends the game where it stands, by resignations if need be."""
        state, cause = self._state, self._state.ending()
        while state.to_move is not None:
            state, cause = state.retire(state.to_move), Termination.RESIGN
        return GameEnd(state.ranks(), state.scores(), cause or Termination.RESIGN)

    def _play(self, move: str) -> None:
        self._history.append(f"{(self._state.to_move or 0) + 1}:{move}")
        self._state = self._state.play(move)


def doubt(state: State, choice: Choice) -> str:
    """What is wrong with the share and the line that a bot says of its move; empty if nothing is.

    It is no fault, for nothing but pages that show them goes by them.
    """
    value = choice.values.get("eval")
    if value is not None and protocol.share(choice.values) is None:
        return f"its eval {value:g} is no share from 0 to 1, so it is drawn as any other number"
    for number, move in enumerate(choice.pv, start=1):
        try:
            move = state.canonical(move)
            if number == 1 and move != state.canonical(choice.move):
                return f"its pv begins with {move}, and it plays {choice.move}"
            state = state.play(move)
        except IllegalMoveError as error:
            return f"move {number} of its pv is shown to nobody: {error}"
    return ""


def with_unknown_keys(request: str) -> str:
    """Keys of a later version, and those of this one in another order."""
    words = request.split()
    if words[0] == "newgame":
        return " ".join([*words[:2], "weather=fine", *reversed(words[2:])]) + "\n"
    if words[0] == "end":
        return " ".join([words[0], "weather=bad", *reversed(words[1:])]) + "\n"
    head, go, tail = request.rpartition("go ")
    return head + go + tail.replace(" moves", " weather=fair moves", 1) if go else request


def with_crlf(request: str) -> str:
    """Lines that end as on Windows."""
    return request.replace("\n", "\r\n")
