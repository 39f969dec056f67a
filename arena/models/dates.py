"""Dates of competitions: what happens to them by itself, and when."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import Base, Words
from arena.models.competitions import Competition


class DateKind(StrEnum):
    """What happens at a date; of those of one moment the first here is first.

    Opens: matches are made from then on. Entries close: no new bots come in; those that are in may
    have new versions. Freeze: what is fielded stays fielded, and games go on. Round: all meet in a
    tournament; it comes again. Final: a tournament of the first is made. Closes: it is over.
    Season: it begins again.
    """

    OPENS = "opens"
    ENTRIES_CLOSE = "entries-close"
    FREEZE = "freeze"
    ROUND = "round"
    FINAL = "final"
    CLOSES = "closes"
    SEASON = "season"


class CompetitionDate(Base):
    """What is to happen to a competition at a moment, or has happened."""

    __tablename__ = "competition_date"
    __table_args__ = (
        UniqueConstraint("competition_id", "what", name="uq_competition_date_what"),
        Index("ix_competition_date_due", "happened", "at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    what: Mapped[DateKind]
    at: Mapped[datetime]
    """The moment by the clock of the database, as all that is decided by dates."""
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """What it needs besides, such as the format of a final."""
    happened: Mapped[datetime | None]
    """When it did; from then on it is not moved any more. One that comes again has not."""
    outcome: Mapped[str] = mapped_column(Words, default="")
    """Why nothing came of it, for people; empty if all went as it was to. Of one that comes again,
    of its last time."""
    made_id: Mapped[int | None] = mapped_column(ForeignKey("competition.id"))
    """What was made by it: the final, the last round, or the ladder's next season."""

    competition: Mapped[Competition] = relationship(foreign_keys=competition_id)
    made: Mapped[Competition | None] = relationship(foreign_keys=made_id)
