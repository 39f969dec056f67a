"""What the API says of competitions of any kind, and of those that are in them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from arena.competitions.dates import told_settings
from arena.competitions.kinds import kind_of
from arena.models import (
    CompetitionState,
    DateKind,
    Entrant,
    EntrantState,
    MemberRole,
    Visibility,
)
from arena.ratings.trueskill import Rating
from arena.web.api.shapes import At, List, Options, Shape
from arena.web.permissions import told_reason


class CompetitionShape(Shape):
    """What is played by whose rules, whatever its kind, and how far it is."""

    name: str
    kind: str = Field(
        description="ladder, tournament, test, tuning, or another that the arena has."
    )
    title: str
    note: str
    visibility: Visibility = Field(
        description="Who sees it: everybody (public), who has its address, or its members alone."
    )
    anonymous: bool = Field(
        description="Whether bots and people have made-up names in it, for as long as it goes on."
    )
    game: str
    variant: Annotated[str, At(lambda one: str(one.variant))] = Field(
        description="The game with its options."
    )
    options: Options
    openings: str = Field(description="random, empty or book.")
    book: Annotated[str | None, At("book_name")] = Field(
        description="Whose openings are played; null if those of none."
    )
    time: Annotated[str, At("time.words")] = Field(description="The time control in words.")
    state: CompetitionState
    weight: float
    memory_bytes: int
    threads: int
    processes: int
    bundle_bytes: int
    log_bytes: int
    games: int
    last_game: datetime | None
    created: datetime
    finished: datetime | None


class Happening(Shape):
    """What happens in a competition at this moment."""

    running: int = Field(description="Matches that a worker plays now.")
    quiet: str | None = Field(description="Why none is played; null if one is.")


class CompetitionDetail(CompetitionShape, Happening):
    """A competition, and what happens there at this moment."""


class CompetitionList(List):
    items: list[CompetitionShape]


class DateShape(Shape):
    """What is to happen to a competition at a moment, or has happened."""

    competition: Annotated[str, At("competition.name")]
    what: DateKind
    at: datetime
    settings: Annotated[dict[str, str], At(told_settings)] = Field(
        description="What it needs besides, such as the format of a final."
    )
    happened: datetime | None = Field(
        description="When it did; null before, and of rounds as long as they come again."
    )
    outcome: str = Field(
        description="Why nothing came of it; empty if all went as it was to. Of rounds, of the "
        "last one."
    )
    made: Annotated[str | None, At(lambda one: one.made and one.made.name)] = Field(
        description="The final or the last round that was made, or the season that followed."
    )


class DateList(Shape):
    """The dates of a competition, in their order."""

    now: datetime = Field(description="The moment of the answer, by the clock that decides.")
    items: list[DateShape]


def _shown(entrant: Entrant, what: str) -> float | None:
    """A number of its rating, if it has one."""
    if not entrant.games or not kind_of(entrant.competition).rated:
        return None
    return round(float(getattr(Rating(entrant.mu, entrant.sigma), what)), 1)


class EntrantShape(Shape):
    """A bot version, with its options, in a competition."""

    id: int
    competition: Annotated[str, At("competition.name")]
    bot: Annotated[str, At("version.bot.name")]
    version: Annotated[int, At("version.number")]
    options: str = Field(description="What it plays with there, as depth=8; empty on a ladder.")
    state: EntrantState
    reason: Annotated[str, At(told_reason)] = Field(
        description="Why it is not active; what an organiser wrote who took it off a ladder is "
        "told to its owners and organisers alone."
    )
    rating: Annotated[float | None, At(lambda one: _shown(one, "display"))] = Field(
        description="Null before its first game, and where nothing is rated."
    )
    interval: Annotated[float | None, At(lambda one: _shown(one, "display_margin"))] = Field(
        description="Half of the rating's 95 % interval."
    )
    mu: float
    sigma: float
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    places: list[int] = Field(
        description="How often it came first, second and so on, in games of more than two sides."
    )
    faults: int
    best_rank: int | None = Field(
        description="The best that it was seen to have on its ladder; null as long as it had none."
    )
    best_rank_at: datetime | None
    entered: datetime
    last_game: datetime | None


class MembershipShape(Shape):
    """Somebody who belongs to a competition."""

    user: Annotated[str, At("user.name")]
    role: MemberRole
    joined: datetime


class MembershipList(List):
    items: list[MembershipShape]


class EntrantList(List):
    items: list[EntrantShape]
