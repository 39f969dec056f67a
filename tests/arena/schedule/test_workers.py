"""Which workers are given work."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    HOUSE,
    AuditEntry,
    Check,
    CompetitionState,
    JobStatus,
    Ladder,
    Match,
    User,
    Worker,
)
from arena.models.competitions import FIRST_GUESS_SECONDS
from arena.recorder import noting, recording
from arena.schedule import allocation, leases, matchmaking, workers
from arena.schedule.idle import why_nobody_works
from arena.schedule.requests import request_matches
from arena.schedule.workers import FailedJob, ForgetWorker, ReadmitWorker, is_distrusted
from engine import jobs, reporting
from tests.arena.doing import do
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, Simulation, give_sign, report_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = Settings(data=Path("/nowhere"))


def failed(*jobs: tuple[str, bool]) -> list[FailedJob]:
    return [FailedJob(name, against) for name, against in jobs]


@pytest.mark.parametrize(
    ("jobs", "distrusted"),
    [
        ([], False),
        ([("match 1", False), ("match 2", False), ("match 3", False), ("match 4", False)], False),
        ([("match 1", True), ("match 2", True), ("match 3", False)], False),
        ([("match 1", True), ("match 2", True), ("check 3", True)], True),
        ([("match 1", True), ("match 9", False), ("match 2", True), ("match 3", True)], True),
        ([("match 1", True), ("match 1", True), ("match 1", True)], False),
    ],
    ids=[
        "none",
        "four that nobody can do",
        "two that others did",
        "three that others did",
        "three that others did, and one that nobody can do",
        "one job three times",
    ],
)
def test_failures_speak_against_a_worker(jobs: list[tuple[str, bool]], distrusted: bool) -> None:
    """Three different jobs in a row that others did."""
    assert is_distrusted(failed(*jobs)) is distrusted


@pytest.mark.parametrize(
    ("isolation", "minimum", "plays"),
    [
        ("full", "good", True),
        ("good", "good", True),
        ("reduced", "good", False),
        ("none", "none", True),
        ("none", "reduced", False),
        ("better than all", "none", False),
    ],
)
def test_a_worker_needs_boxes_as_good_as_asked(isolation: str, minimum: str, plays: bool) -> None:
    """What a worker says of itself counts only if the arena knows it."""
    worker = Worker(name="w", slots=1, isolation=isolation, set_aside=None, format=jobs.FORMAT)
    assert workers.may_play(worker, minimum) is plays


def sign(session: sa.orm.Session, name: str, now: datetime = NOW) -> None:
    give_sign(session, name, now, slots=2)


class Crew:
    """Workers that take jobs up by a plan."""

    def __init__(self, session: sa.orm.Session, *names: str) -> None:
        self.session = session
        for name in names:
            sign(session, name)

    def match(self) -> Match:
        """A new match."""
        made = next(matchmaking.new_matches(self.session, NOW), None)
        assert made is not None
        return made

    def fails(self, name: str, match: Match) -> None:
        """A worker takes a match up and can't play it."""
        job = issued(self.session, match, SETTINGS, NOW)
        self.tells(reporting.Started(job.lease, name), leases.Fate.NOTED)
        recording.record_void(self.session, job.lease, "no space left", SETTINGS, NOW)

    def plays(self, name: str, match: Match) -> None:
        """A worker plays a match."""
        job = issued(self.session, match, SETTINGS, NOW)
        self.tells(reporting.Started(job.lease, name), leases.Fate.NOTED)
        self.tells(report_of(job, name), leases.Fate.FIXED)

    def tells(self, told: reporting.MatchReport | reporting.Started, outcome: leases.Fate) -> None:
        """A worker says something, and that comes of it."""
        if isinstance(told, reporting.MatchReport):
            assert recording.take_in(self.session, [told], SETTINGS, NOW) == [outcome]
        else:
            assert noting.note(self.session, [told], SETTINGS, NOW) == [outcome]
            self.session.flush()
            self.session.expire_all()

    def aside(self) -> list[str]:
        """Who is set aside."""
        query = sa.select(Worker.name).where(Worker.set_aside.is_not(None))
        return list(self.session.scalars(query.order_by(Worker.name)))


