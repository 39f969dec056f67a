"""Where a competition begins in the sharing of the workers' time.

One that comes late, or comes back, counts as having had as much as the open one that had the
least: it would else have the workers to itself until it had caught up.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Competition, CompetitionState


def fair_start(session: Session, weight: float, *, but: Competition | None = None) -> float:
    """The workers' time, in seconds, that a competition of a weight is to count as having had.

    Args:
        but: a competition that is not looked at: the one that comes back.
    """
    had = Competition.head_start + Competition.worker_seconds
    share = sa.select(sa.func.min(had / Competition.weight)).where(
        Competition.state == CompetitionState.OPEN
    )
    if but is not None:
        share = share.where(Competition.id != but.id)
    return (session.scalar(share) or 0.0) * weight


def come_back(session: Session, competition: Competition) -> None:
    """Lets a competition that was not open take its place among those that were."""
    start = fair_start(session, competition.weight, but=competition)
    competition.head_start = max(competition.head_start, start - competition.worker_seconds)
