"""What is built of an owner's bots counts, whatever it was built for; and no more than was."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.orm import Session

from arena import sittings
from arena.ground.config import Settings
from arena.ground.db import MIGRATIONS, Database
from arena.models import BotVersion, Build, Check, Ladder, User, VersionStatus
from arena.recorder import recording
from arena.schedule import allocation, leases, matchmaking
from arena.schedule.builds import BUDGETED, waits_for_builds
from arena.schedule.jobs import Leased
from arena.schedule.leases import Fate
from arena.sittings import Person, Wish
from engine import jobs
from engine.reporting import Built
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START, Simulation, give_sign

SETTINGS = Settings(data=Path("/nowhere"))
LATER = START + timedelta(seconds=300)
FIRST = f"{0:064}"


@pytest.fixture
def arena(sqlite_database: Database) -> Database:
    """A ladder of two bots of one owner, and a worker."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with sqlite_database.begin() as session:
        give_sign(session, "w", START, slots=1)
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        for version in session.scalars(sa.select(BotVersion).order_by(BotVersion.id)):
            version.digest = f"{version.id - 1:064}"
        session.scalars(sa.select(User)).one().name = "ada"
    return sqlite_database


def a_match(session: Session) -> Leased:
    return next(matchmaking.new_matches(session, START))


def a_check(session: Session) -> Leased:
    return session.scalars(sa.select(Check).order_by(Check.id)).first()  # type: ignore[return-value]


def a_move(session: Session) -> Leased:
    person = Person("ada", session.scalars(sa.select(User.id)).first())
    ladder = session.scalars(sa.select(Ladder)).one()
    wish = Wish(ladder, 1, (1,), False, "form", 5)
    return sittings.begin(session, person, wish, START, most_open=3)


JOBS = {"match": a_match, "check": a_check, "move": a_move}


def lease_of(arena: Database, kind: str) -> jobs.Lease:
    """The lease of a new job which needs the first bot."""
    with arena.begin() as session:
        job = JOBS[kind](session)
        session.flush()
        return issued(session, job, SETTINGS, START).lease


def tell(arena: Database, built: Built) -> Fate:
    with arena.begin() as session:
        told = Built.from_json(built.to_json())
        return recording.record_build(session, told, LATER)


def charged(arena: Database) -> list[float]:
    with arena.read() as session:
        return list(session.scalars(sa.select(Build.seconds)))


@pytest.mark.parametrize("kind", JOBS)
def test_a_build_is_charged_once_for_each_attempt(arena: Database, kind: str) -> None:
    """Told again, told late, or told of a bot of another, it costs nobody anything."""
    built = Built(lease_of(arena, kind), "w", FIRST, 60.0)
    for lease in (replace(built.lease, ticket="no"), replace(built.lease, attempt=2)):
        assert tell(arena, replace(built, lease=lease)) is Fate.STALE
    with pytest.raises(jobs.JobError, match="none of the job's"):
        tell(arena, replace(built, digest="f" * 64))
    assert charged(arena) == []
    for _ in range(3):
        assert tell(arena, built) is Fate.NOTED
    assert charged(arena) == [60.0]


@pytest.mark.parametrize(
    ("said", "age", "believed"),
    [(119.5, 300, 119.5), (900.0, 300, 120.0), (1e6, 300, 120.0), (60.0, 10, 10), (60.0, -10, 0)],
)
def test_no_more_is_believed_than_a_build_may_take(
    arena: Database, said: float, age: int, believed: float
) -> None:
    """Nor more than has passed since the job was made, by the arena's clock."""
    lease = lease_of(arena, "match")
    with arena.begin() as session:
        leases.find_issued(session, lease).created = LATER - timedelta(seconds=age)  # type: ignore[union-attr]
    assert tell(arena, Built(lease, "w", FIRST, said)) is Fate.NOTED
    assert charged(arena) == [believed]


@pytest.mark.parametrize("kind", JOBS)
def test_who_built_for_too_long_has_no_check_issued(arena: Database, kind: str) -> None:
    """Until an hour has passed; the matches of the same bots are played."""
    with arena.begin() as session:
        session.execute(sa.update(Check).values(created=START - timedelta(hours=1)))
    tell(arena, Built(lease_of(arena, kind), "w", FIRST, 61.0))
    settings = replace(SETTINGS, build_seconds_an_hour=60.0)
    for passed, slots, waits in (
        (timedelta(0), 4, True),
        (BUDGETED + timedelta(seconds=1), 40, False),
    ):
        now = LATER + passed
        with arena.begin() as session:
            owner = session.scalars(sa.select(User)).one()
            assert waits_for_builds(session, owner, 60.0, now) is waits
            session.execute(sa.update(Check).values(status="open", ticket=None, lease_ends=None))
            give_sign(session, "w", now, slots=slots)
            batches = allocation.fill(session, settings, now)
        kinds = {job.lease.kind for batch in batches for job in batch}
        assert kinds == ({"match"} if waits else {"match", "check"})


def test_an_older_arena_keeps_what_checks_took(arena: Database) -> None:
    """So that an upgrade gives nobody a new budget."""
    with arena.engine.begin() as connection:
        for words in (
            "DROP TABLE build",
            'ALTER TABLE "check" ADD COLUMN build_seconds DOUBLE NOT NULL DEFAULT 0',
            f"""UPDATE "check" SET build_seconds = 70, ended = '{START:%F %T}' WHERE id = 1""",
        ):
            connection.execute(sa.text(words))
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.stamp(config, "0013")
        command.upgrade(config, "0014")
    assert charged(arena) == [70.0]
    with arena.read() as session:
        assert waits_for_builds(session, session.scalars(sa.select(User)).one(), 60.0, LATER)
