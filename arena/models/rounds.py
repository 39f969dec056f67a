"""Rounds of ladders: the tournaments that all of a ladder play now and then, and its divisions."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import Base
from arena.models.bots import Bot
from arena.models.competitions import Competition
from arena.models.kinds import Tournament


class LadderRound(Base):
    """A round of a ladder; where it has divisions, that of one of them."""

    __tablename__ = "ladder_round"
    __table_args__ = (
        UniqueConstraint("competition_id", "number", "division", name="uq_ladder_round_number"),
        Index("ix_ladder_round_settled", "settled"),
        CheckConstraint("division >= 0", name="division"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    number: Mapped[int]
    """The round's number, from 1."""
    division: Mapped[int] = mapped_column(default=0)
    """The division's number, from 1, which is the highest; 0 where there are none."""
    moves: Mapped[int] = mapped_column(default=0)
    """How many rise and fall by it at most, as was chosen when it began."""
    begun: Mapped[datetime]
    ended: Mapped[datetime | None] = mapped_column("settled")
    """When it was over for the ladder: who rises and falls by it did so."""
    boss_id: Mapped[int | None] = mapped_column(ForeignKey("bot.id"))
    """The bot that has to be beaten to rise; None if there is none."""
    made_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), unique=True)
    """The tournament that it is."""

    made: Mapped[Tournament] = relationship(foreign_keys=made_id)

    @classmethod
    def lists(cls, ladder_id: int | None = None) -> sa.ColumnElement[bool]:
        """The condition that a list of competitions has one.

        No list has rounds, of which there may be one an hour, but that of a ladder's rounds.

        Args:
            ladder_id: the ladder whose rounds are asked for.
        """
        made = sa.select(cls.made_id)
        if ladder_id is None:
            return Competition.id.not_in(made)
        return Competition.id.in_(made.where(cls.competition_id == ladder_id))


class DivisionPlace(Base):
    """The division of a ladder that a bot is in, whichever of its versions is fielded."""

    __tablename__ = "division_place"
    __table_args__ = (
        UniqueConstraint("competition_id", "bot_id", "is_boss", name="uq_division_place_bot"),
        CheckConstraint("division > 0", name="division"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    bot_id: Mapped[int] = mapped_column(ForeignKey("bot.id"), index=True)
    division: Mapped[int]
    """The division's number, from 1, which is the highest."""
    number: Mapped[int] = mapped_column(default=0)
    """Where it stands there, from 1; 0 of a boss."""
    is_boss: Mapped[bool] = mapped_column(default=False)
    """Whether it is there to be beaten: it neither rises nor falls. Its place of before, if it had
    one, stands beside this until the next round begins."""

    bot: Mapped[Bot] = relationship()
