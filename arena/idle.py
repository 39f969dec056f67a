"""Why nothing is played on a ladder, in a sentence for whoever looks at it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from arena import workforce
from arena.competitions.ladders import why_no_match
from arena.config import Settings
from arena.models import Ladder
from engine import jobs


def why_idle(session: Session, ladder: Ladder, settings: Settings, now: datetime) -> str:
    """Why no match of a ladder is being played at this moment."""
    return (
        why_no_match(session, ladder, now, settings.trickle_seconds)
        or why_nobody_works(session, settings.minimum_isolation, now)
        or "The workers play elsewhere; its turn will come."
    )


def why_nobody_works(session: Session, minimum_isolation: str, now: datetime) -> str | None:
    """Why no worker is given jobs; None if one is."""
    living = workforce.living(session, now)
    if any(workforce.may_play(worker, minimum_isolation) and worker.slots for worker in living):
        return None
    if not living:
        return "No worker is there to play."
    if all(worker.set_aside is not None for worker in living):
        return "Every worker is set aside, since it failed again and again."
    if all(worker.format != jobs.FORMAT for worker in living):
        return "The workers are of another release than this arena, and do not know its jobs."
    if all(workforce.is_too_weak(worker, minimum_isolation) for worker in living):
        levels = ", ".join(sorted({worker.isolation for worker in living}))
        return (
            f"The boxes of the workers are too weak ({levels}): this arena asks for "
            f"{minimum_isolation} isolation."
        )
    return "None of the workers that are there may play."
