"""Several recorders share the workers as one would, each with the competitions of its shards."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots.submissions import submit
from arena.competitions.rosters import Rosters
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, Check, JobStatus, Ladder, Match, User
from arena.schedule import allocation, leases
from arena.schedule.shards import GOOD, Shards
from engine.jobs import results_of
from tests.arena.simulator import CALM, START, Simulation, give_sign

SETTINGS = Settings(data=Path("/nowhere"), shards=2)
SLOTS = 4


class Two:
    """Two recorders: of the ladders with even numbers and checks, and of those with odd ones."""

    def __init__(self, database: Database, ladders: int) -> None:
        self.database, self.now = database, START
        self.recorders = [Shards(2, frozenset({shard})) for shard in range(2)]
        self.rosters = [Rosters(), Rosters()]
        self.places = count(1)
        Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})] * ladders, bots=8)
        with database.begin() as session:
            session.execute(sa.delete(Check))
            give_sign(session, "worker", self.now, slots=SLOTS)

    def fill(self, shard: int) -> list[str]:
        """One of them issues what there is room for; gives the queues of what it did."""
        its = self.recorders[shard]
        with self.database.begin() as session:
            issued = allocation.fill(session, SETTINGS, self.now, self.rosters[shard], its)
        return [results_of(job.lease.shard) for batch in issued for job in batch]

    def wake(self, shard: int) -> None:
        """The others whom one of them has to wake issue, too."""
        woken, self.recorders[shard].to_wake = self.recorders[shard].to_wake, set()
        for other in woken:
            self.fill(other)

    def end_one(self, shard: int) -> None:
        """The match of a shard that is under way for the longest is played."""
        with self.database.begin() as session:
            match = session.scalars(under_way(shard).limit(1)).first()
            if match is not None:
                match.end_lease(JobStatus.FIXED)
                match.seq = next(self.places)
                match.competition.worker_seconds += 2

    def made(self) -> Counter[int]:
        """How many matches each ladder has."""
        with self.database.read() as session:
            return Counter(session.scalars(sa.select(Match.competition_id)))


def under_way(shard: int) -> sa.Select[Match]:
    issued = sa.select(Match).where(Match.status == JobStatus.ISSUED)
    return issued.where(Match.competition_id % 2 == shard).order_by(Match.id)


@pytest.mark.long
@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_shares_are_those_of_one_recorder(sqlite_database: Database, weight: float) -> None:
    """Though one of them hears of its matches three times as often, and begins."""
    two = Two(sqlite_database, ladders=2)
    with sqlite_database.begin() as session:
        session.get_one(Ladder, 2).weight = weight
    for turn in range(160):
        two.now += timedelta(seconds=0.5)
        shard = 1 if turn % 4 else 0
        with sqlite_database.begin() as session:
            give_sign(session, "worker", two.now, slots=SLOTS)
        two.end_one(shard)
        two.fill(shard)
        two.wake(shard)
    made = two.made()
    assert made.total() > 50
    assert made[2] / made[1] == pytest.approx(weight, rel=0.15)


def test_each_issues_what_is_its_own(sqlite_database: Database) -> None:
    """And says where it is to be reported."""
    two = Two(sqlite_database, ladders=2)
    assert set(two.fill(1)) == {"results.1"}
    with sqlite_database.begin() as session:
        assert not session.scalars(under_way(0)).all()
        late = two.now + timedelta(days=1)
        assert not leases.roll_back_overdue(session, SETTINGS, late, late, shards=two.recorders[0])
        assert leases.roll_back_overdue(session, SETTINGS, late, late, shards=two.recorders[1])
        give_sign(session, "worker", two.now, slots=0)  # none of what is rolled back is issued
    two.fill(0)
    assert set(two.made()) == {1}


def test_one_that_is_gone_is_not_waited_for(sqlite_database: Database) -> None:
    """It said what it would do, and never came back to it."""
    two = Two(sqlite_database, ladders=2)
    two.fill(1)
    two.fill(0)
    for _ in range(2 * SLOTS):
        two.end_one(1)
    two.fill(1)
    assert two.recorders[1].to_wake == {0}, "there is room, which the other has more right to"
    before = two.made()
    two.now += GOOD + timedelta(seconds=1)
    with sqlite_database.begin() as session:
        give_sign(session, "worker", two.now, slots=SLOTS)
    two.fill(1)
    assert two.made()[1] > before[1], "and the other is not waited for any more"


def test_checks_have_their_turn(sqlite_database: Database) -> None:
    """Though all room that there ever is comes up with the recorder that issues none."""
    two = Two(sqlite_database, ladders=1)
    two.fill(1)
    with sqlite_database.begin() as session:
        upload(session)
    two.fill(0)
    for _ in range(2 * SLOTS):
        two.end_one(1)
        two.fill(1)
        two.wake(1)
        with sqlite_database.read() as session:
            if session.scalars(sa.select(Check.status)).one() is JobStatus.ISSUED:
                return
    pytest.fail("the check was never issued")


def upload(session: Session) -> None:
    submit(
        session,
        session.scalars(sa.select(User)).first(),
        session.scalars(sa.select(Bot.name)).first(),
        digest="1" * 64,
        size=1,
        language="Python",
        ladder=session.get_one(Ladder, 1),
        now=START,
    )
