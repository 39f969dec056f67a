"""A strength test before a new version is active."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots import entries
from arena.bots.bars import SAME_FILES, bar_files
from arena.bots.first_tests import admit, conclude
from arena.bots.submissions import SubmissionError
from arena.competitions.strength_plans import SITE_TERMS
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    StrengthTest,
    TestTally,
    TestVerdict,
    VersionStatus,
)
from arena.web.queries import tests_waited_for as waited_for
from engine.reporting import Finding
from tests.arena.competitions.strength_simulation import Clever, StrengthSimulation, upload
from tests.arena.simulator import CALM, LotPlayer


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    return sqlite_database


@pytest.fixture
def arena(database: Database) -> StrengthSimulation:
    return StrengthSimulation(database, CALM, "clobber", size="4x4")


def active(session: Session, bot: str) -> list[int]:
    """The numbers of a bot's active versions on the ladder."""
    query = (
        sa.select(Entrant)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .where(Entrant.state == EntrantState.ACTIVE)
    )
    found = [entrant.version for entrant in session.scalars(query)]
    return [version.number for version in found if version.bot.name == bot]


class Improving(StrengthSimulation):
    """An arena in which the second bot plays as well as the first from its second version on."""

    def start(self, name: str) -> LotPlayer:
        return Clever() if name == "bot-1 v2" else LotPlayer()


@pytest.mark.long
@pytest.mark.parametrize(
    ("bot", "verdict", "then"),
    [("bot-1", TestVerdict.PASSED, [2]), ("bot-0", TestVerdict.FAILED, [1])],
)
def test_a_new_version_enters_when_it_has_passed(
    database: Database, bot: str, verdict: TestVerdict, then: list[int]
) -> None:
    """One that is no better stays out, and the test says why."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    upload(arena, bot, replace(SITE_TERMS, elo1=100.0))
    arena.alive()
    arena.tick()
    arena.run(6)
    with database.read() as session:
        test = session.scalars(sa.select(StrengthTest)).one()
        assert active(session, bot) == [1]
        assert test.title == f"{bot} v2 against {bot} v1"
    assert arena.play_out(test.id) is verdict
    with database.read() as session:
        assert active(session, bot) == then
        said = arena.test(session, test.id).reason
        assert said == ("it entered clobber size=4x4" if then == [2] else "")


def test_a_first_version_has_nobody_to_be_tested_against(arena: StrengthSimulation) -> None:
    """It enters at once."""
    upload(arena, "newcomer", SITE_TERMS)
    arena.alive()
    arena.tick()
    arena.run(10)
    with arena.database.read() as session:
        assert active(session, "newcomer") == [1]
        assert session.scalars(sa.select(StrengthTest)).all() == []


def test_a_later_version_takes_over(database: Database) -> None:
    """Of two versions that wait only the later is tested, and it never steps behind a newer."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    arena.alive()
    arena.tick()
    for _ in range(2):
        upload(arena, "bot-1", replace(SITE_TERMS, elo1=50.0))
        arena.run(6)
    with database.read() as session:
        first, second = session.scalars(sa.select(StrengthTest).order_by(StrengthTest.id))
        assert (first.verdict, first.reason) == (TestVerdict.STOPPED, "version 3 came after it")
        assert second.verdict is TestVerdict.RUNNING
    upload(arena, "bot-1", None)
    arena.run(6)
    with database.begin() as session:
        assert active(session, "bot-1") == [4]
        second = arena.test(session, second.id)
        assert (second.verdict, second.reason) == (
            TestVerdict.STOPPED,
            "version 4 entered meanwhile",
        )
        second.verdict, second.reason = TestVerdict.PASSED, ""
        second.state = CompetitionState.CLOSED
        conclude(session, second, arena.now)
        assert second.reason == "version 4 had entered clobber size=4x4 meanwhile"
        assert active(session, "bot-1") == [4]


def test_the_version_submitted_last_is_tested(database: Database) -> None:
    """Whichever check ends first: here that of version 3, which then waits for its test."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    first, last = (upload(arena, "bot-1", replace(SITE_TERMS, elo1=50.0)) for _ in range(2))
    with database.begin() as session:
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        findings = [Finding(True, "played").to_json()]
        session.execute(sa.update(Check).values(status=JobStatus.FIXED, findings=findings))
        by_version = {check.version_id: check for check in session.scalars(sa.select(Check))}
        for number in (last, first):
            admit(session, by_version[number], arena.now)
        assert by_version[first].problem == "version 3 came after it"
        test = session.scalars(sa.select(StrengthTest)).one()
        assert (test.verdict, test.title) == (TestVerdict.RUNNING, "bot-1 v3 against bot-1 v1")


def test_files_that_were_taken_off_meanwhile_do_not_enter(database: Database) -> None:
    """As another's bot was that has the same ones."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    number = upload(arena, "bot-1", replace(SITE_TERMS, elo1=50.0))
    with database.begin() as session:
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        check = session.scalars(sa.select(Check).where(Check.version_id == number)).one()
        check.status, check.findings = JobStatus.FIXED, [Finding(True, "played").to_json()]
        admit(session, check, arena.now)
        test = session.scalars(sa.select(StrengthTest)).one()
        other = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one()
        bar_files(session, check.ladder, other, check.version.digest)
        test.verdict, test.state = TestVerdict.PASSED, CompetitionState.CLOSED
        conclude(session, test, arena.now)
        assert test.reason == SAME_FILES
        assert active(session, "bot-1") == [1]


@pytest.mark.long
@pytest.mark.parametrize("leave", ["retire", "withdraw"])
def test_a_bot_that_leaves_waits_for_no_test(database: Database, leave: str) -> None:
    """It is stopped: nothing could come of it, for the candidate would not enter."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    arena.alive()
    arena.tick()
    for bot in ("bot-0", "bot-1"):
        upload(arena, bot, replace(SITE_TERMS, elo1=50.0))
        arena.run(6)
    with database.begin() as session:
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-1")).one()
        assert list(waited_for(session, bot)) == [2]
        if leave == "withdraw":
            entries.withdraw(session, ARENA, bot, arena.now)
        else:
            on_ladder = sa.select(Entrant).join(Ladder, Ladder.id == Entrant.competition_id)
            mine = on_ladder.join(Entrant.version).where(BotVersion.bot_id == bot.id)
            entries.retire(session, ARENA, session.scalars(mine).one(), arena.now)
        assert waited_for(session, bot) == {}
        tests = session.scalars(sa.select(StrengthTest).order_by(StrengthTest.title))
        assert [test.verdict for test in tests] == [TestVerdict.RUNNING, TestVerdict.STOPPED]


def test_what_can_not_be_tested_is_refused_at_once(database: Database) -> None:
    """The submission refuses it, before anything is checked."""
    arena = StrengthSimulation(database, CALM, "puzzle")
    with pytest.raises(SubmissionError, match="a game of one seat is played alone"):
        upload(arena, "bot-0", SITE_TERMS)
    with database.read() as session:
        assert session.scalars(sa.select(Check.test_first)).all() == []
        assert session.scalars(sa.select(TestTally)).all() == []
