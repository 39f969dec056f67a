"""Whose turn it is: the next match of all competitions.

Ladders with bots in placement go first, people's bots before the house's. Among the others the
workers' time is shared: next is the one for which they have played the least, by its weight,
with what is under way counted in. What it wants played is for its kind to say
(`arena.competitions`).
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions import ladders
from arena.competitions.pairings import Pairing, Unfinished
from arena.models import (
    Competition,
    CompetitionState,
    JobStatus,
    Ladder,
    Match,
    OpeningPolicy,
    Place,
)
from engine.match import entrants_needed
from engine.openings import opening
from engine.seeds import derive

FIRST_GUESS_SECONDS = 10.0
"""How long a match takes in a competition that has played none yet."""


def make_match(session: Session, now: datetime) -> Match | None:
    """A new match of the competition whose turn it is, or None if none can be made."""
    unfinished = _unfinished(session)
    competitions = session.scalars(
        sa.select(Competition).where(Competition.state == CompetitionState.OPEN)
    ).all()

    def turn(competition: Competition) -> tuple[int, float, int]:
        due = unfinished.get(competition.id, {})
        share = _seconds(competition, due) / competition.weight
        return _urgency(session, competition, due), share, competition.last_match_id

    for competition in sorted(competitions, key=turn):
        due = unfinished.get(competition.id, {})
        if pairing := _next_pairing(session, competition, due):
            return _make(session, competition, pairing, now)
    return None


def _urgency(session: Session, competition: Competition, unfinished: Unfinished) -> int:
    if isinstance(competition, Ladder):
        return ladders.urgency(session, competition, unfinished)
    return ladders.ALL_PLACED


def _next_pairing(
    session: Session, competition: Competition, unfinished: Unfinished
) -> Pairing | None:
    match competition:
        case Ladder():
            return ladders.next_pairing(session, competition, unfinished)
        case _:
            return None


def _make(session: Session, competition: Competition, pairing: Pairing, now: datetime) -> Match:
    number = competition.matches_made
    if competition.openings is OpeningPolicy.RANDOM:
        start = opening(competition.variant, derive(competition.seed, "opening", number))
        variant, moves = start.variant, list(start.moves)
    else:
        variant = competition.variant.drawn(derive(competition.seed, "opening", number))
        moves = []
    match = Match(
        competition=competition,
        status=JobStatus.OPEN,
        round=pairing.round,
        leg=pairing.leg,
        rated=isinstance(competition, Ladder),
        options=dict(variant.options),
        opening=moves,
        seed=derive(competition.seed, "match", number),
        created=now,
        places=[Place(number=n, entrant_id=entrant) for n, entrant in enumerate(pairing.entrants)],
    )
    competition.matches_made = number + 1
    session.add(match)
    session.flush()
    competition.last_match_id = match.id
    return match


def _seconds(competition: Competition, unfinished: Unfinished) -> float:
    """The workers' time for a competition, with that of what is unfinished by the mean so far."""
    entered = sum(unfinished.values())
    variant = competition.variant
    matches = entered / (2 if variant.seats == 1 else entrants_needed(variant))
    played = competition.matches_made - matches
    mean = competition.worker_seconds / played if played > 0 else FIRST_GUESS_SECONDS
    return competition.worker_seconds + matches * mean


def _unfinished(session: Session) -> dict[int, Unfinished]:
    """For each competition, in how many unfinished matches each of its entrants is."""
    query = (
        sa.select(Match.competition_id, Place.entrant_id, sa.func.count())
        .join(Place.match)
        .where(Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]))
        .group_by(Match.competition_id, Place.entrant_id)
    )
    found: dict[int, dict[int, int]] = {}
    for competition_id, entrant_id, count in session.execute(query):
        found.setdefault(competition_id, {})[entrant_id] = count
    return dict(found)
