"""What the API says of ladders and those on them, and how it is made of what the database holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import Field
from sqlalchemy.orm import Session

from arena.competitions.ranks import Rank
from arena.models import CompetitionState, Entrant, EntrantState, Ladder
from arena.ratings.trueskill import Rating
from arena.web.api.shapes import List, Options, Shape
from arena.web.leaderboards import leaders


class LadderShape(Shape):
    """A ladder."""

    name: str
    title: str
    note: str
    game: str
    variant: str = Field(description="The game with its options.")
    options: Options
    openings: str
    time: str = Field(description="The time control in words.")
    state: CompetitionState
    draws: float = Field(description="How likely a draw between equals is taken to be.")
    weight: float
    memory_bytes: int
    threads: int
    bundle_bytes: int
    log_bytes: int
    games: int
    last_game: datetime | None
    created: datetime

    @classmethod
    def of(cls, one: Ladder) -> LadderShape:
        """A ladder as it travels."""
        return cls(**cls._fields(one))

    @staticmethod
    def _fields(one: Ladder) -> dict[str, Any]:
        return {
            "name": one.name,
            "title": one.title,
            "note": one.note,
            "game": one.game,
            "variant": str(one.variant),
            "options": one.options,
            "openings": str(one.openings),
            "time": one.time.words,
            "state": one.state,
            "draws": one.draw_probability,
            "weight": one.weight,
            "memory_bytes": one.memory_bytes,
            "threads": one.threads,
            "bundle_bytes": one.bundle_bytes,
            "log_bytes": one.log_bytes,
            "games": one.games,
            "last_game": one.last_game,
            "created": one.created,
        }


class LadderDetail(LadderShape):
    """A ladder, and what happens there at this moment."""

    running: int = Field(description="Matches that a worker plays now.")
    quiet: str | None = Field(description="Why none is played; null if one is.")

    @classmethod
    def now(cls, one: Ladder, running: int, quiet: str | None) -> LadderDetail:
        """A ladder as it travels, with what happens there."""
        return cls(**cls._fields(one), running=running, quiet=quiet)


class ListedLadder(LadderShape):
    """A ladder, and who leads there."""

    leader: str | None = Field(description="As greedy v2; null before anybody is ranked.")

    @classmethod
    def each(cls, session: Session, found: Sequence[Ladder]) -> list[ListedLadder]:
        """Some ladders as they travel."""
        first = {id_: one.version.label for id_, one in leaders(session, found).items()}
        return [cls(**cls._fields(one), leader=first.get(one.id)) for one in found]


class LadderList(List):
    items: list[ListedLadder]


class BoardLineShape(Shape):
    """A bot on a leaderboard."""

    rank: int | None = Field(description="Null while it is in placement.")
    bot: str
    version: int
    owner: str
    language: str
    rating: float
    interval: float = Field(description="Half of the rating's 95 % interval.")
    mu: float
    sigma: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float = Field(description="Points a game, from 0 to 1.")
    faults: int
    last_game: datetime | None
    uploaded: datetime = Field(description="When its version was.")
    climbed: int = Field(description="How many ranks it gained in the ladder's last games.")
    trend: list[float] = Field(description="Its rating after each of its last games.")
    against_wins: int | None = None
    against_draws: int | None = None
    against_losses: int | None = None


class BoardShape(Shape):
    """A ladder's leaderboard at this moment, or a page of it."""

    ladder: str
    variant: str
    games: int
    running: int = Field(description="Matches that a worker plays now.")
    ranked: int
    placement: int
    page: int | None
    pages: int
    against: str | None
    bots: list[BoardLineShape]


class EntrantShape(Shape):
    """A bot version in a competition."""

    id: int
    competition: str
    bot: str
    version: int
    state: EntrantState
    reason: str
    rating: float
    interval: float
    mu: float
    sigma: float
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    faults: int
    best_rank: int | None = Field(
        description="The best that it was seen to have on its ladder; null as long as it had none."
    )
    best_rank_at: datetime | None
    entered: datetime
    last_game: datetime | None

    @classmethod
    def of(cls, one: Entrant, bot: str) -> EntrantShape:
        """An entrant as it travels."""
        return cls(**cls._fields(one, bot))

    @staticmethod
    def _fields(one: Entrant, bot: str) -> dict[str, Any]:
        rating = Rating(one.mu, one.sigma)
        return {
            "id": one.id,
            "competition": one.competition.name,
            "bot": bot,
            "version": one.version.number,
            "state": one.state,
            "reason": one.reason,
            "rating": round(rating.display, 1),
            "interval": round(rating.display_margin, 1),
            "mu": one.mu,
            "sigma": one.sigma,
            "games": one.games,
            "wins": one.wins,
            "draws": one.draws,
            "losses": one.losses,
            "points": one.points,
            "faults": one.faults,
            "best_rank": one.best_rank,
            "best_rank_at": one.best_rank_at,
            "entered": one.entered,
            "last_game": one.last_game,
        }


class EntrantList(List):
    items: list[EntrantShape]


class RankedEntrant(EntrantShape):
    """A bot version on a ladder, with its place on the board."""

    rank: int | None = Field(description="Null while it has none: in placement, or not active.")
    ranked: int = Field(description="How many have one.")

    @classmethod
    def at(cls, one: Entrant, bot: str, place: Rank) -> RankedEntrant:
        """An entrant as it travels, where it stands."""
        return cls(**cls._fields(one, bot), rank=place.rank, ranked=place.ranked)
