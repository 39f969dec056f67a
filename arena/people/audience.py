"""Who hears of a bot or a competition.

Owners hear of their bots, co-owners and a team's members, too; who made a competition hears of
that, and so does whoever takes part; everybody else hears of what they follow. Whoever hears of
something can mute it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.models import (
    Bot,
    BotVersion,
    Competition,
    Entrant,
    EntrantState,
    Follow,
    owners_of_bots,
)
from arena.sight import who_see


def owners(session: Session, bots: Iterable[int]) -> set[int]:
    """All who have one of some bots, and have not muted all of them that are theirs."""
    ids = set(bots)
    theirs = owners_of_bots().subquery()
    muted = sa.exists().where(
        Follow.user_id == theirs.c.user_id, Follow.bot_id == Bot.id, Follow.muted
    )
    real = sa.func.coalesce(Bot.masks_id, Bot.id)
    query = sa.select(theirs.c.user_id).join(Bot, real == theirs.c.bot_id)
    return set(session.scalars(query.where(Bot.id.in_(ids), ~muted)))


def followers(session: Session, bot_id: int) -> set[int]:
    """Those who follow a bot that is not theirs."""
    query = sa.select(Follow.user_id).where(Follow.bot_id == bot_id, ~Follow.muted)
    return set(session.scalars(query)) - owners(session, [bot_id])


def participants(session: Session, competition: Competition) -> set[int]:
    """Whose bots are in a competition; of one about a candidate, whose that is."""
    return owners(session, session.scalars(_entered(competition)))


def _entered(competition: Competition) -> sa.Select[int]:
    """The bots in a competition; of one about a candidate that one."""
    query = (
        sa.select(BotVersion.bot_id)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .where(Entrant.competition_id == competition.id, Entrant.state != EntrantState.RETIRED)
    )
    return query.where(Entrant.number == 1) if competition.is_candidates else query


def hearers(session: Session, competition: Competition) -> set[int]:
    """Those who hear of a competition: who made it, who takes part, and who follows it."""
    found = participants(session, competition)
    if competition.creator_id is not None:
        found.add(competition.creator_id)
    query = sa.select(Follow.user_id, Follow.muted).where(Follow.competition_id == competition.id)
    chosen = dict(session.execute(query).all())
    found |= chosen.keys()
    wanted = {person for person in found if not chosen.get(person)}
    return who_see(session, competition, wanted)


def follow_of(session: Session, user_id: int, subject: Bot | Competition) -> Follow | None:
    """What somebody has chosen to hear of something; None if nothing."""
    return session.scalar(sa.select(Follow).where(Follow.user_id == user_id, _about(subject)))


def usually_hears(session: Session, user_id: int, subject: Bot | Competition) -> bool:
    """Whether somebody hears of something unless they choose otherwise."""
    own = owners_of_bots().subquery()
    theirs = sa.select(own.c.bot_id).where(own.c.user_id == user_id)
    if isinstance(subject, Bot):
        its = theirs.where(own.c.bot_id == subject.real.id)
        return session.scalar(its.limit(1)) is not None
    if subject.creator_id == user_id:
        return True
    muted = sa.select(Follow.bot_id).where(Follow.user_id == user_id, Follow.muted)
    bots = aliased(Bot)
    query = (
        _entered(subject)
        .join(bots, bots.id == BotVersion.bot_id)
        .where(
            sa.func.coalesce(bots.masks_id, bots.id).in_(theirs),
            bots.id.not_in(muted.where(Follow.bot_id.is_not(None))),
        )
    )
    return session.scalar(query.limit(1)) is not None


def hears(session: Session, user_id: int, subject: Bot | Competition) -> bool:
    """Whether somebody hears of something."""
    chosen = follow_of(session, user_id, subject)
    return usually_hears(session, user_id, subject) if chosen is None else not chosen.muted


def make_follow(user_id: int, subject: Bot | Competition, *, muted: bool, now: datetime) -> Follow:
    """What somebody chooses to hear of something."""
    which = {"bot": subject} if isinstance(subject, Bot) else {"competition": subject}
    return Follow(user_id=user_id, muted=muted, since=now, **which)


def _about(subject: Bot | Competition) -> sa.ColumnElement[bool]:
    if isinstance(subject, Bot):
        return Follow.bot_id == subject.id
    return Follow.competition_id == subject.id
