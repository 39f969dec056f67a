"""Ladders: who meets whom next, from what the database holds."""

from __future__ import annotations

from random import Random

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from arena.competitions.pairings import Pairing, Unfinished, pairs_of
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    User,
)
from arena.ratings.trueskill import Rating
from arena.tournaments.ladder import Rival, next_match
from engine.match import entrants_needed
from engine.seeds import derive

PEOPLE_IN_PLACEMENT, HOUSE_IN_PLACEMENT, ALL_PLACED = range(3)
"""How urgent a ladder is, the most urgent first: newcomers of people, then the house's."""


def urgency(session: Session, ladder: Ladder, unfinished: Unfinished) -> int:
    """Whether somebody is in placement there, and whose bot it is."""
    placement = [rival.id for rival in _rivals(session, ladder, unfinished) if rival.in_placement]
    if not placement:
        return ALL_PLACED
    house = (
        sa.select(sa.func.count())
        .select_from(Entrant)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(User.name == HOUSE, Entrant.id.in_(placement))
    )
    whole = session.scalar(house) == len(placement)
    return HOUSE_IN_PLACEMENT if whole else PEOPLE_IN_PLACEMENT


def next_pairing(session: Session, ladder: Ladder, unfinished: Unfinished) -> Pairing | None:
    """Who meets next on a ladder; None if no match can be made."""
    variant = ladder.variant
    race = variant.seats == 1
    chosen = next_match(
        _rivals(session, ladder, unfinished),
        _met(session, ladder),
        seats=2 if race else entrants_needed(variant),
        random=Random(derive(ladder.seed, "pairing", ladder.matches_made)),
        rematches=not race,
    )
    return None if chosen is None else Pairing(chosen)


def _rivals(session: Session, ladder: Ladder, unfinished: Unfinished) -> list[Rival]:
    active = sa.select(Entrant).where(
        Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE
    )
    size = entrants_needed(ladder.variant)
    return [
        Rival(e.id, Rating(e.mu, e.sigma), e.games + unfinished.get(e.id, 0) * size)
        for e in session.scalars(active.order_by(Entrant.id))
    ]


def _met(session: Session, ladder: Ladder) -> dict[tuple[int, int], int]:
    """Matches between every two entrants of a ladder, played and due."""
    met = {
        (first, second): matches
        for first, second, matches in session.execute(
            sa.select(Meeting.first_id, Meeting.second_id, Meeting.matches).where(
                Meeting.competition_id == ladder.id
            )
        )
    }
    unfinished = (
        sa.select(Match)
        .where(
            Match.competition_id == ladder.id,
            Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]),
            Match.rated,
        )
        .options(selectinload(Match.places))
    )
    for match in session.scalars(unfinished):
        for pair in pairs_of([place.entrant_id for place in match.places]):
            met[pair] = met.get(pair, 0) + 1
    return met
