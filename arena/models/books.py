"""Books of openings that competitions are played by."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base
from engine.books import place
from engine.games import GAMES
from engine.openings import Opening


class OpeningBook(Base):
    """A book as somebody uploaded it, for one variant; what is in it never changes."""

    __tablename__ = "book"
    __table_args__ = (UniqueConstraint("digest", "variant"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(80), unique=True)
    digest: Mapped[str] = mapped_column(sa.String(64))
    """SHA-256 of its text, in hexadecimal."""
    variant: Mapped[str] = mapped_column(sa.String(300))
    """The game with its options, in words."""
    size: Mapped[int]
    """How many openings it has."""
    text: Mapped[str] = mapped_column(sa.Text, deferred=True)
    """The file."""
    openings: Mapped[list[Any]] = mapped_column(deferred=True)
    """What was read of it: the options and the moves of each, so that no rules are asked again."""
    creator_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    created: Mapped[datetime]
    removed: Mapped[datetime | None]
    """When it was removed: nothing new is played by it since, and it is there for competitions that
    were."""

    def opening(self, seed: int, number: int) -> Opening:
        """The opening of a match by its number, from 0: none comes again before all have come."""
        options, moves = self.openings[place(self.size, seed, number)]
        return Opening(GAMES.find(self.variant.split()[0], options), tuple(moves))
