"""How many bots of each person a ladder takes, and how often: known before anything is sent.

A bot counts for the person or the team whose it is, whoever hands it in. One whose check is under
way counts as active, since it enters when it has passed. The arena's own bots count for nobody. On
a private ladder with quotas a bot has to count for a member. What a deleted bot has used up stays
so (`arena.bots.spent_quotas`), or whoever deletes one and hands in another would have any number.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.bots import spent_quotas
from arena.ground.db import is_lately
from arena.ground.locks import find
from arena.ground.refusals import Refusal
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Check,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    SpentKind,
    User,
)
from arena.sight import who_see
from engine.plurals import counted
from engine.translation import gettext

DAY = timedelta(hours=24)
UNDER_WAY = (JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE)


class QuotaUse(NamedTuple):
    """How much of a quota is used."""

    had: Annotated[int, "How many there are"]
    most: Annotated[int | None, "How many there may be; null for any number"]

    @property
    def left(self) -> int | None:
        """How many more there may be; None for any number."""
        return None if self.most is None else max(0, self.most - self.had)


class Quotas(NamedTuple):
    """What a person has on a ladder of what they may have."""

    bots: Annotated[QuotaUse, "Bots that ever entered it, or are to"]
    active: Annotated[QuotaUse, "Bots that are active on it, or are to become so"]
    uploads: Annotated[QuotaUse, "Versions that were handed in to it within 24 hours"]


class _Had(NamedTuple):
    bots: set[int]
    active: set[int]
    uploads: list[tuple[int, datetime]]
    """The versions, each with when it came, the last first."""


def has_any(ladder: Ladder) -> bool:
    """Whether a ladder has any quota."""
    return (ladder.most_bots, ladder.most_active, ladder.most_uploads) != (None, None, None)


def quotas_of(session: Session, ladder: Ladder, person_id: int, now: datetime) -> Quotas:
    """What a person has on a ladder, and may have."""
    had = _had(session, ladder, person_id, now)
    return Quotas(
        QuotaUse(len(had.bots), ladder.most_bots),
        QuotaUse(len(had.active), ladder.most_active),
        QuotaUse(len(had.uploads), ladder.most_uploads),
    )


def whose_next(session: Session, name: str, user_id: int) -> tuple[int, int | None]:
    """The person for whom a bot of a name counts that a user hands in, and the bot's id if it is
    there."""
    its = sa.select(Bot.person_id, sa.func.coalesce(Bot.masks_id, Bot.id)).where(Bot.named(name))
    found = session.execute(its).one_or_none()
    return (user_id, None) if found is None else (found[0], found[1])


def demand_room(
    session: Session,
    ladder: Ladder,
    person_id: int,
    bot_id: int,
    now: datetime,
    *,
    version_id: int | None = None,
    uploads: bool = True,
) -> None:
    """Refuses a bot that a person can't have on a ladder besides those that are there.

    Args:
        version_id: the version that is handed in.
        uploads: whether one is handed in, and not only put there again.

    Raises:
        Refusal: a quota is used up; says what to do.
    """
    if has_any(ladder):
        # Two forms at the same moment wait for each other here.
        find(session, User, person_id, to_change=True)
        words = why_no_room(
            session, ladder, person_id, bot_id, now, version_id=version_id, uploads=uploads
        )
        if words:
            raise Refusal(words)


def why_no_room(
    session: Session,
    ladder: Ladder,
    person_id: int,
    bot_id: int | None,
    now: datetime,
    *,
    version_id: int | None = None,
    uploads: bool = True,
) -> str:
    """Why a person can't have a bot on a ladder besides those that are there; empty if they can.

    Args:
        bot_id: None for one that is not made yet.
        version_id, uploads: as `demand_room` takes them.
    """
    person = session.get(User, person_id)
    if not has_any(ladder) or person is None or person.name == HOUSE:
        return ""
    if not who_see(session, ladder, {person_id}):
        # Else members had more there by teams and co-owners outside.
        return gettext(
            "%(user)s, for whom the bot counts, is no member of %(ladder)s",
            user=person.name,
            ladder=ladder.name,
        )
    had = _had(session, ladder, person_id, now)
    most = ladder.most_bots
    if most is not None and bot_id not in had.bots and len(had.bots) >= most:
        return gettext(
            "each person may enter %(bots)s on %(ladder)s, those that have left it included, and "
            "so many have: hand it in as a new version of one of them",
            bots=counted(most, "bot"),
            ladder=ladder.name,
        )
    most = ladder.most_active
    if most is not None and bot_id not in had.active and len(had.active) >= most:
        return gettext(
            "each person may have %(bots)s active on %(ladder)s, and so many are, or are being "
            "checked: retire one first",
            bots=counted(most, "bot"),
            ladder=ladder.name,
        )
    most = ladder.most_uploads
    if not uploads or most is None or version_id in {one for one, _ in had.uploads}:
        return ""
    if len(had.uploads) < most:
        return ""
    if not most:
        return gettext("nothing may be handed in to %(ladder)s now", ladder=ladder.name)
    return gettext(
        "each person may hand in %(versions)s to %(ladder)s within 24 hours: the next is free at "
        "%(moment)s UTC",
        versions=counted(most, "version"),
        ladder=ladder.name,
        moment=f"{had.uploads[most - 1][1] + DAY:%Y-%m-%d %H:%M}",
    )


def why_not_active(session: Session, ladder: Ladder, bot: Bot) -> str:
    """Why a bot that passed its check can't become active, in words that are kept; else empty."""
    most = ladder.most_active
    if most is None or bot.real.owner.name == HOUSE:
        return ""
    active = set(session.scalars(_active(ladder, bot.person_id)))
    if bot.real.id in active or len(active) < most:
        return ""
    return f"each person may have {counted(most, 'bot')} active there: retire one, and enter it"


def _active(ladder: Ladder, person_id: int) -> sa.Select[int]:
    return _entered(ladder, person_id).where(Entrant.state == EntrantState.ACTIVE)


def _entered(ladder: Ladder, person_id: int) -> sa.Select[int]:
    real = aliased(Bot)
    return (
        sa.select(real.id)
        .join(Bot, real.id == sa.func.coalesce(Bot.masks_id, Bot.id))
        .join(BotVersion, BotVersion.bot_id == Bot.id)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .where(Entrant.competition_id == ladder.id, ~Entrant.is_tried, real.is_of(person_id))
    )


def _had(session: Session, ladder: Ladder, person_id: int, now: datetime) -> _Had:
    its = (
        sa.select(BotVersion.id, BotVersion.bot_id, BotVersion.created, Check)
        .join(BotVersion, BotVersion.id == Check.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Check.ladder_id == ladder.id, Check.enters, Bot.is_of(person_id))
    )
    under_way = its.where(Check.status.in_(UNDER_WAY), Check.cancelled == "")
    coming = set(session.scalars(under_way.with_only_columns(BotVersion.bot_id)))
    lately = its.where(is_lately(BotVersion.created, DAY, now))
    handed_in = lately.with_only_columns(BotVersion.id, BotVersion.created).distinct()
    uploads = {one.id: one.created for one in session.execute(handed_in)}
    uploads |= spent_quotas.numbers(session, SpentKind.VERSION, person_id, ladder.id, now - DAY)
    deleted = spent_quotas.numbers(session, SpentKind.BOT, person_id, ladder.id)
    return _Had(
        {*coming, *deleted, *session.scalars(_entered(ladder, person_id))},
        coming | set(session.scalars(_active(ladder, person_id))),
        sorted(uploads.items(), key=lambda one: (one[1], one[0]), reverse=True),
    )
