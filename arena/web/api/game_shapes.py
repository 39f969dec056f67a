"""What the API says of matches and games, and how it is made of what the database holds."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, RootModel

from arena.lists.filters import opening_word
from arena.lists.rows import opening_number
from arena.models import JobStatus, Match
from arena.web.api.shapes import At, List, Shape
from arena.web.permissions import may_know_workers
from engine.game import Termination


def its_opening(match: Match) -> int:
    """The number of a match's opening."""
    return opening_number(match.options, match.opening)


class SeatShape(Shape):
    """Who held a seat of a game, and what came of it."""

    seat: Annotated[int, At(lambda one: one.seat + 1)]
    bot: Annotated[str, At("entrant.version.bot.name")]
    version: Annotated[int, At("entrant.version.number")]
    options: str = Field(description="What it was told of its options, as depth=8,style=fast.")
    score: float
    rank: int
    points: float
    fault: Termination | None
    cpu_us: int
    mu_before: float | None
    sigma_before: float | None
    mu_after: float | None
    sigma_after: float | None


def _worker(match: Match) -> str | None:
    return (match.played_by or match.worker) if may_know_workers() else None


WORKER = "Who played it, or plays it now; for organisers alone, null for all others."


class GameShape(Shape):
    """A game that was played; its moves are in its record."""

    number: Annotated[int, At("id")]
    competition: Annotated[str, At("competition.name")]
    match: Annotated[int, At("match_id")]
    of_match: Annotated[int, At(lambda one: one.number + 1)] = Field(
        description="Which game of its match it is, from 1."
    )
    termination: Termination
    plies: int
    finished: datetime
    digest: str
    speed: float | None = Field(
        description="Of the machine that played it, the reference machine being 1; null if nobody "
        "knows."
    )
    worker: Annotated[str | None, At(lambda one: _worker(one.match))] = Field(description=WORKER)
    opening: Annotated[str, At(lambda one: opening_word(its_opening(one.match)))] = Field(
        description="Which it is, as the filter opening takes it."
    )
    counts: Annotated[bool, At(lambda one: one.match.counts and not one.match.is_void)] = Field(
        description="Whether it counts in its competition: neither void nor played on request."
    )
    seats: Annotated[list[SeatShape], At(lambda one: [SeatShape.of(seat) for seat in one.seats])]


class GameList(List):
    items: list[GameShape]


class Record(RootModel[dict[str, Any]]):
    """The whole of a game, as `arena replay` reads it."""


class MatchShape(Shape):
    """One opening, played once from every rotation of the seats."""

    number: Annotated[int, At("id")]
    competition: Annotated[str, At("competition.name")]
    status: JobStatus
    rated: bool
    round: int | None
    bots: Annotated[list[str], At(lambda one: [place.label for place in one.places])] = Field(
        description="In the order of their seats in the first game, each with its options."
    )
    opening: list[str]
    created: datetime
    fixed: datetime | None
    worker: Annotated[str | None, At(_worker)] = Field(description=WORKER)
    failures: int = Field(description="How often it failed through no bot's fault.")
    problem: str


class MatchList(List):
    items: list[MatchShape]


class RunningGame(Shape):
    """How far a match is, as its worker last told; nobody has proven it yet."""

    of_match: int = Field(description="Which game of its match is played, from 1.")
    moves: list[str] = Field(description="As SEAT:MOVE.")


def _running(match: Match) -> RunningGame | None:
    told = match.progress
    if not told or match.status is not JobStatus.ISSUED:
        return None
    return RunningGame(of_match=told["game"] + 1, moves=told["moves"])


class MatchDetail(MatchShape):
    """What was played of a match, and what is being played."""

    running: Annotated[RunningGame | None, At(_running)] = Field(
        description="Null unless it is being played."
    )
    waits: str | None = Field(
        description="Why no worker can be given it, in a sentence; null if it is only its turn."
    )
    games: Annotated[list[GameShape], At(lambda one: [GameShape.of(game) for game in one.games])]
