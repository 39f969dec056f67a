"""One end of a link: messages that come once and in their order, over connections that break.

Theory of operation. Each end numbers what it says, and keeps it until the other end has said that
it has it. What travels is a parcel: up to which number its sender has heard, and the next messages
that it says. A link outlives its connections: on a new one both tell up to where they have heard,
and what lies behind is said again. What comes a second time is dropped by its number, and a number
that is not the next one is an error: so nothing is lost, doubled or taken out of turn, whatever
became of a connection, and whoever sends a thing twice is heard once.

That something was heard is told at once. So each end knows how long the way there and back is,
by its own clock alone.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

LONGEST_PARCEL = 1 << 20
"""Bytes of a parcel."""
FULL_PARCEL = 1 << 18
"""Bytes beyond which no message is added to one."""
MOST_KEPT = 10_000
"""Messages that wait until the other end has them; who takes none of so many is not there."""
Message = dict[str, Any]


class LinkError(ValueError):
    """What the other end sent is no parcel of this link; one sentence."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """What travels over a connection."""

    got: int
    """The number of the last message that its sender has heard; 0 for none."""
    first: int
    """The number of the first message in it, from 1."""
    says: tuple[Message, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The parcel as JSON's types."""
        return {"got": self.got, "first": self.first, "says": list(self.says)}

    @classmethod
    def from_json(cls, data: Any) -> Parcel:
        """The parcel that `to_json` wrote.

        Raises:
            LinkError: it is none.
        """
        if not isinstance(data, dict):
            raise LinkError("no parcel: it is no object")
        says = data.get("says")
        if not isinstance(says, list) or not all(isinstance(one, dict) for one in says):
            raise LinkError("no parcel: what it says is no list of objects")
        return cls(count_in(data, "got"), count_in(data, "first"), tuple(says))

    @classmethod
    def from_text(cls, text: str | bytes) -> Parcel:
        """The parcel of a text of JSON.

        Raises:
            LinkError: it is none.
        """
        return cls.from_json(read_json(text))


def read_json(text: str | bytes) -> Any:
    """What a text of JSON says.

    Raises:
        LinkError: it is none, or too long.
    """
    if len(text) > LONGEST_PARCEL:
        raise LinkError(f"a parcel has {LONGEST_PARCEL} bytes at most")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise LinkError("no parcel: it is no JSON") from None


def count_in(data: dict[str, Any], name: str) -> int:
    """A number from 0 in an object.

    Raises:
        LinkError: it is none.
    """
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise LinkError(f"no parcel: its {name!r} is no number")
    return value


class LinkEnd:
    """What one end has said and heard. For one thread at a time."""

    def __init__(self) -> None:
        self.said = 0
        """The number of the last message said."""
        self.got = 0
        """The number of the last message heard."""
        self._kept: deque[tuple[Message, int]] = deque()
        """The messages with the size of each."""
        self._sent = 0
        """The number up to which messages went into the present connection."""
        self._told = 0
        """The number up to which the other end was told that it was heard."""

    @property
    def taken(self) -> int:
        """The number of the last message that the other end is known to have."""
        return self.said - len(self._kept)

    def say(self, message: Message) -> int:
        """Keeps a message for the next parcel; returns its number.

        Raises:
            LinkError: the other end takes none.
        """
        if len(self._kept) >= MOST_KEPT:
            raise LinkError(f"the other end takes none of {MOST_KEPT} messages")
        self._kept.append((message, len(json.dumps(message))))
        self.said += 1
        return self.said

    def connect(self, got: int) -> None:
        """There is a new connection, on which the other end told up to where it has heard.

        Raises:
            LinkError: that was never said here.
        """
        self.rewind(got)
        self._told = -1

    def rewind(self, got: int) -> None:
        """What the other end has not heard is said again; errors as for `connect`."""
        self._drop(got)
        self._sent = self.taken

    def parcel(self) -> Parcel | None:
        """What is to be sent now, or the first of it, where it is much; None if nothing is."""
        if self._sent == self.said and self._told == self.got:
            return None
        says, room = list[Message](), FULL_PARCEL
        for message, size in islice(self._kept, self._sent - self.taken, None):
            if says and size > room:
                break
            says.append(message)
            room -= size
        first, self._sent, self._told = self._sent + 1, self._sent + len(says), self.got
        return Parcel(self.got, first, tuple(says))

    def take(self, parcel: Parcel) -> Sequence[Message]:
        """Takes a parcel in; returns the messages in it that are new.

        Raises:
            LinkError: it leaves some out, or has heard what was never said.
        """
        self._drop(parcel.got)
        if parcel.says and not 1 <= parcel.first <= self.got + 1:
            raise LinkError(f"message {parcel.first} came, and {self.got + 1} is the next one")
        new = parcel.says[self.got + 1 - parcel.first :] if parcel.says else ()
        self.got += len(new)
        if parcel.says and not new:
            self._told = -1  # it does not know yet that it was heard
        return new

    def _drop(self, got: int) -> None:
        """Keeps no more what the other end has."""
        if got > self.said:
            raise LinkError(f"it has heard message {got}, and {self.said} is the last one")
        while self.taken < got:
            self._kept.popleft()
