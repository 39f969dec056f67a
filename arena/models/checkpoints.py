"""What the last check found of a competition's history (see `arena.recorder.checkpoints`).

Neither table holds anything that can't be made anew from the games.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base


class Checkpoint(Base):
    """What comes out of a competition's first matches, from which a check goes on."""

    __tablename__ = "checkpoint"

    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), primary_key=True)
    last: Mapped[int]
    """The `Match.seq` up to which it goes."""
    made: Mapped[datetime]
    state: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    """The fold's, as compressed JSON."""


class CheckedChapter(Base):
    """Some of those matches, in their order, and by which digest their rows are known again."""

    __tablename__ = "checked_chapter"
    __table_args__ = (
        Index("ix_checked_chapter_competition_id_looked", "competition_id", "looked"),
    )

    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), primary_key=True)
    after: Mapped[int] = mapped_column(primary_key=True)
    """The `Match.seq` of the last match before them."""
    last: Mapped[int]
    """The `Match.seq` of the last of them."""
    matches: Mapped[int]
    digest: Mapped[str] = mapped_column(sa.String(64))
    looked: Mapped[datetime]
    """When they were last read, all of them."""
