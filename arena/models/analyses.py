"""Positions that people look into: analyses that are kept, and what bots were asked about them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import NUMBERED_ONCE, Base, Words
from arena.models.bots import BotVersion
from arena.models.kinds import Ladder
from arena.models.matches import Leasable, job_checks
from arena.models.people import User
from engine.game import Termination


class Question(Leasable, Base):
    """What somebody asks a bot: its move in some positions of a game; as a job, to answer it."""

    __tablename__ = "question"
    __table_args__ = (
        *job_checks(),
        Index("ix_question_status_id", "status", "id"),
        Index("ix_question_user_id_created", "user_id", "created"),
        NUMBERED_ONCE,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    """Who asks; None for who runs the arena."""
    version_id: Mapped[int] = mapped_column(ForeignKey("bot_version.id"), index=True)
    ladder_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    """The ladder by whose limits the bot runs."""
    game: Mapped[dict[str, Any]] = mapped_column(deferred=True)
    """A GameRecord's JSON, with the moves that lead to the last of the positions."""
    plies: Mapped[list[Any]] = mapped_column(deferred=True)
    """How many moves were played before each position."""
    keys: Mapped[list[Any]] = mapped_column(deferred=True)
    """What each position is known by (see `engine.analysis.Tree.keys`)."""
    asked_ms: Mapped[int]
    """How long the bot may think in all."""

    user: Mapped[User | None] = relationship()
    version: Mapped[BotVersion] = relationship()
    ladder: Mapped[Ladder] = relationship()


IS_SWEPT = sa.text("NOT kept")
"""The condition that an answer goes when it is old; spelt out, or no index of just these is
used."""


class BotAnswer(Base):
    """What a bot would play in a position, for everybody who comes to it by the same moves."""

    __tablename__ = "bot_answer"
    __table_args__ = (
        Index("ix_bot_answer_swept", "answered", sqlite_where=IS_SWEPT, postgresql_where=IS_SWEPT),
    )

    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), primary_key=True)
    ply: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(sa.String(32), index=True)
    """What the position is known by."""
    version_id: Mapped[int] = mapped_column(ForeignKey("bot_version.id"), index=True)
    seat: Mapped[int]
    """The seat's number from 0, as in code."""
    move: Mapped[str] = mapped_column(sa.Text)
    """Empty if it answered with a fault."""
    fault: Mapped[Termination | None]
    detail: Mapped[str] = mapped_column(Words)
    text: Mapped[str] = mapped_column(sa.Text)
    share: Mapped[float | None]
    """What its side expects, 0 to 1."""
    depth: Mapped[float | None]
    pv: Mapped[list[Any]]
    numbers: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """All that it gave, by their keys."""
    cpu_us: Mapped[int] = mapped_column(sa.BigInteger)
    move_ms: Mapped[int]
    """How long it might think."""
    answered: Mapped[datetime]
    kept: Mapped[bool] = mapped_column(default=False)
    """Whether it belongs to an analysis that somebody keeps."""

    version: Mapped[BotVersion] = relationship()


class Analysis(Base):
    """A tree of moves and comments that somebody keeps under a name."""

    __tablename__ = "analysis"
    __table_args__ = (sa.UniqueConstraint("owner_id", "name"), NUMBERED_ONCE)

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str] = mapped_column(sa.String(32), unique=True)
    """The code that its address names it by: nobody can guess it."""
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    """Who keeps it; None of one that is kept at the arena's machine."""
    name: Mapped[str] = mapped_column(sa.String(80))
    game: Mapped[str] = mapped_column(sa.Text)
    """The variant in words."""
    position: Mapped[str] = mapped_column(sa.Text)
    moves: Mapped[str] = mapped_column(sa.Text)
    """The moves as `engine.analysis` writes them."""
    game_number: Mapped[int | None]
    """The number of the game that it began with, if that was played here."""
    comments: Mapped[dict[str, Any]]
    """The comments by the numbers of the moves that they are on."""
    shared: Mapped[bool]
    """Whether whoever has the address may see it, and not its owner alone."""
    created: Mapped[datetime]
    changed: Mapped[datetime]
