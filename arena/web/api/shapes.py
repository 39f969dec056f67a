"""What the API's answers look like: each shape with how it is made of what the database holds."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

from arena.models import (
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    Role,
    Scope,
    VersionStatus,
    Worker,
)
from arena.ratings.trueskill import Rating
from engine.game import Termination

NO_NUL = "^[^\\x00]*$"
"""PostgreSQL keeps no text with it."""

Name = Annotated[str, Field(max_length=80, pattern=NO_NUL)]
BotVersionName = Annotated[
    str,
    Field(
        max_length=60,
        pattern=NO_NUL,
        description="As greedy, or greedy:2 for one of its versions.",
    ),
]
Line = Annotated[str, Field(max_length=500, pattern=NO_NUL)]
Options = dict[str, Any]


class Shape(BaseModel):
    """What travels: just these fields, and numbers that JSON has."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class List(Shape):
    """A page of a list, the newest first."""

    next: str | None = Field(description="The address of the next page; null on the last.")


# Competitions.


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
        return cls(
            name=one.name,
            title=one.title,
            note=one.note,
            game=one.game,
            variant=str(one.variant),
            options=one.options,
            openings=str(one.openings),
            time=one.time.words,
            state=one.state,
            draws=one.draw_probability,
            weight=one.weight,
            memory_bytes=one.memory_bytes,
            threads=one.threads,
            bundle_bytes=one.bundle_bytes,
            log_bytes=one.log_bytes,
            games=one.games,
            last_game=one.last_game,
            created=one.created,
        )


class LadderList(List):
    items: list[LadderShape]


class BoardLine(Shape):
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
    bots: list[BoardLine]


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
    entered: datetime
    last_game: datetime | None

    @classmethod
    def of(cls, one: Entrant, bot: str) -> EntrantShape:
        """An entrant as it travels."""
        rating = Rating(one.mu, one.sigma)
        return cls(
            id=one.id,
            competition=one.competition.name,
            bot=bot,
            version=one.version.number,
            state=one.state,
            reason=one.reason,
            rating=round(rating.display, 1),
            interval=round(rating.display_margin, 1),
            mu=one.mu,
            sigma=one.sigma,
            games=one.games,
            wins=one.wins,
            draws=one.draws,
            losses=one.losses,
            points=one.points,
            faults=one.faults,
            entered=one.entered,
            last_game=one.last_game,
        )


class EntrantList(List):
    items: list[EntrantShape]


# Bots.


class BotShape(Shape):
    """A bot, through all its versions."""

    name: str
    owner: str
    open_source: bool = Field(description="Whether everybody may read its code and its logs.")
    created: datetime

    @classmethod
    def of(cls, one: Bot) -> BotShape:
        """A bot as it travels."""
        return cls(
            name=one.name,
            owner=one.owner.name,
            open_source=one.open_source,
            created=one.created,
        )


class BotList(List):
    items: list[BotShape]


class BotDetail(BotShape):
    """A bot with its versions on ladders."""

    ladders: list[EntrantShape]


class VersionShape(Shape):
    """An uploaded revision of a bot."""

    bot: str
    version: int
    language: str
    size: int
    digest: str
    note: str
    status: VersionStatus
    created: datetime

    @classmethod
    def of(cls, one: BotVersion) -> VersionShape:
        """A version as it travels."""
        return cls(
            bot=one.bot.name,
            version=one.number,
            language=one.language,
            size=one.size,
            digest=one.digest,
            note=one.note,
            status=one.status,
            created=one.created,
        )


class VersionList(List):
    items: list[VersionShape]


class FindingShape(Shape):
    """One thing that a check looked at."""

    kept: bool
    words: str
    clause: str = ""
    applies: bool = True
    lines: list[str] = []


class CheckShape(Shape):
    """The check of a submitted version, for its owner."""

    number: int
    bot: str
    version: int
    ladder: str
    status: JobStatus
    passed: bool | None = Field(description="Null as long as it has not ended.")
    findings: list[FindingShape]
    log: str
    problem: str
    created: datetime

    @classmethod
    def of(cls, one: Check) -> CheckShape:
        """A check as it travels, with its version, bot and ladder loaded."""
        ended = one.status not in (JobStatus.OPEN, JobStatus.ISSUED)
        return cls(
            number=one.id,
            bot=one.version.bot.name,
            version=one.version.number,
            ladder=one.ladder.name,
            status=one.status,
            passed=one.passed if ended else None,
            findings=[FindingShape(**finding) for finding in one.findings],
            log=one.log,
            problem=one.problem,
            created=one.created,
        )


class CheckList(List):
    items: list[CheckShape]


# Matches and games.


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
            "problem": one.problem,
        }


class MatchList(List):
    items: list[MatchShape]


class MatchDetail(MatchShape):
    """A match with its games."""

    games: list[GameShape]

    @classmethod
    def of(cls, one: Match) -> MatchDetail:
        """A match as it travels, with its places and games loaded."""
        games = [GameShape.of(game, one.competition.name) for game in one.games]
        return cls(**cls._fields(one), games=games)


# The arena itself.


class WorkerShape(Shape):
    """A worker that was heard of."""

    name: str
    state: str = Field(description="at work, gone, too weak or set aside")
    slots: int
    isolation: str
    languages: list[str]
    last_seen: datetime

    @classmethod
    def of(cls, one: Worker, state: str) -> WorkerShape:
        """A worker as it travels."""
        return cls(
            name=one.name,
            state=state,
            slots=one.slots,
            isolation=one.isolation,
            languages=[str(language) for language in one.languages],
            last_seen=one.last_seen,
        )


class WorkerList(Shape):
    items: list[WorkerShape]


class AccountShape(Shape):
    """Who asks."""

    name: str
    role: Role
    scopes: list[Scope] = Field(description="What may be done with this token.")
    bots: list[str]
