"""A tournament that was called off stays as it was, whatever was under way."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from arena.audit import entries
from arena.competitions.results import results, to_json
from arena.competitions.tournament_deeds import ChangeTournament
from arena.competitions.tournaments import call_off
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import CompetitionState, JobStatus, Match, Tournament
from arena.schedule import leases, verdicts
from arena.schedule.matchmaking import new_matches
from tests.arena.competitions.tournament_simulation import (
    FOR_TWO,
    ORGANISER,
    TournamentSimulation,
)
from tests.arena.doing import do
from tests.arena.simulator import CALM, START

WHY = "the hall burned down"


@pytest.fixture
def arena(sqlite_database: Database) -> TournamentSimulation:
    """A ladder of five bots, and nothing else."""
    return TournamentSimulation(sqlite_database, 1, CALM, "clobber", 5, size="4x3")


def the_cup(session: sa.orm.Session) -> Tournament:
    """The only tournament."""
    return session.scalars(sa.select(Tournament)).one()


def matches(session: sa.orm.Session, *status: JobStatus) -> list[Match]:
    """The matches that stand so, the first first."""
    query = sa.select(Match).where(Match.status.in_(status)).order_by(Match.id)
    return list(session.scalars(query))


@pytest.mark.long
@pytest.mark.usefixtures("newcomers")
@pytest.mark.parametrize("format_", FOR_TWO)
@pytest.mark.parametrize("seconds", [0, 4])
def test_what_is_not_played_never_is(
    arena: TournamentSimulation, format_: str, seconds: int
) -> None:
    """Before its start and in the midst of it: what was played stays, the rest is void."""
    arena.create("cup", format_)
    if seconds:
        arena.alive()
        arena.tick()
        arena.run(seconds)
    with arena.database.begin() as session:
        played = len(matches(session, JobStatus.FIXED))
        under_way = len(matches(session, JobStatus.OPEN, JobStatus.ISSUED))
        assert (played > 0, under_way > 0) == (seconds > 0, seconds > 0)
        assert call_off(session, the_cup(session), WHY, arena.now, ORGANISER) == under_way
    # The workers go on for a while, and say what became of it.
    arena.run(60)
    with arena.database.begin() as session:
        cup = the_cup(session)
        assert (cup.state, cup.standing) == (CompetitionState.CLOSED, "called off")
        assert [match.status for match in matches(session, *JobStatus)].count(
            JobStatus.FIXED
        ) == played
        assert len(matches(session, JobStatus.VOID)) == under_way
        assert next(new_matches(session, arena.now), None) is None
        found = to_json(results(session, cup))
        assert (found["state"], found["called_off"], found["matches"]) == (
            "called off",
            WHY,
            played,
        )
        # Nobody is said to have won.
        assert {row["place"] for row in found["standings"]} == {None}
        assert not any(row["by_lot"] for row in found["standings"])
        words = {match["status"] for each in found["rounds"] for match in each["matches"]}
        assert words <= {"fixed", "not played"}
        (noted,) = entries(session, action="call off tournament")
        assert (noted.subject, noted.detail) == ("tournament cup", WHY)


def test_what_was_set_aside_is_void(arena: TournamentSimulation) -> None:
    """It waits for nobody's decision any more."""
    arena.create("cup", "round-robin")
    with arena.database.begin() as session:
        aside = next(new_matches(session, START))
        aside.status = JobStatus.SET_ASIDE
        assert call_off(session, the_cup(session), WHY, START, ORGANISER) == 1
        assert (aside.status, aside.problem) == (
            JobStatus.VOID,
            f"the tournament was called off: {WHY}",
        )


def test_what_was_made_meanwhile_is_void_by_the_next_tick(arena: TournamentSimulation) -> None:
    """The recorder makes matches beside whoever calls the tournament off."""
    arena.create("cup", "round-robin")
    with arena.database.begin() as session:
        call_off(session, the_cup(session), WHY, START, ORGANISER)
        the_cup(session).state = CompetitionState.OPEN
        made = next(new_matches(session, START))
        the_cup(session).state = CompetitionState.CLOSED
        leases.call_off(session)
        assert (made.status, made.problem) == (JobStatus.VOID, "the tournament is called off")


def test_it_is_for_ever(arena: TournamentSimulation) -> None:
    """It isn't opened, nor called off again, nor does a match that is made void open it."""
    arena.create("cup", "round-robin")
    arena.alive()
    arena.tick()
    arena.run(4)
    with arena.database.begin() as session:
        cup = the_cup(session)
        with pytest.raises(Refusal, match="it may have 2000"):
            call_off(session, cup, "x" * 2001, START, ORGANISER)
        with pytest.raises(Refusal, match="say why the tournament is called off"):
            call_off(session, cup, "  ", START, ORGANISER)
        call_off(session, cup, WHY, START, ORGANISER)
        for state in (CompetitionState.OPEN, CompetitionState.PAUSED):
            with pytest.raises(Refusal, match="the tournament cup was called off"):
                do(session, ChangeTournament(cup.name, state), START, ORGANISER)
        with pytest.raises(Refusal, match="the tournament cup was called off"):
            call_off(session, cup, WHY, START, ORGANISER)
        number = matches(session, JobStatus.FIXED)[0].id
        verdicts.void(session, ORGANISER, number, "the machine was busy", now=START)
        assert cup.standing == "called off"


def test_what_is_over_is_not_called_off(arena: TournamentSimulation) -> None:
    """It has its winner."""
    arena.create("cup", "round-robin", top=2)
    arena.play_out(5)
    with arena.database.begin() as session:
        with pytest.raises(Refusal, match="the tournament cup is over"):
            call_off(session, the_cup(session), WHY, START, ORGANISER)
        assert the_cup(session).standing == "closed"
