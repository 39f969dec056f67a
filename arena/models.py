"""What the arena knows: bots and their versions, ladders, matches, games.

The database holds matches and their results; ratings and counters on entrants and ladders are
kept beside them to be read fast, and can be made anew from the games (`arena.recording`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from engine.clock import TimeControl
from engine.game import Termination, Variant
from engine.games import GAMES

HOUSE = "arena"
"""The owner of the sample bots, which wait behind people's bots."""


class UtcTime(sa.TypeDecorator[datetime]):
    """A moment: aware in code, in UTC in the database, which keeps no zone on SQLite."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value and value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value and value.replace(tzinfo=UTC)


def _enum(kind: type[StrEnum]) -> sa.Enum:
    return sa.Enum(
        kind,
        native_enum=False,
        length=20,
        create_constraint=True,
        name=kind.__name__.lower(),
        values_callable=lambda members: [member.value for member in members],
    )


class VersionStatus(StrEnum):
    """What is known of an uploaded version."""

    CHECKING = "checking"
    READY = "ready"
    REFUSED = "refused"


class LadderState(StrEnum):
    """Open: games are made. Paused: none for now. Frozen: none, and no entries. Closed: over."""

    OPEN = "open"
    PAUSED = "paused"
    FROZEN = "frozen"
    CLOSED = "closed"


class EntrantState(StrEnum):
    """Active entrants are paired; the others keep their rating."""

    ACTIVE = "active"
    RETIRED = "retired"
    SUSPENDED = "suspended"


class JobStatus(StrEnum):
    """Where a match or a check stands. Set aside: failed too often, for the operator to see."""

    OPEN = "open"
    ISSUED = "issued"
    FIXED = "fixed"
    SET_ASIDE = "set aside"


class Base(DeclarativeBase):
    """The schema. Every constraint has a name, so that migrations can change it anywhere."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {
        datetime: UtcTime(),
        float: sa.Double(),
        dict[str, Any]: sa.JSON(),
        list[Any]: sa.JSON(),
        VersionStatus: _enum(VersionStatus),
        LadderState: _enum(LadderState),
        EntrantState: _enum(EntrantState),
        JobStatus: _enum(JobStatus),
        Termination: _enum(Termination),
    }


class Mark(Base):
    """A fact about the arena itself, such as that it was furnished once."""

    __tablename__ = "mark"

    key: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    value: Mapped[str] = mapped_column(sa.Text)


class User(Base):
    """A person, or the arena itself as the owner of the sample bots."""

    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(40), unique=True)
    created: Mapped[datetime]


class Bot(Base):
    """A playing program, through all its versions."""

    __tablename__ = "bot"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(40), unique=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    created: Mapped[datetime]

    owner: Mapped[User] = relationship()


class BotVersion(Base):
    """One uploaded revision of a bot; its files never change and are named by their digest."""

    __tablename__ = "bot_version"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[int] = mapped_column(ForeignKey("bot.id"))
    number: Mapped[int]
    digest: Mapped[str] = mapped_column(sa.String(64), index=True)
    size: Mapped[int]
    language: Mapped[str] = mapped_column(sa.String(40))
    note: Mapped[str] = mapped_column(sa.Text, default="")
    status: Mapped[VersionStatus]
    created: Mapped[datetime]

    bot: Mapped[Bot] = relationship()

    @property
    def label(self) -> str:
        """The bot's name with the version's number: ``greedy v2``."""
        return f"{self.bot.name} v{self.number}"


