"""How people are told of things: what they follow, what they were told, mail, and their hooks."""

from __future__ import annotations

import base64
import secrets
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import NUMBERED_ONCE, Base, Words
from arena.models.bots import Bot
from arena.models.competitions import Competition
from arena.models.people import User

LONGEST_ADDRESS = 500
"""The most characters that the address of a page or of a hook may have."""
HOOK_SECRET_PREFIX = "whsec_"  # noqa: S105 - as the Standard Webhooks have it
_UNREAD = sa.text("read IS NULL")
_MAILED_LATER = sa.text("mail_waits")
_WAITS = sa.text("state = 'waits'")


class Topic(StrEnum):
    """What something is about that people are told; they choose of which they hear."""

    CHECK = "check"
    SUSPENSION = "suspension"
    TEST = "test"
    TOURNAMENT = "tournament"
    LADDER = "ladder"
    MATCH = "match"
    OTHER = "other"
    """All else, such as what concerns an account; nobody can choose not to hear it."""


class MailChoice(StrEnum):
    """When somebody gets by mail what they are told."""

    NEVER = "never"
    AT_ONCE = "at once"
    DAILY = "daily"


class Follow(Base):
    """Somebody who hears of a bot or a competition, or does not though they else would."""

    __tablename__ = "follow"
    __table_args__ = (
        UniqueConstraint("user_id", "bot_id"),
        UniqueConstraint("user_id", "competition_id"),
        CheckConstraint("(bot_id IS NULL) <> (competition_id IS NULL)", name="subject"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    bot_id: Mapped[int | None] = mapped_column(ForeignKey("bot.id"), index=True)
    competition_id: Mapped[int | None] = mapped_column(ForeignKey("competition.id"), index=True)
    muted: Mapped[bool] = mapped_column(default=False)
    """Whether they hear nothing of a bot or a competition that is their own."""
    since: Mapped[datetime]

    bot: Mapped[Bot | None] = relationship()
    competition: Mapped[Competition | None] = relationship()


class Wishes(Base):
    """How somebody is told; who has no row has chosen nothing."""

    __tablename__ = "wishes"

    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    mail: Mapped[MailChoice] = mapped_column(default=MailChoice.NEVER)
    silenced: Mapped[list[Any]] = mapped_column(default=list)
    """The topics of which they want to hear nothing."""
    mailed: Mapped[datetime | None]
    """When they last got what they are told by mail."""
    feed_digest: Mapped[str | None] = mapped_column(sa.String(64), unique=True)
    """The digest of the secret in the address of the feed of what they were told; None without
    one."""


class Notification(Base):
    """Something that one person was told."""

    __tablename__ = "notification"
    __table_args__ = (
        Index("ix_notification_user_id_id", "user_id", "id"),
        Index("ix_notification_unread", "user_id", sqlite_where=_UNREAD, postgresql_where=_UNREAD),
        Index(
            "ix_notification_mail_waits",
            "user_id",
            sqlite_where=_MAILED_LATER,
            postgresql_where=_MAILED_LATER,
        ),
        NUMBERED_ONCE,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    at: Mapped[datetime] = mapped_column(index=True)
    topic: Mapped[str] = mapped_column(sa.String(20))
    """One of `Topic`."""
    message: Mapped[str] = mapped_column(sa.Text)
    """The message in English, as catalogues know it, with places."""
    places: Mapped[dict[str, Any]]
    address: Mapped[str] = mapped_column(sa.String(LONGEST_ADDRESS))
    """The path of the page where more can be seen."""
    read: Mapped[datetime | None]
    mail_waits: Mapped[bool] = mapped_column(default=False)
    """Whether it is still to go out by mail."""


class Mail(Base):
    """A letter that is to be sent; one that was sent, or can't be, is here no more."""

    __tablename__ = "mail"

    id: Mapped[int] = mapped_column(primary_key=True)
    address: Mapped[str] = mapped_column(sa.String(254))
    subject: Mapped[str] = mapped_column(sa.String(200))
    text: Mapped[str] = mapped_column(sa.Text)
    unsubscribe: Mapped[str] = mapped_column(sa.String(LONGEST_ADDRESS), default="")
    """The path of the page where no more of its kind can be asked for; empty where none is."""
    created: Mapped[datetime]
    due: Mapped[datetime] = mapped_column(index=True)
    """When it is to be sent, or tried again; while somebody sends it, when that is given up."""
    tries: Mapped[int] = mapped_column(default=0)
    problem: Mapped[str] = mapped_column(Words, default="")
    """Why the last try failed."""


class HookFormat(StrEnum):
    """What a hook is sent: an object of JSON of our own, or what Discord shows in a channel."""

    JSON = "json"
    DISCORD = "discord"


def _hook_secret() -> str:
    return HOOK_SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


class Hook(Base):
    """An address elsewhere at which a program hears what a person is told."""

    __tablename__ = "hook"
    __table_args__ = NUMBERED_ONCE

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    url: Mapped[str] = mapped_column(sa.String(LONGEST_ADDRESS))
    format: Mapped[HookFormat]
    secret: Mapped[str] = mapped_column(sa.String(64), default=_hook_secret)
    """The key by which what it is sent is signed: 32 bytes in base64, behind
    `HOOK_SECRET_PREFIX`."""
    created: Mapped[datetime]
    disabled: Mapped[str] = mapped_column(Words, default="")
    """Why nothing is sent there any more; empty while something is."""
    rests_until: Mapped[datetime | None]
    """Where the last try failed, until when nothing is tried."""
    failing_since: Mapped[datetime | None]
    """When tries began to fail, each since then; None if the last one arrived."""

    user: Mapped[User] = relationship()


class DeliveryState(StrEnum):
    """What became of a delivery."""

    WAITS = "waits"
    ARRIVED = "arrived"
    GIVEN_UP = "given up"


class Delivery(Base):
    """One message to a hook, with what came of the last try."""

    __tablename__ = "delivery"
    __table_args__ = (
        Index("ix_delivery_waits", "due", sqlite_where=_WAITS, postgresql_where=_WAITS),
        NUMBERED_ONCE,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    # Its hook may be removed while somebody is told something.
    hook_id: Mapped[int] = mapped_column(ForeignKey("hook.id", ondelete="CASCADE"), index=True)
    notification_id: Mapped[int | None] = mapped_column(ForeignKey("notification.id"), index=True)
    """What it tells; None of a test."""
    created: Mapped[datetime] = mapped_column(index=True)
    state: Mapped[DeliveryState] = mapped_column(default=DeliveryState.WAITS)
    due: Mapped[datetime]
    """When it is to be tried; while somebody tries it, when that is given up."""
    expires: Mapped[datetime]
    """The moment after which it is not tried again."""
    tries: Mapped[int] = mapped_column(default=0)
    tried: Mapped[datetime | None]
    status: Mapped[int | None]
    """What the last try was answered; None if with nothing."""
    milliseconds: Mapped[int | None]
    answer: Mapped[str] = mapped_column(Words, default="")
    """The beginning of it, or why there was none."""

    hook: Mapped[Hook] = relationship()
    notification: Mapped[Notification | None] = relationship()
