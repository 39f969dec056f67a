"""An arena that has played, for tests of how it is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.ground.config import Settings
from arena.ground.db import Database
from tests.arena.simulator import CALM, Simulation
from tests.conftest import DATABASES
from tests.furnished import furnished_database

# Without the rest of a ladder on which all is known.
SETTINGS = Settings(alarm_seconds=600, trickle_seconds=0.001)


def live(database: Database) -> datetime:
    """Lets an arena play for some seconds, and gives the time then."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=4)
    simulation.alive()
    simulation.tick()
    simulation.run(6)
    return simulation.now


@pytest.fixture(params=DATABASES)
def played(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """An arena that played for some seconds, and its time."""
    with furnished_database(request, tmp_path, live) as (database, now):
        yield SimpleNamespace(database=database, now=now)
