"""Ratings and counters made anew from many games."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from arena.db import Database
from arena.fake.fill import fill
from arena.models import Ladder
from arena.rebuild import AT_A_TIME, rebuild

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "games",
    [
        pytest.param(2_000),
        pytest.param(100_000, marks=[pytest.mark.deep, pytest.mark.timeout(900)]),
    ],
)
def test_recorded_games_are_rated_again_to_the_same_digits(database: Database, games: int) -> None:
    """By a fold over what is stored; with another draw probability all come out differently."""
    fill(database, bots=100, ladders=1, games=games, seed=1, now=NOW)
    with database.read() as session:
        told: list[int] = []
        ladder = session.scalars(sa.select(Ladder)).one()
        found = rebuild(session, ladder, write=False, advance=told.append)
        assert found.games >= games
        assert (sum(told), max(told) < found.games) == (found.games, games > 2 * AT_A_TIME)
        assert found.equal, found.differences[:3]
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.draw_probability = 0.3
        session.flush()
        assert len(rebuild(session, ladder, write=True).differences) > games
    with database.read() as session:
        assert rebuild(session, session.scalars(sa.select(Ladder)).one(), write=False).equal
