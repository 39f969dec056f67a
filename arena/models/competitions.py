"""Competitions, and what enters them: ladders, tournaments, strength tests.

All kinds are one table: a variant, a time control, limits, a state, and counters. What only one
kind has is null in the others. How each is played is said in `arena.competitions`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import NUMBERED_ONCE, Base, Words
from arena.models.books import OpeningBook
from arena.models.bots import Bot, BotVersion
from arena.models.naming import FormerName
from engine.bot_options import LONGEST_CHOSEN, told_label
from engine.clock import TimeControl
from engine.game import Variant
from engine.games import GAMES
from engine.plurals import counted
from engine.translation import N_

IS_UNTOLD = sa.text("finished IS NOT NULL AND (told IS NULL OR told <> finished)")
"""Of competitions: whether nobody was told yet that it is over."""
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


CALLED_OFF = "called off"
"""How a tournament stands that was closed before all of it was played."""
SIGNING_UP = "signing up"
"""How a tournament stands whose field is drawn later, of those who sign up."""


class OpeningPolicy(StrEnum):
    """Where the games of a match start: from a balanced random opening, from the start, or from an
    opening of a book."""

    RANDOM = "random"
    EMPTY = "empty"
    BOOK = "book"


class HomeRule(StrEnum):
    """Whether bots at home may play on a ladder: none, beside boxed ones, or they alone."""

    NO = "no"
    BESIDE = "beside"
    ONLY = "only"


class Approval(StrEnum):
    """Whether a second person has to approve: of a ladder, whether comparisons by its rules need
    it; of one of these, also whether it was given."""

    NO = "no"
    NEEDED = "needed"
    GIVEN = "given"


class EntrantState(StrEnum):
    """Active entrants are paired; the others keep their rating."""

    ACTIVE = "active"
    RETIRED = "retired"
    SUSPENDED = "suspended"


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
"""Of a competition, that not everybody finds it; spelt out, or no index of just these is used."""
IS_ANONYMOUS = sa.text("anonymous")
"""Of a competition, that bots play in it under other names; spelt out for the same reason."""


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
    title: Mapped[str] = mapped_column(sa.String(120))
    note: Mapped[str] = mapped_column(sa.Text, default="")
    creator_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    visibility: Mapped[Visibility] = mapped_column(default=Visibility.PUBLIC)
    """Who sees it; of one within another it is that one's."""
    within_id: Mapped[int | None] = mapped_column(ForeignKey("competition.id"), index=True)
    """The one whose members it is for, as it is made of bots that are known there alone; None of
    what is public."""
    join_code: Mapped[str | None] = mapped_column(sa.String(20), index=True, unique=True)
    """By which one becomes a member; None if none can be made use of."""
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
    """Of a ladder's rated results: sides next to each other in the order of finish, two by two."""
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
    """Of how many games the final places of its entrants were made, since it is over; None before
    they were (`arena.competitions.final_tables`)."""

    book: Mapped[OpeningBook | None] = relationship()

    organised: ClassVar[bool] = False
    """Whether organisers make those of its kind, under names that they choose, and bots are known
    by being in one. Any other goes by its number, has its bots' names in its title, and is within
    what these are known in."""
    is_candidates: ClassVar[bool] = False
    """Whether those of its kind are about the first entrant alone, the candidate: its owners hear
    of one, and those of the others don't."""

    @classmethod
    def is_organised(cls) -> sa.ColumnElement[bool]:
        """Of competitions: whether they are of a kind that is organised."""
        kinds = sa.inspect(Competition).self_and_descendants
        names = [kind.polymorphic_identity for kind in kinds if kind.class_.organised]
        return Competition.kind.in_(names)

    @classmethod
    def named(cls, name: str) -> sa.ColumnElement[bool]:
        """Of competitions: whether one is called so, or was."""
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


