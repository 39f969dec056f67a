"""What the API says of matches and games, and how it is made of what the database holds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field, RootModel

from arena.models import GameSeat, JobStatus, Match, PlayedGame
from arena.web.api.shapes import List, Shape
from engine.game import Termination


class SeatShape(Shape):
    """Who held a seat of a game, and what came of it."""

    seat: int
    bot: str
    version: int
    score: float
    rank: int
    points: float
    fault: Termination | None
    cpu_us: int
    mu_before: float | None
    sigma_before: float | None
    mu_after: float | None
    sigma_after: float | None

    @classmethod
    def of(cls, one: GameSeat) -> SeatShape:
        """A seat as it travels, counted from 1."""
        return cls(
            seat=one.seat + 1,
            bot=one.entrant.version.bot.name,
            version=one.entrant.version.number,
            score=one.score,
            rank=one.rank,
            points=one.points,
            fault=one.fault,
            cpu_us=one.cpu_us,
            mu_before=one.mu_before,
            sigma_before=one.sigma_before,
            mu_after=one.mu_after,
            sigma_after=one.sigma_after,
        )


class GameShape(Shape):
    """A game that was played; its moves are in its record."""

    number: int
    competition: str
    match: int
    of_match: int = Field(description="Which game of its match it is, from 1.")
    termination: Termination
    plies: int
    finished: datetime
    digest: str
    seats: list[SeatShape]

    @classmethod
    def of(cls, one: PlayedGame, competition: str) -> GameShape:
        """A game as it travels."""
        return cls(
            number=one.id,
            competition=competition,
            match=one.match_id,
            of_match=one.number + 1,
            termination=one.termination,
            plies=one.plies,
            finished=one.finished,
            digest=one.digest,
            seats=[SeatShape.of(seat) for seat in one.seats],
        )


class GameList(List):
    items: list[GameShape]


class Record(RootModel[dict[str, Any]]):
    """The whole of a game, as `arena replay` reads it."""


class MatchShape(Shape):
    """One opening, played once from every rotation of the seats."""

    number: int
    competition: str
    status: JobStatus
    rated: bool
    round: int | None
    bots: list[str] = Field(description="In the order of their seats in the first game.")
    opening: list[str]
    created: datetime
    fixed: datetime | None
    failures: int = Field(description="How often it failed through no bot's fault.")
    problem: str

    @classmethod
    def of(cls, one: Match) -> MatchShape:
        """A match as it travels, with its places loaded."""
        return cls(**cls._fields(one))

    @staticmethod
    def _fields(one: Match) -> dict[str, Any]:
        return {
            "number": one.id,
            "competition": one.competition.name,
            "status": one.status,
            "rated": one.rated,
            "round": one.round,
            "bots": [place.entrant.version.label for place in one.places],
            "opening": one.opening,
            "created": one.created,
            "fixed": one.fixed,
            "failures": one.failures,
            "problem": one.problem,
        }


class MatchList(List):
    items: list[MatchShape]


class RunningGame(Shape):
    """How far a match is, as its worker last told; nobody has proven it yet."""

    of_match: int = Field(description="Which game of its match is played, from 1.")
    moves: list[str] = Field(description="As SEAT:MOVE.")


class MatchDetail(MatchShape):
    """A match with its games."""

    running: RunningGame | None = Field(description="Null unless it is being played.")
    games: list[GameShape]

    @classmethod
    def of(cls, one: Match) -> MatchDetail:
        """A match as it travels, with its places and games loaded."""
        games = [GameShape.of(game, one.competition.name) for game in one.games]
        running = None
        if one.progress and one.status is JobStatus.ISSUED:
            told = one.progress
            running = RunningGame(of_match=told["game"] + 1, moves=told["moves"])
        return cls(**cls._fields(one), running=running, games=games)
