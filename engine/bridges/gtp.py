"""GTP, the Go text protocol, with Pentobi's command ``set_game`` for games that have a name.

What colours and moves are called is the variant's to say (`engine.game.Dialect`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from engine.bot_options import BotOption
from engine.bridges.bot import READY_SECONDS, Request
from engine.bridges.foreign import BridgeError, Foreign, program_of
from engine.game import Dialect, Move, Variant
from engine.referee import RESIGN


class Gtp:
    """A program that speaks GTP."""

    def __init__(self, command: Sequence[str], first: Sequence[str] = ()) -> None:
        """Takes its command, and GTP commands to be sent before the first game."""
        self.program = program_of(command)
        self._command = command
        self._first = first
        self._foreign: Foreign | None = None
        self._dialect: Dialect | None = None
        self._played: list[Move] = []

    offered: Mapping[str, BotOption] = MappingProxyType({})  # GTP has no options

    def set(self, option: str, value: str) -> None:
        pass

    def start(self) -> str:
        self._foreign = Foreign(self._command)
        expected = time.monotonic() + READY_SECONDS
        name = self._do("name", expected)
        for command in self._first:
            self._do(command, expected)
        return name

    def new_game(self, variant: Variant) -> None:
        self._dialect = variant.dialect("gtp")
        if self._dialect is None:
            raise BridgeError(
                f"there is no translation to GTP for {variant}; its rules page says which there are"
            )
        if self._dialect.name:
            self._do(f"set_game {self._dialect.name}", time.monotonic() + READY_SECONDS)
        self._played = []

    def choose(self, request: Request) -> tuple[Move, dict[str, float]]:
        assert self._dialect is not None
        moves = list(request.moves)
        if moves[: len(self._played)] != self._played:
            self._do("clear_board", request.expected)
            self._played = []
        for ply in range(len(self._played), len(moves)):
            written = self._dialect.write(request.states[ply], moves[ply])
            self._do(f"play {written}", request.expected)
            self._played.append(moves[ply])
        whose = self._dialect.turn(request.state)
        answer = self._do(f"genmove {whose}", request.expected).lower()
        if answer == RESIGN:
            return RESIGN, {}
        move = self._dialect.read(request.state, answer)
        if request.state.is_legal(move):
            # It has played the move itself; we are told it again in our own spelling.
            self._played.append(request.state.canonical(move))
        return move, {}

    def close(self, *, politely: bool) -> None:
        if self._foreign:
            self._foreign.close("quit" if politely else None)

    def _do(self, command: str, expected: float) -> str:
        """Gives a command and returns the answer, which ends with an empty line.

        Raises:
            BridgeError: it was refused, or the program has ended.
        """
        assert self._foreign is not None
        verb = command.split()[0]
        self._foreign.say(command)
        lines: list[str] = []
        while True:
            line = self._foreign.hear(expected, f"answer to {verb!r}")
            if not line and lines:
                break
            if line:
                lines.append(line)
        answer = "\n".join(lines)
        if not answer.startswith("="):
            raise BridgeError(f"{self._foreign.name} refuses {command!r}: {answer[:80]!r}")
        return answer.removeprefix("=").strip()
