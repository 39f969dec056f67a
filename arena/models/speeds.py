"""What strength tests say by the speed of the machines that played them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import Base


class SpeedTally(Base):
    """What the matches of a strength test say that were played at speeds of one class."""

    __tablename__ = "speed_tally"

    test_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), primary_key=True)
    speeds: Mapped[str] = mapped_column(sa.String(20), primary_key=True)
    """The class, as `engine.measure.speed_class` has it; empty where the speed is not known."""
    counts: Mapped[list[Any]]
    """Matches by the candidate's score, from the worst to the best in equal steps."""
    wins: Mapped[int] = mapped_column(default=0)
    draws: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
    faults: Mapped[int] = mapped_column(default=0)
    """Those of both sides."""
