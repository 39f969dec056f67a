"""How often what happens at the recorder: what became of messages, and of jobs that came back.

Counted for good, and for the last minutes; the recorder writes it down with each tick.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena.ground.locks import locking
from arena.models import Mark
from engine.translation import N_

MARK = "occurrences"
UNREADABLE, DROPPED = N_("unreadable"), N_("dropped")
"""Messages that no worker of ours writes, and those that were too many."""
WAITED, UNTAKEN, SILENT = "waited", "not taken up", "not heard of"
"""Jobs that came back: taken out of the queue, in which they waited too long; gone from it, though
nobody said to have them; and those whose workers were not heard of."""
CAME_BACK = WAITED, UNTAKEN, SILENT
NOTHING: Mapping[str, Any] = {"ever": {}, "before": []}
SNAPSHOT = timedelta(minutes=1)
SNAPSHOTS = 5


@dataclass(frozen=True, slots=True)
class Occurrences:
    """How often each thing happened."""

    ever: Mapping[str, int]
    lately: Mapping[str, int]
    """How often it happened in the last five minutes or so."""


def note(session: Session, counts: Mapping[str, int], now: datetime) -> None:
    """Notes how much more happened since the last tick."""
    if session.get(Mark, MARK) is None:
        # Another recorder may just be beginning, too.
        with suppress(IntegrityError), session.begin_nested():
            session.add(Mark(key=MARK, value=json.dumps(NOTHING)))
    ever, before = _read(session, to_change=True)
    if not before or not timedelta(0) <= now - before[-1][0] < SNAPSHOT:
        before = [*before, (now, dict(ever))][-SNAPSHOTS:]
    elif not counts:
        return
    ever.update(counts)
    told = {"ever": ever, "before": [(then.isoformat(), its) for then, its in before]}
    session.merge(Mark(key=MARK, value=json.dumps(told)))


def read(session: Session, now: datetime) -> Occurrences:
    """What happened up to now."""
    ever, before = _read(session)
    horizon = SNAPSHOT * (SNAPSHOTS + 1)
    recent = [its for then, its in before if abs(now - then) < horizon]
    first = Counter(recent[0] if recent else ever)
    return Occurrences(dict(ever), dict(ever - first))


def _read(
    session: Session, *, to_change: bool = False
) -> tuple[Counter[str], list[tuple[datetime, dict[str, int]]]]:
    query = sa.select(Mark).where(Mark.key == MARK)
    mark = session.scalar(locking(query, Mark, anew=True) if to_change else query)
    told = json.loads(mark.value) if mark else NOTHING
    before = [(datetime.fromisoformat(then), its) for then, its in told["before"]]
    return Counter(told["ever"]), before
