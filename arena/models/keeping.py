"""Where records of games are that are no longer in their rows."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base


class DayFile(Base):
    """A file of the cold store, with the records of games that are numbered one after the other.

    Of these the rows have none any more, but for games that it was not to have (`frames` tells
    those that it has).
    """

    __tablename__ = "day_file"
    __table_args__ = (
        sa.CheckConstraint("first <= last", name="range"),
        sa.UniqueConstraint("first"),
        sa.UniqueConstraint("name"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(80))
    """Its name in the cold store; what is in the file is part of it, so that no other file has
    it."""
    day: Mapped[str] = mapped_column(sa.String(10))
    """The day on which its games ended, by UTC, as ``2026-11-26``."""
    first: Mapped[int]
    """The lowest number of a game that it may have; those of lower ones are in files before, or
    were brought back."""
    last: Mapped[int]
    """The highest number of a game that it may have."""
    games: Mapped[int]
    """How many it has."""
    size: Mapped[int] = mapped_column(sa.BigInteger)
    """Bytes of the file."""
    digest: Mapped[str] = mapped_column(sa.String(64))
    """SHA-256 of the file, in hexadecimal."""
    frames: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    """Which games are in which part of it (see `arena.keeping.day_files.pack_frames`)."""
    made: Mapped[datetime]
    emptied: Mapped[datetime | None]
    """When the last of its games went from its row, too."""


class Dictionary(Base):
    """What records of a game have in common, by which they are packed."""

    __tablename__ = "dictionary"
    __table_args__ = (sa.UniqueConstraint("game"),)

    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    """Its Adler-32, which stands in each record that is packed by it."""
    game: Mapped[str] = mapped_column(sa.String(60))
    content: Mapped[bytes] = mapped_column(sa.LargeBinary)
    made: Mapped[datetime]
