"""The lines of games: their first moves, as keys by which games that began the same lie together.

A row for each game that counts, and of the moves that lead on from a line many games share what is
counted, so that nobody has to look at all of these games (see `arena.lists.branches`).
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base
from arena.models.listed import WITHOUT_ROWID


class GameLine(Base):
    """How a game began, if it counts."""

    __tablename__ = "game_line"
    __table_args__ = (Index("ix_game_line_line", "line", "game_id"),)

    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"), primary_key=True)
    line: Mapped[bytes] = mapped_column(sa.LargeBinary)
    """Variant, start and moves, each in a fixed number of bytes (see `arena.lists.lines`)."""
    set_plies: Mapped[int]
    """How many of its moves the opening set."""


class LineBranch(Base):
    """What came of the games of a competition in which a move followed a line, for a seat."""

    __tablename__ = "line_branch"
    __table_args__ = (WITHOUT_ROWID,)

    line: Mapped[bytes] = mapped_column(sa.LargeBinary, primary_key=True)
    move: Mapped[bytes] = mapped_column(sa.LargeBinary, primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    """The seat's number from 0, as in code."""
    won: Mapped[int]
    drawn: Mapped[int]
    lost: Mapped[int]
    chosen: Mapped[int]
    """How many of them there are in which a bot chose the move; in the others the opening set
    it."""
