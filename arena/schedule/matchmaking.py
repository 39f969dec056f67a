"""Whose turn it is: the next match of all competitions.

The workers' time is shared: next is the one for which they have played the least, by its weight,
with what is under way counted in. Among ladders, those with bots in placement go first, people's
bots before the house's; whichever ladder is first then shares with the tournaments. What is to
be played is for a competition's kind to say (`arena.competitions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions import ladders, strength_tests, tournaments
from arena.competitions.due import DueMatch, due_matches, under_way
from arena.competitions.pairings import Pairing
from arena.models import (
    Competition,
    CompetitionState,
    JobStatus,
    Ladder,
    Match,
    OpeningPolicy,
    Place,
    StrengthTest,
    Tournament,
    User,
)
from engine.openings import opening
from engine.seeds import derive


def new_matches(
    session: Session, now: datetime, *, only: str = "", trickle_seconds: float = 0.0
) -> Iterator[Match]:
    """New matches of the competitions whose turn it is, one after the other while any can be made.

    What is there is read once, and kept up with what is made; all of it in one transaction, to
    which alone it is left meanwhile to make matches of open competitions.

    Args:
        only: the name of the one competition whose turn it may be.
        trickle_seconds: how long a settled ladder rests after each match.
    """
    query = sa.select(Competition).where(Competition.state == CompetitionState.OPEN)
    if only:
        query = query.where(Competition.name == only)
    # Requests are made beside the recorder, and each match has a number of its own. Who has one
    # locked may wait for another in which something was just recorded: its turn is the next time.
    query = query.order_by(Competition.id).with_for_update(skip_locked=True, key_share=True)
    competitions = session.scalars(query.execution_options(populate_existing=True)).all()
    turns = _Turns(session, competitions, now, trickle_seconds)
    while next_one := turns.next():
        competition, pairing = next_one
        match = make(session, competition, pairing, now)
        turns.made(match, pairing)
        yield match


class _Turns:
    """Whose turn it is, by what was there at the beginning and was made since."""

    def __init__(
        self,
        session: Session,
        competitions: Sequence[Competition],
        now: datetime,
        trickle_seconds: float,
    ) -> None:
        self._session, self._now, self._trickle_seconds = session, now, trickle_seconds
        self._ladders = [one for one in competitions if isinstance(one, Ladder)]
        self._others = [one for one in competitions if not isinstance(one, Ladder)]
        self._due = due_matches(session)
        self._newcomers = ladders.newcomers(session, self._ladders)
        self._fields: dict[int, ladders.Field] = {}
        self._urgencies: dict[int, int] = {}

    def next(self) -> tuple[Competition, Pairing] | None:
        """The competition whose turn it is, and who meets there; None if nobody can."""
        those = sorted(self._ladders, key=lambda one: (self._urgency(one), self._share(one)))
        others = sorted(self._others, key=self._share)
        groups: tuple[Sequence[Competition], ...] = (those, others)
        firsts: list[tuple[Competition, Pairing]] = []
        for group in groups:
            for competition in group:
                if pairing := self._pairing(competition):
                    firsts.append((competition, pairing))
                    break
        return min(firsts, key=lambda first: self._share(first[0]), default=None)

    def made(self, match: Match, pairing: Pairing) -> None:
        """Keeps a match that was made."""
        match.competition.last_match = self._now
        due = DueMatch(pairing.entrants, match.rated)
        self._due.setdefault(match.competition.id, []).append(due)
        self._urgencies.pop(match.competition.id, None)
        if field := self._fields.get(match.competition.id):
            field.add(due)

    def _urgency(self, ladder: Ladder) -> int:
        found = self._urgencies.get(ladder.id)
        if found is None:
            young = self._newcomers.get(ladder.id, [])
            found = ladders.urgency(ladder, young, self._due_of(ladder))
            self._urgencies[ladder.id] = found
        return found

    def _share(self, competition: Competition) -> tuple[float, float]:
        """The workers' time for a competition by its weight, and since when it has waited.

        What is under way counts by the mean so far.
        """
        matches = under_way(self._due_of(competition))
        to_come = matches * competition.match_seconds(matches)
        seconds = competition.head_start + competition.worker_seconds + to_come
        last = competition.last_match
        return seconds / competition.weight, last.timestamp() if last else 0.0

    def _due_of(self, competition: Competition) -> Sequence[DueMatch]:
        return self._due.get(competition.id, ())

    def _pairing(self, competition: Competition) -> Pairing | None:
        session, due = self._session, self._due_of(competition)
        match competition:
            case Ladder():
                field = self._fields.get(competition.id)
                if field is None:
                    # What was made is no part of it, and is written all together at the end.
                    with session.no_autoflush:
                        field = ladders.Field.read(session, competition, due)
                    self._fields[competition.id] = field
                return ladders.next_pairing(competition, field, self._now, self._trickle_seconds)
            case Tournament():
                return tournaments.next_pairing(session, competition)
            case StrengthTest():
                return strength_tests.next_pairing(session, competition, under_way(due), self._now)
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
    """A match of this pairing, by the rules of its competition, which is locked.

    Args:
        requester: who asked for it; such a match counts for nothing.
    """
    key = pairing.key or (competition.matches_made,)
    draw = derive(competition.seed, "opening", *key)
    if pairing.opening or competition.openings is OpeningPolicy.RANDOM:
        start = pairing.opening or opening(competition.variant, draw)
        variant, moves = start.variant, list(start.moves)
    else:
        variant, moves = competition.variant.drawn(draw), []
    match = Match(
        competition=competition,
        status=JobStatus.OPEN,
        attempt=0,
        round=pairing.round,
        leg=pairing.leg,
        rated=isinstance(competition, Ladder) and requester is None,
        requester_id=requester and requester.id,
        options=dict(variant.options),
        opening=moves,
        seed=derive(competition.seed, "match", *key),
        created=now,
        places=[Place(number=n, entrant_id=entrant) for n, entrant in enumerate(pairing.entrants)],
    )
    competition.matches_made += 1
    session.add(match)
    return match
