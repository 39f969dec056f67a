"""For what something waits that only its turn keeps from beginning, and about how long."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import count_rows
from arena.models import Check, JobStatus, Match
from engine.plurals import counted

LOOKED_BACK = timedelta(hours=1)
LEAST_ENDED = 3
"""So many must have ended lately for the time that one takes to be told."""


def of_check(session: Session, check: Check, now: datetime) -> list[str]:
    """Its place in the queue, what the workers are busy with, and how long it takes, in sentences.

    What is not known is not told.
    """
    kind = Check.at_home == check.at_home
    before = count_rows(session, Check, Check.status == JobStatus.OPEN, Check.id < check.id, kind)
    told = ["It is the next one."]
    if before:
        told = [f"{counted(before, 'check is', 'checks are')} before it."]
    if busy := busy_with(session):
        told.append(busy)
    lately = Check.ended > now - LOOKED_BACK, Check.ended <= now, kind
    ended = count_rows(session, Check, *lately)
    if before and ended >= LEAST_ENDED:
        first = session.scalars(sa.select(sa.func.min(Check.created)).where(*lately)).one()
        each = (now - max(first, now - LOOKED_BACK)) / ended
        minutes = ceil(each * (before + 1) / timedelta(minutes=1))
        told.append(f"By those of the last hour that is about {counted(minutes, 'minute')}.")
    return told


def of_match(session: Session, match: Match) -> list[str]:
    """How many wait that somebody asked for before it, and what the workers are busy with."""
    told = []
    if match.requester_id is not None and match.status is JobStatus.OPEN:
        asked_for = Match.requester_id.is_not(None), Match.status == JobStatus.OPEN
        before = count_rows(session, Match, *asked_for, Match.id < match.id)
        if before:
            many = counted(before, "match", "matches")
            told.append(f"{many} asked for before it did not begin yet.")
    busy = busy_with(session)
    return [*told, busy] if busy else told


def busy_with(session: Session) -> str:
    """What the workers do at this moment, in a sentence; empty if nothing."""
    matches, checks = (
        count_rows(session, kind, kind.status == JobStatus.ISSUED, kind.worker.is_not(None))
        for kind in (Match, Check)
    )
    played = counted(matches, "match", "matches")
    tried = counted(checks, "check")
    if matches and checks:
        return f"The workers are busy with {played} and {tried}."
    if matches:
        return f"The workers are busy with {played}."
    return f"The workers are busy with {tried}." if checks else ""
