"""Telling people of competitions: that one is over, those who made it, play in it or follow it.

However a competition ends (all is played, a verdict, a date, somebody's deed), the recorder finds
it closed and not told of yet, and tells of it once. One that is opened again and ends another time
is told of again. Nobody is told that a round of a ladder is over, of which there may be one an
hour: who rises or falls by it hears of that (`arena.competitions.rounds`).
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.kinds import kind_of
from arena.competitions.rounds import is_round
from arena.models import Competition, CompetitionState
from arena.models.competitions import IS_UNTOLD
from arena.people.audience import hearers
from arena.people.notifications import notify

AT_ONCE = 20
"""Competitions told of in one transaction, which must not hold anybody up."""

UNTOLD = sa.select(Competition).where(IS_UNTOLD)
"""The competitions of whose end nobody was told yet."""


def page_of(competition: Competition) -> str:
    """The path that leads to a competition's page, whatever its kind."""
    return f"/competitions/{competition.name}"


def tell_ends(session: Session, now: datetime) -> None:
    """Tells of competitions that are over, each once for each time that it ended."""
    for competition in session.scalars(UNTOLD.order_by(Competition.id).limit(AT_ONCE)).all():
        competition.told = competition.finished
        if competition.state is CompetitionState.CLOSED and not is_round(session, competition):
            kind = kind_of(competition)
            end = kind.conclusion(session, competition)
            people, address = hearers(session, competition), page_of(competition)
            notify(session, people, end.message, end.places, address, now, topic=kind.topic)
