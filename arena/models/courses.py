"""Courses: ladders whose members hand something in by a date, and get a mark for it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy import Text as LongText
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import Base
from arena.models.kinds import Ladder


class TaughtCourse(Base):
    """The rules of a ladder that is a course. Its deadline is the ladder's date ``freeze``."""

    __tablename__ = "course"

    ladder_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), primary_key=True)
    references: Mapped[list[Any]] = mapped_column("reference_bots")
    """The bots to beat as they are named, ``mcts:2:depth=8``, of rising strength."""
    marks: Mapped[str] = mapped_column(LongText)
    """The table of `arena.courses.marks`."""
    cycles: Mapped[int]
    """How many matches each hand-in plays with each of them."""
    late_until: Mapped[datetime | None]
    """The moment until which hand-ins are taken that are late; None if none are."""
    given: Mapped[list[Any]] = mapped_column(default=list)
    """The bots whose code everybody was given."""
    bot_ids: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """Which bots all these names meant when they were chosen: a deleted bot's name is free."""
    published: Mapped[bool] = mapped_column(default=False)
    """Whether each student sees their own mark."""
    announced: Mapped[int | None]
    """The marking of which students were told last that they see their marks; 0 if there was none
    yet, None if they were told nothing."""
    late_counts: Mapped[list[Any]] = mapped_column(default=list)
    """The ids of those whose late hand-in counts, though they have one in time."""
    marking_id: Mapped[int | None]
    """The tournament by which hand-ins are marked. Students do not see that one, but this row: so
    it is no key by which the row would be hidden, too."""
    marked: Mapped[datetime | None]
    """The moment up to which what was handed in is marked; None if nothing is yet."""
    problem: Mapped[str] = mapped_column(LongText, default="")
    """Why there is no marking, for organisers; empty if nothing is wrong."""

    ladder: Mapped[Ladder] = relationship()


class ReadCode(Base):
    """The fingerprints of a bundle's code, kept since it takes long to read."""

    __tablename__ = "read_code"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    prints: Mapped[list[Any]]
    """Each as its hash in hexadecimal digits, the number of its file, its first and last line."""
    files: Mapped[list[Any]]
    """The names of the files that were read."""
    unread: Mapped[list[Any]]
    """The names of those that were not, each with why; of one without a name, all."""
