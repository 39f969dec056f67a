"""Finds up to which game all are there, though several recorders store games at the same time.

Who stores games has a lock from before they are numbered until they are seen, which is shared by
all who do. So a game that was seen is settled when all have ended who had the lock just then: only
they may have numbers below it that nobody sees yet. The recorder of the first shard looks at each
tick, waits for nobody, and keeps what it found for those who go through all games once
(`arena.lists.settled`).
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena.lists.settled import SETTLED_MARK
from arena.models import Mark, PlayedGame

KEY = int.from_bytes(b"games")
_STORING = sa.text("SELECT pg_advisory_xact_lock_shared(:key)").bindparams(key=KEY)
_WHO_STORES = sa.text(
    "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
    "AND classid = :high AND objid = :low "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
).bindparams(high=KEY >> 32, low=KEY & 0xFFFFFFFF)
_LAST = sa.select(sa.func.coalesce(sa.func.max(PlayedGame.id), 0))


def begin_to_store(session: Session) -> None:
    """Says that games are numbered from now on that are seen when this transaction is committed."""
    if session.get_bind().dialect.name != "sqlite":
        session.connection().execute(_STORING)


class Settling:
    """What one recorder keeps of it, from tick to tick."""

    def __init__(self) -> None:
        self._seen: deque[tuple[int, frozenset[str]]] = deque()
        """The last game each time, and who stored just then."""

    def look(self, session: Session) -> None:
        """Keeps up to which game all are there."""
        last = session.scalars(_LAST).one()
        storing = frozenset(session.scalars(_WHO_STORES))
        self._seen.append((last, storing))
        found = None
        while self._seen and self._seen[0][1].isdisjoint(storing):
            found, _ = self._seen.popleft()
        if found is not None:
            session.merge(Mark(key=SETTLED_MARK, value=str(found)))


def begin(session: Session, *, are_several: bool) -> None:
    """What is settled as a recorder begins, before it stores anything: of one alone each game that
    is seen, of several the last game at first.
    """
    if not are_several:
        session.execute(sa.delete(Mark).where(Mark.key == SETTLED_MARK))
    elif session.get(Mark, SETTLED_MARK) is None:
        with suppress(IntegrityError), session.begin_nested():  # another begins, too
            session.add(Mark(key=SETTLED_MARK, value=str(session.scalars(_LAST).one())))
