"""Runtimes that an arena offers: which bots get them, who plays those, and what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots import runtimes
from arena.bots.runtimes import RemoveRuntime
from arena.bots.submissions import SubmissionError, enter, submit
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    BotVersion,
    Check,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Runtime,
    VersionStatus,
)
from arena.operation import alarms
from arena.recorder.dispatch import _queue_of
from arena.schedule import allocation, leases
from arena.schedule.idle import why_idle, why_it_waits
from engine import jobs
from engine.games import GAMES
from tests.arena.bots.test_submissions import NOW, furnished, person, take_in
from tests.arena.doing import do
from tests.arena.simulator import CALM, Simulation, give_sign
from tests.arena.web.conftest import CARD

PLATFORM = CARD["platform"]
OTHER = "x86_64 python3.12"


def add(session: Session, name: str = "scientific", digest: str = "a", **more: Any) -> Runtime:
    """Offers a runtime."""
    return runtimes.add(session, name, digest * 64, 3, CARD | more, "Python", NOW, ARENA)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"runtime": "torch"},
            "there is no runtime 'torch' here; there are: scientific; /docs/runtimes tells",
        ),
        (
            {"runtime": "scientific", "language": "Perl"},
            "the runtime scientific is for Python, and the bot is Perl",
        ),
    ],
)
def test_a_bot_gets_what_is_offered(
    sqlite_database: Database, more: dict[str, str], words: str
) -> None:
    """What is not there, or not for its language, is refused when it is handed in."""
    with sqlite_database.begin() as session:
        furnished(session)
        add(session)
        with pytest.raises(SubmissionError, match=words):
            take_in(session, person(session), "mine", **more)


def test_a_version_keeps_its_runtime(sqlite_database: Database, tmp_path: Path) -> None:
    """Whatever is offered by that name later; with the new one the same files are a new version."""
    settings = Settings(data=tmp_path)
    settings.runtimes.mkdir()
    for digest in "abc":
        (settings.runtimes / (digest * 64)).touch()
    with sqlite_database.begin() as session:
        furnished(session)
        user = person(session)
        first = add(session)
        assert add(session) is first
        version = take_in(session, user, "mine", runtime="scientific")
        assert take_in(session, user, "mine", runtime="scientific") is version
        for digest in "bc":
            add(session, digest=digest)
        newer = take_in(session, user, "mine", runtime="scientific")
        assert (version.runtime, newer.number) == (first, 2)
        assert newer.runtime is runtimes.find(session, "scientific")
        assert runtimes.sweep(session, settings) == 1
    kept = {file.name[0] for file in settings.runtimes.iterdir()}
    assert kept == {"a", "c"}
    (settings.runtimes / ("a" * 64)).unlink()
    with sqlite_database.begin() as session:
        do(session, RemoveRuntime("scientific"), NOW)
        assert runtimes.sweep(session, settings) == 0
        with pytest.raises(SubmissionError, match="there are: none"):
            take_in(session, person(session, "eve"), "hers", runtime="scientific")
        found = alarms.find(session, settings, NOW)
        words = [one.words for one in found if one.kind == "runtime"]
        assert words == [
            "the file of the runtime scientific is lost, which 1 version of a bot needs: "
            f"restore runtimes/{'a' * 64} from a backup"
        ]


def furnish(database: Database, *platforms: str) -> None:
    """A ladder of three bots, and one more with a runtime for each of these platforms."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=3)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        user = person(session)
        session.execute(sa.delete(Check))
        for number, platform in enumerate(platforms):
            add(session, f"for-{number}", str(number), platform=platform)
            version = submit(
                session,
                user,
                f"learner-{number}",
                digest=str(number) * 64,
                size=9,
                language="Python",
                ladder=ladder,
                runtime=f"for-{number}",
                now=NOW,
            )
            version.status = VersionStatus.READY
            enter(session, ladder, version, NOW)
        session.execute(sa.delete(Check))


def issue(database: Database) -> list[jobs.AnyJob]:
    """The jobs that are issued now."""
    with database.begin() as session:
        found = allocation.fill(session, Settings(data=Path("/nowhere")), NOW)
    assert all(len({jobs.platforms_of(job) for job in batch}) == 1 for batch in found)
    return [job for batch in found for job in batch]


def queues(found: list[jobs.AnyJob]) -> set[str]:
    return {_queue_of(job) for job in found}


def test_a_job_goes_to_workers_that_keep_its_runtime(sqlite_database: Database) -> None:
    """It waits in a queue of its own, no more than these can take; the others play as ever."""
    furnish(sqlite_database, PLATFORM)
    with sqlite_database.begin() as session:
        give_sign(session, "big", NOW, slots=20, platforms=(OTHER,))
        give_sign(session, "able", NOW, slots=1, platforms=(PLATFORM, "x86_64"))
    found = issue(sqlite_database)
    assert queues(found) == {"matches", "matches+x86_64-python3.11"}
    with_it = [job for job in found if jobs.platforms_of(job)]
    assert len(with_it) == allocation.AHEAD
    (files,) = {bot for job in with_it for bot in job.bots if bot.runtime}
    assert files.runtime == jobs.RuntimeFiles("0" * 64, f"/nowhere/runtimes/{'0' * 64}", PLATFORM)
    assert jobs.Job.from_json(with_it[0].to_json()) == with_it[0]