class Ladder(Base):
    """A variant and a time control, and whoever entered: rated without end."""

    __tablename__ = "ladder"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(80), unique=True)
    title: Mapped[str] = mapped_column(sa.String(120))
    game: Mapped[str] = mapped_column(sa.String(40), index=True)
    options: Mapped[dict[str, Any]]
    time_ms: Mapped[int | None]
    inc_ms: Mapped[int]
    move_ms: Mapped[int | None]
    charge: Mapped[str] = mapped_column(sa.String(4))
    memory_bytes: Mapped[int] = mapped_column(sa.BigInteger)
    draw_probability: Mapped[float]
    state: Mapped[LadderState]
    seed: Mapped[int] = mapped_column(sa.BigInteger)
    matches_made: Mapped[int] = mapped_column(default=0)
    """How many matches were ever made; the number of a match gives its opening and dice."""
    last_match_id: Mapped[int] = mapped_column(default=0)
    """The last match made; who waits longest has the lowest. No key, for it would be a circle."""
    games: Mapped[int] = mapped_column(default=0)
    worker_seconds: Mapped[float] = mapped_column(default=0.0)
    """How long workers played for it: the measure of its share of them."""
    last_game: Mapped[datetime | None]
    created: Mapped[datetime]

    @property
    def variant(self) -> Variant:
        """The game with its options."""
        return GAMES[self.game].variant(**self.options)

    @property
    def time(self) -> TimeControl:
        """The time control of every seat."""
        return TimeControl(
            time_ms=self.time_ms,
            inc_ms=self.inc_ms,
            move_ms=self.move_ms,
            charge="wall" if self.charge == "wall" else "cpu",
        )


