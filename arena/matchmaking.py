"""Whose turn it is: the next match of all competitions.

The workers' time is shared: next is the one for which they have played the least, by its weight,
with what is under way counted in. Among ladders, those with bots in placement go first, people's
bots before the house's; whichever ladder is first then shares with the tournaments. What is to
be played is for a competition's kind to say (`arena.competitions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions import ladders, strength_tests, tournaments
from arena.competitions.pairings import Pairing, Unfinished
from arena.models import (
    BotVersion,
    Competition,
    CompetitionState,
    Entrant,
    JobStatus,
    Ladder,
    Match,
    OpeningPolicy,
    Place,
    StrengthTest,
    Tournament,
    User,
)
from engine.match import entrants_needed
from engine.openings import opening
from engine.seeds import derive

FIRST_GUESS_SECONDS = 10.0
"""How long a match takes in a competition that has played none yet."""


def make_match(
    session: Session, now: datetime, *, only: str = "", trickle_seconds: float = 0.0
) -> Match | None:
    """A new match of the competition whose turn it is, or None if none can be made.

    Args:
        only: the name of the one competition whose turn it may be.
        trickle_seconds: how long a settled ladder rests after each match.
    """
    unfinished = _unfinished(session)
    query = sa.select(Competition).where(Competition.state == CompetitionState.OPEN)
    if only:
        query = query.where(Competition.name == only)

    def share(competition: Competition) -> tuple[float, int]:
        due = unfinished.get(competition.id, {})
        return _seconds(competition, due) / competition.weight, competition.last_match_id

    competitions = session.scalars(query).all()
    those = [one for one in competitions if isinstance(one, Ladder)]
    urgencies = ladders.urgencies(session, those, unfinished)
    those.sort(key=lambda ladder: (urgencies[ladder.id], share(ladder)))
    others = sorted((one for one in competitions if not isinstance(one, Ladder)), key=share)
    firsts: list[tuple[Competition, Pairing]] = []
    groups: tuple[Sequence[Competition], ...] = (those, others)
    for group in groups:
        for competition in group:
            due = unfinished.get(competition.id, {})
            if pairing := _next_pairing(session, competition, due, now, trickle_seconds):
                firsts.append((competition, pairing))
                break
    if not firsts:
        return None
    competition, pairing = min(firsts, key=lambda first: share(first[0]))
    return make(session, competition, pairing, now)


def _next_pairing(
    session: Session,
    competition: Competition,
    unfinished: Unfinished,
    now: datetime,
    trickle_seconds: float,
) -> Pairing | None:
    match competition:
        case Ladder():
            return ladders.next_pairing(session, competition, unfinished, now, trickle_seconds)
        case Tournament():
            return tournaments.next_pairing(session, competition)
        case StrengthTest():
            under_way = _matches(competition, unfinished)
            return strength_tests.next_pairing(session, competition, under_way, now)
        case _:
            return None


def make(
    session: Session,
    competition: Competition,
    pairing: Pairing,
    now: datetime,
    *,
    requester: User | None = None,
) -> Match:
    """A match of this pairing, by the rules of its competition.

    Args:
        requester: who asked for it; such a match counts for nothing.
    """
    # Requests are made beside the recorder, and each match has a number of its own.
    session.flush()
    session.refresh(competition, with_for_update=True)
    key = pairing.key or (competition.matches_made,)
    draw = derive(competition.seed, "opening", *key)
    # With all that the match's job tells of them.
    entrants = {
        entrant.id: entrant
        for entrant in session.scalars(
            sa.select(Entrant)
            .where(Entrant.id.in_(pairing.entrants))
            .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
        )
    }
    if pairing.opening or competition.openings is OpeningPolicy.RANDOM:
        start = pairing.opening or opening(competition.variant, draw)
        variant, moves = start.variant, list(start.moves)
    else:
        variant, moves = competition.variant.drawn(draw), []
    match = Match(
        competition=competition,
        status=JobStatus.OPEN,
        round=pairing.round,
        leg=pairing.leg,
        rated=isinstance(competition, Ladder) and requester is None,
        requester_id=requester and requester.id,
        options=dict(variant.options),
        opening=moves,
        seed=derive(competition.seed, "match", *key),
        created=now,
        places=[
            Place(number=n, entrant=entrants[entrant]) for n, entrant in enumerate(pairing.entrants)
        ],
    )
    competition.matches_made += 1
    session.add(match)
    session.flush()
    if requester is None:
        competition.last_match_id = match.id
    return match


def _seconds(competition: Competition, unfinished: Unfinished) -> float:
    """The workers' time for a competition, with that of what is unfinished by the mean so far."""
    matches = _matches(competition, unfinished)
    played = competition.matches_made - matches
    mean = competition.worker_seconds / played if played > 0 else FIRST_GUESS_SECONDS
    return competition.head_start + competition.worker_seconds + matches * mean


def _matches(competition: Competition, unfinished: Unfinished) -> int:
    """How many matches those are, of which each entrant is in so many."""
    pairs = competition.variant.seats == 1 or isinstance(competition, StrengthTest)
    size = 2 if pairs else entrants_needed(competition.variant)
    return sum(unfinished.values()) // size


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
