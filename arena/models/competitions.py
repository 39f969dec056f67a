"""Competitions: a variant, a time control, limits, a state, and counters.

All kinds are one table (`arena.models.kinds`). How each is played is said in `arena.competitions`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import Base, Words
from arena.models.books import OpeningBook
from arena.models.naming import FormerName
from engine.clock import TimeControl
from engine.game import Variant
from engine.games import GAMES
from engine.translation import N_

IS_UNTOLD = sa.text("finished IS NOT NULL AND (told IS NULL OR told <> finished)")
"""Whether nobody was told yet that a competition is over."""
LONGEST_TITLE = 120
"""Characters of a competition's title."""
FIRST_GUESS_SECONDS = 10.0
"""How long a match takes in a competition that has played none yet."""


class CompetitionState(StrEnum):
    """Open: games are made. Paused: none for now. Frozen: none, and no entries. Closed: over."""

    OPEN = "open"
    PAUSED = "paused"
    FROZEN = "frozen"
    CLOSED = "closed"


class Visibility(StrEnum):
    """Who sees a competition: everybody; whoever has its address; its members alone."""

    PUBLIC = N_("public")
    UNLISTED = N_("unlisted")
    PRIVATE = N_("private")


class OpeningPolicy(StrEnum):
    """Where the games of a match start: from a balanced random opening, from the start, or from an
    opening of a book."""

    RANDOM = "random"
    EMPTY = "empty"
    BOOK = "book"


class Approval(StrEnum):
    """Whether a second person has to approve: of a ladder, whether comparisons by its rules need
    it; of one of these, also whether it was given."""

    NO = "no"
    NEEDED = "needed"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class CompetitionLimits:
    """What a bot may use."""

    memory_bytes: int = 256 * 1024 * 1024
    """What its processes may hold."""
    threads: int = 16
    """How many it may have at a time, those of its interpreter included."""
    bundle_bytes: int = 16 * 1024 * 1024
    """How large its files may be together."""
    log_bytes: int = 64 * 1024
    """How much of its standard error is kept of a game."""
    processes: int = 1
    """How many processes it may have at a time; each beyond the first brings a thread more."""


USUAL_LIMITS = CompetitionLimits()


NOT_PUBLIC = sa.text("visibility <> 'public'")
"""Whether not everybody finds a competition; spelt out, or no index of just these is used."""
IS_ANONYMOUS = sa.text("anonymous")
"""Whether bots play in a competition under other names; spelt out for the same reason."""


