"""Bots that an organiser took off a ladder: none comes back there until an organiser lets it."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.refusals import Refusal
from arena.models import Bot, BotVersion, Entrant, Ladder
from engine.translation import gettext


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


def why_barred(session: Session, ladder: Ladder, bot_id: int) -> str:
    """Why a bot does not come back to a ladder, in words that are kept; empty if it may."""
    return next((one.reason for one in barred(session, ladder, bot_id)), "")


def demand_not_barred(session: Session, ladder: Ladder, bot_id: int) -> None:
    """Refuses to enter a bot that is barred from a ladder.

    Raises:
        Refusal: it is; says why.
    """
    if why := why_barred(session, ladder, bot_id):
        raise Refusal(
            gettext(
                "the bot does not come back to %(ladder)s until an organiser of it lets it: "
                "%(why)s",
                ladder=ladder.name,
                why=why,
            )
        )
