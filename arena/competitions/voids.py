"""What it is for a match to be void, whoever says so."""

from __future__ import annotations

from collections.abc import Sequence

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
    make_all_void(session, [match], why)


def make_all_void(session: Session, matches: Sequence[Match], why: str) -> None:
    """Does so with several, of which who calls this holds the locks."""
    counted = [match for match in matches if match.status is JobStatus.FIXED and match.counts]
    competitions = {match.competition_id: match.competition for match in counted}
    for _, competition in sorted(competitions.items()):
        ask_rebuild(session, competition)
    for match in matches:
        match.end_lease(JobStatus.VOID, why)
    ids = [match.id for match in matches]
    games = session.scalars(sa.select(PlayedGame.id).where(PlayedGame.match_id.in_(ids))).all()
    branches.take_out(session, games)
    session.execute(sa.update(ListedSeat).where(ListedSeat.game_id.in_(games)).values(counts=False))
    session.execute(
        sa.update(GameSeat)
        .where(GameSeat.game_id.in_(games))
        .values(mu_before=None, sigma_before=None, mu_after=None, sigma_after=None)
    )
    session.flush()
