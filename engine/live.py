"""What a worker tells, ply by ply, of a match that somebody watches while it is played.

It goes to whoever listens just then, by a channel of the broker for each match, and is kept
nowhere; results never depend on it. A worker may be anybody: what is read here carries its lease,
is as long as a worker of ours would say, and is still to be replayed by the rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from engine.jobs import JobError, Lease
from engine.protocol import unsayable
from engine.record import Ply, RecordError, ply_of
from engine.reporting import LONGEST_MOVE, MOST_GAMES, MOST_MOVES

CHANNELS = "live."
"""With what the name of each channel begins."""
MOST_TOGETHER = 500
"""Plies in a message."""
LONGEST_MESSAGE = 4_000_000
"""Bytes."""
LONGEST_TEXT = 500
"""Characters that are told of what a bot said of a move."""


def channel_of(match: int) -> str:
    """The channel on which is told of a match."""
    return f"{CHANNELS}{match}"


@dataclass(frozen=True, slots=True)
class LivePlies:
    """Plies of a match under way, or none: then only how far it is."""

    lease: Lease
    game: int
    """Of the match, from 0."""
    again: int
    """How often that game was begun before, and was void."""
    first: int
    """How many plies the game had before these."""
    plies: tuple[Ply, ...] = ()

    def to_json(self) -> str:
        """The message as a text."""
        told = {
            "lease": self.lease.to_json(),
            "game": self.game,
            "again": self.again,
            "first": self.first,
            "plies": [_words(ply) for ply in self.plies],
        }
        return json.dumps(told, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: bytes) -> LivePlies:
        """The message that `to_json` wrote; what is too long is cut.

        Raises:
            JobError: it is none.
        """
        try:
            if len(text) > LONGEST_MESSAGE:
                raise ValueError("it is too long")
            data = json.loads(text)
            return cls(
                Lease.from_json(data["lease"]),
                _number(data["game"], MOST_GAMES),
                _number(data["again"], MOST_GAMES),
                _number(data["first"], MOST_MOVES),
                tuple(map(_ply, data["plies"][:MOST_TOGETHER])),
            )
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise JobError(f"no word of a running match: {str(error)[:200]!r}") from None


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
