"""Where a competition begins in the sharing of the workers' time.

One that comes late, or comes back, counts as having had as much as the open one that had the
least: it would else have the workers to itself until it had caught up. For the same reason, one
whose weight is changed counts as having had what it had, by the weight that it has now.
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


def weigh_anew(competition: Competition, before: float) -> None:
    """Leaves a competition its place among the others though its weight was another before."""
    had = competition.head_start + competition.worker_seconds
    competition.head_start = had * competition.weight / before - competition.worker_seconds
