"""What the owner of a bot does with it once it was taken in: enter it, retire it, open its code."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, contains_eager, joinedload

from arena import audit
from arena.audit import Actor
from arena.first_tests import give_up
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    VersionStatus,
)
from arena.sharing import belongs_to
from arena.submissions import SubmissionError, enter


def ladders_taking_bots(session: Session) -> list[Ladder]:
    """The ladders that can be entered now, the first made first."""
    ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id))
    return [ladder for ladder in ladders if ladder.takes_bots]


def fitting(session: Session, version: BotVersion) -> list[Ladder]:
    """The ladders of the games that a version has proved to play, where it is not active."""
    checks = sa.select(Check).where(Check.version_id == version.id)
    checks = checks.options(joinedload(Check.ladder))
    games = {check.ladder.game for check in session.scalars(checks) if check.passed}
    there = set(
        session.scalars(
            sa.select(Entrant.competition_id).where(
                Entrant.version_id == version.id, Entrant.state == EntrantState.ACTIVE
            )
        )
    )
    checked = set(session.scalars(sa.select(Check.ladder_id).where(_under_way(version.id))))
    return [
        ladder
        for ladder in ladders_taking_bots(session)
        if ladder.game in games and ladder.id not in there | checked
    ]


def _under_way(version_id: int) -> sa.ColumnElement[bool]:
    return sa.and_(
        Check.version_id == version_id, Check.status.in_((JobStatus.OPEN, JobStatus.ISSUED))
    )


def ask_entry(
    session: Session, actor: Actor, version: BotVersion, ladder: Ladder, now: datetime
) -> Check | None:
    """Enters a version on a ladder: at once if it was there before, else when its check passes.

    Returns:
        The check, if one is needed.

    Raises:
        SubmissionError: the ladder takes no bots, or the version was refused.
    """
    if not ladder.takes_bots:
        raise SubmissionError(f"the ladder {ladder.name} is {ladder.state} and takes no bots")
    if version.status is VersionStatus.REFUSED:
        raise SubmissionError(
            f"the version {version.label} was refused by its check: submit a mended version"
        )
    audit.note(session, actor, "enter", f"bot {version.bot.name}", _words(version, ladder), now=now)
    known = session.scalar(
        sa.select(Entrant.id).where(
            Entrant.competition_id == ladder.id, Entrant.version_id == version.id
        )
    )
    if known is not None:
        enter(session, ladder, version, now)
        return None
    asked = _under_way(version.id), Check.ladder_id == ladder.id
    check = session.scalar(sa.select(Check).where(*asked).limit(1))
    if check is None:
        check = Check(
            version=version, ladder=ladder, status=JobStatus.OPEN, created=now, findings=[]
        )
        session.add(check)
        session.flush()
    return check


def retire(session: Session, actor: Actor, entrant: Entrant, now: datetime) -> None:
    """Takes a version off a ladder; it keeps its rating for when it comes back.

    A test after which a newer one was to take its place there is stopped.

    Raises:
        SubmissionError: the ladder's table is final.
    """
    if entrant.state is EntrantState.RETIRED:
        return
    if entrant.competition.state is CompetitionState.CLOSED:
        raise SubmissionError(
            f"the ladder {entrant.competition.name} is closed, and its table final: "
            f"{entrant.version.label} stays in it"
        )
    version = entrant.version
    give_up(session, version.bot_id, f"{version.label} was retired", now, entrant.competition)
    there = sa.select(Entrant.id).where(
        Entrant.id == entrant.id, Entrant.state != EntrantState.RETIRED
    )
    if session.scalar(there.with_for_update(key_share=True)) is None:
        return  # the test may just have been passed
    entrant.state = EntrantState.RETIRED
    entrant.reason = "its owner retired it"
    words = _words(version, entrant.competition)
    audit.note(session, actor, "retire", f"bot {version.bot.name}", words, now=now)


def withdraw(session: Session, actor: Actor, bot: Bot, now: datetime) -> int:
    """Takes a bot off every ladder whose table is not final, and gives how many those were.

    Tests after which a version was to enter one of them are stopped.

    Raises:
        SubmissionError: a check is under way, after which it would enter again.
    """
    checks = (
        sa.select(Check.id)
        .join(Check.version)
        .where(BotVersion.bot_id == bot.id, Check.status.in_((JobStatus.OPEN, JobStatus.ISSUED)))
    )
    if session.scalar(checks.limit(1)) is not None:
        raise SubmissionError("a check of it is under way: withdraw it when that has ended")
    give_up(session, bot.id, "the bot was withdrawn", now)
    active = session.scalars(
        sa.select(Entrant)
        .join(Entrant.version)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .where(
            BotVersion.bot_id == bot.id,
            Entrant.state != EntrantState.RETIRED,
            Ladder.state != CompetitionState.CLOSED,
        )
        .order_by(Entrant.id)
        .with_for_update(of=Entrant, key_share=True)
        .execution_options(populate_existing=True)
    ).all()
    for entrant in active:
        entrant.state = EntrantState.RETIRED
        entrant.reason = "its owner withdrew the bot"
    audit.note(session, actor, "withdraw", f"bot {bot.name}", now=now)
    return len(active)


def open_source(session: Session, actor: Actor, bot: Bot, *, opened: bool, now: datetime) -> None:
    """Lets everybody read a bot's code and logs, or its owner alone."""
    if bot.open_source is not opened:
        bot.open_source = opened
        action = "open code" if opened else "close code"
        audit.note(session, actor, action, f"bot {bot.name}", now=now)


def _words(version: BotVersion, ladder: Competition) -> str:
    return f"version {version.number}, {ladder.name}"


def bots_of(session: Session, user_id: int) -> list[tuple[Bot, BotVersion, Sequence[Entrant]]]:
    """Somebody's own and shared bots by name, each with its last version and active entrants.

    Those that are suspended, too; only retired ones are left out.
    """
    newest = (
        sa.select(BotVersion.bot_id, sa.func.max(BotVersion.number).label("number"))
        .join(BotVersion.bot)
        .where(belongs_to(user_id))
        .group_by(BotVersion.bot_id)
        .subquery()
    )
    versions = session.scalars(
        sa.select(BotVersion)
        .join(
            newest,
            sa.and_(BotVersion.bot_id == newest.c.bot_id, BotVersion.number == newest.c.number),
        )
        .join(BotVersion.bot)
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
