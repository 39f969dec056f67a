"""Bots that an organiser took off a ladder: none comes back there until an organiser lets it, nor
do the files that it played with, in whosever bot.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.refusals import Refusal
from arena.models import BARRED, Bot, BotVersion, Entrant, Ladder, Mark
from engine.translation import gettext

SAME_FILES = "an organiser took a bot with the same files off"
"""Why a version does not enter a ladder whose bot may, in words that are kept."""


def barred(session: Session, ladder: Ladder, bot_id: int) -> list[Entrant]:
    """The entrants by which a bot is barred from a ladder, the newest version first."""
    query = (
        sa.select(Entrant)
        .join(Entrant.version)
        .where(Entrant.competition_id == ladder.id, BotVersion.is_of(bot_id), Entrant.is_barred)
        .order_by(BotVersion.number.desc())
    )
    return list(session.scalars(query))


def all_barred(session: Session, ladder: Ladder) -> dict[str, str]:
    """What an organiser said of each bot that is barred from a ladder, by their names."""
    query = (
        sa.select(Bot.name, Entrant.reason)
        .join(BotVersion, BotVersion.bot_id == Bot.id)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .where(Entrant.competition_id == ladder.id, Entrant.is_barred, Bot.deleted.is_(None))
        .order_by(Bot.lower_name, BotVersion.number)
    )
    return {one.name: one.reason.partition(": ")[2] for one in session.execute(query)}


# Files are known by marks, which stay when the bot is deleted.


def bar_files(session: Session, ladder: Ladder, bot: Bot, digest: str) -> None:
    """Bars files of a bot from a ladder; of one at home nobody has any."""
    if digest:
        session.merge(Mark(key=_key(ladder, digest), value=str(bot.real.id)))


def unbar_files(session: Session, ladder: Ladder, bot: Bot) -> None:
    """Lets all files of a bot come back to a ladder."""
    its = Mark.key.startswith(_key(ladder, "")), Mark.value == str(bot.real.id)
    session.execute(sa.delete(Mark).where(*its))


def _key(ladder: Ladder, digest: str) -> str:
    return f"bar {ladder.id} {digest}"


def _has_barred_files(session: Session, ladder: Ladder, version: BotVersion) -> bool:
    """Whether an organiser took a bot with the files of a version off a ladder, on which it was not
    itself: a copy that goes takes nobody's own with it."""
    if not version.digest or session.get(Mark, _key(ladder, version.digest)) is None:
        return False
    was_there = (
        sa.select(Entrant.id)
        .join(Entrant.version)
        .where(
            Entrant.competition_id == ladder.id,
            sa.func.coalesce(BotVersion.masks_id, BotVersion.id) == version.id,
            ~Entrant.is_tried,
        )
    )
    return session.scalar(was_there.limit(1)) is None


def _reason(session: Session, ladder: Ladder, bot_id: int) -> str:
    # As a column: what the session has loaded may be older.
    query = (
        sa.select(Entrant.reason)
        .join(Entrant.version)
        .where(Entrant.competition_id == ladder.id, BotVersion.is_of(bot_id), Entrant.is_barred)
        .order_by(BotVersion.number.desc())
    )
    return session.scalar(query.limit(1)) or ""


def why_barred(session: Session, ladder: Ladder, version: BotVersion) -> str:
    """Why a version does not enter a ladder, in words that are kept, and that everybody may read;
    empty if it may."""
    if _reason(session, ladder, version.bot.real.id):
        return BARRED
    return SAME_FILES if _has_barred_files(session, ladder, version) else ""


def demand_not_barred(session: Session, ladder: Ladder, version: BotVersion) -> None:
    """Refuses to enter a version that is barred from a ladder.

    Args:
        version: of the bot itself, and not of a mask.

    Raises:
        Refusal: it is; says why, as its owner asks.
    """
    if why := _reason(session, ladder, version.bot.real.id):
        raise Refusal(
            gettext(
                "the bot does not come back to %(ladder)s until an organiser of it lets it: "
                "%(why)s",
                ladder=ladder.name,
                why=why,
            )
        )
    if _has_barred_files(session, ladder, version):
        raise Refusal(
            gettext(
                "an organiser took a bot with the same files off %(ladder)s: no other comes in "
                "with them until that one is let back",
                ladder=ladder.name,
            )
        )
