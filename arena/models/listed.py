"""What lists of games are filtered by, apart from the games themselves, which are long.

All of it follows from the games and their matches, and is written with them: a row for each seat
of a game, one for each number and each tag that a seat's bot gave. The rows are short, lie in the
order of the games, and are found by whatever narrows a list most (see `arena.lists.search`).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from arena.models.base import NUMBERED_ONCE, Base
from engine.bot_options import LONGEST_CHOSEN
from engine.game import Termination
from engine.translation import N_

FIRST_SEAT = sa.text("seat = 0")
"""The row that stands for the whole game where nothing of a seat is asked for."""
BY_FAULT = sa.text("fault IS NOT NULL")


class SeatResult(StrEnum):
    """What came of a game for a seat; drawn is to share the first rank with another side."""

    WON = N_("won")
    DRAWN = N_("drawn")
    LOST = N_("lost")


def _of_games(*columns: str) -> Index:
    """Finds games, in their order, by what all seats of one have in common."""
    return Index(
        f"ix_listed_seat_{'_'.join(columns)}",
        *columns,
        "game_id",
        sqlite_where=FIRST_SEAT,
        postgresql_where=FIRST_SEAT,
    )


WITHOUT_ROWID: dict[str, Any] = {"sqlite_with_rowid": False}
"""What has the rows lie in the order of their primary key on SQLite, without another one."""


class ListedSeat(Base):
    """A seat of a game as lists look for it."""

    __tablename__ = "listed_seat"
    __table_args__ = (
        Index("ix_listed_seat_bot_id", "bot_id", "game_id"),
        Index("ix_listed_seat_version_id", "version_id", "game_id"),
        Index(
            "ix_listed_seat_fault",
            "fault",
            "game_id",
            sqlite_where=BY_FAULT,
            postgresql_where=BY_FAULT,
        ),
        _of_games("competition_id"),
        _of_games("competition_id", "plies"),
        _of_games("game"),
        _of_games("ending"),
        _of_games("opening"),
        _of_games("plies"),
        _of_games("worker"),
        Index(
            "ix_listed_seat_uncounted",
            "game_id",
            sqlite_where=sa.text("seat = 0 AND counts = 0"),
            postgresql_where=sa.text("seat = 0 AND NOT counts"),
        ),
        WITHOUT_ROWID,
    )

    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    """The seat's number from 0, as in code."""
    bot_id: Mapped[int]
    version_id: Mapped[int]
    options: Mapped[str] = mapped_column(sa.String(LONGEST_CHOSEN), default="")
    """What it was told of its options, as ``depth=8,style=fast``."""
    result: Mapped[SeatResult]
    fault: Mapped[Termination | None]
    """How this seat left, if it did by its own fault, or resigned."""
    cpu_us: Mapped[int] = mapped_column(sa.BigInteger)
    # What all seats of a game have in common.
    competition_id: Mapped[int]
    game: Mapped[str] = mapped_column(sa.String(40))
    """Whose rules it is played by."""
    ending: Mapped[Termination]
    plies: Mapped[int]
    opening: Mapped[int] = mapped_column(sa.BigInteger)
    """Which it is, by the number that `arena.lists.rows.opening_number` makes of it."""
    finished: Mapped[datetime]
    worker: Mapped[str | None] = mapped_column(sa.String(120))
    speed: Mapped[float | None]
    """How fast the machine was, the reference machine being 1: the mean of its speeds for all
    seats (`engine.measure.mean_speed`); None if that is not known."""
    counts: Mapped[bool]
    """Whether it counts in the tables of its competition: it does not if it was played on request
    beside a ladder, or is void."""


class GameValue(Base):
    """A number that a bot gave in a game: the mean over the plies for which it did."""

    __tablename__ = "game_value"
    __table_args__ = (Index("ix_game_value_key_value", "key", "value"), WITHOUT_ROWID)

    key: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[float]


class GameTag(Base):
    """A word by which a bot marked a game."""

    __tablename__ = "game_tag"
    __table_args__ = (WITHOUT_ROWID,)

    tag: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)


class GameDay(Base):
    """The games that ended on a day, in UTC, by the lowest and the highest of their numbers.

    Games are numbered as they are recorded, so that others lie between only where a clock was set
    back.
    """

    __tablename__ = "game_day"

    day: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """The day's number: 1 is the first of January of year 1."""
    first_id: Mapped[int] = mapped_column(ForeignKey("game.id"))
    last_id: Mapped[int] = mapped_column(ForeignKey("game.id"))


class GameDayCount(Base):
    """How many games by some rules that everybody finds ended on a day, in UTC."""

    __tablename__ = "game_day_count"
    __table_args__ = (WITHOUT_ROWID,)

    day: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """The day's number as `GameDay` has it."""
    game: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    games: Mapped[int]


class Selection(Base):
    """A filter of games that somebody keeps under a name."""

    __tablename__ = "selection"
    __table_args__ = (sa.UniqueConstraint("owner_id", "name"), NUMBERED_ONCE)

    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    """Who keeps it; None of one that is kept at the arena's machine."""
    name: Mapped[str] = mapped_column(sa.String(80))
    words: Mapped[str] = mapped_column(sa.Text)
    """The filter as an address has it behind its question mark."""
    created: Mapped[datetime]
