"""Ladders: who meets whom next, from what the database holds."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from arena.competitions.pairings import Pairing, Unfinished, pairs_of
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    Place,
    User,
)
from arena.ratings.trueskill import Rating
from arena.tournaments.ladder import Rival, all_met, is_settled, next_match
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


def is_resting(
    session: Session,
    ladder: Ladder,
    unfinished: Unfinished,
    now: datetime,
    trickle_seconds: float,
) -> bool:
    """Whether a ladder of which all is known well waits until its next match is due.

    Args:
        trickle_seconds: how long it rests after each match.
    """
    if not trickle_seconds or not is_settled(_rivals(session, ladder, unfinished)):
        return False
    last = session.scalar(sa.select(Match.created).where(Match.id == ladder.last_match_id))
    return last is not None and now < last + timedelta(seconds=trickle_seconds)


def why_no_match(
    session: Session, ladder: Ladder, now: datetime, trickle_seconds: float
) -> str | None:
    """Why no match of a ladder is made, in a sentence; None if it is only a matter of workers."""
    if ladder.state is not CompetitionState.OPEN:
        return STATE_WORDS[ladder.state]
    rivals = _rivals(session, ladder, {})
    race = ladder.variant.seats == 1
    needed = 2 if race else entrants_needed(ladder.variant)
    if len(rivals) < needed:
        there = {0: "there is none", 1: "there is one"}.get(len(rivals), f"there are {len(rivals)}")
        return f"A match takes {needed} active bots, and {there}."
    if race and all_met(rivals, _met(session, ladder)):
        return "Every two of these bots have met; a new bot or version will race again."
    if is_resting(session, ladder, {}, now, trickle_seconds):
        return "Every rating is known well, so that a match is played only now and then."
    return None


STATE_WORDS = {
    CompetitionState.PAUSED: "The ladder is paused: no matches are made for now.",
    CompetitionState.FROZEN: "The ladder is frozen: it takes no bots and plays no games.",
    CompetitionState.CLOSED: "The ladder is closed: this is its final table.",
}


def _rivals(session: Session, ladder: Ladder, unfinished: Unfinished) -> list[Rival]:
    active = sa.select(Entrant).where(
        Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE
    )
    size = entrants_needed(ladder.variant)
    # What is set aside is not played soon, but whoever is in it must not be due for ever.
    aside = _set_aside(session, ladder)
    return [
        Rival(
            e.id,
            Rating(e.mu, e.sigma),
            e.games + (unfinished.get(e.id, 0) + aside.get(e.id, 0)) * size,
        )
        for e in session.scalars(active.order_by(Entrant.id))
    ]


def _set_aside(session: Session, ladder: Ladder) -> dict[int, int]:
    """In how many matches that are set aside each entrant is."""
    query = (
        sa.select(Place.entrant_id, sa.func.count())
        .join(Place.match)
        .where(Match.competition_id == ladder.id, Match.status == JobStatus.SET_ASIDE, Match.rated)
        .group_by(Place.entrant_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def _met(session: Session, ladder: Ladder) -> dict[tuple[int, int], int]:
    """Matches between every two entrants of a ladder: played, due and set aside."""
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
            Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE]),
            Match.rated,
        )
        .options(selectinload(Match.places))
    )
    for match in session.scalars(unfinished):
        for pair in pairs_of([place.entrant_id for place in match.places]):
            met[pair] = met.get(pair, 0) + 1
    return met
