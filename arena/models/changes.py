"""What the database itself notes of changes, so that an increment reads what has changed alone.

Who keeps it are triggers (see `arena.operation.changes`). It tells of this one database: neither
table is in a backup.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base


class Epoch(Base):
    """A span in which changes are noted by its number: a backup begins one before it reads."""

    __tablename__ = "epoch"

    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[str] = mapped_column(sa.String(32))
    """What the backup knows it again by, and no other: a database that was put back to an older
    state of it as files begins epochs of the same numbers. It has another one until the backup has
    begun to read."""


class ChangedPart(Base):
    """A part of a long table of which a row was added, changed or removed in an epoch.

    Perhaps it is there twice: nobody who writes waits for another who notes the same.
    """

    __tablename__ = "changed_part"
    __table_args__ = (
        Index("ix_changed_part_epoch_of_table_part", "epoch", "of_table", "part"),
        Index("ix_changed_part_of_table_part", "of_table", "part"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    epoch: Mapped[int]
    """`Epoch.id`, of one that is over or not yet to be seen, too."""
    of_table: Mapped[str] = mapped_column(sa.String(63))
    part: Mapped[int]
