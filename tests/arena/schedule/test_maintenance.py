"""What is played during maintenance: what workers have already, and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.deeds import By, perform
from arena.ground.db import Database, count_rows
from arena.models import JobStatus, Ladder, Match, Scope
from arena.operation import alarms, health
from arena.operation.maintenance import SetMaintenance
from arena.schedule import allocation, idle
from tests.arena.simulator import CALM, Simulation


@pytest.mark.long
def test_workers_drain(database: Database) -> None:
    """Nothing new is issued, what runs is recorded, nobody is alarmed; all goes on after it."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=4)
    simulation.alive()
    simulation.tick()
    simulation.run(2)
    own = simulation.settings
    with database.begin() as session:
        by = By(ARENA, frozenset(Scope), simulation.now)
        under_way = count_rows(session, Match, Match.status == JobStatus.ISSUED)
        perform(session, SetMaintenance(True), by)
    assert under_way
    simulation.run(30)
    later = simulation.now + timedelta(hours=2)  # longer than a ladder may be idle
    with database.begin() as session:
        assert count_rows(session, Match, Match.status == JobStatus.ISSUED) == 0
        fixed = count_rows(session, Match, Match.status == JobStatus.FIXED)
        assert fixed == under_way
        assert allocation.fill(session, own, simulation.now) == []
        ladder = session.scalars(sa.select(Ladder)).one()
        why = idle.why_idle(session, ladder, own, simulation.now)
        assert why == "The arena is under maintenance, so nothing is begun."
        assert health.look(session, own, later).maintenance
        found = alarms.find(session, own, later)
        assert not [one for one in found if one.kind == "idle ladder"]
        perform(session, SetMaintenance(False), By(ARENA, frozenset(Scope), later))
        found = alarms.find(session, own, later)
        assert not [one for one in found if one.kind == "idle ladder"]
    simulation.run(20)
    with database.read() as session:
        assert count_rows(session, Match, Match.status == JobStatus.FIXED) > fixed
