"""People's games against bots, which are played move by move and count for nothing."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import NUMBERED_ONCE, Base
from arena.models.bots import BotVersion
from arena.models.kinds import Ladder
from arena.models.matches import JobStatus, Leasable, job_checks
from arena.models.people import User


class Sitting(Leasable, Base):
    """A person's game; as a job it is the bot's move that is due.

    It is open while a bot's move waits to be handed out, issued while a worker makes it, and
    fixed while nothing is due from workers: it is the person's turn, or the game is over.
    """

    __tablename__ = "sitting"
    __table_args__ = (
        *job_checks(),
        CheckConstraint("(user_id IS NULL) <> (guest IS NULL)", name="person"),
        CheckConstraint("finished IS NULL OR status IN ('fixed', 'void')", name="finished"),
        Index("ix_sitting_status_id", "status", "id"),
        Index("ix_sitting_user_id_id", "user_id", "id"),
        Index("ix_sitting_guest_id", "guest", "id"),
        Index("ix_sitting_finished_moved", "finished", "moved"),
        NUMBERED_ONCE,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    guest: Mapped[str | None] = mapped_column(sa.String(64))
    """The digest of what a guest's browser keeps, of a person without an account."""
    form: Mapped[str] = mapped_column(sa.String(64), unique=True)
    """The digest of who began it by which form: one that is sent twice begins one game."""
    ladder_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    """The ladder whose variant, time control and limits it has."""
    game: Mapped[dict[str, Any]] = mapped_column(deferred=True)
    """The GameRecord's JSON, as far as it was played (see `engine.sitting`)."""
    plies: Mapped[int]
    moved: Mapped[datetime]
    """The moment anything last happened."""
    finished: Mapped[datetime | None]

    user: Mapped[User | None] = relationship()
    ladder: Mapped[Ladder] = relationship()
    seats: Mapped[list[SittingSeat]] = relationship(
        order_by="SittingSeat.seat", cascade="all, delete-orphan"
    )

    def break_off(self, problem: str, now: datetime) -> None:
        """Ends it without a result."""
        self.end_lease(JobStatus.VOID, problem)
        self.finished = now


class SittingSeat(Base):
    """Who has a seat of a sitting."""

    __tablename__ = "sitting_seat"

    sitting_id: Mapped[int] = mapped_column(ForeignKey("sitting.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    """The seat, from 0 as in code."""
    version_id: Mapped[int | None] = mapped_column(ForeignKey("bot_version.id"), index=True)
    """None for the person."""

    version: Mapped[BotVersion | None] = relationship()
