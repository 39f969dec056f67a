"""A competition with a reserve of the workers has its share before all others."""

from __future__ import annotations

from collections import Counter

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions import tournaments
from arena.competitions.fields import field_of
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import BotVersion, Check, JobStatus, Ladder, Match, VersionStatus
from arena.schedule import allocation
from tests.arena.simulator import CALM, START, Simulation, give_sign


@pytest.mark.parametrize(("reserve", "expected"), [(0.5, 4), (0.25, 2), (1.0, 8), (None, 0)])
def test_a_reserve_is_had_first(
    sqlite_database: Database, reserve: float | None, expected: int
) -> None:
    """Whatever waits, and whoever else had less; no more than that, and all of it at once."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=4)
    with sqlite_database.begin() as session:
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        ladder = session.scalars(sa.select(Ladder)).one()
        plan = tournaments.TournamentPlan(
            "final", ladder.variant, ladder.time, "round-robin", settings={"cycles": 4}
        )
        final = tournaments.create(session, plan, field_of(session, ladder), START, ARENA)
        # By its share it would come last.
        final.reserve, final.head_start = reserve, 1e9
        for check in session.scalars(sa.select(Check)):
            check.status = JobStatus.OPEN
        give_sign(session, "w", START, slots=4)
        allocation.fill(session, Settings(), START)
        issued = Counter(
            session.scalars(sa.select(Match.competition_id).where(Match.status == JobStatus.ISSUED))
        )
        assert issued[final.id] == expected
        assert (issued[ladder.id] > 0) == (expected < 7)
        allocation.fill(session, Settings(), START)
        again = sa.select(sa.func.count()).where(
            Match.competition_id == final.id, Match.status == JobStatus.ISSUED
        )
        assert session.scalars(again).one() == expected
