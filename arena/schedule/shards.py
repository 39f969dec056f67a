"""Which competitions are whose, where several recorders record: those of the shards that each has.

An arena whose results are too many for one recorder is divided into shards (`ARENA_SHARDS`). A
competition is of the shard that the remainder of its number says; what is of no competition, such
as checks of bots or moves against people, is of the first. So one recorder at a time records in a
competition, makes its matches and rolls them back, and the order of its results is what it always
was.

The workers are everybody's. Each recorder sees by the database how much they have, and says there
what it would still give them if there were room (`Bid`): so those of another shard take no
place from what goes before all new matches, and whose turn it is is decided among all
competitions as if there were one recorder, but for a lead of some matches, so that they need not
take turns one by one. Who leaves a turn to another has it woken, and a bid that is old is not
waited for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Mark

COUNT_MARK = "shards"
MOST_SHARDS = 64
GOOD = timedelta(seconds=10)
"""How long a bid is waited for that was not said again."""
AGAIN = timedelta(seconds=2)
"""How long until a bid is said again that is still the same."""


class Right(NamedTuple):
    """What decides whose turn it is among the competitions of a kind."""

    urgency: int
    seconds: float
    """The workers' time for it, by its weight."""
    since: float
    """When its last match was made, in seconds of Unix time."""
    needs: str = ""
    """What workers need to play it, in words (`arena.schedule.needs`)."""
    step: float = 0.0
    """How much a match more raises its seconds."""

    def after(self, matches: float) -> Right:
        """The right that it has after so many more matches."""
        return self._replace(seconds=self.seconds + matches * self.step)

    @property
    def place(self) -> tuple[int, float, float]:
        """Its place in the order of turns: the least goes first."""
        return self.urgency, self.seconds, self.since

    @property
    def share(self) -> tuple[float, float]:
        """What decides among those of all kinds."""
        return self.seconds, self.since


@dataclass(frozen=True, slots=True)
class Bid:
    """What a recorder would still give to workers if there were room."""

    turns: int = 0
    """How many jobs of those that go before new matches."""
    firsts: Mapping[str, Right] = field(default_factory=dict)
    """The right of the competition of each kind whose turn it would be, if a match can be made
    there."""


NOTHING = Bid()


class Elsewhere(NamedTuple):
    """The right of a competition of another shard."""

    shard: int
    kind: str
    right: Right


@dataclass(slots=True)
class Shards:
    """Those that a recorder has, of all; by default the only one there is.

    What it said last is kept, and so is whom it has to wake.
    """

    count: int = 1
    held: frozenset[int] = frozenset({0})
    to_wake: set[int] = field(default_factory=set)
    """Those to whose recorders a turn was left since they were last woken."""
    _said: tuple[Bid, datetime] | None = None

    @property
    def is_first(self) -> bool:
        """Whether it has what is of no competition."""
        return 0 in self.held

    @property
    def is_all(self) -> bool:
        """Whether there is no other recorder beside it."""
        return len(self.held) == self.count

    def of(self, competition: int) -> int:
        """The shard of a competition, by its id."""
        return competition % self.count

    def has(self, competition: int) -> bool:
        """Whether a competition is of one of those held, by its id."""
        return self.of(competition) in self.held

    def having(self, competition: sa.SQLColumnExpression[int]) -> sa.ColumnElement[bool]:
        """The condition that a competition is of one of those held."""
        return sa.true() if self.is_all else (competition % self.count).in_(sorted(self.held))

    def others(self, session: Session, now: datetime) -> dict[int, Bid]:
        """What the recorders of other shards say that they would do."""
        if self.is_all:
            return {}
        keys = {_key(shard): shard for shard in range(self.count) if shard not in self.held}
        rows = session.execute(sa.select(Mark.key, Mark.value).where(Mark.key.in_(keys))).all()
        found = {}
        for key, value in rows:
            bid, at = _read(value)
            if bid != NOTHING and abs(now - at) <= GOOD:
                found[keys[key]] = bid
        return found

    def is_due(self, now: datetime) -> bool:
        """Whether it said long ago what it would do."""
        return self._said is None or abs(now - self._said[1]) >= AGAIN

    def say(self, session: Session, bid: Bid, now: datetime) -> None:
        """Says what this one would do."""
        if self._said is not None and self._said[0] == bid and not self.is_due(now):
            return
        first, *more = sorted(self.held)
        session.merge(Mark(key=_key(first), value=_written(bid, now)))
        for shard in more if self._said is None else ():  # what the one before has said
            session.merge(Mark(key=_key(shard), value=_written(NOTHING, now)))
        self._said = bid, now

    def change(self, held: Iterable[int]) -> None:
        """Has other shards from now on, for which nothing was said yet."""
        self.held, self._said = frozenset(held), None


ALL = Shards()
"""Those of the one recorder that there is where nobody asked for more."""


def count(session: Session) -> int:
    """How many shards the arena is divided into, as the recorders at work have it."""
    mark = session.get(Mark, COUNT_MARK)
    return int(mark.value) if mark else 1


def _key(shard: int) -> str:
    return f"bid of shard {shard}"


def _written(bid: Bid, now: datetime) -> str:
    return json.dumps({"at": now.isoformat(), "turns": bid.turns, "firsts": bid.firsts})


def _read(text: str) -> tuple[Bid, datetime]:
    told = json.loads(text)
    firsts = {kind: Right(*right) for kind, right in told["firsts"].items()}
    return Bid(told["turns"], firsts), datetime.fromisoformat(told["at"])
