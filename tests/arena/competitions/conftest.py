"""The arena of the tests of competitions, where a file has none of its own."""

from __future__ import annotations

import pytest

from arena.ground.db import Database
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.simulator import CALM


@pytest.fixture
def arena(sqlite_database: Database) -> StrengthSimulation:
    """One of strength tests of Clobber on a small board."""
    return StrengthSimulation(sqlite_database, CALM, "clobber", size="4x4")
