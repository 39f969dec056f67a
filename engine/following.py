"""A game as a bot follows it that imports the rules: what the searching samples have in common.

It reads the referee's lines, keeps the position as a State and what is chosen of its options, and
minds the clock; the bot says how it begins a game and what it answers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeVar

from engine.bot_options import read_options
from engine.game import Move, State
from engine.games import GAMES

T = TypeVar("T")

LINE = 12
"""Moves that bots tell of the line that they expect."""
NODES = f"nodes int 0 {10**9} 0"
"""The option of those that search: how many nodes a move they look at; by the clock if it is 0."""
HORIZON = 25
"""Moves; a clock for the whole game is shared among no more, however long it may last."""
Stopwatch = Callable[[], float]
"""Tells the seconds that are gone."""


class Followed:
    """A game as the referee tells of it."""

    state: State
    """The position at hand."""
    moves: list[Move]
    """What led to it."""
    dice: Random
    """The dice by the seed that the referee gave: with it a bot plays the same game again."""
    stopwatch: Stopwatch
    """Tells the seconds charged for the present request."""
    options: Mapping[str, str]
    """The value of each of the bot's options."""

    def __init__(self, words: Sequence[str], options: Mapping[str, str] | None = None) -> None:
        """Begins with the words behind ``newgame``."""
        self.options = options or {}
        name, *rest = words
        self._keys = _keys_in(rest)
        options = {key: self._keys[key] for key in GAMES[name].options if key in self._keys}
        self.state = GAMES[name].variant(**options).initial()
        self.moves = []
        self.dice = Random(int(self._keys.get("seed", 0)))
        self.stopwatch = time.process_time
        self._seat = int(self._keys["you"]) - 1
        self._gone: set[str] = set()
        self._left = 0.0

    @property
    def nodes(self) -> int:
        """How many nodes a move it is told to look at, whatever the clock says; 0 if it is not."""
        return int(self.options.get("nodes", 0))

    def take_in(self, words: Sequence[str]) -> None:
        """Takes in what is new in the words behind ``go``."""
        start = words.index("moves") + 1
        keys, moves = _keys_in(words[:start]), words[start:]
        leavers = [gone.split("@") for gone in keys.get("out", "").split(",") if gone]
        for ply in range(len(self.moves), len(moves) + 1):
            for seat, left in leavers:
                if int(left) == ply and seat not in self._gone:
                    self._gone.add(seat)
                    self.state = self.state.retire(int(seat) - 1)
            if ply < len(moves):
                move = moves[ply].partition(":")[2]
                self.state = self.state.play(move)
                self.moves.append(move)
        self._left = int(keys["clocks"].split(",")[self._seat]) / 1000

    def moves_left(self, part: float) -> float:
        """How many moves of its own may be still to come: from 1 to `HORIZON`.

        Args:
            part: of the plies that the limit of the game still allows, how many are likely.
        """
        variant = self.state.variant
        return min(HORIZON, max(1.0, part * (variant.max_plies - len(self.moves)) / variant.seats))

    def seconds(self, *, most: float, margin: float, moves: float) -> float:
        """How long to think about a move, with a margin for all that is not thinking.

        Args:
            most: the part of what the clock has left that is never exceeded.
            margin: seconds less than that.
            moves: among how many moves a clock for the whole game is shared.
        """
        limit = most * self._left - min(margin, 0.4 * self._left)
        if "move" in self._keys:
            return limit
        return min(self._left / moves + 0.75 * int(self._keys.get("inc", 0)) / 1000, limit)

    def start_stopwatch(self, came: float, answered: float) -> None:
        """Begins to count what a request costs.

        Args:
            came: when it came, by `time.monotonic`.
            answered: when the last one was answered, by `time.process_time`.
        """
        if self._keys.get("clock") == "wall":
            self.stopwatch = lambda: time.monotonic() - came
        else:
            # On a busy machine, too: what is waited for a core is not held against anybody.
            self.stopwatch = lambda: time.process_time() - answered


def told(share: float, line: Sequence[Move]) -> str:
    """The ``#`` lines that say what a bot expects of its move.

    Args:
        share: what its side expects, from 0 to lose up to 1 to win.
        line: the moves that it expects, its own first.
    """
    return f"# eval {min(1.0, max(0.0, share)):.3f}\n# pv {' '.join(line[:LINE])}\n"


def _keys_in(words: Sequence[str]) -> dict[str, str]:
    """The words of the form ``key=value``."""
    return dict(word.split("=", 1) for word in words if "=" in word)


def follow(
    name: str,
    begin: Callable[[Followed], T],
    answer: Callable[[T], str],
    options: Sequence[str] = (),
) -> None:
    """Answers the referee until it says quit.

    Args:
        name: the bot's.
        begin: makes what the bot keeps for a game; thinking is free there.
        answer: the reply when it is the bot's turn, from what it keeps: ``move MOVE``, perhaps with
            a remark behind it, and with ``#`` lines before it.
        options: what can be chosen about it, in words: ``depth int 1 20 6``.
    """
    declared = read_options(options)
    chosen = {option: its.default for option, its in declared.items()}
    game: Followed | None = None
    answered = time.process_time()
    for line in sys.stdin:
        came = time.monotonic()
        verb, *words = line.split() or [""]
        if verb == "hello":
            lines = [f"# option {option.declaration}" for option in declared.values()]
            print(*lines, f"ready {name}", sep="\n", flush=True)
        elif verb == "set" and len(words) == 2:
            chosen[words[0]] = words[1]
        elif verb == "newgame":
            game = Followed(words, dict(chosen))
            game.start_stopwatch(came, answered)
            kept = begin(game)
            print("ok", flush=True)
        elif verb == "go" and game is not None:
            game.take_in(words)
            game.start_stopwatch(came, answered)
            print(answer(kept), flush=True)
        elif verb == "quit":
            return
        answered = time.process_time()
