"""What an organiser has played or tried again, and what stays as it was decided."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from arena import audit
from arena.audit import ARENA
from arena.competitions.pairings import Pairing
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import Check, CompetitionState, JobStatus, Ladder, Match, User
from arena.schedule import verdicts
from arena.schedule.matchmaking import make
from engine.translation import speaking
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.simulator import CALM, START, Simulation
from tests.marked import END, MARK, MARKED

LATER = START + timedelta(hours=1)
SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
def arena(database: Database) -> Simulation:
    """A ladder of two bots."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=2)
    return simulation


def set_aside(session: sa.orm.Session, requester: User | None = None) -> Match:
    """A match that could not be played."""
    ladder = session.scalars(sa.select(Ladder)).one()
    match = make(session, ladder, Pairing((2, 1)), START, requester=requester)
    match.status, match.failures, match.problem = JobStatus.SET_ASIDE, 3, "no box"
    session.flush()
    return match


@SQLITE
@pytest.mark.parametrize("asked", [False, True])
def test_what_is_replayed_counts_as_much_as_before(arena: Simulation, asked: bool) -> None:
    """A match that somebody asked for is theirs again, and moves no rating then either."""
    with arena.database.begin() as session:
        user = session.scalars(sa.select(User)).one()
        match = set_aside(session, user if asked else None)
        again = verdicts.void(session, ARENA, match.id, "so", replay=True, now=LATER)
        assert again is not None
        assert (again.rated, again.requester_id) == (not asked, user.id if asked else None)
        assert (again.status, again.created, again.failures) == (JobStatus.OPEN, LATER, 0)
        assert (again.seed, again.opening, again.options) == (
            match.seed,
            match.opening,
            match.options,
        )
        assert [place.entrant_id for place in again.places] == [2, 1]
        # Both were made, and the next one is drawn anew.
        ladder = session.scalars(sa.select(Ladder)).one()
        session.refresh(ladder)
        assert ladder.matches_made == 2
        (noted,) = audit.entries(session, action="void match")
        assert noted.detail == f"so; replayed as match {again.id}"


@SQLITE
def test_a_match_of_a_frozen_ladder_is_made_void(arena: Simulation) -> None:
    """Nothing is played there for that; nor is a match that is not to be replayed."""
    with arena.database.begin() as session:
        match = set_aside(session)
        match.competition.state = CompetitionState.FROZEN
        assert verdicts.void(session, ARENA, match.id, " so ", now=LATER) is None
        assert (match.status, match.problem) == (JobStatus.VOID, "so")
        (noted,) = audit.entries(session, action="void match")
        assert noted.detail == "so"
        assert len(session.scalars(sa.select(Match)).all()) == 1


@SQLITE
def test_no_match_of_a_strength_test_is_made_void(database: Database) -> None:
    """It is decided by their order, as docs/ladders.md says."""
    arena = StrengthSimulation(database, CALM, "clobber", size="4x3")
    number = arena.create()
    with database.begin() as session:
        test = arena.test(session, number)
        match = make(session, test, Pairing((3, 4)), START)
        match.status = JobStatus.SET_ASIDE
        session.flush()
        with pytest.raises(
            Refusal, match=r"of the strength test test-\d+, .*: start the test anew"
        ):
            verdicts.void(session, ARENA, match.id, "so", now=LATER)
        assert match.status is JobStatus.SET_ASIDE


@pytest.mark.parametrize("number", [-1, 0, 1, 2**31 - 1, 2**31, 2**63])
def test_what_is_not_there_is_not_tried_again(database: Database, number: int) -> None:
    """Nor what no database has room for: an id has 4 bytes in PostgreSQL, and 8 in SQLite."""
    with database.begin() as session:
        verdicts.hold(session, [number])
        for kind, words in ((Match, "match"), (Check, "check")):
            with pytest.raises(Refusal) as refused:
                verdicts.requeue(session, ARENA, kind, number, LATER)
            assert str(refused.value) == f"there is no {words} {number}"


@SQLITE
def test_what_was_set_aside_has_all_its_attempts_again(arena: Simulation) -> None:
    """A match or a check; why it was set aside stands in the audit log, and once is enough."""
    with arena.database.begin() as session:
        match, check = set_aside(session), session.scalars(sa.select(Check)).first()
        assert check is not None
        check.status, check.failures, check.problem = JobStatus.SET_ASIDE, 3, "no box"
        session.flush()
        for job, kind in ((match, "match"), (check, "check")):
            verdicts.requeue(session, ARENA, type(job), job.id, LATER)
            assert (job.status, job.failures) == (JobStatus.OPEN, 0)
            (noted,) = audit.entries(session, action=f"requeue {kind}")
            assert (noted.subject, noted.detail) == (f"{kind} {job.id}", "no box")
            for status in (JobStatus.OPEN, JobStatus.VOID):
                job.status = status
                with pytest.raises(Refusal) as refused:
                    verdicts.requeue(session, ARENA, type(job), job.id, LATER)
                assert str(refused.value) == f"{kind} {job.id} is {status}, and not set aside"
                with speaking(MARKED), pytest.raises(Refusal, match=f"{MARK}{status}{END}"):
                    verdicts.requeue(session, ARENA, type(job), job.id, LATER)