def test_who_fails_at_what_others_do_is_set_aside(database: Database) -> None:
    """Its slots count no more, another gets what it takes up, until somebody readmits it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with database.begin() as session:
        crew = Crew(session, "broken", "sound")
        assert workers.slots(session, "good", NOW) == 4
        for _ in range(3):
            match = crew.match()
            crew.fails("broken", match)
            crew.plays("sound", match)
        assert crew.aside() == []
        match = crew.match()
        crew.fails("broken", match)
        assert crew.aside() == ["broken"]
        assert session.get_one(Worker, "broken").problem == "no space left"
        assert workers.slots(session, "good", NOW) == 2
        noted = session.scalars(sa.select(AuditEntry)).one()
        assert (noted.action, noted.subject) == ("set aside", "worker broken")
        job = issued(session, match, SETTINGS, NOW)
        crew.tells(reporting.Started(job.lease, "broken"), leases.Fate.STALE)
        assert match.status is JobStatus.OPEN
        job = issued(session, match, SETTINGS, NOW)
        crew.tells(report_of(job, "broken"), leases.Fate.STALE)
        assert (match.status, match.failures) == (JobStatus.OPEN, 1)
        crew.plays("sound", match)
        do(session, ReadmitWorker("broken"), NOW)
        assert workers.slots(session, "good", NOW) == 4
        with pytest.raises(Refusal, match="is not set aside"):
            do(session, ReadmitWorker("broken"), NOW)
        with pytest.raises(Refusal, match="did you mean broken"):
            do(session, ReadmitWorker("brokn"), NOW)


def test_a_job_done_between_clears_a_worker(database: Database) -> None:
    """Failures count only in a row."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with database.begin() as session:
        crew = Crew(session, "unlucky", "sound")
        for number in range(8):
            match = crew.match()
            crew.fails("unlucky", match)
            crew.plays("sound", match)
            if number % 3 == 2:
                crew.plays("unlucky", crew.match())
        assert crew.aside() == []


def test_a_match_that_fails_costs_its_ladder_as_much_as_one_that_is_played(
    database: Database,
) -> None:
    """Or its next would be everybody's next, again and again; one that nobody tried is free."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with database.begin() as session:
        crew = Crew(session, "one")
        match = crew.match()
        crew.fails("one", match)
        assert match.competition.head_start == FIRST_GUESS_SECONDS
        job = issued(session, match, SETTINGS, NOW)
        recording.record_void(session, job.lease, "not understood", SETTINGS, NOW, failed=False)
        assert match.competition.head_start == FIRST_GUESS_SECONDS


def test_a_match_that_is_issued_again_has_a_turn_of_its_own(database: Database) -> None:
    """It may be what ended the process that played it, and others with it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with database.begin() as session:
        sign(session, "w")
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.matches_made, ladder.worker_seconds = 100, 1.0
        session.flush()
        session.execute(sa.delete(Check))

        def sent() -> list[int]:
            return [len(batch) for batch in allocation.fill(session, SETTINGS, NOW)]

        assert sent() == [jobs.MOST_MATCHES] * 2 * allocation.AHEAD
        leases.roll_back_all(session)
        assert sent() == [1] * 2 * allocation.AHEAD


