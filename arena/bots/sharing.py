"""Who else may do with a bot whatever its owner may: its co-owners, as in a team."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Bot, CoOwner, User

MOST_CO_OWNERS = 9
"""How many co-owners a bot may have: a team is no crowd."""


def belongs_to(user_id: int) -> sa.ColumnElement[bool]:
    """Of bots: whether somebody is their owner or co-owner."""
    return sa.or_(Bot.owner_id == user_id, Bot.id.in_(_shared_with(user_id)))


def shared_with(session: Session, user_id: int) -> frozenset[int]:
    """The ids of the bots that somebody is a co-owner of."""
    return frozenset(session.scalars(_shared_with(user_id)))


def _shared_with(user_id: int) -> sa.Select[int]:
    return sa.select(CoOwner.bot_id).where(CoOwner.user_id == user_id)


def co_owners(session: Session, bot: Bot) -> list[User]:
    """A bot's co-owners by name."""
    query = sa.select(User).join(CoOwner, CoOwner.user_id == User.id)
    return list(session.scalars(query.where(CoOwner.bot_id == bot.id).order_by(User.lower_name)))
