"""A new version may be tested against the active one before it takes its place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.audit import ARENA, Actor
from arena.bots.bars import why_barred
from arena.bots.ladder_quotas import why_not_active
from arena.bots.submissions import AGAINST, active_on, add_tried, enter
from arena.competitions.dates import current_season, is_frozen
from arena.competitions.masks import masked
from arena.competitions.players import NamedPlayer, player_of
from arena.competitions.strength_plans import StrengthPlan
from arena.competitions.strength_tallies import sides_of
from arena.competitions.strength_tests import create, end
from arena.ground.db import database_time
from arena.ground.locks import lock
from arena.models import (
    TRIED,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    Entrant,
    JobStatus,
    Ladder,
    StrengthTest,
    TestVerdict,
    User,
)
from arena.strength.terms import StrengthTerms
from engine import reporting
from engine.seeds import derive


def admit(session: Session, check: Check, now: datetime) -> None:
    """A version passed its check: it enters, or begins the test that its owner wants first; one
    that is only tried can play matches that its owner asks for.

    Checks may end in another order than they began in. The last wish of the owner counts, not the
    last check to end: what was submitted later keeps its place. What was handed in in time
    enters, though the ladder or its bots are frozen by now; only a closed one has a final table. If
    it has begun again meanwhile, the version enters its season of now.
    """
    check.ladder = current_season(session, check.ladder)
    if not check.enters:
        check.problem = TRIED
        there = sa.select(Entrant.id).join(Entrant.version)
        there = there.where(Entrant.competition_id == check.ladder_id)
        is_it = sa.func.coalesce(BotVersion.masks_id, BotVersion.id) == check.version_id
        if session.scalar(there.where(is_it)) is None:
            add_tried(session, check.ladder, check.version, now)
        return
    if problem := _what_hinders(session, check):
        check.problem = problem
        return
    ladder, version = check.ladder, check.version
    active = active_on(session, ladder, version.bot_id)
    shown = masked(session, ladder, version, now)  # what everybody reads tells of this one
    if check.test_first is None or active is None or active.version.real.number >= version.number:
        for test, candidate in waiting(session, version.bot_id, ladder):
            if candidate.version.real.number <= version.number:
                reason = f"version {shown.number} entered meanwhile"
                end(session, test, TestVerdict.STOPPED, reason, now)
        enter(session, ladder, version, now)
        return
    give_up(session, version.bot_id, f"version {shown.number} came after it", now, ladder)
    owner = session.get_one(User, version.bot.person_id)
    seed = derive(ladder.seed, "first test", shown.id)
    plan = StrengthPlan.on(ladder, terms=StrengthTerms.from_json(check.test_first), seed=seed)
    # Who made the test of a mask would tell whose it is.
    by = ARENA if ladder.anonymous else Actor(owner.id, owner.name, "")
    both = NamedPlayer(shown), player_of(active)
    create(session, plan, *both, now, by, ladder=ladder)


def answer(session: Session, check: Check, passed: Check, now: datetime) -> None:
    """Answers a check by another of the same version and game, which it has passed."""
    check.status = JobStatus.FIXED
    check.findings = [reporting.Finding(True, f"passed on {passed.ladder.title}").to_json()]
    admit(session, check, now)


def _what_hinders(session: Session, check: Check) -> str:
    """Why a version that passed its check neither enters nor is tested; empty if it does."""
    ladder, version = check.ladder, check.version
    if check.cancelled:
        return check.cancelled
    if ladder.state is CompetitionState.CLOSED:
        return "the ladder was closed by then, and its table is final"
    active = active_on(session, ladder, version.bot_id)
    if check.test_first and active and is_frozen(session, ladder, database_time(session)):
        return "the bots were frozen by then, and it was to be tested first"
    candidates = [candidate for _, candidate in waiting(session, version.bot_id, ladder)]
    for there in [*filter(None, [active]), *candidates]:
        if _came_later(session, there, check):
            return f"version {there.version.real.number} came after it"
    if check.test_first and active is None and (old := check.test_first.get(AGAINST)):
        return f"version {old}, against which it was to be tested, plays there no more"
    return why_barred(session, ladder, version) or why_not_active(session, ladder, version.bot)


def give_up(
    session: Session, bot_id: int, reason: str, now: datetime, ladder: Competition | None = None
) -> None:
    """Stops the tests after which a version of a bot was to enter a ladder.

    To be called before an entrant of the bot is changed or looked at: the recorder, when it ends
    a test, locks that before entrants, and may let a version enter until it is stopped.

    Args:
        ladder: by default any.
    """
    for test, _ in waiting(session, bot_id, ladder):
        lock(session, test)
        if test.verdict is TestVerdict.RUNNING:
            end(session, test, TestVerdict.STOPPED, reason, now)


def _came_later(session: Session, there: Entrant, check: Check) -> bool:
    """Whether a check of the version that is there, or waits, was asked for after this one."""
    query = sa.select(Check.id).where(
        Check.version_id == there.version.real.id,
        Check.version_id != check.version_id,
        Check.ladder_id == check.ladder_id,
        Check.enters,
        Check.id > check.id,
    )
    return session.scalar(query.limit(1)) is not None


def waiting(
    session: Session, bot_id: int, ladder: Competition | None
) -> Sequence[tuple[StrengthTest, Entrant]]:
    """The running tests after which a version of a bot is to enter a ladder, or any, with that
    version."""
    query = (
        sa.select(StrengthTest, Entrant)
        .join(Entrant, Entrant.competition_id == StrengthTest.id)
        .join(Entrant.version)
        .where(
            StrengthTest.ladder_id.is_not(None)
            if ladder is None
            else StrengthTest.ladder_id == ladder.id,
            StrengthTest.verdict == TestVerdict.RUNNING,
            Entrant.number == 1,
            BotVersion.is_of(bot_id),
        )
        .order_by(StrengthTest.id)
        .options(joinedload(Entrant.version))
    )
    return session.execute(query).all()


def conclude(session: Session, test: Competition, now: datetime) -> None:
    """Enters the candidate of a test that has just passed, if that is what it waited for."""
    if not isinstance(test, StrengthTest):
        return
    if test.verdict is TestVerdict.PASSED and test.ladder_id is not None and not test.reason:
        test.reason = _enter(session, test, now)


def _enter(session: Session, test: StrengthTest, now: datetime) -> str:
    """Enters the candidate that passed, and says what became of that."""
    ladder = current_season(session, session.get_one(Ladder, test.ladder_id))
    candidate = sides_of(session, [test])[test.id][0].version
    active = active_on(session, ladder, candidate.bot_id)
    if active is None:
        return f"the bot had left {ladder.title} meanwhile"
    if active.version.real.number > candidate.real.number:
        return f"version {active.version.number} had entered {ladder.title} meanwhile"
    if ladder.state is CompetitionState.CLOSED:
        return f"{ladder.title} was closed meanwhile, and its table is final"
    if is_frozen(session, ladder, database_time(session)):
        return f"the bots on {ladder.title} were frozen meanwhile"
    lock(session, ladder)
    if why := why_barred(session, ladder, candidate.real):
        return why
    enter(session, ladder, candidate, now)
    return f"it entered {ladder.title}"
