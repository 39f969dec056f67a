"""What a worker tells, ply by ply, of a match that somebody watches while it is played.

It goes to whoever listens just then, by a channel of the broker for each match, and is kept
nowhere; results never depend on it. What bots log has a channel of its own, to which the arena
listens only while somebody watches who may read it. A worker may be anybody: what is read here
carries its lease, is as long as a worker of ours would say, and is still to be replayed by the
rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from engine import bot_logs, exchange
from engine.game import MOST_SEATS
from engine.jobs import JobError, Lease
from engine.protocol import unsayable
from engine.record import Ply, RecordError, ply_of
from engine.reporting import LONGEST_MOVE, MOST_GAMES, MOST_MOVES

CHANNELS = "live."
"""The beginning of the name of each channel."""
MOST_TOGETHER = 500
"""Plies in a message."""
LONGEST_MESSAGE = 4_000_000
"""Bytes."""
LONGEST_TEXT = 500
"""Characters that are told of what a bot said of a move."""
LONGEST_LOG = 64 * 1024
"""Characters that are told of what one seat's bot logged in a game, and of the lines exchanged with
it: its newest plies'."""
LONGEST_OF_PLY = 8 * 1024
"""How many of these are told of one ply: its beginning."""
LOGS = ".log"
"""The end of the name of a channel for logs."""


def channel_of(match: int) -> str:
    """The channel on which is told of a match."""
    return f"{CHANNELS}{match}"


def log_channel_of(match: int) -> str:
    """The channel on which is told what the bots of a match log."""
    return f"{CHANNELS}{match}{LOGS}"


@dataclass(frozen=True, slots=True)
class LiveWord:
    """Something that is told of a game of a match under way."""

    lease: Lease
    game: int
    """The game's number in the match, from 0."""
    again: int
    """How often that game was begun before, and was void."""

    def _text(self, **more: Any) -> str:
        told = {"lease": self.lease.to_json(), "game": self.game, "again": self.again, **more}
        return json.dumps(told, separators=(",", ":"))


Word = TypeVar("Word", bound=LiveWord)


def _read(text: bytes, make: Callable[[tuple[Lease, int, int], Any], Word]) -> Word:
    """The word that is made of what every one has, and of all of its message."""
    try:
        if len(text) > LONGEST_MESSAGE:
            raise ValueError("it is too long")
        data = json.loads(text)
        game, again = _number(data["game"], MOST_GAMES), _number(data["again"], MOST_GAMES)
        return make((Lease.from_json(data["lease"]), game, again), data)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise JobError(f"no word of a running match: {str(error)[:200]!r}") from None


@dataclass(frozen=True, slots=True)
class LivePlies(LiveWord):
    """Plies of a match under way, or none: then only how far it is."""

    first: int
    """How many plies the game had before these."""
    plies: tuple[Ply, ...] = ()

    def to_json(self) -> str:
        """The message as a text."""
        return self._text(first=self.first, plies=[_words(ply) for ply in self.plies])

    @classmethod
    def from_json(cls, text: bytes) -> LivePlies:
        """The message that `to_json` wrote; what is too long is cut.

        Raises:
            JobError: it is none.
        """

        def make(its: tuple[Lease, int, int], data: Any) -> LivePlies:
            plies = tuple(map(_ply, data["plies"][:MOST_TOGETHER]))
            return cls(*its, _number(data["first"], MOST_MOVES), plies)

        return _read(text, make)


@dataclass(frozen=True, slots=True)
class LiveLog(LiveWord):
    """What the bot in a seat has logged at some plies of a game under way, or nothing."""

    seat: int
    texts: Mapping[int, str] = field(default_factory=dict)
    """The texts by how many plies came before; -1 is for what is of none."""
    exchanged: Mapping[int, str] = field(default_factory=dict)
    """The lines exchanged with it, likewise, as `engine.exchange` keeps them."""

    def to_json(self) -> str:
        """The message as a text."""
        texts, exchanged = list(self.texts.items()), list(self.exchanged.items())
        return self._text(seat=self.seat, texts=texts, exchanged=exchanged)

    @classmethod
    def from_json(cls, text: bytes) -> LiveLog:
        """The message that `to_json` wrote; what is too long is cut.

        Raises:
            JobError: it is none.
        """

        def make(its: tuple[Lease, int, int], data: Any) -> LiveLog:
            # Workers of the release before tell of no lines.
            texts, exchanged = _texts(data["texts"]), _texts(data.get("exchanged", []))
            return cls(*its, _number(data["seat"], MOST_SEATS - 1), texts, exchanged)

        return _read(text, make)


def _texts(told: Any) -> dict[int, str]:
    texts = {_number(ply + 1, MOST_MOVES + 1) - 1: words for ply, words in told}
    if not all(type(words) is str for words in texts.values()):
        raise ValueError("what was logged is no text")
    return newest(texts)


def newest(texts: Mapping[int, str]) -> dict[int, str]:
    """What is told of what was logged at each ply: the beginning of each, and the last of them."""
    kept: dict[int, str] = {}
    room = LONGEST_LOG
    for ply in sorted(texts, reverse=True):
        words = texts[ply]
        if len(words) > LONGEST_OF_PLY:
            words = f"{words[:LONGEST_OF_PLY]}\n[... the rest when the match is over ...]\n"
        room -= len(words)
        if room < 0:
            break
        kept[ply] = words
    return kept


def logged(log: str) -> tuple[dict[int, str], dict[int, str]]:
    """What is told of a log so far, by plies: what the bot wrote, and the lines exchanged."""
    lines = bot_logs.exchanged_by_ply(log)
    lines.pop(exchange.AFTER, None)  # by then the match is over
    return newest(bot_logs.by_ply(log)), newest(lines)


def in_parts(
    lease: Lease, game: int, again: int, plies: Sequence[Ply], first: int
) -> Iterator[LivePlies]:
    """What there is to tell of a game after so many plies, as messages that are not too long.

    The plies may grow meanwhile; those that are there now are told.
    """
    last = len(plies)
    while first < last:
        part = tuple(islice(plies, first, min(first + MOST_TOGETHER, last)))
        yield LivePlies(lease, game, again, first, part)
        first += len(part)


def _number(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{str(value)[:40]!r} is no number of a game or a ply")
    return value


def _words(ply: Ply) -> list[Any]:
    said = ply.text[:LONGEST_TEXT], dict(ply.values), list(ply.tags), list(ply.pv)
    return [f"{ply.seat + 1}:{ply.move}", ply.cpu_us, ply.wall_us, ply.waited_us, *said]


def _ply(words: Any) -> Ply:
    word, cpu_us, wall_us, waited_us, text, values, tags, pv = words
    for time in (cpu_us, wall_us, waited_us):
        if time is not None and not (type(time) is int and 0 <= time < 2**63):
            raise RecordError(f"{str(time)[:40]!r} is no time in microseconds")
    ply = ply_of(word, cpu_us, wall_us, text, values, waited_us, tags, pv)
    if what := "make such a move" if len(word) > LONGEST_MOVE else unsayable(ply):
        raise RecordError(f"no bot can {what}")
    return ply._replace(text=ply.text[:LONGEST_TEXT])
