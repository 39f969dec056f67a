"""What tells whether anything has happened: some numbers that are read by indexes.

A *trace* says what is looked at, and its *state* differs once something has happened there: a match
was made, began, ended or was taken back; a game was played; ratings moved; somebody entered or
left; or anybody did anything anywhere, for all that is done is noted in the audit log. What is made
of a database alone is as it was while the state is. Who would make it anew asks for that first, and
a process remembers it for `MOMENT_SECONDS`, whoever asks.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import FAILED, Database
from arena.models import (
    AuditEntry,
    Competition,
    Entrant,
    EntrantState,
    JobStatus,
    Match,
    PlayedGame,
)

MOMENT_SECONDS = 1.0
PATIENCE_SECONDS = 5.0
"""How long what was read before is taken while another thread reads it anew."""
MOST = 2000
"""So many states are remembered by a process, those that were asked for last."""
LATE_DEEDS = 500
"""How many of the last numbers of deeds are counted, too: of two deeds at once that of the lower
number may be stored last."""


class Looked(StrEnum):
    """What a trace looks at."""

    SITE = "site"
    """The matches and games of all competitions."""
    SITE_PLIES = "site plies"
    """These, and how far the matches under way are."""
    COMPETITION = "competition"
    """The row, the matches and the games of one, and the ratings in it."""
    PLIES = "plies"
    """These, and how far its matches under way are."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What is looked at to see whether something has happened: a competition, or the site."""

    looked: Looked
    number: int = 0
    """The id of the competition, if it is one."""


class TraceState(NamedTuple):
    """What was found at a trace, which differs after something has happened."""

    deeds: tuple[Any, ...]
    """What differs after each deed, whoever did it: what anybody sees may be otherwise then."""
    its: tuple[Any, ...]
    """What differs after all else."""


def of_competition(competition: Competition) -> Trace:
    """What tells of a competition, but for how far its matches are."""
    return Trace(Looked.COMPETITION, competition.id)


def read(session: Session, trace: Trace) -> TraceState:
    """The state of a trace, as a session sees the database."""
    row = session.connection().execute(_STATEMENTS[trace.looked], {"number": trace.number}).first()
    # Of a competition that is not there any more nothing is told.
    return (
        TraceState((), ()) if row is None else TraceState(tuple(row[:_DEEDS]), tuple(row[_DEEDS:]))
    )


@dataclass(slots=True)
class _Remembered:
    reading: threading.Lock = field(default_factory=threading.Lock)
    state: TraceState | None = None
    at: float = float("-inf")
    """The monotonic clock's time at which its reading began."""


class TraceStates:
    """What a process knows of states, for all of its threads."""

    def __init__(self, database: Callable[[], Database]) -> None:
        """Begins with no state known.

        Args:
            database: gives the one that is read, each time.
        """
        self._database = database
        self._changing = threading.Lock()
        self._known = OrderedDict[Trace, _Remembered]()

    def now(self, trace: Trace) -> TraceState | None:
        """The state of a moment ago, read by one of those who ask; None if it can't be read."""
        known, now = self._remembered(trace), time.monotonic()
        if now < known.at + MOMENT_SECONDS:
            return known.state
        patient = known.state is not None and now < known.at + PATIENCE_SECONDS
        if not known.reading.acquire(blocking=not patient):
            return known.state
        try:
            if time.monotonic() >= known.at + MOMENT_SECONDS:
                began = time.monotonic()
                with self._database().read() as session:
                    known.state, known.at = read(session, trace), began
        except FAILED:
            return None
        finally:
            known.reading.release()
        return known.state

    def note(self, trace: Trace, state: TraceState, at: float) -> None:
        """Remembers what somebody has read.

        Args:
            at: of the monotonic clock, no later than the session that sees it was begun.
        """
        known = self._remembered(trace)
        if at > known.at:
            known.state, known.at = state, at

    def _remembered(self, trace: Trace) -> _Remembered:
        with self._changing:
            known = self._known.setdefault(trace, _Remembered())
            self._known.move_to_end(trace)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return known


_DEEDS = 4
_NUMBER = sa.bindparam("number", type_=sa.Integer)


def _statement(*, of_one: bool, plies: bool) -> sa.Select[Any]:
    """What tells of deeds, and of matches and games: the newest, and which are played now."""
    table = Competition.__table__

    def its(kind: Any, *columns: Any) -> sa.Select[Any]:
        query = sa.select(*columns)
        return query.where(kind.competition_id == _NUMBER) if of_one else query

    newest = sa.select(sa.func.max(AuditEntry.id)).scalar_subquery()
    last = sa.select(sa.func.count()).where(AuditEntry.id > newest - LATE_DEEDS).scalar_subquery()
    seen = (table.c.visibility, table.c.anonymous) if of_one else (sa.null(), sa.null())
    ends = [its(kind, sa.func.max(kind.id)).scalar_subquery() for kind in (Match, PlayedGame)]
    is_played = Match.worker.is_not(None)
    counts: list[Any] = [
        sa.func.count().label("count"),
        sa.func.sum(Match.id).label("ids"),
        sa.func.count().filter(is_played).label("count_played"),
        sa.func.sum(Match.id).filter(is_played).label("ids_played"),
    ]
    if plies:
        # It is put off by each sign of a worker that plays on.
        counts.append(sa.func.max(Match.lease_ends).label("heard"))
    running = sa.select(*counts).where(Match.status == JobStatus.ISSUED)
    if of_one:
        # The sum keeps SQLite from looking through all matches that a competition ever had.
        running = running.where(Match.competition_id + 0 == _NUMBER)
    played = running.subquery("running")
    found = [newest, last, *seen, *ends, *played.c]
    if not of_one:
        return sa.select(*found)
    active = Entrant.competition_id == _NUMBER, Entrant.state == EntrantState.ACTIVE
    # The next version of a bot comes in the place of the one before, with its rating.
    sums = (
        sa.func.count().label("count"),
        sa.func.max(Entrant.id).label("last"),
        sa.func.sum(Entrant.conservative).label("sum"),
    )
    ratings = sa.select(*sums).where(*active).subquery("ratings")
    rows = table.join(played, sa.true()).join(ratings, sa.true())
    return sa.select(*found, *ratings.c, *table.c).select_from(rows).where(table.c.id == _NUMBER)


_STATEMENTS = {
    Looked.SITE: _statement(of_one=False, plies=False),
    Looked.SITE_PLIES: _statement(of_one=False, plies=True),
    Looked.COMPETITION: _statement(of_one=True, plies=False),
    Looked.PLIES: _statement(of_one=True, plies=True),
}
