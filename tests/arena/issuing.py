"""A job as a worker gets it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.schedule import leases
from arena.schedule.jobs import Leased, jobs_of
from engine import jobs


def issued(session: Session, job: Leased, settings: Settings, now: datetime) -> jobs.AnyJob:
    """Issues a job, and gives what its worker is told of it."""
    leases.issue(job, settings, now)
    (told,) = jobs_of(session, [job], settings, now)
    return told
