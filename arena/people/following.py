"""Who hears of a bot or a competition.

Owners and co-owners hear of their bots, who made a competition hears of that, and so does whoever
takes part; everybody else hears of what they follow. Whoever hears of something can mute it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import (
    Bot,
    BotVersion,
    Competition,
    CoOwner,
    Entrant,
    EntrantState,
    Follow,
    StrengthTest,
)
from arena.sight import who_see


def owners(session: Session, bots: Iterable[int]) -> set[int]:
    """Owners and co-owners of bots, who have not muted all of them that are theirs."""
    ids = set(bots)
    theirs = sa.union(
        sa.select(Bot.owner_id.label("person"), Bot.id.label("bot")).where(Bot.id.in_(ids)),
        sa.select(CoOwner.user_id, CoOwner.bot_id).where(CoOwner.bot_id.in_(ids)),
    ).subquery()
    muted = sa.exists().where(
        Follow.user_id == theirs.c.person, Follow.bot_id == theirs.c.bot, Follow.muted
    )
    return set(session.scalars(sa.select(theirs.c.person).where(~muted)))


def followers(session: Session, bot_id: int) -> set[int]:
    """Those who follow a bot that is not theirs."""
    query = sa.select(Follow.user_id).where(Follow.bot_id == bot_id, ~Follow.muted)
    return set(session.scalars(query)) - owners(session, [bot_id])


def participants(session: Session, competition: Competition) -> set[int]:
    """Whose bots are in a competition; of a strength test, whose the candidate is."""
    return owners(session, session.scalars(_entered(competition)))


def _entered(competition: Competition) -> sa.Select[int]:
    """The bots in a competition; of a strength test the candidate's."""
    query = (
        sa.select(BotVersion.bot_id)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .where(Entrant.competition_id == competition.id, Entrant.state != EntrantState.RETIRED)
    )
    return query.where(Entrant.number == 1) if isinstance(competition, StrengthTest) else query


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
    if isinstance(subject, Bot):
        return subject.owner_id == user_id or bool(session.get(CoOwner, (subject.id, user_id)))
    if subject.creator_id == user_id:
        return True
    shared = sa.select(CoOwner.bot_id).where(CoOwner.user_id == user_id)
    muted = sa.select(Follow.bot_id).where(Follow.user_id == user_id, Follow.muted)
    theirs = (
        sa.or_(Bot.owner_id == user_id, Bot.id.in_(shared)),
        Bot.id.not_in(muted.where(Follow.bot_id.is_not(None))),
    )
    query = _entered(subject).join(Bot, Bot.id == BotVersion.bot_id).where(*theirs)
    return session.scalar(query.limit(1)) is not None


def hears(session: Session, user_id: int, subject: Bot | Competition) -> bool:
    """Whether somebody hears of something."""
    chosen = follow_of(session, user_id, subject)
    return usually_hears(session, user_id, subject) if chosen is None else not chosen.muted


def make(user_id: int, subject: Bot | Competition, *, muted: bool, now: datetime) -> Follow:
    """What somebody chooses to hear of something."""
    which = {"bot": subject} if isinstance(subject, Bot) else {"competition": subject}
    return Follow(user_id=user_id, muted=muted, since=now, **which)


def _about(subject: Bot | Competition) -> sa.ColumnElement[bool]:
    if isinstance(subject, Bot):
        return Follow.bot_id == subject.id
    return Follow.competition_id == subject.id
