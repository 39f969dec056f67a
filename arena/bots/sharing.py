"""Who else may do with a bot whatever its owner may: its co-owners, as in a team."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.bots.submissions import SubmissionError
from arena.ground.locks import lock
from arena.models import Bot, CoOwner, User
from arena.people import accounts

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


def share(session: Session, actor: Actor, bot: Bot, name: str, now: datetime) -> User:
    """Makes somebody a co-owner of a bot.

    Raises:
        PeopleError: there is nobody of this name.
        SubmissionError: it is theirs already, or it has too many.
    """
    user = accounts.get(session, name)
    # Who shares it with another at the same moment waits, and sees how many it has then.
    lock(session, bot)
    there = co_owners(session, bot)
    if user.id == bot.owner_id or user.id in {one.id for one in there}:
        raise SubmissionError(f"the bot {bot.name} is {user.name}'s already")
    if len(there) >= MOST_CO_OWNERS:
        raise SubmissionError(f"the bot {bot.name} has {len(there)} co-owners, and no more can be")
    session.add(CoOwner(bot_id=bot.id, user_id=user.id))
    audit.note(session, actor, "share", f"bot {bot.name}", f"with {user.name}", now=now)
    return user


def unshare(session: Session, actor: Actor, bot: Bot, name: str, now: datetime) -> User:
    """Makes somebody a co-owner of a bot no more.

    Raises:
        PeopleError: there is nobody of this name.
        SubmissionError: they are none.
    """
    user = accounts.get(session, name)
    # Who ends it at the same moment, too, waits, and is told that it is ended.
    lock(session, bot)
    found = session.get(CoOwner, (bot.id, user.id))
    if found is None:
        raise SubmissionError(f"{user.name} is no co-owner of the bot {bot.name}")
    session.delete(found)
    audit.note(session, actor, "unshare", f"bot {bot.name}", f"with {user.name}", now=now)
    return user