class Entrant(Base):
    """A bot version on a ladder, with its rating there."""

    __tablename__ = "entrant"
    __table_args__ = (
        UniqueConstraint("ladder_id", "version_id"),
        Index("ix_entrant_ladder_state", "ladder_id", "state"),
        CheckConstraint("sigma > 0", name="sigma"),
        CheckConstraint("games = wins + draws + losses", name="games"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    ladder_id: Mapped[int] = mapped_column(ForeignKey("ladder.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("bot_version.id"), index=True)
    state: Mapped[EntrantState]
    reason: Mapped[str] = mapped_column(sa.Text, default="")
    """Why it is not active, for its owner."""
    predecessor_id: Mapped[int | None] = mapped_column(ForeignKey("entrant.id"))
    """The entrant of the same bot whose mu it took over."""
    entered: Mapped[datetime]
    entered_after: Mapped[int]
    """The `Match.seq` of the last match that was fixed before it entered."""
    mu: Mapped[float]
    sigma: Mapped[float]
    games: Mapped[int] = mapped_column(default=0)
    wins: Mapped[int] = mapped_column(default=0)
    draws: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
    points: Mapped[float] = mapped_column(default=0.0)
    """Of each game the share of opponents beaten, ties half, added up."""
    faults: Mapped[int] = mapped_column(default=0)
    last_game: Mapped[datetime | None]

    ladder: Mapped[Ladder] = relationship()
    version: Mapped[BotVersion] = relationship()


class Meeting(Base):
    """What two entrants of a ladder did against each other, counted as it happens."""

    __tablename__ = "meeting"
    __table_args__ = (CheckConstraint("first_id < second_id", name="order"),)

    first_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    second_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    ladder_id: Mapped[int] = mapped_column(ForeignKey("ladder.id"), index=True)
    matches: Mapped[int] = mapped_column(default=0)
    games: Mapped[int] = mapped_column(default=0)
    wins: Mapped[int] = mapped_column(default=0)
    """Games in which the first ranked before the second."""
    draws: Mapped[int] = mapped_column(default=0)
    """Games in which they shared a rank."""


class Job:
    """The columns of whatever is handed to a worker with a lease (see arena.scheduling)."""

    status: Mapped[JobStatus]
    attempt: Mapped[int] = mapped_column(default=0)
    ticket: Mapped[str | None] = mapped_column(sa.String(64))
    """Known only to the worker of the present attempt."""
    lease_ends: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    problem: Mapped[str] = mapped_column(sa.Text, default="")
    """Why the last attempt failed, for the operator."""
    worker: Mapped[str | None] = mapped_column(sa.String(120))
    """Who took the present attempt up; None while it waits."""
    created: Mapped[datetime]


def _job_checks() -> tuple[CheckConstraint, ...]:
    return (
        CheckConstraint(
            "(status = 'issued') = (lease_ends IS NOT NULL AND ticket IS NOT NULL)", name="lease"
        ),
        CheckConstraint("status = 'issued' OR worker IS NULL", name="worker"),
    )


class Match(Job, Base):
    """One opening, played once from every rotation of the seats."""

    __tablename__ = "match"
    __table_args__ = (
        *_job_checks(),
        CheckConstraint("(status = 'fixed') = (seq IS NOT NULL)", name="seq"),
        Index("ix_match_status_id", "status", "id"),
        Index("ix_match_ladder_status_seq", "ladder_id", "status", "seq"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    ladder_id: Mapped[int] = mapped_column(ForeignKey("ladder.id"))
    options: Mapped[dict[str, Any]]
    """The variant's, with its lots drawn."""
    opening: Mapped[list[Any]]
    seed: Mapped[int] = mapped_column(sa.BigInteger)
    progress: Mapped[dict[str, Any] | None]
    """Of the running game: its number, its moves, the clocks."""
    seq: Mapped[int | None] = mapped_column(unique=True)
    """Its place in the order of completion, in which ratings are computed."""
    fixed: Mapped[datetime | None]

    ladder: Mapped[Ladder] = relationship()
    places: Mapped[list[Place]] = relationship(
        back_populates="match", order_by="Place.number", cascade="all, delete-orphan"
    )
    games: Mapped[list[PlayedGame]] = relationship(
        back_populates="match", order_by="PlayedGame.number"
    )


class Place(Base):
    """An entrant of a match; in its first game place n holds seat n (or its entrant's seats)."""

    __tablename__ = "place"

    match_id: Mapped[int] = mapped_column(ForeignKey("match.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), index=True)

    match: Mapped[Match] = relationship(back_populates="places")
    entrant: Mapped[Entrant] = relationship()


class Check(Job, Base):
    """The check of an uploaded version: compliance, and a whole game against itself."""

    __tablename__ = "check"
    __table_args__ = (*_job_checks(), Index("ix_check_status_id", "status", "id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("bot_version.id"), index=True)
    ladder_id: Mapped[int] = mapped_column(ForeignKey("ladder.id"))
    """Whose variant and limits it is checked for, and that it enters when it passes."""
    findings: Mapped[list[Any]]
    """What was found: for each clause whether it was kept, in words."""
    log: Mapped[str] = mapped_column(sa.Text, default="")

    version: Mapped[BotVersion] = relationship()
    ladder: Mapped[Ladder] = relationship()


class PlayedGame(Base):
    """One game of a fixed match."""

    __tablename__ = "game"
    __table_args__ = (
        UniqueConstraint("match_id", "number"),
        Index("ix_game_ladder_id_id", "ladder_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    match_id: Mapped[int] = mapped_column(ForeignKey("match.id"))
    ladder_id: Mapped[int] = mapped_column(ForeignKey("ladder.id"))
    number: Mapped[int]
    termination: Mapped[Termination]
    plies: Mapped[int]
    finished: Mapped[datetime]
    digest: Mapped[str] = mapped_column(sa.String(64))
    record: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    """The GameRecord's JSON, compressed (see arena.recording.pack)."""

    match: Mapped[Match] = relationship(back_populates="games")
    ladder: Mapped[Ladder] = relationship()
    seats: Mapped[list[GameSeat]] = relationship(
        back_populates="game", order_by="GameSeat.seat", cascade="all, delete-orphan"
    )


class GameSeat(Base):
    """Who sat where in a game, what came of it, and what it did to the rating."""

    __tablename__ = "game_seat"
    __table_args__ = (Index("ix_game_seat_entrant_id_game_id", "entrant_id", "game_id"),)

    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    """From 0, as in code."""
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"))
    score: Mapped[float]
    rank: Mapped[int]
    points: Mapped[float]
    fault: Mapped[Termination | None] = mapped_column()
    cpu_us: Mapped[int] = mapped_column(sa.BigInteger)
    mu_before: Mapped[float]
    sigma_before: Mapped[float]
    mu_after: Mapped[float]
    sigma_after: Mapped[float]
    log: Mapped[str] = mapped_column(sa.Text, deferred=True)
    """For the bot's owner alone."""

    game: Mapped[PlayedGame] = relationship(back_populates="seats")
    entrant: Mapped[Entrant] = relationship()


class Worker(Base):
    """A worker machine or process that gave a sign of life."""

    __tablename__ = "worker"

    name: Mapped[str] = mapped_column(sa.String(120), primary_key=True)
    last_seen: Mapped[datetime]
    slots: Mapped[int]
    isolation: Mapped[str] = mapped_column(sa.String(20))
    languages: Mapped[list[Any]]
