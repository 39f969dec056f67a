"""The bot's side of the arena's protocol, with another program behind it that chooses.

The rules are the engine's: a foreign program's answer is a move only if it is legal, and what it
must know of the game so far is told in its own protocol by an `Adapter`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from engine.bot_options import BotOption
from engine.bridges.foreign import BridgeError
from engine.clock import Charge, Clock, TimeControl
from engine.game import GameError, IllegalMoveError, Move, Seat, State, Variant
from engine.games import GAMES, find_variant
from engine.referee import RESIGN

READY_SECONDS = 9.5
"""When what the referee allows for ``hello``, as for ``newgame``, is nearly over."""
KEPT_MS, KEPT_OF_MOVE_MS = 50, 200
"""What is kept of a clock, for the way there and back, of which programs keep some themselves; and
of the time for one move, which they take to its end."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a foreign program."""

    variant: Variant
    states: Sequence[State]
    """The position before each move, and the present one."""
    moves: Sequence[Move]
    """All that were played."""
    time: TimeControl
    clocks_ms: Sequence[int]
    seat: Seat
    """Its own."""
    left_ms: int
    """What is left on its own clock."""
    expected: float
    """When the referee is about to lose patience, by `time.monotonic`."""

    @property
    def state(self) -> State:
        """The present position."""
        return self.states[-1]

    @property
    def move_ms(self) -> int:
        """A time for the move that leaves something for the way there and back."""
        kept = KEPT_MS if self.time.move_ms is None else KEPT_OF_MOVE_MS
        return max(1, self.left_ms - min(kept, self.left_ms // 3))


class Adapter(Protocol):
    """A foreign program, spoken to in its own protocol."""

    program: str
    """What its file is called."""

    @property
    def offered(self) -> Mapping[str, BotOption]:
        """What can be chosen about it by its own protocol, once it has started."""

    def start(self) -> str:
        """Starts it, and returns its name."""

    def set(self, option: str, value: str) -> None:
        """Something of what it offers is chosen."""

    def new_game(self, variant: Variant) -> None:
        """Takes in that a game begins.

        Raises:
            BridgeError: it can't play that.
        """

    def choose(self, request: Request) -> tuple[Move, dict[str, float]]:
        """Its move in the arena's notation, or ``resign``, and numbers for the ply."""

    def close(self, *, politely: bool) -> None:
        """Ends it: at once, or by its own word for that, which may take a moment."""


def run(adapter: Adapter, requests: Iterable[str], write: Callable[[str], None]) -> None:
    """Plays until the referee says ``quit``.

    Raises:
        BridgeError: it can't go on.
    """
    greeted = False
    game: _Game | None = None
    has_failed = True
    try:
        for request in requests:
            verb, _, rest = request.strip().partition(" ")
            if verb == "hello":
                name = adapter.start()
                for offered in adapter.offered.values():
                    write(f"# option {offered.declaration}")
                write(f"ready {'-'.join(name.split())[:80] or 'bridge'}")
                greeted = True
            elif verb == "set":
                option, _, chosen = rest.partition(" ")
                if option in adapter.offered:
                    adapter.set(option, chosen)
            elif verb == "newgame":
                if not greeted:
                    raise BridgeError("'newgame' came before 'hello'")
                game = _Game(rest)
                adapter.new_game(game.variant)
                write("ok")
            elif verb == "go":
                if game is None:
                    raise BridgeError("'go' came before 'newgame'")
                move, numbers = _ask(adapter, game.request(rest))
                for key, value in numbers.items():
                    write(f"# {key} {value:.10g}")
                write(f"move {move}")
            elif verb == "quit":
                break
        has_failed = False
    finally:
        # The referee's clock runs until it is told of a failure.
        adapter.close(politely=not has_failed)


def _ask(adapter: Adapter, request: Request) -> tuple[Move, dict[str, float]]:
    move, numbers = adapter.choose(request)
    if move != RESIGN:
        try:
            move = request.state.canonical(move)
        except IllegalMoveError as error:
            raise BridgeError(f"{adapter.program}'s answer is no move: {error}") from None
    return move, numbers


class _Game:
    """A game as the referee tells it.

    Positions are kept from one request to the next, which tells the whole game again: to play it
    anew each time would cost the program more of its clock with every move.
    """

    def __init__(self, text: str) -> None:
        name, *words = text.split() or [""]
        keys = _keys(words)
        with _reading(f"newgame {text}"):
            options = [f"{key}={keys[key]}" for key in GAMES[name].options if key in keys]
            self.variant = find_variant(name, options)
            self._seat = self._read_seat(keys["you"])
            charge: Charge = "wall" if keys.get("clock") == "wall" else "cpu"
            if "move" in keys:
                self.time = TimeControl(move_ms=int(keys["move"]), charge=charge)
            else:
                time_ms, inc_ms = int(keys["time"]), int(keys.get("inc", 0))
                self.time = TimeControl(time_ms=time_ms, inc_ms=inc_ms, charge=charge)
        self._moves: list[Move] = []
        self._out = ""
        self._states: Sequence[State] = ()
        """The position before each of the moves, and the last."""

    def request(self, text: str) -> Request:
        """What a line ``go PLY clocks=... [out=...] moves S:M ...`` asks for."""
        now = time.monotonic()
        head, _, tail = f"{text} ".partition(" moves ")
        keys = _keys(head.split())
        moves = [word.partition(":")[2] for word in tail.split()]
        with _reading(f"go {text}"):
            clocks = [int(clock) for clock in keys["clocks"].split(",")]
            states = self._positions(moves, keys.get("out", ""))
        if len(clocks) != self.variant.seats:
            raise BridgeError(f"{self.variant} has {self.variant.seats} clocks, not {len(clocks)}")
        left = clocks[self._seat]
        allowed = Clock(self.time, 1000 * left).wall_allowance_us / 1e6
        return Request(
            self.variant,
            states,
            moves,
            self.time,
            clocks,
            self._seat,
            left,
            now + 0.9 * allowed,
        )

    def _positions(self, moves: list[Move], out: str) -> Sequence[State]:
        gone = [word.partition("@") for word in out.split(",") if word]
        leavers = [(self._read_seat(seat), int(left)) for seat, _, left in gone]
        goes_on = (moves[: len(self._moves)], out) == (self._moves, self._out)
        states = [*self._states] if goes_on else []
        for ply in range(len(states), len(moves) + 1):
            state = states[-1].play(moves[ply - 1]) if ply else self.variant.initial()
            for seat, left in leavers:
                if left == ply:
                    state = state.retire(seat)
            states.append(state)
        self._moves, self._out, self._states = moves, out, states
        return states

    def _read_seat(self, word: str) -> Seat:
        seat = int(word) - 1
        if seat not in range(self.variant.seats):
            raise BridgeError(f"{self.variant} has no seat {seat + 1}")
        return seat


@contextmanager
def _reading(line: str) -> Iterator[None]:
    """Reads a line of the referee.

    Raises:
        BridgeError: it can't be read; it says why.
    """
    try:
        yield
    except GameError as error:
        raise BridgeError(str(error)) from None
    except KeyError as error:
        raise BridgeError(f"{error.args[0]}= is missing in {line[:60]!r}") from None
    except ValueError:
        raise BridgeError(f"a number is missing in {line[:60]!r}") from None


def _keys(words: Iterable[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words if "=" in word)
