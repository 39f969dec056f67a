"""What becomes of a version whose check passes, whatever happened meanwhile."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.bots import entries
from arena.bots.bot_deeds import CancelCheck
from arena.bots.submissions import enter
from arena.competitions.players import named_players
from arena.competitions.strength_plans import SITE_TERMS
from arena.competitions.tournaments import TournamentPlan, create
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    StrengthTest,
    TestVerdict,
    VersionStatus,
)
from arena.recorder import recording
from arena.schedule import leases
from arena.strength.terms import StrengthTerms
from engine import jobs
from tests.arena.bots.test_submissions import (
    NOW,
    furnished,
    issued,
    ladder,
    person,
    report,
    take_in,
    worker,
)
from tests.arena.doing import do


def handed_in(session: Session, first: StrengthTerms | None = None) -> tuple[Check, jobs.Job]:
    """A second version of a bot that is on its ladder, whose check a worker has."""
    furnished(session)
    worker(session)
    ada = person(session)
    enter(session, ladder(session), take_in(session, ada, "deep", "a"), NOW)
    session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
    session.execute(sa.delete(Check))
    take_in(session, ada, "deep", "b", test_first=first)
    (job,) = issued(session)
    return session.scalars(sa.select(Check)).one(), job


def fate_of(session: Session, check: Check, job: jobs.Job) -> tuple[str, str]:
    """What becomes of a version whose check passes, and why."""
    assert recording.record_check(session, report(job, True), NOW) is leases.Fate.FIXED
    session.flush()
    return entries.fates(session, [check])[check.id].word, check.problem


@pytest.mark.long
@pytest.mark.parametrize("first", [None, SITE_TERMS], ids=["plain", "a test first"])
@pytest.mark.parametrize(
    ("state", "entered", "problem"),
    [
        (CompetitionState.PAUSED, True, ""),
        (CompetitionState.FROZEN, True, ""),
        (
            CompetitionState.CLOSED, False,
            "the ladder was closed by then, and its table is final",
        ),
    ],
)  # fmt: skip
def test_what_was_handed_in_in_time_enters(
    database: Database,
    state: CompetitionState,
    entered: bool,
    problem: str,
    first: StrengthTerms | None,
) -> None:
    """The moment of handing in counts, and not how long the queue was; of a closed ladder nothing
    changes any more."""
    with database.begin() as session:
        check, job = handed_in(session, first)
        ladder(session).state = state
        word = "to be tested" if first else "entered"
        assert fate_of(session, check, job) == (word if entered else "not entered", problem)


@pytest.mark.long
@pytest.mark.parametrize("first", [None, SITE_TERMS], ids=["plain", "a test first"])
@pytest.mark.parametrize("leave", ["retire", "withdraw", "cancel"])
def test_taken_off_is_off(database: Database, leave: str, first: StrengthTerms | None) -> None:
    """What its owner did after handing it in counts, though a worker has it; it is told, and its
    version is ready for all that."""
    with database.begin() as session:
        check, job = handed_in(session, first)
        (active,) = session.scalars(sa.select(Entrant))
        if leave == "retire":
            entries.retire(session, ARENA, active, NOW)
        elif leave == "withdraw":
            assert entries.withdraw(session, ARENA, active.version.bot, NOW) == 1
        else:
            do(session, CancelCheck(check.id), NOW)
        words = {
            "retire": "deep v1 was retired",
            "withdraw": "the bot was withdrawn",
            "cancel": "arena cancelled it",
        }
        assert (check.status, check.cancelled) == (JobStatus.ISSUED, words[leave])
        assert fate_of(session, check, job) == ("not entered", words[leave])
        assert check.version.status is VersionStatus.READY
        with pytest.raises(Refusal, match=f"check {check.id} is over"):
            do(session, CancelCheck(check.id), NOW)


def test_who_was_suspended_is_not_followed_without_the_test(database: Database) -> None:
    """That its owner asked for, against the version that was active when the next was handed in."""
    with database.begin() as session:
        check, job = handed_in(session, SITE_TERMS)
        (active,) = session.scalars(sa.select(Entrant))
        active.state = EntrantState.SUSPENDED
        problem = "version 1, against which it was to be tested, plays there no more"
        assert fate_of(session, check, job) == ("not entered", problem)


def test_a_check_that_was_cancelled_is_not_tried_again(database: Database) -> None:
    """If its worker is lost; and one that waits is void at once, as is one that was set aside."""
    with database.begin() as session:
        check, _ = handed_in(session)
        do(session, CancelCheck(check.id), NOW)
        with pytest.raises(Refusal, match="was cancelled already: arena cancelled it"):
            do(session, CancelCheck(check.id), NOW)
        leases.roll_back(check, "its worker was not heard of", failed=True)
        assert (check.status, check.problem) == (JobStatus.VOID, "arena cancelled it")
        for status in (JobStatus.OPEN, JobStatus.SET_ASIDE):
            check.status, check.cancelled = status, ""
            session.flush()
            do(session, CancelCheck(check.id), NOW)
            assert check.status is JobStatus.VOID
        noted = audit.entries(session, subject="bot deep", action="cancel check")
        assert {one.detail for one in noted} == {f"check {check.id}, version 2, clobber-6x7"}


def test_who_failed_its_test_may_enter_a_tournament(database: Database) -> None:
    """It passed its check, and so can play: it stands on no ladder, and needs none."""
    with database.begin() as session:
        check, job = handed_in(session, SITE_TERMS)
        assert fate_of(session, check, job) == ("to be tested", "")
        (test,) = session.scalars(sa.select(StrengthTest))
        test.verdict, test.state = TestVerdict.FAILED, CompetitionState.CLOSED
        session.flush()
        assert entries.fates(session, [check])[check.id].word == "not entered"
        there = ladder(session)
        field = named_players(session, ["deep:1", "deep:2"])
        plan = TournamentPlan("cup", there.variant, there.time, "round-robin")
        assert create(session, plan, field, NOW, ARENA).name == "cup"
