"""What workers do: matches and their games, and the checks of uploads."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.ground.bot_names import Named
from arena.models.base import NUMBERED_ONCE, Base, Words
from arena.models.bots import BotVersion
from arena.models.competitions import Competition
from arena.models.entrants import Entrant, player_label
from arena.models.kinds import Ladder
from engine.bot_options import LONGEST_CHOSEN, chosen_words
from engine.game import Termination
from engine.reporting import NOT_TRIED
from engine.translation import ENGLISH, N_, gettext, pgettext, speaking, translated

NOT_PASSED = N_("did not pass")
"""What is told of a check of which no more can be told to everybody."""


class JobStatus(StrEnum):
    """Where a match or a check stands.

    Set aside: failed too often, for the operator to see. Void: it is not to count; a match that
    was fixed keeps its games, one that was called off has none.
    """

    OPEN = "open"
    ISSUED = "issued"
    FIXED = "fixed"
    SET_ASIDE = "set aside"
    VOID = "void"


class Leasable:
    """The columns of whatever is handed to a worker with a lease (see arena.schedule.leases)."""

    status: Mapped[JobStatus]
    attempt: Mapped[int] = mapped_column(default=0)
    ticket: Mapped[str | None] = mapped_column(sa.String(64))
    """Known only to the worker of the present attempt."""
    lease_ends: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    problem: Mapped[str] = mapped_column(Words, default="")
    """Why the last attempt failed, for the operator; of a void match why it is void."""
    worker: Mapped[str | None] = mapped_column(sa.String(120))
    """Who took the present attempt up; None while it waits."""
    created: Mapped[datetime]

    def end_lease(self, status: JobStatus, problem: str = "") -> None:
        """Brings the job into a status in which no worker has it."""
        self.status, self.problem = status, problem
        self.ticket = self.lease_ends = self.worker = None


def job_checks() -> tuple[CheckConstraint, ...]:
    """The constraints of those columns."""
    return (
        CheckConstraint(
            "(status = 'issued') = (lease_ends IS NOT NULL AND ticket IS NOT NULL)", name="lease"
        ),
        CheckConstraint("status = 'issued' OR worker IS NULL", name="worker"),
    )


COMPLETED = sa.Sequence("match_seq", metadata=Base.metadata)
"""What gives the places in the order of completion on PostgreSQL."""


class Match(Leasable, Base):
    """One opening, played once from every rotation of the seats."""

    __tablename__ = "match"
    __table_args__ = (
        *job_checks(),
        # A void one keeps its number, so that no other match ever gets it.
        CheckConstraint("status = 'void' OR (status = 'fixed') = (seq IS NOT NULL)", name="seq"),
        Index("ix_match_status_id", "status", "id"),
        Index("ix_match_competition_status_seq", "competition_id", "status", "seq"),
        Index("ix_match_competition_id_id", "competition_id", "id"),
        Index("ix_match_request", "request", unique=True),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    round: Mapped[int | None]
    """The round of a tournament, from 1."""
    leg: Mapped[int] = mapped_column(default=1)
    """Which of the fixtures of the same entrants in the same round it is."""
    rated: Mapped[bool]
    """Whether it counts for the ratings and counters of its ladder."""
    at_home: Mapped[bool] = mapped_column(default=False)
    """Whether a bot at home is in it, so that a home worker plays it."""
    requester_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"), index=True)
    """Who asked for it, if it was made on request."""
    request: Mapped[str | None] = mapped_column(sa.String(64))
    """The digest of who asked for it by which form: one that is sent twice makes one match."""
    options: Mapped[dict[str, Any]]
    """The variant's, with its lots drawn."""
    opening: Mapped[list[Any]]
    seed: Mapped[int] = mapped_column(sa.BigInteger)
    chosen: Mapped[list[Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    """The options that the bot at each place is told, by their names; None if nobody is told
    any."""
    progress: Mapped[dict[str, Any] | None]
    """The running game: its number, its moves, the clocks."""
    seq: Mapped[int | None] = mapped_column(unique=True)
    """Its place in the order of completion, in which ratings are computed (see
    `arena.recorder.completion`)."""
    fixed: Mapped[datetime | None]
    played_by: Mapped[str | None] = mapped_column(sa.String(120))
    """The worker that played it to its end."""

    competition: Mapped[Competition] = relationship()
    places: Mapped[list[Place]] = relationship(
        back_populates="match", order_by="Place.number", cascade="all, delete-orphan"
    )
    games: Mapped[list[PlayedGame]] = relationship(
        back_populates="match", order_by="PlayedGame.number"
    )

    def end_lease(self, status: JobStatus, problem: str = "") -> None:
        super().end_lease(status, problem)
        self.progress = None

    @property
    def is_void(self) -> bool:
        """Whether it was made void."""
        return self.status is JobStatus.VOID

    @property
    def counts(self) -> bool:
        """Whether it counts in the tables of its competition once it is fixed.

        What is played on request beside a ladder does not.
        """
        return self.requester_id is None


class Place(Base):
    """An entrant of a match; in its first game place n holds seat n (or its entrant's seats)."""

    __tablename__ = "place"

    match_id: Mapped[int] = mapped_column(ForeignKey("match.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), index=True)

    match: Mapped[Match] = relationship(back_populates="places")
    entrant: Mapped[Entrant] = relationship()

    @property
    def options(self) -> str:
        """What the bot is told of its options, as ``depth=8,style=fast``."""
        return chosen_words(self.match.chosen[self.number]) if self.match.chosen else ""

    @property
    def label(self) -> str:
        """Its version's, with its options, and with what it is granted of its own."""
        return player_label(self.entrant, self.options)

    @property
    def written(self) -> str:
        """How forms and commands name who plays: ``greedy:2:depth=8``."""
        version = self.entrant.version
        return str(Named(version.bot.name, version.number, self.options))


class Check(Leasable, Base):
    """The check of an uploaded version: compliance, and a whole game against itself."""

    __tablename__ = "check"
    __table_args__ = (
        *job_checks(),
        Index("ix_check_status_id", "status", "id"),
        Index("ix_check_ended", "ended"),
        NUMBERED_ONCE,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("bot_version.id"), index=True)
    ladder_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    """Whose variant and limits it is checked for, and that it enters when it passes, if it does."""
    at_home: Mapped[bool] = mapped_column(default=False)
    """Whether it is of a bot at home, so that a home worker makes it."""
    findings: Mapped[list[Any]]
    """What was found: for each clause whether it was kept, in words."""
    log: Mapped[str] = mapped_column(sa.Text, default="")
    enters: Mapped[bool] = mapped_column(default=True)
    """Whether the version is to enter; one that is only tried is not."""
    test_first: Mapped[dict[str, Any] | None]
    """What its owner wants of a strength test against the active version that it is to pass
    before it enters (see `arena.bots.first_tests`); None for no test."""
    cancelled: Mapped[str] = mapped_column(Words, default="")
    """Why nothing is to come of it, in words; empty if something is. A worker may still have it."""
    ended: Mapped[datetime | None]
    """The moment its worker reported it."""
    began: Mapped[datetime | None]
    """When the version began to be handed in, if that was before it had come: what is in time goes
    by this."""

    version: Mapped[BotVersion] = relationship()
    ladder: Mapped[Ladder] = relationship()

    @property
    def passed(self) -> bool:
        """Whether it has ended, and nothing was found wrong."""
        ended = self.status is JobStatus.FIXED
        return ended and bool(self.findings) and all(one["kept"] for one in self.findings)

    @property
    def tried(self) -> list[Any]:
        """The findings without those that could not be looked for."""
        return [one for one in self.findings if not one["words"].startswith(NOT_TRIED)]

    @property
    def outcome(self) -> str:
        """What it came to, or how it stands, with no word of the bot's: ``stopped at hello, 16 not
        tried``; in English."""
        with speaking(ENGLISH):
            return self.outcome_told

    @property
    def outcome_told(self) -> str:
        """`outcome`, as it is said to whoever reads it."""
        if self.passed:
            return pgettext("a check", "passed")
        if self.cancelled or self.status is JobStatus.VOID:
            return pgettext("a check", "cancelled")
        if self.status is JobStatus.SET_ASIDE:
            return gettext("could not be checked")
        if self.status is JobStatus.OPEN:
            return pgettext("a check", "not begun")
        if self.status is not JobStatus.FIXED:
            return gettext("under way")
        broken = [
            translated(one["clause"])
            for one in self.findings
            if not one["kept"] and one.get("clause")
        ]
        untried = len(self.findings) - len(self.tried)
        if not broken:
            return translated(NOT_PASSED)
        if untried and len(broken) == 1:
            its = {"clause": broken[0], "number": untried}
            return gettext("stopped at %(clause)s, %(number)s not tried", **its)
        clauses = ", ".join(broken)
        if untried:
            its = {"clauses": clauses, "number": untried}
            return gettext("broke %(clauses)s (%(number)s not tried)", **its)
        its = {"clauses": clauses, "number": len(broken), "all": len(self.findings)}
        return gettext("broke %(clauses)s (%(number)s of %(all)s)", **its)


class Build(Base):
    """A version that a worker built for a job, or tried to (see `arena.schedule.builds`)."""

    __tablename__ = "build"
    __table_args__ = (Index("ix_build_ended", "ended"),)

    ticket: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    """The ticket of the attempt at the job."""
    version_id: Mapped[int] = mapped_column(ForeignKey("bot_version.id"), primary_key=True)
    seconds: Mapped[float]
    ended: Mapped[datetime]
    """The moment its worker told of it."""

    version: Mapped[BotVersion] = relationship()


class PlayedGame(Base):
    """One game of a fixed match."""

    __tablename__ = "game"
    __table_args__ = (
        UniqueConstraint("match_id", "number"),
        Index("ix_game_competition_id_id", "competition_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    match_id: Mapped[int] = mapped_column(ForeignKey("match.id"))
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    number: Mapped[int]
    termination: Mapped[Termination]
    plies: Mapped[int]
    finished: Mapped[datetime]
    digest: Mapped[str] = mapped_column(sa.String(64))
    speed: Mapped[float | None]
    """The speed as `ListedSeat` has it."""
    record: Mapped[bytes] = mapped_column(sa.LargeBinary, deferred=True)
    """The GameRecord's JSON, compressed (see `arena.keeping.packing`); empty if it is cold: then a
    `DayFile` has it. Whoever reads it does so by `arena.keeping.reading`."""

    match: Mapped[Match] = relationship(back_populates="games")
    competition: Mapped[Competition] = relationship()
    seats: Mapped[list[GameSeat]] = relationship(
        back_populates="game", order_by="GameSeat.seat", cascade="all, delete-orphan"
    )


IS_LOGGED = sa.text("log <> ''")
"""The condition that a log is kept of a game's seat; spelt out, or no index of just these is
used."""


class GameSeat(Base):
    """Who sat where in a game, what came of it, and what it did to the rating."""

    __tablename__ = "game_seat"
    __table_args__ = (
        Index("ix_game_seat_entrant_id_game_id", "entrant_id", "game_id"),
        Index("ix_game_seat_logged", "game_id", sqlite_where=IS_LOGGED, postgresql_where=IS_LOGGED),
    )

    game_id: Mapped[int] = mapped_column(ForeignKey("game.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    """The seat, from 0 as in code."""
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"))
    options: Mapped[str] = mapped_column(sa.String(LONGEST_CHOSEN), default="")
    """What it was told of its options, as ``depth=8,style=fast``."""
    score: Mapped[float]
    rank: Mapped[int]
    points: Mapped[float]
    fault: Mapped[Termination | None] = mapped_column()
    cpu_us: Mapped[int] = mapped_column(sa.BigInteger)
    # The rating before and after, on a ladder; nothing else is rated.
    mu_before: Mapped[float | None]
    sigma_before: Mapped[float | None]
    mu_after: Mapped[float | None]
    sigma_after: Mapped[float | None]
    log: Mapped[str] = mapped_column(sa.Text, deferred=True)
    """What the bot wrote, which its owner alone reads; empty, too, once it was kept long enough
    (`arena.operation.retention`)."""

    game: Mapped[PlayedGame] = relationship(back_populates="seats")
    entrant: Mapped[Entrant] = relationship()


ALIVE_SECONDS = 30.0
"""A worker that was not heard of for so long is dead."""


class Worker(Base):
    """A worker machine or process that gave a sign of life."""

    __tablename__ = "worker"

    name: Mapped[str] = mapped_column(sa.String(120), primary_key=True)
    last_seen: Mapped[datetime]
    slots: Mapped[int]
    isolation: Mapped[str] = mapped_column(sa.String(20))
    languages: Mapped[list[Any]]
    games: Mapped[list[Any] | None]
    """The editions of the games that it has (see `engine.shelf`); None if it does not say."""
    at_home: Mapped[bool] = mapped_column(default=False)
    """Whether it is a home worker, to which bots at home are connected."""
    platforms: Mapped[list[Any] | None]
    """The platforms of which it keeps runtimes, if they are there; None if it does not say."""
    format: Mapped[int]
    """The format of jobs that it knows (see `engine.jobs.FORMAT`)."""
    failed: Mapped[list[Any]] = mapped_column(default=list)
    """The jobs that it failed at since it last did one (see `arena.schedule.workers`)."""
    set_aside: Mapped[datetime | None]
    """When it was set aside: it gets no jobs until somebody readmits it."""
    problem: Mapped[str] = mapped_column(Words, default="")
    """Why the last of those failed, for the operator."""
    measure: Mapped[dict[str, Any] | None]
    """How fast it found itself to be (see `engine.measure`); None if it does not say."""
    cores: Mapped[int | None]
    """How many it may use; None if it does not say."""
    clock_ahead: Mapped[float | None]
    """Seconds by which its clock was ahead of the arena's when it was last heard of, less what its
    message took to come; None if it does not say.
    """
