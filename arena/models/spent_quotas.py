"""What was used up by bots that were deleted, and counts still."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base


class SpentKind(StrEnum):
    """The kinds of what somebody had that a quota counts."""

    BOT = "bot"
    """A bot that entered a ladder."""
    VERSION = "version"
    """One that was handed in to a ladder, for a day."""
    TRY = "try"
    """A version that was tried, for a day."""
    BUILD = "build"
    """Seconds for which workers built, for an hour."""


class SpentQuota(Base):
    """Something that counts for whoever had a bot that is gone."""

    __tablename__ = "spent_quota"
    __table_args__ = (
        sa.Index("ix_spent_quota_user_id_kind", "user_id", "kind"),
        sa.Index("ix_spent_quota_kind_at", "kind", "at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    kind: Mapped[SpentKind]
    ladder_id: Mapped[int | None] = mapped_column(ForeignKey("competition.id"))
    """None of what counts wherever it was."""
    number: Mapped[int]
    """The number of the bot's or the version's row, which is never another's."""
    at: Mapped[datetime]
    seconds: Mapped[float] = mapped_column(default=0.0)
    """How long a build took."""
