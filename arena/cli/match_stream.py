"""A match under way as its stream tells it, here or elsewhere, replayed by the rules at hand.

The stream is the one that the site's own pages follow (`arena.live`). Of a game that is not
installed here, or is played by other rules, the moves alone are seen.
"""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.cli import InputError
from arena.cli.arguments import read_variant
from arena.cli.client import RemoteArena, ServerFault, told_json
from arena.ground.config import Settings
from engine.game import GameError, State, Variant
from engine.handover import hand_over
from engine.protocol import visible
from engine.record import Ply
from engine.translation import gettext, spoken
from engine.unix_sockets import connect_to

COME_BACK_SECONDS = 1.0
"""How long until a stream that broke is opened anew; each time that fails it takes longer."""
TIMES = 5
WAIT_SECONDS = 40.0
"""A stream that lives says so more often."""

Open = Callable[[str], AbstractContextManager[http.client.HTTPResponse]]
"""Opens the stream after an event, by its id; at the beginning of what is known without one."""


class StreamEvent(NamedTuple):
    """Something that a stream tells, as `arena.live.shows` has it."""

    kind: str
    data: Any


def here(settings: Settings, match: int) -> Open:
    """The stream of a match of this machine's arena."""

    @contextmanager
    def stream(after: str) -> Iterator[http.client.HTTPResponse]:
        letter = {"match": match, "after": after, "once": False, "client": "", "reads": []}
        letter["language"] = spoken().language
        own, others = socket.socketpair()
        with own:
            with others:
                try:
                    taker = connect_to(settings.live_socket, WAIT_SECONDS)
                except OSError:
                    words = gettext(
                        "nobody tells of running matches here: start the arena with arena up"
                    )
                    raise InputError(words) from None
                with closing(taker):
                    hand_over(others.fileno(), letter, taker)
            own.settimeout(WAIT_SECONDS)
            with http.client.HTTPResponse(own) as answer:
                answer.begin()
                yield answer

    return stream


def there(server: RemoteArena, match: int) -> Open:
    """The stream of a match of an arena elsewhere."""
    return lambda after: server.stream(f"/matches/{match}/stream", after, WAIT_SECONDS)


def events(stream: Open) -> Iterator[StreamEvent]:
    """What happens in a match, until it is over; a stream that breaks is taken up again.

    Raises:
        InputError: there is no such match.
        ServerFault: the stream can't be had, time and again.
    """
    seen, failures = "", 0
    while True:
        try:
            with stream(seen) as answer:
                for kind, at, text in _parts(answer):
                    seen, failures = at, 0
                    yield StreamEvent(kind, told_json(text))
                    if kind == "over":
                        return
            failures += 1
            fault = ServerFault(gettext("the stream of the match breaks off again and again"))
        except ServerFault as error:
            failures, fault = failures + 1, error
        except (OSError, http.client.HTTPException) as error:
            words = gettext("the stream broke off: %(error)s", error=visible(str(error), but=""))
            failures, fault = failures + 1, ServerFault(words)
        if failures > TIMES:
            raise fault
        time.sleep(COME_BACK_SECONDS * failures)


def _parts(answer: http.client.HTTPResponse) -> Iterator[tuple[str, str, bytes]]:
    """The events of a stream (Server-Sent Events, in the HTML standard): kind, id, data."""
    fields: dict[bytes, bytes] = {}
    while line := answer.readline():
        key, _, value = line.rstrip(b"\r\n").partition(b": ")
        if key:
            fields[key] = value
        elif b"data" in fields:
            kind, at = (
                fields.get(name, b"").decode("utf-8", "replace") for name in (b"event", b"id")
            )
            yield kind, at, fields[b"data"]
            fields = {}


@dataclass
class FollowedGame:
    """One play of a game of a match, as far as it is known."""

    number: int
    """The game's number in the match, from 1."""
    games: int
    """How many games the match has."""
    name: str
    """The name of the variant."""
    players: list[tuple[str, str]]
    """Each seat's name, and who sits there."""
    states: list[State] = field(default_factory=list)
    """The states after no ply, one and so on, as far as the rules at hand go; none of an unknown
    game."""
    plies: list[Ply] = field(default_factory=list)
    variant: Variant | None = None
    left: list[float] | None = None
    """Milliseconds on each seat's clock, after all plies."""
    result: str = ""
    """What came of it, once that is known."""

    @classmethod
    def begun(cls, data: Mapping[str, Any]) -> FollowedGame:
        """The game of which an event is the first."""
        players = [(str(seat), str(player)) for seat, player in data["players"]]
        game = cls(data["game"] + 1, data["games"], str(data["variant"]), players)
        try:
            game.variant = read_variant(game.name)
            game.states.append(game.variant.read(str(data["start"])))
        except GameError:
            pass
        return game

    def take(self, data: Mapping[str, Any]) -> None:
        """Takes in what is new in an event."""
        known = max(0, len(self.plies) - max(0, data["first"] - 1))
        for seat, move, cpu_us, text in data["moves"][known:]:
            ply = Ply(seat, str(move), cpu_us, text=str(text))
            self.plies.append(ply)
            if len(self.states) == len(self.plies):
                self._play(ply)
        self.left, self.result = data["left"], str(data["result"])

    def _play(self, ply: Ply) -> None:
        state = self.states[-1]
        try:
            while state.to_move not in (ply.seat, None):
                state = state.retire(state.to_move)  # it left the game
            self.states.append(state.play(ply.move))
        except GameError:
            pass  # other rules than those at hand


class FollowedMatch:
    """All that is known of a match under way."""

    def __init__(self) -> None:
        self.games: list[FollowedGame] = []
        """Every play of its games, the first first."""
        self.words = ""
        """How it stands, where no game tells."""
        self.is_over = False
        self._numbers: dict[tuple[int, int], FollowedGame] = {}

    def take(self, event: StreamEvent) -> None:
        """Takes in what a stream tells."""
        if event.kind in ("words", "over"):
            self.words, self.is_over = str(event.data), event.kind == "over"
        elif event.kind == "plies":
            data = event.data
            number = data["game"], data["again"]
            if data["first"] == 0 and number not in self._numbers:
                self._numbers[number] = FollowedGame.begun(data)
                self.games.append(self._numbers[number])
            if game := self._numbers.get(number):
                game.take(data)