@pytest.mark.long
@pytest.mark.parametrize(
    ("under_way", "checks", "requests", "plays", "issued"),
    [
        # A worker of eight slots has sixteen turns.
        (0, 0, 0, True, (0, 0, 16)),
        (0, 20, 0, True, (8, 0, 8)),
        (0, 0, 20, True, (0, 8, 8)),
        (0, 3, 2, True, (3, 2, 11)),
        # Half of what the checks leave.
        (0, 20, 20, True, (8, 4, 4)),
        # Nothing else is to be played.
        (0, 20, 0, False, (16, 0, 0)),
        (0, 3, 20, False, (3, 13, 0)),
        # Four wait, for every other slot one, and then fewer.
        (12, 0, 0, True, (0, 0, 0)),
        (11, 0, 0, True, (0, 0, 5)),
        # Somebody waits for it.
        (15, 1, 0, True, (1, 0, 0)),
        (15, 0, 1, True, (0, 1, 0)),
    ],
)
def test_a_heap_of_one_kind_leaves_half_of_the_room_to_the_others(
    sqlite_database: Database,
    under_way: int,
    checks: int,
    requests: int,
    plays: bool,
    issued: tuple[int, int, int],
) -> None:
    """So many checks, matches on request and matches of the ladder are issued at once."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=20)
    with sqlite_database.begin() as session:
        give_sign(session, "w", NOW, slots=8)
        ladder = session.scalars(sa.select(Ladder)).one()
        waiting = session.scalars(sa.select(Check)).all()
        for check in waiting:
            check.status = JobStatus.SET_ASIDE
        allocation.fill(session, SETTINGS, NOW)
        for match in session.scalars(sa.select(Match)).all()[under_way:]:
            match.end_lease(JobStatus.VOID)
        for check in waiting[:checks]:
            check.status = JobStatus.OPEN
        user = session.scalars(sa.select(User)).one()
        user.name = HOUSE  # of others one check is issued at a time
        for _ in range(requests):
            request_matches(session, user, ladder, ("bot-0", "bot-1"), NOW, quota=None)
        if not plays:
            ladder.state = CompetitionState.PAUSED
        # Once the ladder's own are over as many of them come again, and nothing else.
        for expected in (issued, (0, 0, issued[2])):
            session.flush()
            batches = allocation.fill(session, SETTINGS, NOW)
            held = [job.lease for batch in batches for job in batch]
            matches = [session.get_one(Match, its.job) for its in held if its.kind == "match"]
            own = [match for match in matches if match.requester_id is None]
            found = len(held) - len(matches), len(matches) - len(own), len(own)
            assert found == expected
            for match in own:
                match.end_lease(JobStatus.VOID)


def test_the_last_failures_are_remembered(database: Database) -> None:
    """And not the first: a worker that is the last one is never cleared by being set aside."""
    with database.begin() as session:
        sign(session, "lonely")
        for number in range(workers.REMEMBERED + 5):
            workers.note_falsehood(session, "lonely", f"match {number}", "no", NOW)
        failed = [job["job"] for job in session.get_one(Worker, "lonely").failed]
        assert failed == [f"match {number}" for number in range(5, workers.REMEMBERED + 5)]


def test_a_job_is_not_blamed_while_another_could_try_it(database: Database) -> None:
    """However often it fails at one worker; it is set aside once all failed at it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with database.begin() as session:
        crew = Crew(session, "broken", "sound")
        match = crew.match()
        for _ in range(5):
            crew.fails("broken", match)
            assert (match.status, match.failures) == (JobStatus.OPEN, 1)
        crew.fails("sound", match)
        assert (match.status, match.failures) == (JobStatus.OPEN, 2)
        crew.fails("broken", match)
        assert (match.status, match.failures) == (JobStatus.SET_ASIDE, 3)


def test_nobody_waits_for_a_worker_that_may_not_try(database: Database) -> None:
    """One that is too weak, dead, or without slots."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with database.begin() as session:
        crew = Crew(session, "only", "weak", "idle")
        sign(session, "dead", NOW - timedelta(minutes=1))
        session.get_one(Worker, "weak").isolation = "reduced"
        session.get_one(Worker, "idle").slots = 0
        match = crew.match()
        for _ in range(3):
            crew.fails("only", match)
        assert match.status is JobStatus.SET_ASIDE


def test_the_last_worker_stays(database: Database) -> None:
    """Whatever it says: without it nothing would be played at all."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with database.begin() as session:
        crew = Crew(session, "only")
        for number in range(5):
            said = f"match {100 + number}"
            workers.note_falsehood(session, "only", said, "it was never made", NOW)
        assert crew.aside() == []
        sign(session, "another")
        workers.note_falsehood(session, "only", "match 7", "it was never made", NOW)
        assert crew.aside() == ["only"]