def test_what_nobody_keeps_waits_and_the_others_play(sqlite_database: Database) -> None:
    """Its ladder says so if nothing else is played, and an alarm does; nobody is blamed."""
    furnish(sqlite_database, PLATFORM, OTHER)
    with sqlite_database.begin() as session:
        give_sign(session, "old", NOW, slots=2)
        give_sign(session, "able", NOW, slots=2, platforms=(OTHER,))
    found = issue(sqlite_database)
    assert queues(found) <= {"matches", "matches+x86_64-python3.12"}
    assert "matches+x86_64-python3.12" in queues(found)
    names = {name for job in found for name in job.spec.entrants}
    assert "learner-0 v1" not in names
    words = f"No worker with this game keeps runtimes for {PLATFORM}: learner-0 waits for one"
    settings = Settings(data=Path("/nowhere"))
    with sqlite_database.read() as session:
        found = alarms.find(session, settings, NOW)
        assert [one.words for one in found if one.kind == "runtime"][:1] == [words]
        ladder = session.scalars(sa.select(Ladder)).one()
        assert why_idle(session, ladder, settings, NOW) == f"{words}."


@pytest.mark.parametrize("boxed", [3, 0])
def test_two_bots_whose_runtimes_no_one_worker_keeps_do_not_meet(
    sqlite_database: Database, boxed: int
) -> None:
    """They meet the others, who wait for nothing; an alarm says it, and a ladder of these alone."""
    furnish(sqlite_database, PLATFORM, OTHER)
    with sqlite_database.begin() as session:
        if not boxed:
            without = Entrant.version.has(BotVersion.runtime_id.is_(None))
            session.execute(sa.update(Entrant).where(without).values(state=EntrantState.RETIRED))
        give_sign(session, "old", NOW, slots=20, platforms=(OTHER,))
        give_sign(session, "new", NOW, slots=20, platforms=(PLATFORM,))
    pairs = {tuple(sorted(job.spec.entrants)) for _ in range(3) for job in issue(sqlite_database)}
    names = {name for pair in pairs for name in pair}
    assert ("learner-0 v1", "learner-1 v1") not in pairs
    assert len(names) == (boxed + 2 if boxed else 0)
    words = (
        f"No worker with this game keeps runtimes for both {PLATFORM} and {OTHER}: learner-0 and "
        "learner-1 do not meet before there is one"
    )
    settings = Settings(data=Path("/nowhere"))
    with sqlite_database.begin() as session:
        found = alarms.find(session, settings, NOW)
        assert [one.words for one in found if one.kind == "runtime"][:1] == [words]
        ladder = session.scalars(sa.select(Ladder)).one()
        assert why_idle(session, ladder, settings, NOW) == f"{words}."
        give_sign(session, "both", NOW, slots=1, platforms=(OTHER, PLATFORM))
    if not boxed:
        (match, *_) = issue(sqlite_database)
        assert sorted(match.spec.entrants) == ["learner-0 v1", "learner-1 v1"]


def test_a_match_that_no_worker_can_play_any_more_is_in_nobodys_way(
    sqlite_database: Database,
) -> None:
    """The worker that kept both runtimes is gone, and the one slot that is left plays the rest."""
    furnish(sqlite_database, PLATFORM, OTHER)
    with sqlite_database.begin() as session:
        give_sign(session, "both", NOW, slots=8, platforms=(PLATFORM, OTHER))
    made = issue(sqlite_database)
    stuck = {job.lease.job for job in made if len(jobs.platforms_of(job)) == 2}
    assert stuck
    with sqlite_database.begin() as session:
        leases.roll_back_all(session)
        give_sign(session, "both", NOW, slots=0)
        give_sign(session, "old", NOW, slots=1, platforms=(OTHER,))
        give_sign(session, "new", NOW, slots=1, platforms=(PLATFORM,))
    again = [job.lease.job for _ in range(4) for job in issue(sqlite_database)]
    assert len(again) == 2 * allocation.AHEAD
    assert stuck.isdisjoint(again)
    with sqlite_database.read() as session:
        match = session.get_one(Match, min(stuck))
        words = why_it_waits(session, match, Settings(data=Path("/nowhere")), NOW)
    assert words == f"No worker with this game keeps runtimes for {PLATFORM} and {OTHER}."


def test_a_check_waits_for_a_worker_that_keeps_its_runtime(sqlite_database: Database) -> None:
    """And is nobody's failure meanwhile; so are matches that were made when there was one."""
    furnish(sqlite_database, PLATFORM)
    with sqlite_database.begin() as session:
        version = session.scalars(
            sa.select(BotVersion).where(BotVersion.runtime_id.is_not(None))
        ).one()
        ladder = session.scalars(sa.select(Ladder)).one()
        session.add(
            Check(version=version, ladder=ladder, status=JobStatus.OPEN, created=NOW, findings=[])
        )
        give_sign(session, "able", NOW, slots=1, platforms=(PLATFORM,))
    (check, *made) = issue(sqlite_database)
    assert _queue_of(check) == "matches+x86_64-python3.11"
    with sqlite_database.begin() as session:
        for kind in (Check, Match):
            for job in session.scalars(sa.select(kind)):
                leases.roll_back(job, "the worker was stopped", failed=False)
        give_sign(session, "able", NOW, slots=8)
    again = issue(sqlite_database)
    assert {job.lease.kind for job in again} == {"match"}
    assert queues(again) == {"matches"}
    waiting = {job.lease.job for job in made if jobs.platforms_of(job)}
    assert waiting.isdisjoint(job.lease.job for job in again)


def test_a_worker_takes_from_the_queues_of_its_platforms() -> None:
    """It takes from that of each and of all together: two bots of a match may have two runtimes."""
    own = GAMES.edition("clobber")
    found = set(jobs.queues_of(own, ("x86_64", PLATFORM)))
    assert found == {
        "matches",
        "matches+x86_64",
        "matches+x86_64-python3.11",
        "matches+x86_64+x86_64-python3.11",
    }
    assert jobs.queue_of(own, {PLATFORM, "x86_64"}) in found
