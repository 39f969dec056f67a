"""The kit for bots in Python: write `choose`, and this file speaks the protocol for you.

Copy it beside your bot; it needs Python 3.8 or later and nothing else. A whole bot:

    from random import Random
    from arena_bot import Bot, Game, Position

    class MyBot(Bot):
        def new_game(self, game: Game) -> None:
            self.dice = Random(game.seed)

        def choose(self, position: Position) -> str:
            return self.dice.choice(position.legal)

    if __name__ == "__main__":
        MyBot().run()

`print` is safe in a bot made with it: what you print goes to standard error, which is kept for
you, and never in between the lines of the protocol. An exception ends the bot, and with it the
game; its traceback is on standard error too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

LONGEST_LINE = 4096
"""Bytes of a line that the referee reads."""
LONGEST_LOG = 60_000
"""Bytes of ``#`` lines that we send a ply; the referee takes 64 KiB."""

_NOT_OPTIONS = ("seats", "you", "time", "inc", "move", "clock", "seed")


@dataclass(frozen=True)
class Game:
    """What is known when a game begins."""

    name: str
    """Which game, e.g. ``clobber``."""
    options: Mapping[str, str]
    """The options of its variant, e.g. ``{"size": "6x7"}``."""
    seats: int
    you: int
    """Your seat, counted from 1."""
    seed: int
    """The seed of your own dice: with it a bot plays the same game again."""
    time_ms: int | None
    """Your clock at the beginning, if the game has clocks."""
    inc_ms: int
    """What your clock gains with every move."""
    move_ms: int | None
    """The time for each move, if that is fixed."""
    wall: bool
    """Whether wall time is charged, and not the CPU time of your process."""


@dataclass(frozen=True)
class Position:
    """What is known when it is your turn."""

    game: Game
    ply: int
    """How many moves were played."""
    moves: Sequence[tuple[int, str]]
    """All of them, each with its seat."""
    out: Mapping[int, int]
    """The seats that left the game by a fault, each with the ply before which it left."""
    clocks_ms: Sequence[int]
    """What is left on every seat's clock, seat 1 first."""
    legal: Sequence[str] = ()
    """The legal moves, if you want them."""
    state: str = ""
    """The position text, if you want it."""
    used: Callable[[], float] = field(default=lambda: 0.0, repr=False)
    """Tells the seconds that this move has cost you so far."""

    @property
    def left(self) -> float:
        """Seconds that are left on your clock now."""
        return self.clocks_ms[self.game.you - 1] / 1000 - self.used()

    @property
    def budget(self) -> float:
        """A sensible number of seconds for this move in all, with a margin for surprises.

        Think while ``position.used() < position.budget``.
        """
        left = self.clocks_ms[self.game.you - 1] / 1000
        margin = 0.02 + left / 20
        if self.game.move_ms is not None:
            return max(0.0, left - margin)
        return max(0.0, min(left / 30 + 0.8 * self.game.inc_ms / 1000, left - margin))


@dataclass(frozen=True)
class End:
    """How a game ended."""

    ranks: Sequence[int]
    """Every seat's rank: 1 is best, ties share a rank."""
    scores: Sequence[float]
    cause: str
    """``normal``, or one of the other words of the protocol's page."""