@pytest.mark.parametrize(
    ("said", "plays"),
    [({"format": jobs.FORMAT}, True), ({"format": jobs.FORMAT + 1}, False), ({"format": 0}, False)],
)
def test_a_worker_of_another_release_gets_no_jobs(
    database: Database, said: dict[str, int], plays: bool
) -> None:
    """Its slots do not count, so that what it does not know waits for a worker that does."""
    alive = replace(reporting.SignOfLife("w", 2, "good"), **said)
    with database.begin() as session:
        workers.note_alive(session, alive, NOW)
        assert workers.slots(session, "good", NOW) == (2 if plays else 0)
        worker = session.get_one(Worker, "w")
        assert workers.state(worker, "good", NOW) == ("at work" if plays else "of another release")
        assert (why_nobody_works(session, "good", NOW) is None) is plays


@pytest.mark.parametrize(
    ("said", "seconds", "state", "refusal"),
    [
        ({}, 30, "at work", "the worker w is there: stop it first"),
        ({}, 31, "gone", None),
        ({"slots": 0}, 30, "stopped", "the worker w is just being stopped, and may still play"),
        ({"slots": 0}, 31, "stopped", None),
        ({"format": 1}, 30, "of another release", "the worker w is there: stop it first"),
        ({"format": 1}, 31, "gone", None),
        ({"isolation": "none"}, 31, "gone", None),
    ],
)
def test_who_is_not_there_may_be_forgotten(
    database: Database, said: dict[str, Any], seconds: int, state: str, refusal: str | None
) -> None:
    """Nobody else: they would only come back, and what they play now would not be taken."""
    now = NOW + timedelta(seconds=seconds)
    with database.begin() as session:
        alive = replace(reporting.SignOfLife("w", 2, "good"), **said)
        workers.note_alive(session, alive, NOW)
        worker = session.get_one(Worker, "w")
        assert workers.state(worker, "good", now) == state
        if refusal is None:
            do(session, ForgetWorker("w"), now)
        else:
            with pytest.raises(Refusal, match=refusal):
                do(session, ForgetWorker("w"), now)
        assert workers.living(session, NOW) == ([] if refusal is None else [worker])


def test_who_is_not_heard_of_has_no_slots(database: Database) -> None:
    """Thirty seconds after its last sign of life."""
    with database.begin() as session:
        sign(session, "w")
        assert workers.slots(session, "good", NOW + timedelta(seconds=30)) == 2
        assert workers.slots(session, "good", NOW + timedelta(seconds=31)) == 0


def crowd(session: sa.orm.Session, number: int, **columns: Any) -> None:
    """Workers that were all heard of, one column of theirs as it is told."""
    common = {"last_seen": NOW, "slots": 1, "isolation": "good", "languages": [], "problem": ""}
    common |= {"format": jobs.FORMAT, "failed": [], "set_aside": None} | columns
    rows = [{"name": f"invented-{number}", **common} for number in range(number)]
    session.execute(sa.insert(Worker), rows)


@pytest.mark.parametrize(
    ("columns", "room"),
    [
        ({}, False),
        ({"last_seen": NOW - timedelta(hours=23)}, False),
        ({"last_seen": NOW - timedelta(hours=25)}, True),
        ({"last_seen": NOW - timedelta(hours=25), "set_aside": NOW}, False),
    ],
    ids=["living", "gone since yesterday", "long gone", "long gone and set aside"],
)
def test_names_are_not_kept_without_end(
    database: Database, columns: dict[str, Any], room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was not heard of for a day makes room; who is known is heard all the same."""
    assert workers.MOST_WORKERS == 4000
    monkeypatch.setattr(workers, "MOST_WORKERS", 40)
    with database.begin() as session:
        sign(session, "box1")
        crowd(session, workers.MOST_WORKERS - 1, **columns)
        if room:
            sign(session, "box2")
            assert {one.name for one in session.scalars(sa.select(Worker))} == {"box1", "box2"}
            return
        with pytest.raises(Refusal, match="there are 40 workers already, so 'box2' is not"):
            sign(session, "box2")
        later = NOW + timedelta(seconds=10)
        sign(session, "box1", later)
        assert session.get_one(Worker, "box1").last_seen == later


@pytest.mark.parametrize(
    ("number", "slots", "given"), [(2, 2, 4), (9, 1024, 9216), (100, 1024, 10_000)]
)
def test_invented_slots_are_not_filled_without_end(
    database: Database, number: int, slots: int, given: int
) -> None:
    with database.begin() as session:
        crowd(session, number, slots=slots)
        assert workers.slots(session, "good", NOW) == given
