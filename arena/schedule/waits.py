"""Tells what something waits for that only its turn keeps from beginning."""

from __future__ import annotations

from sqlalchemy.orm import Session

from arena.ground.db import count_rows
from arena.models import Check, JobStatus, Match
from engine.plurals import counted
from engine.translation import gettext, ngettext


def of_check(session: Session, check: Check) -> list[str]:
    """How many wait like it, and what the workers are busy with, in sentences.

    Its place is not told: owners take turns, and whose is next changes with all that ends.
    """
    waiting = Check.status == JobStatus.OPEN, Check.at_home == check.at_home
    others = count_rows(session, Check, *waiting, Check.id != check.id)
    if others:
        told = [gettext("%(number)s checks wait in all.", number=others + 1)]
    else:
        told = [gettext("It is the only one that waits.")]
    busy = busy_with(session)
    return [*told, busy] if busy else told


def of_match(session: Session, match: Match) -> list[str]:
    """How many wait that somebody asked for before it, and what the workers are busy with."""
    told = []
    if match.requester_id is not None and match.status is JobStatus.OPEN:
        asked_for = Match.requester_id.is_not(None), Match.status == JobStatus.OPEN
        before = count_rows(session, Match, *asked_for, Match.id < match.id)
        if before:
            told.append(
                ngettext(
                    "%(number)s match asked for before it did not begin yet.",
                    "%(number)s matches asked for before it did not begin yet.",
                    before,
                    number=before,
                )
            )
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
        return gettext(
            "The workers are busy with %(matches)s and %(checks)s.", matches=played, checks=tried
        )
    if matches:
        return gettext("The workers are busy with %(matches)s.", matches=played)
    return gettext("The workers are busy with %(checks)s.", checks=tried) if checks else ""
