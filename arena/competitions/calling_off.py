"""How a tournament is called off: it is closed before all of it was played, for ever."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, texts
from arena.competitions.tournaments import TournamentError, demand_not_over
from arena.competitions.voiding import make_void
from arena.locks import lock, locking
from arena.models import CALLED_OFF, CompetitionState, JobStatus, Match, Tournament


def call_off(
    session: Session, tournament: Tournament, note: str, now: datetime, actor: audit.Actor
) -> int:
    """Calls a tournament off: its results stay to be read, and nobody wins it.

    What waits, is being played or was set aside is void; what a worker still says of it is stale.

    Args:
        note: why, for everybody.

    Returns:
        How many matches that were.

    Raises:
        TournamentError: it is over, or a word on why is missing.
    """
    why = texts.typed(note, TournamentError)
    if not why:
        raise TournamentError("say why the tournament is called off")
    # What the recorder makes before the tournament is locked is called off by its next tick (see
    # arena.schedule.leases).
    unplayed = sa.select(Match).where(
        Match.competition_id == tournament.id,
        Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE]),
    )
    matches = session.scalars(locking(unplayed, Match)).all()
    lock(session, tournament)
    demand_not_over(tournament)
    tournament.state, tournament.finished, tournament.reason = CompetitionState.CLOSED, now, why
    for match in matches:
        make_void(session, match, f"the tournament was {CALLED_OFF}: {why}")
    audit.note(session, actor, "call off tournament", f"tournament {tournament.name}", why, now=now)
    return len(matches)
