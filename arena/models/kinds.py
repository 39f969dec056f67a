"""The kinds of competitions that other rows refer to, and what belongs to one kind alone.

What only one kind has is null in the others. A kind to which no other row refers, as a gauntlet,
has its class beside what it does, in `arena.competitions`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import Base, Words
from arena.models.bots import Bot, BotVersion
from arena.models.competitions import Approval, Competition, CompetitionState
from engine.game import Variant
from engine.games import GAMES

CALLED_OFF = "called off"
"""How a tournament stands that was closed before all of it was played."""
SIGNING_UP = "signing up"
"""How a tournament stands whose field is drawn later, of those who sign up."""


class HomeRule(StrEnum):
    """Whether bots at home may play on a ladder: none, beside boxed ones, or they alone."""

    NO = "no"
    BESIDE = "beside"
    ONLY = "only"


class Ladder(Competition):
    """Rated without end: whoever entered meets whom it teaches most."""

    __mapper_args__ = {"polymorphic_identity": "ladder"}  # noqa: RUF012
    organised = True
    rates = True

    draw_probability: Mapped[float] = mapped_column(nullable=True)
    home: Mapped[HomeRule] = mapped_column(default=HomeRule.NO, nullable=True)
    """Whether bots at home may play on it."""
    approval: Mapped[Approval] = mapped_column(
        default=Approval.NO, nullable=True, use_existing_column=True
    )
    series_id: Mapped[int | None] = mapped_column(ForeignKey("competition.id"), index=True)
    """The first season of a ladder that has begun again; None of one that never has."""
    season: Mapped[int | None]
    """Which season it is, from 1; None of a ladder that never began again."""
    most_bots: Mapped[int | None]
    """How many bots of one person may ever enter it; None for any number. So of the next two."""
    most_active: Mapped[int | None]
    """How many bots of one person may be active on it at a time."""
    most_uploads: Mapped[int | None]
    """How many versions of one person's bots may be handed in to it within 24 hours."""

    @property
    def asks_approval(self) -> bool:
        return self.approval is not Approval.NO

    def admits(self, version: BotVersion) -> bool:
        """Whether a version may play on it, as where it runs goes."""
        return self.home is not (HomeRule.NO if version.is_at_home else HomeRule.ONLY)


class Tournament(Competition):
    """A field that meets by a format until there is a winner; its versions are frozen."""

    __mapper_args__ = {"polymorphic_identity": "tournament"}  # noqa: RUF012
    organised = True

    format: Mapped[str] = mapped_column(sa.String(20), nullable=True)
    """A name among `arena.formats.catalogue.FORMATS`."""
    settings: Mapped[dict[str, Any]] = mapped_column(nullable=True)
    """The format's own, such as how many rounds."""
    reason: Mapped[str] = mapped_column(Words, nullable=True, use_existing_column=True)
    """Why it was called off, for people; None if it was not."""
    winner: Mapped[str | None] = mapped_column(sa.Text)
    """Who came first, as ``greedy v2``; None before it is over, and where nobody did."""
    sign_up: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    """The conditions by which bots sign up for it (`arena.competitions.sign_ups.Conditions`); None
    if its field was named when it was made."""
    ladder_id: Mapped[int | None] = mapped_column(
        ForeignKey("competition.id"), use_existing_column=True
    )
    """The ladder on which they have to be; None if they only have to play the game."""
    signing_up: Mapped[bool | None] = mapped_column(default=False)
    """Whether its field is not drawn yet; it is paused until then."""

    @property
    def awaits_field(self) -> bool:
        return bool(self.signing_up)

    @property
    def is_called_off(self) -> bool:
        """Whether it was ended for ever before all was played; it is closed then, too."""
        return self.reason is not None

    @property
    def standing(self) -> str:
        """Its state in a word; that it was called off, and that bots sign up, are its own."""
        if self.is_called_off:
            return CALLED_OFF
        return SIGNING_UP if self.signing_up else super().standing