class Competition(Base):
    """A variant, a time control and limits, and whoever entered."""

    __tablename__ = "competition"
    __table_args__ = (
        CheckConstraint("(time_ms IS NULL) <> (move_ms IS NULL)", name="time"),
        CheckConstraint("weight > 0", name="weight"),
        CheckConstraint(
            "(kind = 'ladder') = (draw_probability IS NOT NULL)", name="draw_probability"
        ),
        CheckConstraint("(kind = 'tournament') = (format IS NOT NULL)", name="format"),
        CheckConstraint("(kind = 'test') = (elo0 IS NOT NULL AND elo1 IS NOT NULL)", name="elo"),
        CheckConstraint("(kind = 'test') = (verdict IS NOT NULL)", name="verdict"),
        CheckConstraint("(state = 'closed') = (verdict <> 'running')", name="decided"),
        CheckConstraint("(openings = 'book') = (book_name IS NOT NULL)", name="book"),
        Index("ix_competition_kind_state", "kind", "state"),
        Index("ix_competition_untold", "id", sqlite_where=IS_UNTOLD, postgresql_where=IS_UNTOLD),
        Index(
            "ix_competition_not_public",
            "visibility",
            sqlite_where=NOT_PUBLIC,
            postgresql_where=NOT_PUBLIC,
        ),
        Index(
            "ix_competition_anonymous",
            "id",
            sqlite_where=IS_ANONYMOUS,
            postgresql_where=IS_ANONYMOUS,
        ),
    )
    # Whoever reads a competition through a match reads the columns of its kind with it. (The base
    # class declares this attribute for instances, so that it cannot be a ClassVar here.)
    __mapper_args__ = {"polymorphic_on": "kind", "with_polymorphic": "*"}  # noqa: RUF012

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(20))
    """A name among `arena.competitions.kinds.KINDS`."""
    name: Mapped[str] = mapped_column(sa.String(80), unique=True)
    """What it is called in addresses and commands."""
    title: Mapped[str] = mapped_column(sa.String(LONGEST_TITLE))
    note: Mapped[str] = mapped_column(sa.Text, default="")
    creator_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    visibility: Mapped[Visibility] = mapped_column(default=Visibility.PUBLIC)
    """Who sees it; of one within another it is that one's."""
    within_id: Mapped[int | None] = mapped_column(ForeignKey("competition.id"), index=True)
    """The one whose members it is for, as it is made of bots that are known there alone; None of
    what is public."""
    join_code: Mapped[str | None] = mapped_column(sa.String(20), index=True, unique=True)
    """The code by which one becomes a member; None if none can be made use of."""
    anonymous: Mapped[bool] = mapped_column(default=False)
    """Whether bots enter it by masks, whose names tell nobody whose they are."""
    game: Mapped[str] = mapped_column(sa.String(40), index=True)
    options: Mapped[dict[str, Any]]
    openings: Mapped[OpeningPolicy] = mapped_column(default=OpeningPolicy.RANDOM)
    book_name: Mapped[str | None] = mapped_column(ForeignKey("book.name"))
    time_ms: Mapped[int | None]
    inc_ms: Mapped[int]
    move_ms: Mapped[int | None]
    charge: Mapped[str] = mapped_column(sa.String(4))
    reference: Mapped[bool] = mapped_column(default=False)
    """Whether its times are those of the reference machine (`engine.measure`)."""
    # As `CompetitionLimits` has them.
    memory_bytes: Mapped[int] = mapped_column(sa.BigInteger)
    threads: Mapped[int] = mapped_column(default=USUAL_LIMITS.threads)
    bundle_bytes: Mapped[int] = mapped_column(sa.BigInteger, default=USUAL_LIMITS.bundle_bytes)
    log_bytes: Mapped[int] = mapped_column(default=USUAL_LIMITS.log_bytes)
    processes: Mapped[int] = mapped_column(default=USUAL_LIMITS.processes)
    state: Mapped[CompetitionState]
    seed: Mapped[int] = mapped_column(sa.BigInteger)
    weight: Mapped[float] = mapped_column(default=1.0)
    """How many times the workers' time of a plain ladder it gets while workers are scarce."""
    matches_made: Mapped[int] = mapped_column(default=0)
    """How many matches were ever made; the number of a match gives its opening and dice."""
    last_match: Mapped[datetime | None]
    """When the last match was made for it; those on request are beside that."""
    games: Mapped[int] = mapped_column(default=0)
    worker_seconds: Mapped[float] = mapped_column(default=0.0)
    """How long workers played for it: the measure of its share of them."""
    head_start: Mapped[float] = mapped_column(default=0.0)
    """What is added to that: whoever comes late must not have the workers to itself until it has
    caught up, nor whoever's matches fail."""
    neighbours: Mapped[int] = mapped_column(default=0)
    """Sides next to each other in the order of finish of a ladder's rated results, two by two."""
    ties: Mapped[int] = mapped_column(default=0)
    """How many of those two shared a rank: what a draw probability is the guess of."""
    last_game: Mapped[datetime | None]
    created: Mapped[datetime]
    finished: Mapped[datetime | None]
    told: Mapped[datetime | None]
    """The end of which those were told who follow it: it may have been opened again since."""
    rebuild_due: Mapped[bool] = mapped_column(default=False)
    """Whether the recorder is to make its ratings and counters anew (`arena.recorder.rebuild`)."""
    checked: Mapped[datetime | None]
    """When they were last made anew in secret, to see whether they come out the same."""
    alarm: Mapped[str] = mapped_column(Words, default="")
    """What that check found wrong, for the operator; empty if nothing."""

    allows_options: Mapped[bool] = mapped_column(default=True)
    """Whether players with options may be entered, or asked for."""
    reserve: Mapped[float | None]
    """The share of the workers that it has before all other competitions, from 0 to 1; None for
    no more than by its weight."""
    placed_games: Mapped[int | None]
    """How many games the final places of its entrants were made of, since it is over; None before
    they were (`arena.competitions.final_tables`)."""

    book: Mapped[OpeningBook | None] = relationship()

    organised: ClassVar[bool] = False
    """Whether organisers make those of its kind, under names that they choose, and bots are known
    by being in one. Any other goes by its number, has its bots' names in its title, and is within
    what these are known in."""
    rates: ClassVar[bool] = False
    """Whether those of its kind rate bots without end: an entrant has a rating there, and whoever
    asks for a match has it played by its rules."""
    is_candidates: ClassVar[bool] = False
    """Whether those of its kind are about the first entrant alone, the candidate: its owners hear
    of one, and those of the others don't."""

    @classmethod
    def is_organised(cls) -> sa.ColumnElement[bool]:
        """Whether competitions are of a kind that is organised, in SQL."""
        kinds = sa.inspect(Competition).self_and_descendants
        names = [kind.polymorphic_identity for kind in kinds if kind.class_.organised]
        return Competition.kind.in_(names)

    @classmethod
    def named(cls, name: str) -> sa.ColumnElement[bool]:
        """Whether a competition is called so, or was, in SQL."""
        former = FormerName.of("competition", name)
        return sa.or_(Competition.name == name, Competition.id == former)

    @property
    def openings_words(self) -> str:
        """What is chosen for its openings: random, empty, or the name of a book."""
        return self.book_name or str(self.openings)

    def match_seconds(self, under_way: int) -> float:
        """How long a match takes a worker, by those that were played.

        Args:
            under_way: how many of the matches that were made are still to be played.
        """
        played = self.matches_made - under_way
        if played <= 0 or not self.worker_seconds:
            return FIRST_GUESS_SECONDS
        return self.worker_seconds / played

    @property
    def awaits_field(self) -> bool:
        """Whether its field is still to be drawn, and it can't be opened before."""
        return False

    @property
    def asks_approval(self) -> bool:
        """Whether comparisons by its rules need a second person's approval."""
        return False

    @property
    def takes_bots(self) -> bool:
        """Whether it can be entered in its state."""
        return self.state in (CompetitionState.OPEN, CompetitionState.PAUSED)

    @property
    def standing(self) -> str:
        """Its state in a word."""
        return str(self.state)

    @property
    def variant(self) -> Variant:
        """The game with its options; one that can only be named if the game is not here now."""
        return GAMES.find(self.game, self.options)

    @variant.setter
    def variant(self, variant: Variant) -> None:
        self.game, self.options = variant.game, dict(variant.options)

    @property
    def time(self) -> TimeControl:
        """The time control of every seat."""
        return TimeControl(
            time_ms=self.time_ms,
            inc_ms=self.inc_ms,
            move_ms=self.move_ms,
            charge="wall" if self.charge == "wall" else "cpu",
            reference=self.reference,
        )

    @time.setter
    def time(self, time: TimeControl) -> None:
        self.time_ms, self.inc_ms, self.move_ms = time.time_ms, time.inc_ms, time.move_ms
        self.charge, self.reference = time.charge, time.reference

    @property
    def limits(self) -> CompetitionLimits:
        """What a bot may use."""
        names = (field.name for field in fields(CompetitionLimits))
        return CompetitionLimits(**{name: getattr(self, name) for name in names})

    @limits.setter
    def limits(self, limits: CompetitionLimits) -> None:
        for name, value in asdict(limits).items():
            setattr(self, name, value)
