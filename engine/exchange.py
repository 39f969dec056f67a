"""The lines that a referee and a bot exchanged in a game, as they are kept with the bot's log.

Each is a line of the log's last section: the ply that it is of, its direction, and for a bot's how
many milliseconds after the question it came: ``17 > go 17 clocks=900,850 moves ...`` and
``17 < 12.3 ms: move a1a2``. The moves of a game are in its record, so they are left out, and
`whole` puts them back.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from engine.channel import HeadAndTail
from engine.protocol import without_control
from engine.record import Ply

HEADING = "--- lines exchanged ---\n"
"""What stands in a log before them."""
BEFORE, AFTER = -1, 10**9
"""The plies of what is said before a bot's first turn, and after the game."""
LONGEST_LINE = 500
"""Characters that are kept of a line."""
_WORDS = {BEFORE: "begin", AFTER: "end"}
_PLIES = {words: ply for ply, words in _WORDS.items()}
_LINE = re.compile(r"(\d{1,9}|begin|end) (?:(>)|(<) (\d{1,9}\.\d{1,3}) ms:) (.*)", re.ASCII)
_MOVES, _LEFT_OUT = " moves", " ..."


class ExchangedLine(NamedTuple):
    """A line that one said to the other."""

    ply: int
    """How many plies came before; or one of `BEFORE` and `AFTER`."""
    direction: str
    """``>`` to the bot, ``<`` from it."""
    text: str
    ms: float | None = None
    """How long after the question the bot said it; None for what it was told."""


class Exchange:
    """Keeps the lines that pass, the first and the last of them.

    Args:
        limit: of how many bytes.
    """

    def __init__(self, limit: int) -> None:
        self._kept = HeadAndTail(limit)
        self._asked = 0.0
        self.ply = BEFORE
        """The ply to which what passes now belongs."""

    def tell(self, direction: str, line: str) -> None:
        """Takes in a line that passes."""
        where = _WORDS.get(self.ply) or self.ply
        if direction == ">":
            self._asked = time.perf_counter()
            if line.startswith("go "):
                head, _, moves = line.partition(_MOVES)
                line = f"{head}{_MOVES}{_LEFT_OUT if moves else ''}"
            words = f"{where} > {_cut(line)}\n"
        else:
            ms = 1000 * (time.perf_counter() - self._asked)
            words = f"{where} < {ms:.2f} ms: {_cut(without_control(line))}\n"
        self._kept.add(words.encode())

    def so_far(self) -> Exchange:
        """What is kept now, apart from what passes later."""
        other = copy(self)
        other._kept = copy(self._kept)
        return other

    def take(self) -> str:
        """All that is kept, below its heading; then it is empty."""
        text = self._kept.take()
        return f"{HEADING}{text}" if text else ""


def _cut(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]}... ({len(line)} characters)"


def by_ply(section: str) -> dict[int, str]:
    """The lines of a log's section as they are kept, by the ply that they are of."""
    found: dict[int, str] = {}
    for line in section.split("\n"):
        if match := _LINE.fullmatch(line):
            ply = _ply(match[1])
            found[ply] = f"{found.get(ply, '')}{line}\n"
    return found


def _ply(words: str) -> int:
    return _PLIES[words] if words in _PLIES else int(words)


def read_lines(section: str) -> list[ExchangedLine]:
    """The lines of a log's section; what is none of them, as where it was cut, is left out."""
    found = []
    for match in map(_LINE.fullmatch, section.split("\n")):
        if match:
            ply, told, _, ms, text = match.groups()
            found.append(
                ExchangedLine(
                    _ply(ply),
                    told or "<",
                    text,
                    None if ms is None else float(ms),
                )
            )
    return found


def whole(line: ExchangedLine, plies: Sequence[Ply]) -> ExchangedLine:
    """A line with the moves that were left out.

    Args:
        plies: of the game.
    """
    head = line.text.removesuffix(_MOVES + _LEFT_OUT)
    if line.direction != ">" or head == line.text:
        return line
    moves = "".join(f" {ply.seat + 1}:{ply.move}" for ply in plies[: line.ply])
    return line._replace(text=f"{head}{_MOVES}{moves}")
