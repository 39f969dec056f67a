"""GTP, the Go text protocol, as Pentobi speaks it for Blokus.

Its games go by their names in Pentobi's files, its colours by numbers from 1 to 4, and a move by
the squares of the piece with commas between them: our own notation without the colour's name.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from arena.bridges.bot import READY_SECONDS, Request
from arena.bridges.foreign import BridgeError, Foreign
from engine.game import Move, Variant
from engine.referee import RESIGN

GAME_NAMES: Mapping[tuple[str, str], str] = {
    ("classic", "fixed"): "Blokus",
    ("duel", "fixed"): "Blokus Two-Player",
    ("trio", "fixed"): "Blokus Three-Player",
}
"""By our mode and corners. Pentobi's colours begin in corners of their own, and it has no teams."""
COLOURS = {"blue": "1", "yellow": "2", "red": "3", "green": "4"}
LETTERS = {colour[0]: colour for colour in COLOURS}


class Gtp:
    """A program that speaks GTP."""

    def __init__(self, command: Sequence[str], first: Sequence[str] = ()) -> None:
        """Takes its command, and GTP commands to be sent before the first game."""
        self._command = command
        self._first = first
        self._foreign: Foreign | None = None
        self._played: list[Move] = []

    def start(self) -> str:
        self._foreign = Foreign(self._command)
        expected = time.monotonic() + READY_SECONDS
        name = self._do("name", expected)
        for command in self._first:
            self._do(command, expected)
        return name

    def new_game(self, variant: Variant) -> None:
        options = variant.options
        key = (options.get("mode", ""), options.get("corners", ""))
        if variant.game != "blokus" or key not in GAME_NAMES:
            known = ", ".join(f"blokus mode={mode} corners={how}" for mode, how in GAME_NAMES)
            raise BridgeError(f"there is no translation to GTP for {variant}; there are: {known}")
        self._do(f"set_game {GAME_NAMES[key]}", time.monotonic() + READY_SECONDS)
        self._played = []

    def choose(self, request: Request) -> tuple[Move, dict[str, float]]:
        moves = list(request.moves)
        if moves[: len(self._played)] != self._played:
            self._do("clear_board", request.expected)
            self._played = []
        for move in moves[len(self._played) :]:
            colour, _, squares = move.partition(":")
            self._do(f"play {COLOURS[colour]} {squares}", request.expected)
            self._played.append(move)
        colour = LETTERS[request.state.text().split()[1]]
        answer = self._do(f"genmove {COLOURS[colour]}", request.expected).lower()
        if answer == RESIGN:
            return RESIGN, {}
        move = f"{colour}:{answer}"
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
