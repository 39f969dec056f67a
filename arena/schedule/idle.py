"""Why nothing is played on a ladder or in a tournament, in a sentence for whoever looks at it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from arena.competitions.ladders import why_no_match
from arena.competitions.results import Results
from arena.config import Settings
from arena.models import CompetitionState, Ladder
from arena.schedule import workers
from engine import jobs

ELSEWHERE = "The workers play elsewhere; its turn will come."


def why_idle(session: Session, ladder: Ladder, settings: Settings, now: datetime) -> str:
    """Why no match of a ladder is being played at this moment."""
    return (
        why_no_match(session, ladder, now, settings.trickle_seconds)
        or why_nobody_works(session, settings.minimum_isolation, now)
        or ELSEWHERE
    )


def why_waiting(session: Session, found: Results, settings: Settings, now: datetime) -> str | None:
    """Why no match of a tournament is being played at this moment; None if it is over."""
    tournament = found.tournament
    if tournament.state is CompetitionState.CLOSED:
        return None
    if tournament.state is not CompetitionState.OPEN:
        return f"The tournament is {tournament.state}: no matches are made for now."
    if found.is_held_up:
        names = ", ".join(one.version.label for one in found.suspended)
        if names:
            return f"Nothing else can be played before {names} can play again, or is withdrawn."
        return "Nothing else can be played before those matches that were set aside."
    if settings.only not in ("", tournament.name):
        return f"This arena plays {settings.only} alone."
    return why_nobody_works(session, settings.minimum_isolation, now) or ELSEWHERE


def why_nobody_works(session: Session, minimum_isolation: str, now: datetime) -> str | None:
    """Why no worker is given jobs; None if one is."""
    living = [worker for worker in workers.living(session, now) if worker.slots]
    if any(workers.may_play(worker, minimum_isolation) for worker in living):
        return None
    if not living:
        return "No worker is there to play."
    if all(worker.set_aside is not None for worker in living):
        return "Every worker is set aside, since it failed again and again."
    if all(worker.format != jobs.FORMAT for worker in living):
        return "The workers are of another release than this arena, and do not know its jobs."
    if all(workers.is_too_weak(worker, minimum_isolation) for worker in living):
        levels = ", ".join(sorted({worker.isolation for worker in living}))
        return (
            f"The boxes of the workers are too weak ({levels}): this arena asks for "
            f"{minimum_isolation} isolation."
        )
    return "None of the workers that are there may play."