class Ladder(Competition):
    """Rated without end: whoever entered meets whom it teaches most."""

    __mapper_args__ = {"polymorphic_identity": "ladder"}  # noqa: RUF012
    organised = True

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
    """By what bots sign up for it (`arena.competitions.sign_ups.Conditions`); None if its field was
    named when it was made."""
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
    """By how many games, in whole batches."""
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


TRIED = "it was only tried"
"""Why an entrant of a ladder is retired that never entered: it is there for matches alone for which
its owners ask."""


BARRED = "an organiser took it off"
"""What the reason begins with why an entrant of a ladder is retired whose bot does not come back
there until an organiser lets it."""
BARRED_AWAY = f"{BARRED}, where it did not play"
"""The same of one that was not active when it was taken off: it is not when it is let again."""


IS_UNSETTLED = sa.text(
    "state = 'active' AND games - games_before < 200 AND (games - games_before < 20 OR sigma > 1)"
)
"""Of entrants: whether more games would teach something of one that can be paired, as
`arena.formats.roster.Rival.is_settled` has it; spelt out, or no index of just these is used."""


class Entrant(Base):
    """A version with its options in a competition, with its rating there if that is a ladder."""

    __tablename__ = "entrant"
    __table_args__ = (
        UniqueConstraint(
            "competition_id",
            "version_id",
            "options",
            "own_time",
            "own_threads",
            name="uq_entrant_player",
        ),
        Index("ix_entrant_board", "competition_id", "state", "conservative"),
        Index(
            "ix_entrant_unsettled",
            "competition_id",
            sqlite_where=IS_UNSETTLED,
            postgresql_where=IS_UNSETTLED,
        ),
        CheckConstraint("sigma > 0", name="sigma"),
        CheckConstraint("games = wins + draws + losses", name="games"),
        CheckConstraint("(best_rank IS NULL) = (best_rank_at IS NULL)", name="best_rank"),
        NUMBERED_ONCE,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("bot_version.id"), index=True)
    options: Mapped[str] = mapped_column(sa.String(LONGEST_CHOSEN), default="")
    """What it plays with there, as ``depth=8,style=fast``; empty if nothing was chosen, as for all
    that are on a ladder."""
    own_time: Mapped[str] = mapped_column(sa.String(60), default="")
    """Its time control in the words of `TimeControl`, if that is not the competition's."""
    own_threads: Mapped[int] = mapped_column(default=0)
    """How many threads it may have at a time; 0 for as many as the competition grants."""
    state: Mapped[EntrantState]
    reason: Mapped[str] = mapped_column(Words, default="")
    """Why it is not active, for its owner."""
    predecessor_id: Mapped[int | None] = mapped_column(ForeignKey("entrant.id"))
    """The entrant of the same bot whose mu it took over."""
    number: Mapped[int] = mapped_column(default=0)
    """The place in the seeding, from 1; in a strength test 1 is the candidate. 0 on a ladder."""
    last_round: Mapped[int | None]
    """Of one that was withdrawn from a tournament: in the rounds after it, it counts as gone."""
    last_paired: Mapped[int | None]
    """The last round that had begun then: the pairing of that one stands."""
    entered: Mapped[datetime]
    entered_after: Mapped[int]
    """The `Match.seq` of the last match that was fixed before it entered."""
    start_mu: Mapped[float | None]
    start_sigma: Mapped[float | None]
    """With them the rating that it came with from the season before; None if it came with none."""
    mu: Mapped[float]
    sigma: Mapped[float]
    conservative: Mapped[float] = mapped_column(sa.Computed("mu - 3 * sigma", persisted=True))
    """What is surely believed of it, by which a board is sorted."""
    trend: Mapped[list[Any]] = mapped_column(default=list)
    """Its display rating after each of its last rated results, oldest first (see
    `arena.ratings.trends`)."""
    games: Mapped[int] = mapped_column(default=0)
    wins: Mapped[int] = mapped_column(default=0)
    draws: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
    points: Mapped[float] = mapped_column(default=0.0)
    """The shares of opponents beaten in each game, ties half, added up."""
    places: Mapped[list[Any]] = mapped_column(default=list)
    """How often it had each place, the first first, in games of more than two sides; else empty."""
    faults: Mapped[int] = mapped_column(default=0)
    best_rank: Mapped[int | None]
    """On a ladder, since it was first ranked there; no counter, but a memory (see
    `arena.competitions.ranks`)."""
    best_rank_at: Mapped[datetime | None]
    """When it was first seen to have it."""
    final_place: Mapped[int | None]
    """In a competition that is over; None where it has no place (see
    `arena.competitions.final_tables`)."""
    final_points: Mapped[float | None]
    """Its points in the standings of a tournament that is over, those of byes included."""
    final_elo: Mapped[float | None]
    final_lower: Mapped[float | None]
    final_upper: Mapped[float | None]
    """How far it was above the mean of its field by all games at once, with the 95 % interval; of
    ladders that are over alone."""
    last_game: Mapped[datetime | None]
    returned: Mapped[datetime | None]
    """When it last became active again; a suspension looks at no fault before."""
    returned_after: Mapped[list[Any]] = mapped_column(default=list)
    """Each time that it came back, the `Match.seq` of the last match that was fixed before: its
    rating was held less firmly from then on."""
    returned_at: Mapped[list[Any]] = mapped_column(default=list)
    """Each time that it came back, as a text of ISO 8601."""
    games_before: Mapped[int] = mapped_column(default=0)
    """How many of its games it had when it last came back."""

    competition: Mapped[Competition] = relationship()
    version: Mapped[BotVersion] = relationship()

    @property
    def label(self) -> str:
        """Its version's, with its options, and with what it is granted of its own."""
        return player_label(self, self.options)

    @hybrid_property
    def is_barred(self) -> bool:
        """Whether an organiser took it off, and has not let it come back."""
        return self.state is EntrantState.RETIRED and self.reason.startswith(BARRED)

    @is_barred.inplace.expression
    @classmethod
    def _is_barred(cls) -> sa.ColumnElement[bool]:
        return sa.and_(cls.state == EntrantState.RETIRED, cls.reason.startswith(BARRED))

    @property
    def public_reason(self) -> str:
        """Why it is not active, for everybody: what an organiser wrote of it is for its owners."""
        return self.reason.partition(": ")[0] if self.is_barred else self.reason

    @hybrid_property
    def is_tried(self) -> bool:
        """Whether it never entered, and is there for what its owners try."""
        return self.state is EntrantState.RETIRED and self.reason == TRIED

    @is_tried.inplace.expression
    @classmethod
    def _is_tried(cls) -> sa.ColumnElement[bool]:
        return sa.and_(cls.state == EntrantState.RETIRED, cls.reason == TRIED)


def player_label(player: Any, options: str) -> str:
    """What people call a player: ``greedy v2:depth=8``, ``greedy v2 (move=100, 2 threads)``.

    Args:
        player: an entrant, or who is to be one.
    """
    own = own_words(player)
    return told_label(player.version.label, options) + (f" ({own})" if own else "")


def own_words(player: Any) -> str:
    """What a player is granted of its own: ``move=100, 2 threads``; empty if nothing."""
    threads = player.own_threads and counted(player.own_threads, "thread")
    return ", ".join(filter(None, (player.own_time, threads)))


class Meeting(Base):
    """What two entrants of a competition did against each other, counted as it happens."""

    __tablename__ = "meeting"
    __table_args__ = (CheckConstraint("first_id < second_id", name="order"),)

    first_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    second_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    competition_id: Mapped[int] = mapped_column(ForeignKey("competition.id"), index=True)
    matches: Mapped[int] = mapped_column(default=0)
    games: Mapped[int] = mapped_column(default=0)
    wins: Mapped[int] = mapped_column(default=0)
    """Games in which the first ranked before the second."""
    draws: Mapped[int] = mapped_column(default=0)
    """Games in which they shared a rank."""
