"""Which matches are due, by hand: those of two ladders, in every state."""

from __future__ import annotations

import sqlalchemy as sa

from arena.competitions.pairings import DueMatch, due_matches, due_matches_of, under_way
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Check, JobStatus, Ladder, Place
from arena.schedule import matchmaking
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START, Simulation

STATES = [
    (JobStatus.OPEN, True),
    (JobStatus.ISSUED, False),
    (JobStatus.SET_ASIDE, True),
    (JobStatus.SET_ASIDE, False),
    (JobStatus.FIXED, True),
    (JobStatus.VOID, True),
]
"""The states of a ladder's matches, and whether they are rated."""


def test_what_is_due(database: Database) -> None:
    """Open, issued and set aside, in the order in which they were made, with who sits where."""
    variants = [("clobber", {"size": "4x4"}), ("clobber", {"size": "4x3"})]
    Simulation(database, 0, CALM).furnish(variants, bots=2)
    with database.begin() as session:
        session.execute(sa.delete(Check))
        # The second ladder's matches are made between the first one's.
        made = matchmaking.new_matches(session, START)
        matches = [next(made) for _ in range(2 * len(STATES))]
        session.flush()
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
        expected: dict[int, list[DueMatch]] = {}
        for ladder in ladders:
            its = [match for match in matches if match.competition_id == ladder.id]
            for match, (status, rated) in zip(its, STATES, strict=True):
                match.rated = rated
                if status is JobStatus.ISSUED:
                    issued(session, match, Settings(), START)
                match.status = status
                if status is JobStatus.FIXED:
                    match.seq, match.fixed = match.id, START
            # Who comes second by number sits first in one.
            first, second = its[1].places
            first.entrant_id, second.entrant_id = second.entrant_id, first.entrant_id
            session.flush()
            seated = [
                tuple(
                    session.scalars(
                        sa.select(Place.entrant_id)
                        .where(Place.match_id == match.id)
                        .order_by(Place.number)
                    )
                )
                for match in its[:4]
            ]
            expected[ladder.id] = [
                DueMatch(seated[0], rated=True),
                DueMatch(seated[1], rated=False),
                DueMatch(seated[2], rated=True, is_set_aside=True),
                DueMatch(seated[3], rated=False, is_set_aside=True),
            ]
            assert seated[1] == seated[0][::-1]
        assert due_matches(session) == expected
        for ladder in ladders:
            assert due_matches_of(session, ladder) == expected[ladder.id]
            assert under_way(expected[ladder.id]) == 2
        for match in matches:
            match.end_lease(JobStatus.VOID)
        session.flush()
        assert due_matches(session) == {}
        assert due_matches_of(session, ladders[0]) == []
