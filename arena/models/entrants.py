"""Who plays in a competition, and what they did against each other there."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.ground.bot_names import Named
from arena.models.base import NUMBERED_ONCE, Base, Words
from arena.models.bots import BotVersion
from arena.models.competitions import Competition
from engine.bot_options import LONGEST_CHOSEN, told_label
from engine.plurals import counted


class EntrantState(StrEnum):
    """Active entrants are paired; the others keep their rating."""

    ACTIVE = "active"
    RETIRED = "retired"
    SUSPENDED = "suspended"


TRIED = "it was only tried"
"""Why an entrant of a ladder is retired that never entered: it is there for matches alone for which
its owners ask."""


BARRED = "an organiser took it off"
"""What the reason begins with why an entrant of a ladder is retired whose bot does not come back
there until an organiser lets it."""
BARRED_AWAY = f"{BARRED}, where it did not play"
"""The same of one that was not active when it was taken off: it is not when it is let again."""


IS_UNCONVERGED = sa.text(
    "state = 'active' AND games - games_before < 200 AND (games - games_before < 20 OR sigma > 1)"
)
"""Whether more games would teach something of one that can be paired, as
`arena.formats.roster.Rival.is_converged` has it; spelt out, or no index of just these is used."""


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
            sqlite_where=IS_UNCONVERGED,
            postgresql_where=IS_UNCONVERGED,
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
    """The round after which one that was withdrawn from a tournament counts as gone."""
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
    """The place in a competition that is over; None where it has none (see
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

    @property
    def written(self) -> str:
        """How forms, addresses and commands name it: ``greedy:2:depth=8``."""
        return str(Named(self.version.bot.name, self.version.number, self.options))

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
