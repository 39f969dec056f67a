"""Who is given the jobs of bots of several processes, and what is said while nobody can be."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Check, JobStatus, Ladder, Match
from arena.operation import alarms, queues
from arena.schedule import allocation, workers
from arena.schedule.idle import ELSEWHERE, why_idle
from engine import jobs
from engine.games import GAMES
from tests.arena.running import broker
from tests.arena.simulator import CALM, START, Simulation, give_sign

NOW = START + timedelta(days=1)
SETTINGS = Settings(data=Path("/nowhere"))
WORDS = (
    "No worker has boxes for bots of several processes, which take the level full: its matches "
    "wait for one."
)


def furnish(database: Database, *, checked: bool = False) -> None:
    """A ladder of bots of one process, and one of several, with the same bots."""
    Simulation(database, 0, CALM).furnish(
        [("clobber", {"size": "4x3"}), ("clobber", {"size": "5x6"})], bots=6
    )
    with database.begin() as session:
        last = session.scalars(sa.select(Ladder).order_by(Ladder.id.desc()).limit(1)).one()
        last.processes = 4
        if not checked:
            session.execute(sa.delete(Check))


def issued(database: Database) -> list[list[int]]:
    """How many processes each job grants, of the batches that are issued now."""
    with database.begin() as session:
        found = allocation.fill(session, SETTINGS, NOW)
    return [[job.grant.processes for job in batch] for batch in found]


def sign(database: Database, worker: str, level: str, slots: int = 1) -> None:
    """A worker says that it lives, with boxes of this level."""
    with database.begin() as session:
        give_sign(session, worker, NOW, slots=slots)
        found = session.get(workers.Worker, worker)
        assert found
        found.isolation = level


def why(database: Database) -> tuple[str | None, list[str]]:
    """Why the ladder of several processes is idle, and the alarms of games."""
    with database.read() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.processes > 1)).one()
        found = alarms.find(session, SETTINGS, NOW)
        words = [f"{one.subject}: {one.words}" for one in found if one.kind == "game"]
        return why_idle(session, ladder, SETTINGS, NOW), words


def test_nobody_else_gets_jobs_of_several_processes(database: Database) -> None:
    """No more of them than the strong workers take; the weak ones have as much as ever."""
    furnish(database)
    sign(database, "weak", "good", slots=3)
    assert issued(database) == [[1]] * 3 * allocation.AHEAD
    assert why(database) == (WORDS, [f"clobber of several processes: {WORDS.rstrip('.')}"])
    sign(database, "strong", "full", slots=3)
    assert issued(database) == [[4]] * 3 * allocation.AHEAD
    assert why(database) == (ELSEWHERE, [])


def test_checks_wait_as_well(database: Database) -> None:
    """They take no turn from those that can be made."""
    furnish(database, checked=True)
    with database.begin() as session:
        for check in session.scalars(sa.select(Check)):
            check.status = JobStatus.OPEN
            check.end_lease(JobStatus.OPEN)
    sign(database, "weak", "good", slots=3)
    assert {count for batch in issued(database) for count in batch} == {1}
    sign(database, "strong", "full", slots=3)
    assert {count for batch in issued(database) for count in batch} == {1, 4}


def test_a_weak_worker_does_not_vouch_for_a_strong_one(database: Database) -> None:
    """A job that fails twice where alone it can be done is set aside, and not tried for ever."""
    furnish(database)
    sign(database, "strong", "full")
    sign(database, "weak", "good")
    issued(database)
    with database.begin() as session:
        match = session.scalars(
            sa.select(Match).where(Match.competition.has(Ladder.processes > 1)).limit(1)
        ).one()
        for _ in range(2):
            assert workers.note_failure(session, match, "strong", "no box", "good", NOW)


@pytest.mark.parametrize("several", [False, True])
def test_each_kind_of_job_has_its_queue(several: bool) -> None:
    """Which is looked into when what waits there counts no more."""
    name = jobs.queue_of(GAMES.edition("clobber"), several=several)
    assert name == ("matches+processes" if several else "matches")
    with broker() as embedded, queues.connect(embedded.url) as client:
        client.lpush(f"{name}{queues.STEP}6", "a job")
        assert f"{name}{queues.STEP}6" in queues.keys_of_jobs(client)
        assert queues.look(embedded.url).waiting == {"matches": 1, "results": 0}


@pytest.mark.parametrize(("told", "processes"), [({}, 1), ({"processes": 4}, 4)])
def test_what_a_grant_says_of_processes(told: dict[str, int], processes: int) -> None:
    """One of an arena of a release before says nothing, and means one."""
    data = {"memory_bytes": 1, "threads": 2, "log_bytes": 3, **told}
    grant = jobs.Grant.from_json(data)
    assert grant == jobs.Grant(1, 2, 3, processes)
    assert jobs.Grant.from_json(grant.to_json()) == grant
