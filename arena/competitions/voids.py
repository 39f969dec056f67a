"""What it is for a match to be void, whoever says so."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.lists import branches
from arena.models import Competition, GameSeat, JobStatus, ListedSeat, Match, PlayedGame


def ask_rebuild(session: Session, competition: Competition) -> None:
    """Has the recorder make a competition anew; until this transaction ends, it waits.

    To be called before anything is changed that a rebuild reads.
    """
    session.flush()
    session.execute(
        sa.update(Competition).where(Competition.id == competition.id).values(rebuild_due=True)
    )


def make_void(session: Session, match: Match, why: str) -> None:
    """Takes a match out of everything that is counted; its games stay to be seen.

    What was counted is made anew by the recorder. What a worker still says of it is stale.
    """
    if match.status is JobStatus.FIXED and match.counts:
        ask_rebuild(session, match.competition)
    match.end_lease(JobStatus.VOID, why)
    games = session.scalars(sa.select(PlayedGame.id).where(PlayedGame.match_id == match.id)).all()
    branches.take_out(session, games)
    session.execute(sa.update(ListedSeat).where(ListedSeat.game_id.in_(games)).values(counts=False))
    session.execute(
        sa.update(GameSeat)
        .where(GameSeat.game_id.in_(games))
        .values(mu_before=None, sigma_before=None, mu_after=None, sigma_after=None)
    )
    session.flush()
