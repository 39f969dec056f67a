"""Sets of matches that an organiser decides about at once, and what is known of them before."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import NUMBERED_ONCE, Base, Words
from arena.models.matches import Match


class SetVerdict(StrEnum):
    """What is decided about each match of a set."""

    VOID = "void"
    REPLAY = "replay"
    """Void, and played again."""
    REQUEUE = "requeue"
    """Tried again after it was set aside."""


class SetState(StrEnum):
    """Where a set of matches stands."""

    LOOKING = "looking"
    """What it would change is being found."""
    READY = "ready"
    """It is found, and nothing is decided."""
    DECIDED = "decided"
    """It is being carried out, match by match."""
    DONE = "done"


class MemberState(StrEnum):
    """Where a match of a set stands."""

    WAITS = "waits"
    DONE = "done"
    LEFT = "left"
    """It can't be, and stays as it is."""


class MatchSet(Base):
    """Matches that were chosen by a filter at one moment; what comes later is none of it."""

    __tablename__ = "match_set"
    __table_args__ = (Index("ix_match_set_state", "state"), NUMBERED_ONCE)

    id: Mapped[int] = mapped_column(primary_key=True)
    verdict: Mapped[SetVerdict]
    words: Mapped[str] = mapped_column(sa.Text)
    """The filter, as an address has it behind its question mark."""
    note: Mapped[str] = mapped_column(sa.Text)
    """Why it was decided so, for everybody."""
    made: Mapped[datetime]
    maker_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"), index=True)
    maker: Mapped[str] = mapped_column(Words(40))
    """The name of who chose them."""
    state: Mapped[SetState]
    matches: Mapped[int]
    games: Mapped[int]
    """How many games these matches have."""
    looked: Mapped[int] = mapped_column(default=0)
    """How many games were gone through to find what it would change."""
    to_look: Mapped[int] = mapped_column(default=0)
    """How many there were to go through."""
    changes: Mapped[list[Any]] = mapped_column(default=list)
    """What it changes, competition by competition (see `arena.recorder.outlooks`)."""
    decided: Mapped[datetime | None]
    decider: Mapped[str] = mapped_column(Words(40), default="")
    """The name of who decided it."""
    origin: Mapped[str] = mapped_column(Words(60), default="")
    """The place it was decided from, as the audit log has it."""
    done: Mapped[datetime | None]


class MatchOfSet(Base):
    """A match of a set, and what became of it."""

    __tablename__ = "match_of_set"
    __table_args__ = (
        Index("ix_match_of_set_set_id_state_match_id", "set_id", "state", "match_id"),
        Index("ix_match_of_set_match_id", "match_id"),
    )

    set_id: Mapped[int] = mapped_column(ForeignKey("match_set.id"), primary_key=True)
    match_id: Mapped[int] = mapped_column(ForeignKey("match.id"), primary_key=True)
    state: Mapped[MemberState]
    why: Mapped[str] = mapped_column(Words, default="")
    """Why it stays as it is, if it does."""
    replayed_as: Mapped[int | None]
    """The number of the match that replays it."""

    match: Mapped[Match] = relationship()
