"""When a tournament is over, and what follows from that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.competitions.founding import set_over
from arena.competitions.results import results
from arena.competitions.tournament_progress import progress_of
from arena.competitions.voids import make_void
from arena.ground.locks import locking
from arena.ground.refusals import Refusal
from arena.models import CompetitionState, JobStatus, Match, Tournament
from engine.plurals import listed
from engine.translation import ENGLISH, N_, gettext, speaking

ANOTHER_WAY = "a match before it was played anew, and came out another way"


def demand_not_over(tournament: Tournament) -> None:
    """Refuses to change a tournament that is closed.

    Raises:
        Refusal: it is.
    """
    if tournament.state is CompetitionState.CLOSED:
        is_so = (
            N_("the tournament %(name)s was called off")
            if tournament.is_called_off
            else N_("the tournament %(name)s is over")
        )
        raise Refusal(gettext(is_so, name=tournament.name))


def end_or_reopen(session: Session, tournament: Tournament, now: datetime) -> None:
    """Closes a tournament of which all is played; a closed one of which a match is due again is
    opened.

    Where a match was played anew, and some of what was set after it has no place in the format any
    more, that is void. One that was called off stays so.
    """
    if tournament.is_called_off or tournament.signing_up:
        return
    progress = progress_of(session, tournament)
    strays = set(progress.format.strays(progress.field, progress.results))
    if strays:
        ids = [one.id for one in progress.made if one.result.fixture in strays]
        _void_strays(session, ids, now)
        progress = progress_of(session, tournament)
    set_over(session, tournament, not progress.due, now)
    tournament.winner = winner_of(session, tournament) if tournament.finished else None


def _void_strays(session: Session, strays: Sequence[int], now: datetime) -> None:
    """Makes matches void that have no place in a tournament any more."""
    query = sa.select(Match).where(Match.id.in_(strays), Match.status != JobStatus.VOID)
    # Who has one locked waits for the tournament: it makes it void itself, or it records it, and
    # then ends or reopens the tournament in its turn.
    for match in session.scalars(locking(query, Match, anew=True, free=True)).all():
        make_void(session, match, ANOTHER_WAY)
        audit.note(session, ARENA, "void match", f"match {match.id}", ANOTHER_WAY, now=now)


def winner_of(session: Session, tournament: Tournament) -> str | None:
    """Who came first in a tournament that is over, all of them if they share that."""
    found = results(session, tournament)
    first = [found.label(line.number) for line in found.standings if line.place == 1]
    with speaking(ENGLISH):  # it is kept
        return listed(first) or None
