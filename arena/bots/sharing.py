"""Who else may do with a bot whatever its owner may: its co-owners, and a team's members."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.ground.refusals import Refusal
from arena.models import (
    Bot,
    CoOwner,
    Team,
    TeamMember,
    User,
    owners_of_bots,
    sharers_of_bots,
)
from engine.translation import gettext

MOST_CO_OWNERS = 9
"""How many co-owners a bot may have."""
# Every page asks for the bots of who reads it, and making these takes longer than the answer.
_SHARED, _OWNED = sharers_of_bots().subquery(), owners_of_bots().subquery()
_MASK = aliased(Bot)


def belongs_to(user_id: int) -> sa.ColumnElement[bool]:
    """The condition that somebody is an owner of a bot, or of that behind a mask."""
    return sa.or_(Bot.owner_id == user_id, Bot.id.in_(_shared_with(user_id)))


def shared_with(session: Session, user_id: int) -> frozenset[int]:
    """The ids of the bots that somebody has, without being their owner, and of the masks of all."""
    return frozenset(session.scalars(_shared_with(user_id)))


def _shared_with(user_id: int) -> sa.CompoundSelect[int]:
    theirs = sa.select(_OWNED.c.bot_id).where(_OWNED.c.user_id == user_id)
    return sa.union_all(
        sa.select(_SHARED.c.bot_id).where(_SHARED.c.user_id == user_id),
        sa.select(_MASK.id).where(_MASK.masks_id.in_(theirs)),
    )


def has(session: Session, user_id: int | None, bot: Bot) -> bool:
    """Whether somebody is one of a bot's owners."""
    return bot.owner_id == user_id or user_id in owners(session, bot)


def owners(session: Session, bot: Bot) -> set[int]:
    """The ids of those who have a bot: the owner, co-owners, and the members of its team; of a mask
    those of the bot behind it."""
    query = sa.select(_OWNED.c.user_id).where(_OWNED.c.bot_id == bot.real.id)
    return set(session.scalars(query))


def co_owners(session: Session, bot: Bot) -> list[User]:
    """A bot's co-owners by name."""
    query = sa.select(User).join(CoOwner, CoOwner.user_id == User.id)
    return list(session.scalars(query.where(CoOwner.bot_id == bot.id).order_by(User.lower_name)))


def is_member(session: Session, team: Team, user_id: int) -> bool:
    """Whether somebody belongs to a team by now."""
    return session.get(TeamMember, (team.id, user_id), populate_existing=True) is not None


def demand_member(session: Session, team: Team, user: User) -> None:
    """Refuses who does not belong to a team.

    Raises:
        Refusal: they do not.
    """
    if not is_member(session, team, user.id):
        raise Refusal(
            gettext("%(user)s is no member of the team %(team)s", user=user.name, team=team.name)
        )
