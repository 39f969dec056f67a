"""What the owner of a bot does with it once it was taken in: enter it, retire it, open its code."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, contains_eager, joinedload

from arena import audit
from arena.audit import Actor
from arena.bots.first_tests import give_up, waiting
from arena.bots.sharing import belongs_to
from arena.bots.submissions import SubmissionError, is_under_way
from arena.competitions.dates import demand_not_frozen, frozen, shut
from arena.ground.db import database_time
from arena.ground.locks import locking
from arena.models import (
    AT_HOME,
    HOUSE,
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    StrengthTest,
    TestVerdict,
    User,
)
from engine.match import entrants_needed
from engine.translation import gettext


def ladders_taking_bots(session: Session, now: datetime) -> list[Ladder]:
    """The ladders that can be entered at a moment, by a new version at least; the first made first.

    Args:
        now: by the clock of the database.
    """
    ladders = session.scalars(
        sa.select(Ladder).where(Ladder.id.not_in(shut(now))).order_by(Ladder.id)
    )
    return [ladder for ladder in ladders if ladder.takes_bots]


def fitting(session: Session, version: BotVersion) -> list[Ladder]:
    """The ladders of the games that a version has proved to play, where it is not active and does
    not wait to be."""
    checks = sa.select(Check).where(Check.version_id == version.id)
    checks = checks.options(joinedload(Check.ladder))
    games = {check.ladder.game for check in session.scalars(checks) if check.passed}
    there = set(
        session.scalars(
            sa.select(Entrant.competition_id)
            .join(Entrant.version)
            .where(
                sa.or_(BotVersion.id == version.id, BotVersion.masks_id == version.id),
                Entrant.state == EntrantState.ACTIVE,
            )
        )
    )
    checked = set(session.scalars(sa.select(Check.ladder_id).where(is_under_way(version.id))))
    tested = {
        test.ladder_id
        for test, candidate in waiting(session, version.bot_id, None)
        if candidate.version.real.id == version.id
    }
    away = there | checked | tested
    return [
        ladder
        for ladder in ladders_taking_bots(session, database_time(session))
        if ladder.game in games and ladder.id not in away and ladder.admits(version)
    ]


RIVAL = "greedy"
"""The sample bot that starters are first played against, as `arena new` says."""


def easiest(session: Session, ladder: Ladder, *, but: str) -> list[str]:
    """Who a new bot plays a first match against: the names of as many bots of a ladder as it takes,
    the arena's own before others, and of those the lowest rated; fewer if there are not so many.

    Args:
        but: the name of the bot that is to play them.
    """
    needed = 1 if ladder.variant.seats == 1 else entrants_needed(ladder.variant) - 1
    query = (
        sa.select(Bot.name)
        .join(Bot.owner)
        .join(BotVersion, BotVersion.bot_id == Bot.id)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .where(
            Entrant.competition_id == ladder.id,
            Entrant.state == EntrantState.ACTIVE,
            BotVersion.language != AT_HOME,
            Bot.lower_name != but.lower(),
        )
        .order_by(
            (User.name == HOUSE).desc(),
            (Bot.name == RIVAL).desc(),
            Entrant.conservative,
            Entrant.id,
        )
        .limit(needed)
    )
    return list(session.scalars(query))


def retire(session: Session, actor: Actor, entrant: Entrant, now: datetime) -> None:
    """Takes a version off a ladder; it keeps its rating for when it comes back.

    What would bring the bot back there by itself ends: checks of it, and a test after which a newer
    version was to take its place.

    Raises:
        SubmissionError: the ladder's table is final.
        Refusal: its bots are frozen.
    """
    if entrant.state is EntrantState.RETIRED:
        return
    if entrant.competition.state is CompetitionState.CLOSED:
        raise SubmissionError(
            gettext(
                "the ladder %(ladder)s is closed, and its table final: %(bot)s stays in it",
                ladder=entrant.competition.name,
                bot=entrant.version.label,
            )
        )
    demand_not_frozen(session, entrant.competition, now)
    version, reason = entrant.version, f"{entrant.version.label} was retired"
    bot = version.bot.real
    _cancel_checks(session, bot.id, reason, Check.ladder_id == entrant.competition_id)
    give_up(session, bot.id, reason, now, entrant.competition)
    there = sa.select(Entrant.id).where(
        Entrant.id == entrant.id, Entrant.state != EntrantState.RETIRED
    )
    if session.scalar(locking(there, Entrant)) is None:
        return  # the test may just have been passed
    entrant.state = EntrantState.RETIRED
    entrant.reason = "its owner retired it"
    words = version_on(version, entrant.competition)
    audit.note(session, actor, "retire", f"bot {version.bot.name}", words, now=now)


def withdraw(session: Session, actor: Actor, bot: Bot, now: datetime) -> int:
    """Takes a bot off every ladder whose table is not final and whose bots are not frozen, and
    gives how many those were.

    What would let a version enter one of them ends: checks, and tests.
    """
    stop_entering(session, bot, "the bot was withdrawn", now)
    withdrawn = session.scalars(locking(on_ladders(bot, now), Entrant, anew=True)).all()
    for entrant in withdrawn:
        entrant.state = EntrantState.RETIRED
        entrant.reason = "its owner withdrew the bot"
    audit.note(session, actor, "withdraw", f"bot {bot.name}", now=now)
    return len(withdrawn)


def stop_entering(
    session: Session, bot: Bot, why: str, now: datetime, ladder: Ladder | None = None
) -> None:
    """Ends what would let a version of a bot enter a ladder, by default any, of a mask its own:
    checks, and tests."""
    where = _where(session, bot, ladder)
    of_it = () if where is None else (Check.ladder_id == where.id,)
    _cancel_checks(session, bot.real.id, why, *of_it)
    give_up(session, bot.real.id, why, now, where)


def ending(session: Session, bot: Bot, ladder: Ladder | None = None) -> int:
    """How many checks and tests end when a bot leaves a ladder, or all of them: those after which a
    version of it was to enter."""
    checks, where = _undecided_checks(bot.real.id), _where(session, bot, ladder)
    if where is not None:
        checks = checks.where(Check.ladder_id == where.id)
    tests = waiting(session, bot.real.id, where)
    return len(session.scalars(checks).all()) + len(tests)


def _where(session: Session, bot: Bot, ladder: Ladder | None) -> Competition | None:
    if ladder is None and bot.masked_in is not None:
        return session.get(Competition, bot.masked_in)
    return ladder


def on_ladders(bot: Bot, now: datetime) -> sa.Select[Entrant]:
    """A query for the entrants by which a bot is on ladders that it can leave at a moment: those
    whose table is not final, and whose bots are not frozen."""
    return (
        sa.select(Entrant)
        .join(Entrant.version)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .where(
            BotVersion.is_of(bot.id),
            Entrant.state != EntrantState.RETIRED,
            Ladder.state != CompetitionState.CLOSED,
            Ladder.id.not_in(frozen(now)),
        )
    )


UNDECIDED = (JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE)
"""How checks stand of which something may come."""


def _cancel_checks(session: Session, bot_id: int, why: str, *which: sa.ColumnElement[bool]) -> None:
    """Cancels the checks of a bot of which something may come."""
    query = _undecided_checks(bot_id).where(*which)
    for check in session.scalars(locking(query, Check, anew=True)).all():
        cancel(check, why)


def _undecided_checks(bot_id: int) -> sa.Select[Check]:
    its = sa.select(BotVersion.id).where(BotVersion.bot_id == bot_id)
    return sa.select(Check).where(
        Check.version_id.in_(its), Check.status.in_(UNDECIDED), Check.cancelled == ""
    )


def cancel(check: Check, why: str) -> None:
    """Cancels a check, which is locked: its version enters nothing by it.

    What a worker has already is played to its end there, so that nobody gets more of the workers by
    cancelling; what is found is told.
    """
    check.cancelled = why
    if check.status is not JobStatus.ISSUED:
        check.end_lease(JobStatus.VOID, why)


class EntryFate(NamedTuple):
    """What became of a version by a check that it passed."""

    word: Literal["entered", "to be tested", "not entered"]
    test: int | None = None
    """The number of the strength test that it is to pass before it enters."""


def fates(session: Session, checks: Sequence[Check]) -> dict[int, EntryFate]:
    """What became of those that passed, by the numbers of the checks."""
    passed = [check for check in checks if check.passed]
    versions = {check.version_id for check in passed}
    its = sa.func.coalesce(BotVersion.masks_id, BotVersion.id)
    entered = sa.select(its, Entrant.competition_id).join(Entrant.version)
    entered = entered.join(Ladder, Ladder.id == Entrant.competition_id)
    entered = entered.where(its.in_(versions), ~Entrant.is_tried)
    there = {(version, ladder) for version, ladder in session.execute(entered)}
    waiting = (
        sa.select(its, StrengthTest.ladder_id, StrengthTest.id)
        .select_from(Entrant)
        .join(Entrant.version)
        .join(StrengthTest, StrengthTest.id == Entrant.competition_id)
        .where(
            its.in_(versions),
            Entrant.number == 1,
            StrengthTest.verdict == TestVerdict.RUNNING,
        )
    )
    tests = {(version, ladder): test for version, ladder, test in session.execute(waiting)}
    found = {}
    for check in passed:
        where = check.version_id, check.ladder_id
        if check.problem:
            found[check.id] = EntryFate("not entered")
        elif where in tests:
            found[check.id] = EntryFate("to be tested", tests[where])
        else:
            found[check.id] = EntryFate("entered" if where in there else "not entered")
    return found


def version_on(version: BotVersion, ladder: Competition) -> str:
    """What entries say in the audit log."""
    return f"version {version.number}, {ladder.name}"


def newest(*which: sa.ColumnElement[bool]) -> sa.Select[BotVersion]:
    """A query for the last version of each bot, joined with that, of those of which this holds."""
    last = (
        sa.select(BotVersion.bot_id, sa.func.max(BotVersion.number).label("number"))
        .join(BotVersion.bot)
        .where(*which)
        .group_by(BotVersion.bot_id)
        .subquery()
    )
    is_last = sa.and_(BotVersion.bot_id == last.c.bot_id, BotVersion.number == last.c.number)
    return sa.select(BotVersion).join(last, is_last).join(BotVersion.bot)


OwnBot = tuple[Bot, BotVersion, Sequence[Entrant]]
"""A bot with its last version, and as what it is on ladders: active ones, and suspended ones."""


def bots_of(session: Session, user_id: int) -> list[OwnBot]:
    """Somebody's own and shared bots by name."""
    versions = session.scalars(
        newest(belongs_to(user_id))
        .order_by(sa.func.lower(Bot.name))
        .options(contains_eager(BotVersion.bot).joinedload(Bot.owner))
    ).all()
    there: dict[int, list[Entrant]] = {}
    for entrant in session.scalars(
        sa.select(Entrant)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .where(belongs_to(user_id), Entrant.state != EntrantState.RETIRED)
        .order_by(Entrant.competition_id)
        .options(joinedload(Entrant.competition), joinedload(Entrant.version))
    ):
        there.setdefault(entrant.version.bot_id, []).append(entrant)
    return [(version.bot, version, there.get(version.bot_id, ())) for version in versions]
