"""How strength tests are made: what is refused, whose it is, and what is kept of the plan."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from arena import audit
from arena.audit import Actor
from arena.competitions import strength_tests
from arena.competitions.founding import RUNNING_ALLOWED
from arena.competitions.strength_deeds import ExtendTest, PrioritiseTest, StopTest
from arena.competitions.strength_plans import plan_of
from arena.competitions.strength_reports import reports
from arena.ground.db import Database
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    BotVersion,
    Check,
    CompetitionLimits,
    CompetitionState,
    JobStatus,
    Ladder,
    Match,
    StrengthTest,
    TestVerdict,
    User,
    VersionStatus,
)
from arena.strength.sequential import StrengthError
from engine.clock import TimeControl
from engine.games import GAMES
from engine.reporting import Finding
from tests.arena.competitions.strength_simulation import OWNER, StrengthSimulation, upload
from tests.arena.doing import do
from tests.arena.simulator import CALM, START

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"second": 0}, "bot-0 v1 can't be tested against itself"),
    ({"elo0": 10.0, "elo1": 5.0}, "elo0 must be less than elo1"),
    ({"max_games": 31}, "needs 32 games or more, not 31"),
    ({"max_games": 200_001}, "200000 games at most"),
    ({"weight": 0.0}, "a weight is above 0 and 10 at most"),
    ({"alpha": 0.7, "beta": 0.7}, "alpha and beta"),
    ({"variant": GAMES["puzzle"].variant()}, "a game of one seat is played alone"),
    ({"variant": GAMES["oxono"].variant()}, "bot-0 v1 has passed no check for oxono"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_can_not_be_is_refused(
    arena: StrengthSimulation, change: dict[str, Any], words: str
) -> None:
    """One sentence says what is wrong, and nothing is made."""
    with pytest.raises(Refusal, match=words):
        arena.create(**change)
    with arena.database.read() as session:
        assert session.scalars(sa.select(StrengthTest)).all() == []


def test_puzzles_are_refused_with_the_reason(sqlite_database: Database) -> None:
    """Though both bots play them."""
    arena = StrengthSimulation(sqlite_database, CALM, "puzzle")
    with pytest.raises(StrengthError, match="a game of one seat is played alone"):
        arena.create()


UNPROVED = [
    (VersionStatus.CHECKING, JobStatus.OPEN, [], "can't be tested yet: it has passed no check"),
    (VersionStatus.REFUSED, JobStatus.FIXED, [False], "can't be tested: its check is refused"),
    # These are ready by their checks for another game.
    (VersionStatus.READY, JobStatus.OPEN, [], "has passed no check for clobber"),
    (VersionStatus.READY, JobStatus.FIXED, [True, False], "has passed no check for clobber"),
]


def checked(
    arena: StrengthSimulation, version: VersionStatus, check: JobStatus, kept: list[bool]
) -> None:
    """A third bot, on no ladder, with its check for one."""
    number = upload(arena, "newcomer", None)
    with arena.database.begin() as session:
        session.get_one(BotVersion, number).status = version
        its = session.scalars(sa.select(Check).where(Check.version_id == number)).one()
        its.status, its.findings = check, [Finding(one, "played").to_json() for one in kept]


@pytest.mark.parametrize(
    ("version", "check", "kept", "words"),
    UNPROVED,
    ids=["it goes on", "refused", "ready, it goes on", "ready, not passed"],
)
def test_who_has_passed_no_check_is_not_tested(
    arena: StrengthSimulation,
    version: VersionStatus,
    check: JobStatus,
    kept: list[bool],
    words: str,
) -> None:
    """Neither as the candidate nor as the baseline."""
    checked(arena, version, check, kept)
    for pair in ((2, 0), (0, 2)):
        with pytest.raises(Refusal, match=f"newcomer v1 {words}"):
            arena.create(*pair)


def test_who_has_passed_a_check_need_not_stand_on_a_ladder(arena: StrengthSimulation) -> None:
    """It has shown that it plays the game."""
    checked(arena, VersionStatus.READY, JobStatus.FIXED, [True])
    for pair in ((2, 0), (0, 2)):
        arena.create(*pair)


@pytest.mark.parametrize("number", [-(2**70), -1, 0, 1, 2**31 - 1, 2**31, 2**70])
def test_no_number_but_a_tests_finds_one(database: Database, number: int) -> None:
    """Not that of a ladder, nor one that a database has no room for: an id has 4 bytes in
    PostgreSQL, and 8 in SQLite.
    """
    arena = StrengthSimulation(database, CALM, "clobber", size="4x4")
    with arena.database.read() as session, pytest.raises(NotThere) as refusal:
        strength_tests.find(session, number)
    assert str(refusal.value) == f"there is no strength test {number}"


def test_what_was_asked_for_is_kept(arena: StrengthSimulation) -> None:
    """Every hypothesis, error and limit is its own, and none the usual one."""
    asked = {
        "time": TimeControl(move_ms=50), "elo0": -5.0, "elo1": 20.0, "alpha": 0.01, "beta": 0.1,
        "model": "logistic", "max_games": 500, "weight": 2.0,
        "limits": CompetitionLimits(2**27, threads=3, bundle_bytes=1, log_bytes=1000),
        "note": "quicker moves", "seed": 7, "plies": 3, "hours": 1.5,
    }  # fmt: skip
    number = arena.create(**asked)
    with arena.database.read() as session:
        plan = plan_of(arena.test(session, number))
        kept = {**{key: getattr(plan, key, None) for key in asked}, **plan.terms.to_json()}
        del kept["allow_faults"], kept["games"]
        assert kept == asked


def test_a_test_does_not_have_the_workers_to_itself(arena: StrengthSimulation) -> None:
    """It begins, and goes on, as one that had as much by its weight as the open one with least."""
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.state, ladder.worker_seconds = CompetitionState.OPEN, 1000.0
    number = arena.create(weight=2.0)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        assert test.head_start == 2000.0
        do(session, StopTest(test.id), START, OWNER)
        session.execute(sa.update(Ladder).values(worker_seconds=1500.0))
        # A test that was stopped may go on with the limit that it had.
        strength_tests.extend(session, test, test.max_games, START, OWNER)
        assert (test.head_start, test.finished, test.reason) == (3000.0, None, "")


def test_a_person_runs_a_few_tests_at_a_time(arena: StrengthSimulation) -> None:
    """The next one is refused until one is stopped; one after which a version enters is none."""
    enters = arena.create(enters=True)
    numbers = [arena.create() for _ in range(RUNNING_ALLOWED)]
    with pytest.raises(Refusal, match="tests of yours are running"):
        arena.create()
    with arena.database.begin() as session:
        session.add(other := User(name="another", created=START))
        session.flush()
        another = Actor(other.id, "another", "a test")
    for _ in numbers:
        arena.create(by=another)
    arena.create(enters=True)
    with arena.database.begin() as session:
        do(session, StopTest(arena.test(session, numbers[0]).id), START, OWNER)
    arena.create()
    with arena.database.begin() as session:
        stopped, running = (arena.test(session, number) for number in numbers[:2])
        limit = stopped.max_games + 1000
        with pytest.raises(Refusal, match="tests of yours are running"):
            strength_tests.extend(session, stopped, limit, START, OWNER)
        strength_tests.extend(session, running, limit, START, OWNER)
        # It is not the other's own.
        strength_tests.extend(session, stopped, limit, START, another)
        entering = arena.test(session, enters)
        do(session, StopTest(entering.id), START, OWNER)
        strength_tests.extend(session, entering, limit, START, OWNER)


def test_a_fixed_number_of_games_is_played_and_no_more(arena: StrengthSimulation) -> None:
    """Rounded up to whole matches; it says its interval, has no LLR, and can't be played on."""
    number = arena.create(games=31, max_games=None)
    assert arena.play_out(number) is TestVerdict.PASSED
    with arena.database.begin() as session:
        (found,) = reports(session, [arena.test(session, number)])
        assert (found.standing.games, found.standing.estimate.lower > 0) == (32, True)
        assert found.verdict.startswith("passed: the 95 % interval lies above zero (measured ")
        assert (found.to_json()["llr"], found.to_json()["settings"]["games"]) == (None, 31)
        assert "LLR" not in dict(found.rows)
    number = arena.create(second=1, games=40, max_games=None)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        do(session, StopTest(number), START, OWNER)
        for games, words in ((None, "can't go on"), (80, "is one of 40 games")):
            test.most_hours = None if games else 0.0
            with pytest.raises(StrengthError, match=words):
                strength_tests.extend(session, test, games, START, OWNER)
        strength_tests.extend(session, test, 40, START, OWNER)
        assert test.state is CompetitionState.OPEN


