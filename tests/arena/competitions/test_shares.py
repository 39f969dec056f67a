"""Where a competition begins in the sharing of the workers' time, by hand."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from arena.competitions.founding import come_back, fair_start, weigh_anew
from arena.ground.db import Database
from arena.models import CompetitionState, Ladder
from tests.arena.simulator import CALM, Simulation

OPEN, PAUSED = CompetitionState.OPEN, CompetitionState.PAUSED

Had = tuple[CompetitionState, float, float, float]
"""A competition: its state, its weight, and the seconds of its head start and of workers."""


def ladders(session: sa.orm.Session, rows: list[Had]) -> list[Ladder]:
    """Ladders that have had so much."""
    found = list(session.scalars(sa.select(Ladder).order_by(Ladder.id)))
    for one, had in zip(found, rows, strict=True):
        one.state, one.weight, one.head_start, one.worker_seconds = had
    session.flush()
    return found


def furnish(database: Database, number: int) -> None:
    """So many ladders, and no bots."""
    Simulation(database, 1, CALM).furnish([("clobber", {"size": "4x3"})] * number, bots=0)


STARTS: list[tuple[list[Had], float, float]] = [
    ([], 2.0, 0.0),
    ([(OPEN, 1.0, 0.0, 300.0), (OPEN, 1.0, 150.0, 50.0)], 1.0, 200.0),
    # One of twice the weight has had as much when it has had twice as many seconds.
    ([(OPEN, 1.0, 0.0, 300.0), (OPEN, 1.0, 150.0, 50.0)], 2.0, 400.0),
    ([(OPEN, 2.0, 100.0, 300.0), (OPEN, 1.0, 0.0, 250.0)], 1.0, 200.0),
    # Who has no part in the sharing is no measure.
    ([(PAUSED, 1.0, 0.0, 10.0), (OPEN, 1.0, 0.0, 300.0)], 1.0, 300.0),
    ([(PAUSED, 1.0, 0.0, 10.0)], 1.0, 0.0),
]


@pytest.mark.parametrize(("others", "weight", "start"), STARTS)
def test_who_comes_late_has_had_as_much_as_who_had_least(
    sqlite_database: Database, others: list[Had], weight: float, start: float
) -> None:
    """It counts the open ones, by their weights."""
    furnish(sqlite_database, len(others))
    with sqlite_database.begin() as session:
        ladders(session, others)
        assert fair_start(session, weight) == start


RETURNS: list[tuple[Had, float]] = [
    # Beside one of weight 1 that has had 300: a weight of 2 stands for 600 in all.
    ((PAUSED, 1.0, 0.0, 100.0), 200.0),
    ((PAUSED, 2.0, 50.0, 100.0), 500.0),
    # One that has had more keeps its place; so does one that is as far.
    ((PAUSED, 1.0, 50.0, 1000.0), 50.0),
    ((PAUSED, 1.0, 100.0, 200.0), 100.0),
    # Whether it is open already makes no difference.
    ((OPEN, 1.0, 0.0, 100.0), 200.0),
]


@pytest.mark.parametrize(("one", "start"), RETURNS)
def test_who_comes_back_has_not_the_workers_to_itself(
    sqlite_database: Database, one: Had, start: float
) -> None:
    """What it has had counts, and it is no measure for itself."""
    furnish(sqlite_database, 2)
    with sqlite_database.begin() as session:
        back, _other = ladders(session, [one, (OPEN, 1.0, 0.0, 300.0)])
        come_back(session, back)
        assert (back.head_start, back.worker_seconds) == (start, one[3])


@pytest.mark.parametrize(
    ("before", "weight", "start"),
    # It has had 100 and 200 seconds: as many by its weight are 600 or 150 in all.
    [(1.0, 2.0, 400.0), (1.0, 0.5, -50.0), (2.0, 4.0, 400.0), (2.0, 2.0, 100.0)],
)
def test_another_weight_leaves_a_competition_its_place(
    before: float, weight: float, start: float
) -> None:
    """Its time counts by the weight that it has now."""
    ladder = Ladder(weight=weight, head_start=100.0, worker_seconds=200.0)
    weigh_anew(ladder, before)
    assert ladder.head_start == start