class Bot:
    """A bot. Write `choose`, and `new_game` and `game_over` where you need them."""

    name = "bot"
    want: Sequence[str] = ("legal",)
    """What you want to be told before each move: ``legal``, ``state``, both, or nothing."""

    declares: Mapping[str, str] = {}
    """What can be chosen about your bot, as ``{"depth": "int 1 20 6"}``: a name with its kind, the
    bounds or the choices, and what it is if nobody chooses (see the protocol's page)."""
    options: Mapping[str, Any] = {}
    """What was chosen of that, or is so by default: known when a game begins."""

    # What `run` keeps. There is no __init__, so that yours need not call it.
    _out: BinaryIO
    _noted = 0
    _cpu = 0.0
    _wall: float | None = None

    def new_game(self, game: Game) -> None:
        """A game begins; it may be the second in this process. You have ten seconds."""

    def choose(self, position: Position) -> str:
        """Your move; behind it, after a space, there may be a remark for the replay."""
        raise NotImplementedError("write the method choose(self, position) of your bot")

    def game_over(self, end: End) -> None:
        """Is told that the game has ended; does nothing by itself."""

    def log(self, text: str) -> None:
        """Writes to the log of this game, which only you can read.

        Two words of which the second is a number are taken for `number`.
        """
        for line in text.splitlines():
            self._note(f"# {line}")

    def number(self, key: str, value: float) -> None:
        """Gives a number for this ply, drawn as a chart beside the replay.

        A key has at most 32 letters, digits, ``_``, ``.`` and ``-``, a letter first.
        """
        self._note(f"# {key} {value:.10g}")

    def expect(self, share: float, line: Sequence[str] = (), depth: float | None = None) -> None:
        """Says what you expect of this ply; pages show it beside the board.

        The share is your side's: 1 to win, 0 to lose, a half for a draw. The line has the moves
        that you expect, your own first; the depth is how many plies you looked ahead.
        """
        self.number("eval", share)
        if depth is not None:
            self.number("depth", depth)
        if line:
            self._note(f"# pv {' '.join(line)}")

    def tag(self, word: str) -> None:
        """Marks this ply, and by it the game, with a word by which it is found again.

        A word is as a key of `number`.
        """
        self._note(f"# tag {word}")

    def run(self) -> None:
        """Plays until the referee says ``quit``. Print nothing before you call it."""
        self._out = sys.stdout.buffer
        sys.stdout = sys.stderr
        self._rest()
        options = {name: _value(words, words.split()[-1]) for name, words in self.declares.items()}
        self.options = options
        game: Game | None = None
        told: dict[str, str] = {}
        for line in sys.stdin:
            if self._wall is None:
                self._wall = time.monotonic()
            verb, _, rest = line.strip().partition(" ")
            if verb == "hello":
                for name, words in self.declares.items():
                    self._write(f"# option {name} {words}")
                want = f" want={','.join(self.want)}" if self.want else ""
                self._reply(f"ready {self.name}{want}")
            elif verb == "newgame":
                game = _read_game(rest)
                self.new_game(game)
                self._reply("ok")
            elif verb in ("legal", "state"):
                told[verb] = rest
            elif verb == "set":
                name, _, value = rest.partition(" ")
                options[name] = _value(self.declares.get(name, "text"), value)
            elif verb == "go" and game is not None:
                position = _read_turn(game, rest, told, self._stopwatch(game))
                self._reply(f"move {self.choose(position)}")
            elif verb == "end":
                self.game_over(_read_end(rest))
            elif verb == "quit":
                return

    def _rest(self) -> None:
        """Counts, between two requests, CPU time from here on, and wall time from the next line."""
        self._noted = 0
        self._cpu = time.process_time()
        self._wall = None

    def _stopwatch(self, game: Game) -> Callable[[], float]:
        clock, start = time.process_time, self._cpu
        if game.wall and self._wall is not None:
            clock, start = time.monotonic, self._wall
        return lambda: clock() - start

    def _reply(self, text: str) -> None:
        self._write(text)
        self._rest()

    def _note(self, text: str) -> None:
        self._noted += 1 + len(text.encode("utf-8", "replace")[:LONGEST_LINE])
        if self._noted <= LONGEST_LOG:
            self._write(text)

    def _write(self, text: str) -> None:
        """Writes one line, whatever is in the text, and no longer than the referee reads."""
        line = " ".join(text.splitlines()).encode("utf-8", "replace")
        self._out.write(line[:LONGEST_LINE].decode("utf-8", "ignore").encode() + b"\n")
        self._out.flush()


def _keys(words: Iterable[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words if "=" in word)


def _value(declared: str, text: str) -> Any:
    """The value of an option that is declared as ``int 1 20 6`` or so."""
    kind = declared.partition(" ")[0]
    if kind == "bool":
        return text == "true"
    return int(text) if kind == "int" else float(text) if kind == "float" else text


def _read_game(text: str) -> Game:
    """The game of a line ``newgame GAME key=value ...``."""
    name, *words = text.split()
    keys = _keys(words)
    options = {key: value for key, value in keys.items() if key not in _NOT_OPTIONS}
    # In the Siege the number of seats is an option, too: then it is said twice.
    if sum(word.startswith("seats=") for word in words) > 1:
        options["seats"] = keys["seats"]
    return Game(
        name=name,
        options=options,
        seats=int(keys["seats"]),
        you=int(keys["you"]),
        seed=int(keys.get("seed", 0)),
        time_ms=int(keys["time"]) if "time" in keys else None,
        inc_ms=int(keys.get("inc", 0)),
        move_ms=int(keys["move"]) if "move" in keys else None,
        wall=keys.get("clock") == "wall",
    )


def _read_turn(
    game: Game, text: str, told: Mapping[str, str], used: Callable[[], float]
) -> Position:
    """The position of a line ``go PLY clocks=... [out=...] moves S:M ...``."""
    head, _, tail = f"{text} ".partition(" moves ")
    ply, *words = head.split()
    keys = _keys(words)
    moves = [word.partition(":") for word in tail.split()]
    gone = [word.partition("@") for word in keys.get("out", "").split(",") if word]
    return Position(
        game=game,
        ply=int(ply),
        moves=[(int(seat), move) for seat, _, move in moves],
        out={int(seat): int(left) for seat, _, left in gone},
        clocks_ms=[int(clock) for clock in keys["clocks"].split(",")],
        legal=told.get("legal", "").split(),
        state=told.get("state", ""),
        used=used,
    )


def _read_end(text: str) -> End:
    """The end of a line ``end ranks=... scores=... cause=...``."""
    keys = _keys(text.split())
    return End(
        ranks=[int(rank) for rank in keys["ranks"].split(",")],
        scores=[float(score) for score in keys["scores"].split(",")],
        cause=keys["cause"],
    )