def test_it_ends_when_it_has_had_its_hours(arena: StrengthSimulation) -> None:
    """With the matches under way counted; it goes on if it is given more."""
    number = arena.create(elo0=-1.0, elo1=1.0, hours=0.01)
    assert arena.play_out(number) is TestVerdict.UNDECIDED
    with arena.database.begin() as session:
        test = arena.test(session, number)
        assert test.reason == "the limit of 0.01 hours of workers' time is reached"
        had = test.worker_seconds
        assert 36 <= had < 36 + 60
        with pytest.raises(StrengthError, match=r"may have 0\.01 hours already"):
            strength_tests.extend(session, test, None, START, OWNER, hours=0.005)
        with pytest.raises(StrengthError, match="allow it more hours"):
            strength_tests.extend(session, test, 30_000, START, OWNER)
        do(session, ExtendTest(number, hours=0.05), START, OWNER)
        (noted,) = audit.entries(session, action="extend test")
        assert noted.detail == "from 30000 to 30000 games, from 0.01 to 0.05 hours"
    assert arena.play_out(number) is TestVerdict.UNDECIDED
    with arena.database.read() as session:
        assert arena.test(session, number).worker_seconds >= 180


def test_a_test_is_given_another_priority_while_it_runs(arena: StrengthSimulation) -> None:
    """It keeps its place among the others: what it had counts by the weight that it has now."""
    number = arena.create()
    with arena.database.begin() as session:
        test = arena.test(session, number)
        test.worker_seconds, test.head_start = 100.0, 20.0
        do(session, PrioritiseTest(number, 2.0), START, OWNER)
        assert (test.weight, test.worker_seconds + test.head_start) == (2.0, 240.0)
        do(session, StopTest(number), START, OWNER)
        with pytest.raises(StrengthError, match="is over: stopped"):
            do(session, PrioritiseTest(number, 1.0), START, OWNER)


def test_openings_have_as_many_plies_as_asked(arena: StrengthSimulation) -> None:
    """A book has its own."""
    number = arena.create(plies=1)
    arena.alive()
    arena.tick()
    arena.run(6)
    with arena.database.read() as session:
        made = session.scalars(sa.select(Match.opening).where(Match.competition_id == number))
        assert {len(moves) for moves in made} == {1}
    with pytest.raises(StrengthError, match="leave out how many plies"):
        arena.create(plies=1, openings="a-book")
