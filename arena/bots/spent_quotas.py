"""What a bot has used up of what its person may have, which is kept when it is deleted: or whoever
deletes one and hands in another would have as much again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Bot, BotVersion, Build, Check, Competition, Entrant, SpentKind, SpentQuota

DAY = timedelta(hours=24)
"""How long what was used up counts; only that a bot entered a ladder counts for ever."""


def keep(session: Session, bot: Bot, now: datetime) -> None:
    """Keeps what a bot has used up, which is about to be deleted; forgets what counts no more."""
    person, since = bot.person_id, now - DAY
    versions = sa.select(BotVersion.id).where(BotVersion.bot_id == bot.id)
    entered = (
        sa.select(Entrant.competition_id)
        .join(Entrant.competition)
        .where(Entrant.version_id.in_(versions), Competition.kind == "ladder", ~Entrant.is_tried)
    )
    handed_in = (
        sa.select(Check.ladder_id, BotVersion.id, BotVersion.created)
        .join(Check.version)
        .where(BotVersion.bot_id == bot.id, Check.enters, BotVersion.created >= since)
    )
    tried = sa.select(Check.version_id, Check.created).where(
        Check.version_id.in_(versions), ~Check.enters, Check.created >= since
    )
    built = sa.select(Build.version_id, Build.ended, Build.seconds).where(
        Build.version_id.in_(versions), Build.ended >= since
    )
    session.execute(
        sa.delete(SpentQuota).where(
            SpentQuota.user_id == person,
            SpentQuota.kind != SpentKind.BOT,
            SpentQuota.at < since,
        )
    )
    session.add_all(
        [
            *(
                SpentQuota(
                    user_id=person, kind=SpentKind.BOT, ladder_id=ladder, number=bot.real.id, at=now
                )
                for ladder in session.scalars(entered.distinct())
            ),
            *(
                SpentQuota(
                    user_id=person, kind=SpentKind.VERSION, ladder_id=ladder, number=number, at=at
                )
                for ladder, number, at in session.execute(handed_in.distinct())
            ),
            *(
                SpentQuota(user_id=person, kind=SpentKind.TRY, number=number, at=at)
                for number, at in session.execute(tried)
            ),
            *(
                SpentQuota(
                    user_id=person, kind=SpentKind.BUILD, number=number, at=at,
                    seconds=seconds,
                )
                for number, at, seconds in session.execute(built)
            ),
        ]
    )  # fmt: skip
    session.flush()


def numbers(
    session: Session,
    kind: SpentKind,
    person_id: int,
    ladder_id: int | None = None,
    since: datetime | None = None,
) -> dict[int, datetime]:
    """What counts of a kind for a person: the numbers, each with its moment.

    Args:
        ladder_id: where; by default anywhere.
        since: only what was not before.
    """
    query = sa.select(SpentQuota).where(SpentQuota.user_id == person_id, SpentQuota.kind == kind)
    if ladder_id is not None:
        query = query.where(SpentQuota.ladder_id == ladder_id)
    if since is not None:
        query = query.where(SpentQuota.at >= since)
    return {one.number: one.at for one in session.scalars(query)}
