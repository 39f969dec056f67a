"""UGI, the universal game interface, and UCI, from which it comes: for two seats.

A program is greeted in both, and the one that it answers is spoken. In UGI it is told our own
moves and position texts, and must know which game it plays; the usual start is ``startpos``,
others are written out. In UCI a game has the name of a variant, as Fairy-Stockfish has them, and
its moves are written as the variant says (`engine.game.Dialect`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from itertools import islice

from engine.bot_options import MOST_OPTIONS, BotOption, BotOptionError
from engine.bridges.bot import READY_SECONDS, Request
from engine.bridges.foreign import BridgeError, Foreign, program_of
from engine.following import NODES
from engine.game import Dialect, Move, Variant
from engine.games import GAMES

OPTION = re.compile(r"\s*option\s+name\s+(\S.*?)\s+type\b(.*)")
BOUND = re.compile(r"\b(min|max)\s+(-?[0-9]{1,20})\b")
"""One of more digits than a number may have that is set bounds nothing."""
NUMBERS = {
    "depth": re.compile(r"\bdepth (\d+)"),
    "nodes": re.compile(r"\bnodes (\d+)"),
    "cp": re.compile(r"\bscore cp (-?\d+)"),
}

BY_NODES = BotOption.read(NODES)
"""An option of the bridge: how many nodes a move the program looks at; by time if it is 0."""
OURS = frozenset({"uci_variant", "uci_chess960", "protocol", "ponder"})
"""Options of how the program is spoken to: the bridge's, and nobody else's to choose."""


def offered_as(name: str, said: str) -> BotOption | None:
    """An option of a program as a bot declares it; None of one that can't be told so.

    Args:
        said: the line of the option from its type on, without the word.
    """
    kind, _, rest = said.strip().partition(" ")
    head, *choices = re.split(r"\bvar\b", rest)
    value = f" {head} ".partition(" default ")[2]
    if kind == "spin":
        bounds = dict(BOUND.findall(head))
        value = BOUND.sub("", value)
        words = f"int {bounds.get('min')} {bounds.get('max')}"
    elif kind == "combo":
        words = f"choice {'|'.join(choice.strip() for choice in choices)}"
    else:
        words = {"check": "bool", "string": "text"}.get(kind, "")
    try:
        return BotOption.read(f"{re.sub(r'[^A-Za-z0-9_]', '_', name)} {words} {value}")
    except BotOptionError:
        return None


class Ugi:
    """A program that speaks UGI or UCI."""

    def __init__(self, command: Sequence[str], options: Mapping[str, str]) -> None:
        """Takes its command, and options to be set before the first game."""
        self.program = program_of(command)
        self._command = command
        self._options = options
        self._foreign: Foreign | None = None
        self._spoken = ""
        self._dialect: Dialect | None = None
        self._start = "startpos"
        self._nodes = 0
        self._offered: dict[str, tuple[str, BotOption]] = {}
        """The options, and what the program calls them, by the names that they have as a bot's."""

    @property
    def offered(self) -> Mapping[str, BotOption]:
        return {name: option for name, (_, option) in self._offered.items()}

    def set(self, option: str, value: str) -> None:
        if option == BY_NODES.name:
            try:
                self._nodes = int(BY_NODES.value(value))
            except BotOptionError as error:
                raise BridgeError(str(error)) from None
            return
        self._say(f"setoption name {self._offered[option][0]} value {value}")

    def start(self) -> str:
        self._foreign = foreign = Foreign(self._command)
        name = foreign.name
        # Either word is unknown to those who speak the other language, and ignored.
        self._say("ugi")
        self._say("uci")
        expected = time.monotonic() + READY_SECONDS
        known: dict[str, str] = {}
        while not self._spoken:
            line = foreign.hear(expected, "'ugiok' or 'uciok'")
            if line.startswith("id name "):
                name = line.removeprefix("id name ").strip()
            if option := OPTION.match(line):
                known[option[1]] = option[2]
            if line.strip() in ("ugiok", "uciok"):
                self._spoken = line.strip().removesuffix("ok")
        if BY_NODES.name not in self._options:
            self._offered[BY_NODES.name] = ("", BY_NODES)
        for key, value in self._options.items():
            if key == BY_NODES.name:
                self.set(key, value)
                continue
            self._demand_option(known, key, value)
            self._say(f"setoption name {key} value {value}")
        chosen = {key.lower() for key in self._options}
        for key, said in known.items():
            offer = offered_as(key, said)
            # The owner's choice stands.
            if offer and key.lower() not in chosen | OURS:
                self._offered.setdefault(offer.name, (key, offer))
        self._offered = dict(islice(self._offered.items(), MOST_OPTIONS))
        self._await_ready(expected)
        return name

    def new_game(self, variant: Variant) -> None:
        if variant.seats != 2:
            raise BridgeError(f"{self._spoken} is for two seats; {variant} has {variant.seats}")
        if self._spoken == "uci":
            self._dialect = variant.dialect("uci")
            if self._dialect is None:
                raise BridgeError(
                    f"no UCI variant is known for {variant}; its rules page says which"
                )
            if self._dialect.name:
                self._say(f"setoption name UCI_Variant value {self._dialect.name}")
            self._start = self._dialect.start
        elif variant != GAMES[variant.game].variant():
            self._start = f"fen {variant.initial().text()}"
        else:
            self._start = "startpos"
        self._say(f"{self._spoken}newgame")
        self._await_ready(time.monotonic() + READY_SECONDS)

    def choose(self, request: Request) -> tuple[Move, dict[str, float]]:
        assert self._foreign is not None
        written = request.moves
        if self._dialect:
            written = [
                self._dialect.write(state, move)
                for state, move in zip(request.states, request.moves, strict=False)
            ]
        moves = f" moves {' '.join(written)}" if written else ""
        self._say(f"position {self._start}{moves}")
        self._say(self._go(request))
        numbers: dict[str, float] = {}
        while True:
            words = self._foreign.hear(request.expected, "bestmove").split()
            if words[:1] == ["info"]:
                numbers |= _numbers(" ".join(words))
            elif words == ["bestmove"]:
                raise BridgeError(f"{self._foreign.name} answered 'bestmove' without a move")
            elif words[:1] == ["bestmove"]:
                read = self._dialect.read if self._dialect else None
                return read(request.state, words[1]) if read else words[1], numbers

    def close(self, *, politely: bool) -> None:
        if self._foreign:
            self._foreign.close("quit" if politely else None)

    def _go(self, request: Request) -> str:
        if self._nodes:
            return f"go nodes {self._nodes}"
        if request.time.move_ms is not None:
            return f"go movetime {request.move_ms}"
        clocks = list(request.clocks_ms)
        # Programs use all but some 10 ms of a clock that runs out.
        clocks[request.seat] = request.move_ms
        first, second = (max(1, clock) for clock in clocks)
        one, two = ("w", "b") if self._spoken == "uci" else ("p1", "p2")
        inc = request.time.inc_ms
        return f"go {one}time {first} {two}time {second} {one}inc {inc} {two}inc {inc}"

    def _demand_option(self, known: Mapping[str, str], key: str, value: str) -> None:
        """Refuses an option that the program lacks, or a number that it does not take.

        By UCI it would ignore it, or do what it likes.

        Args:
            known: what the program says of each of its options, by its name.

        Raises:
            BridgeError: it is none of these.
        """
        assert self._foreign is not None
        program, shown = self._foreign.name, value[:60]
        # Names are the same in any case.
        said = next((said for name, said in known.items() if name.lower() == key.lower()), None)
        if said is None:
            there = "it has none"
            if known:
                there = f"it has: {', '.join(known)}"
            raise BridgeError(f"{program} has no option {key[:60]!r}; {there}")
        if said.split()[:1] != ["spin"]:
            return
        if not re.fullmatch(r"-?[0-9]{1,20}", value):
            raise BridgeError(f"{program} takes a whole number as {key}, not {shown!r}")
        bounds = {word: int(number) for word, number in BOUND.findall(said)}
        if bounds.get("min", int(value)) > int(value):
            raise BridgeError(f"{program} takes at least {bounds['min']} as {key}, not {shown}")
        if bounds.get("max", int(value)) < int(value):
            raise BridgeError(f"{program} takes at most {bounds['max']} as {key}, not {shown}")

    def _say(self, line: str) -> None:
        assert self._foreign is not None
        self._foreign.say(line)

    def _await_ready(self, expected: float) -> None:
        assert self._foreign is not None
        self._say("isready")
        while self._foreign.hear(expected, "'readyok'").strip() != "readyok":
            pass


def _numbers(info: str) -> dict[str, float]:
    found = {key: pattern.search(info) for key, pattern in NUMBERS.items()}
    return {key: float(match[1]) for key, match in found.items() if match}
