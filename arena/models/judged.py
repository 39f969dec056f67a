"""What is certain of how games were played (see `engine.truth`), for those games of which it is."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base


class JudgedSeat(Base):
    """The moves of a seat of a game that were judged, if any were."""

    __tablename__ = "judged_seat"
    __table_args__ = (
        sa.CheckConstraint("0 <= kept AND kept + results <= judged", name="sums"),
        {"sqlite_with_rowid": False},
    )

    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    """The seat's number from 0, as in code."""
    judged: Mapped[int]
    """How many of its moves were judged: they had something to lose."""
    kept: Mapped[int]
    """How many of these lost nothing."""
    results: Mapped[int]
    """How many turned a win into a draw or a loss, or a draw into a loss."""
    lost: Mapped[int]
    """The sum of what the others lost."""
    marks: Mapped[list[Any]]
    """Each that lost something: its ply from 0, the values before and after it, better moves."""