class SignUp(Base):
    """That a bot is to play in a tournament whose field is not drawn yet, in the order of ids."""

    __tablename__ = "sign_up"
    __table_args__ = (UniqueConstraint("competition_id", "bot_id", name="uq_sign_up_bot"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    bot_id: Mapped[int] = mapped_column(ForeignKey("bot.id"), index=True)
    version_id: Mapped[int | None] = mapped_column(ForeignKey("bot_version.id"))
    """The version that was chosen; None for the one that is fielded when the field is drawn."""
    at: Mapped[datetime]
    checked_in: Mapped[datetime | None]
    """When it was confirmed that it is to play, where that is asked for."""
    dropped: Mapped[str] = mapped_column(Words, default="")
    """Why it is not in the field that was drawn; empty before that, and of those that are in it."""

    competition: Mapped[Competition] = relationship()
    bot: Mapped[Bot] = relationship()
    version: Mapped[BotVersion | None] = relationship()


class TestVerdict(StrEnum):
    """What became of a strength test."""

    __test__ = False  # nothing for pytest

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    """It ended at its limit, with no openings left, or spoilt by faults."""
    STOPPED = "stopped"
    """Somebody ended it, or its matches can't be played."""


WAITS = "waits for approval"
"""How a comparison stands that somebody else has to approve."""


class Comparison(Competition):
    """A strength test, a tuning or a gauntlet: what plays games for what somebody wants to know."""

    __mapper_args__ = {"polymorphic_abstract": True}  # noqa: RUF012

    approval: Mapped[Approval | None] = mapped_column(
        default=Approval.NO, nullable=True, use_existing_column=True
    )
    """It is paused as long as it is needed. None of what was made before all kinds had one."""
    approver_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    """Who gave it."""

    @property
    def asks_approval(self) -> bool:
        return self.approval in (Approval.NEEDED, Approval.GIVEN)

    @property
    def noted_as(self) -> str:
        """What it is called in the audit log."""
        return self.name

    @property
    def waits(self) -> bool:
        """Whether it waits for somebody's approval."""
        return self.state is not CompetitionState.CLOSED and self.approval is Approval.NEEDED

    @property
    def standing(self) -> str:
        """Its state in a word; that it waits for somebody's approval is one of its own."""
        return WAITS if self.waits else super().standing


class StrengthTest(Comparison):
    """Candidate against baseline until a sequential test decides."""

    __mapper_args__ = {"polymorphic_identity": "test"}  # noqa: RUF012
    is_candidates = True

    elo0: Mapped[float] = mapped_column(nullable=True)
    elo1: Mapped[float] = mapped_column(nullable=True)
    alpha: Mapped[float] = mapped_column(nullable=True)
    beta: Mapped[float] = mapped_column(nullable=True)
    elo_model: Mapped[str] = mapped_column(sa.String(10), nullable=True)
    """``normalized`` or ``logistic``."""
    max_games: Mapped[int | None]
    """None of a test of a fixed number of games."""
    fixed_games: Mapped[int | None]
    """That number; None of a sequential test."""
    most_hours: Mapped[float | None]
    """Undecided after so many hours of workers' time; None for no limit."""
    opening_plies: Mapped[int | None]
    """How many moves its random openings have; None for as many as the game's usually do."""
    allow_faults: Mapped[bool] = mapped_column(nullable=True)
    """Decides although faults ended many of its games (see `arena.strength.faults`)."""
    verdict: Mapped[TestVerdict] = mapped_column(nullable=True)
    """What was decided first: games that come in later are counted and change it no more."""
    reason: Mapped[str] = mapped_column(Words, nullable=True, use_existing_column=True)
    """What else there is to say of the verdict, for people."""
    ladder_id: Mapped[int | None] = mapped_column(
        ForeignKey("competition.id"), use_existing_column=True
    )
    """The ladder that the candidate enters when it passes."""
    boards: Mapped[list[Any]] = mapped_column(nullable=True)
    """The options of further variants of its game, with whose matches those of its own take turns;
    a match's leg says which it is of, from 1 for its own."""
    excluded: Mapped[dict[str, Any]] = mapped_column(nullable=True)
    """The workers whose games count in none of its numbers, each with why that was decided."""
    withdrawn: Mapped[str | None] = mapped_column(sa.String(20))
    """The verdict that was passed, where what is left without them does not bear it."""

    @property
    def noted_as(self) -> str:
        return f"test {self.id}"

    @property
    def variants(self) -> tuple[Variant, ...]:
        """All that it is played on, its own first."""
        return (self.variant, *(GAMES.find(self.game, options) for options in self.boards))


class TestPreset(Base):
    """What strength tests of one kind are asked to be, as organisers have chosen it."""

    __test__ = False  # nothing for pytest
    __tablename__ = "test_preset"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(80), unique=True)
    note: Mapped[str] = mapped_column(sa.Text, default="")
    chosen: Mapped[dict[str, Any]]
    """What it says, by the names of `arena.competitions.presets.CHOICES`."""
    changed: Mapped[datetime]


class BotTuning(Comparison):
    """A version's numbers tuned by games against itself (`arena.strength.tuning`)."""

    __mapper_args__ = {"polymorphic_identity": "tuning"}  # noqa: RUF012

    settings: Mapped[dict[str, Any]] = mapped_column(nullable=True, use_existing_column=True)
    """What is tuned, and how (`arena.competitions.tunings`)."""
    max_games: Mapped[int] = mapped_column(nullable=True, use_existing_column=True)
    """How many games it has at most, in whole batches."""
    progress: Mapped[dict[str, Any]] = mapped_column("course", nullable=True)
    """How far it came by whole batches: a fold over their matches."""
    reason: Mapped[str] = mapped_column(Words, nullable=True, use_existing_column=True)
    """Why it ended before all was played, or why nothing was tested then; empty if all is well."""
    proof_id: Mapped[int | None] = mapped_column(ForeignKey("competition.id"))
    """The strength test of what came out against the start."""


class TestTally(Base):
    """What one worker's matches of a strength test say; the test's counts are their sum."""

    __test__ = False  # nothing for pytest
    __tablename__ = "test_tally"

    test_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), primary_key=True)
    worker: Mapped[str] = mapped_column(sa.String(120), primary_key=True)
    counts: Mapped[list[Any]]
    """Matches by the candidate's score, from the worst to the best in equal steps."""
    wins: Mapped[int] = mapped_column(default=0)
    draws: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
    candidate_faults: Mapped[dict[str, Any]]
    """Games that it lost by its own fault, by their terminations."""
    baseline_faults: Mapped[dict[str, Any]]
    boards: Mapped[list[Any]] = mapped_column(nullable=True, default=list)
    """Where there are several, what of the counts and results is of each, by their names here."""
