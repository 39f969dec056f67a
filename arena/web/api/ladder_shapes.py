"""What the API says of ladders and those on them, and how it is made of what the database holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from arena.models import Ladder
from arena.web.api.competition_shapes import CompetitionShape, EntrantShape, Happening
from arena.web.api.shapes import At, List, Shape
from arena.web.leaderboards import leaders


class LadderShape(CompetitionShape):
    """A ladder."""

    draws: Annotated[float, At("draw_probability")] = Field(
        description="How likely a draw between equals is taken to be."
    )


class LadderDetail(LadderShape, Happening):
    """A ladder, and what happens there at this moment."""


class ListedLadder(LadderShape):
    """A ladder, and who leads there."""

    leader: str | None = Field(description="As greedy v2; null before anybody is ranked.")

    @classmethod
    def each(cls, session: Session, found: Sequence[Ladder]) -> list[ListedLadder]:
        """Some ladders as they travel."""
        first = {id_: one.version.label for id_, one in leaders(session, found).items()}
        return [cls.of(one, leader=first.get(one.id)) for one in found]


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


class RankedEntrant(EntrantShape):
    """A bot version on a ladder, with its place on the board."""

    rank: int | None = Field(description="Null while it has none: in placement, or not active.")
    ranked: int = Field(description="How many have one.")
