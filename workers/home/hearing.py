"""When a link was silent, by the clock of this end alone.

A link is silent from when the last thing was heard, if something that was said to the other end is
not acknowledged in time, or the connection is lost; until something is heard again. Of times
between nobody knows more: a cable that is pulled tells nobody.
"""

from __future__ import annotations

from collections import deque

WAY_NS = 500_000_000
"""How long the way there and back may take before the link is silent; so much a move is free."""
REMEMBERED = 200
"""Silences that are over, the last ones: far more than a request meets."""


class Hearing:
    """What is known of a link. Numbers of messages only rise; times are of the monotonic clock."""

    def __init__(self, now: int) -> None:
        self.heard = now
        """When anything was last heard."""
        self._waiting: deque[tuple[int, int]] = deque()
        """The messages that are not acknowledged, and when each was said."""
        self._lost: int | None = now
        """The moment at which the connection was lost; None while there is one."""
        self._over: deque[tuple[int, int]] = deque(maxlen=REMEMBERED)

    def say(self, number: int, now: int) -> None:
        """A message is said, or waits to be."""
        self._waiting.append((number, now))

    def hear(self, got: int, now: int) -> None:
        """Something came, and the other end has the messages up to a number."""
        if (since := self.silent_since(now)) is not None:
            self._over.append((since, now))
        while self._waiting and self._waiting[0][0] <= got:
            self._waiting.popleft()
        # What waits was lost with the connection before, and is said again.
        if self._lost is not None or since is not None:
            self._waiting = deque((number, now) for number, _ in self._waiting)
        self.heard, self._lost = now, None

    def lose(self, now: int) -> None:
        """Takes in that the connection is lost."""
        if self._lost is None:
            since = self.silent_since(now)
            self._lost = now if since is None else since

    def skip(self, start: int, now: int) -> None:
        """This end did not run between two moments."""
        self._over.append((start, now))

    def silent_since(self, now: int) -> int | None:
        """The moment since which the link is silent; None if it is not."""
        if self._lost is not None:
            return self._lost
        if self._waiting and now - self._waiting[0][1] > WAY_NS:
            return self.heard
        return None

    def oldest(self) -> int | None:
        """The moment since which the oldest message waits that is not acknowledged."""
        return self._waiting[0][1] if self._waiting else None

    def silence(self, start: int, now: int) -> int:
        """How long it was silent between two moments."""
        spans = [*self._over]
        if (since := self.silent_since(now)) is not None:
            spans.append((since, now))
        return sum(max(0, min(end, now) - max(begin, start)) for begin, end in spans)
