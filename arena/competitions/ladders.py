"""Ladders: who meets whom next, from what the database holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from random import Random

import sqlalchemy as sa
from sqlalchemy.orm import Session

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
from arena.tournaments.ladder import PLACEMENT_GAMES, Rival, all_met, is_settled, next_match
from engine.match import entrants_needed
from engine.seeds import derive

PEOPLE_IN_PLACEMENT, HOUSE_IN_PLACEMENT, ALL_PLACED = range(3)
"""How urgent a ladder is, the most urgent first: newcomers of people, then the house's."""


def urgencies(
    session: Session, ladders: Sequence[Ladder], unfinished: Mapping[int, Unfinished]
) -> dict[int, int]:
    """For each of these ladders whether somebody is in placement there, and whose bot it is.

    Args:
        unfinished: for each ladder, in how many unfinished matches each of its entrants is.
    """
    found = {ladder.id: ALL_PLACED for ladder in ladders}
    sizes = {ladder.id: entrants_needed(ladder.variant) for ladder in ladders}
    aside = _set_aside(session)
    # All that were in placement when they last finished a game: few, once an arena has run.
    young = (
        sa.select(Entrant.competition_id, Entrant.id, Entrant.games, User.name)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(
            Entrant.competition_id.in_(found),
            Entrant.state == EntrantState.ACTIVE,
            Entrant.games < PLACEMENT_GAMES,
        )
    )
    for ladder, entrant, games, owner in session.execute(young):
        due = unfinished.get(ladder, {}).get(entrant, 0) + aside.get(entrant, 0)
        if games + due * sizes[ladder] < PLACEMENT_GAMES:
            urgency = HOUSE_IN_PLACEMENT if owner == HOUSE else PEOPLE_IN_PLACEMENT
            found[ladder] = min(found[ladder], urgency)
    return found


def next_pairing(
    session: Session,
    ladder: Ladder,
    unfinished: Unfinished,
    now: datetime,
    trickle_seconds: float,
) -> Pairing | None:
    """Who meets next on a ladder; None if it rests, or no match can be made.

    Args:
        trickle_seconds: how long a ladder of which all is known well rests after each match.
    """
    rivals = _rivals(session, ladder, unfinished)
    if _is_resting(session, ladder, rivals, now, trickle_seconds):
        return None
    variant = ladder.variant
    race = variant.seats == 1
    chosen = next_match(
        rivals,
        _met(session, ladder),
        seats=2 if race else entrants_needed(variant),
        random=Random(derive(ladder.seed, "pairing", ladder.matches_made)),
        rematches=not race,
    )
    return None if chosen is None else Pairing(chosen)


def _is_resting(
    session: Session,
    ladder: Ladder,
    rivals: Sequence[Rival],
    now: datetime,
    trickle_seconds: float,
) -> bool:
    """Whether a ladder of which all is known well waits until its next match is due."""
    if not trickle_seconds or not is_settled(rivals):
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
    if _is_resting(session, ladder, rivals, now, trickle_seconds):
        return "Every rating is known well, so that a match is played only now and then."
    return None


STATE_WORDS = {
    CompetitionState.PAUSED: "The ladder is paused: no matches are made for now.",
    CompetitionState.FROZEN: "The ladder is frozen: it takes no bots and plays no games.",
    CompetitionState.CLOSED: "The ladder is closed: this is its final table.",
}


def _rivals(session: Session, ladder: Ladder, unfinished: Unfinished) -> list[Rival]:
    active = sa.select(Entrant.id, Entrant.mu, Entrant.sigma, Entrant.games).where(
        Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE
    )
    size = entrants_needed(ladder.variant)
    # What is set aside is not played soon, but whoever is in it must not be due for ever.
    aside = _set_aside(session)
    return [
        Rival(
            entrant,
            Rating(mu, sigma),
            games + (unfinished.get(entrant, 0) + aside.get(entrant, 0)) * size,
        )
        for entrant, mu, sigma, games in session.execute(active.order_by(Entrant.id))
    ]


def _set_aside(session: Session) -> dict[int, int]:
    """In how many matches that are set aside each entrant of a ladder is."""
    query = (
        sa.select(Place.entrant_id, sa.func.count())
        .join(Place.match)
        .where(Match.status == JobStatus.SET_ASIDE, Match.rated)
        .group_by(Place.entrant_id)
    )
    return dict(session.execute(query).all())


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
        sa.select(Place.match_id, Place.entrant_id)
        .join(Place.match)
        .where(
            Match.competition_id == ladder.id,
            Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE]),
            Match.rated,
        )
        .order_by(Place.match_id, Place.number)
    )
    for _, places in groupby(session.execute(unfinished), key=itemgetter(0)):
        for pair in pairs_of([entrant for _, entrant in places]):
            met[pair] = met.get(pair, 0) + 1
    return met
