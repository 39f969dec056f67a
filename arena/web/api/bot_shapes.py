"""What the API says of bots, and how it is made of what the database holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field
from sqlalchemy.orm import Session

from arena.bots import sharing
from arena.bots.entries import EntryFate
from arena.competitions.ranks import ranks_of
from arena.models import Bot, BotVersion, Check, Entrant, JobStatus, VersionStatus
from arena.web import queries
from arena.web.api.ladder_shapes import EntrantShape, RankedEntrant
from arena.web.api.shapes import List, Shape
from arena.web.entrants import HISTORY_GAMES, OPENINGS_SHOWN, SPLIT_GAMES, OnLadder


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


class WaitingShape(Shape):
    """A version that is to pass a strength test before it enters a ladder."""

    version: int
    test: int


class BotDetail(BotShape):
    """A bot with its versions on ladders."""

    co_owners: list[str] = Field(description="Who else may do with it whatever its owner may.")
    ladders: list[RankedEntrant]
    waiting: list[WaitingShape] = Field(description="Versions that are to pass a test first.")

    @classmethod
    def now(cls, session: Session, bot: Bot) -> BotDetail:
        """A bot as it travels, with what is known of its versions."""
        on = queries.entrants_of_bot(session, bot)
        ranks = ranks_of(session, on)
        waiting = [
            WaitingShape(version=number, test=test.id)
            for number, tests in queries.tests_waited_for(session, bot).items()
            for test in tests
        ]
        return cls(
            **BotShape.of(bot).model_dump(),
            co_owners=[user.name for user in sharing.co_owners(session, bot)],
            ladders=[RankedEntrant.at(one, bot.name, ranks[one.id]) for one in on],
            waiting=waiting,
        )


class OpponentShape(Shape):
    """What a version did against another."""

    bot: str
    version: int
    games: int
    wins: int
    draws: int
    losses: int
    score: float = Field(description="Points a game, from 0 to 1.")
    expected: float = Field(description="The score that the present ratings expect.")
    surprise: float = Field(description="How far the two are apart, in standard errors.")


class SeatSplitShape(Shape):
    """What a version did in one seat."""

    seat: int
    name: str
    games: int
    score: float = Field(description="Points a game, from 0 to 1.")
    cpu_ms: float = Field(description="CPU time a game.")
    move_ms: float = Field(description="CPU time a move, about.")


class OpeningSplitShape(Shape):
    """What a version did from one opening."""

    moves: list[str]
    games: int
    score: float = Field(description="Points a game, from 0 to 1.")


class RatingAfter(Shape):
    """A bot's rating after a game."""

    game: int
    version: int
    rating: float
    interval: float


class BotOnLadder(RankedEntrant):
    """What a bot did on a ladder."""

    versions: list[EntrantShape] = Field(description="All that ever were there.")
    history: list[RatingAfter] = Field(
        description=f"Of all its versions, over the last {HISTORY_GAMES} games."
    )
    opponents: list[OpponentShape] = Field(description="The most surprising first.")
    seats: list[SeatSplitShape]
    openings: list[OpeningSplitShape] = Field(
        description=f"The {OPENINGS_SHOWN} that it had most often in its last {SPLIT_GAMES} games."
    )

    @classmethod
    def told(cls, found: OnLadder, versions: Sequence[Entrant], bot: str) -> BotOnLadder:
        """What a bot did as it travels; seats are counted from 1."""
        names = found.entrant.competition.variant.seat_names
        return cls(
            **cls._fields(found.entrant, bot),
            rank=found.rank.rank,
            ranked=found.rank.ranked,
            versions=[EntrantShape.of(one, bot) for one in versions],
            history=[
                RatingAfter(
                    game=game.number,
                    version=game.version,
                    rating=round(game.rating.display, 1),
                    interval=round(game.rating.display_margin, 1),
                )
                for game in found.history
            ],
            opponents=[
                OpponentShape(
                    bot=one.bot,
                    version=one.version,
                    games=one.score.games,
                    wins=one.score.wins,
                    draws=one.score.draws,
                    losses=one.score.losses,
                    score=one.score.share,
                    expected=one.expected,
                    surprise=one.surprise,
                )
                for one in found.opponents
            ],
            seats=[
                SeatSplitShape(
                    seat=one.seat + 1,
                    name=names[one.seat],
                    games=one.games,
                    score=one.score,
                    cpu_ms=one.cpu_ms,
                    move_ms=one.move_ms,
                )
                for one in found.seats
            ],
            openings=[
                OpeningSplitShape(moves=list(one.moves), games=one.games, score=one.score)
                for one in found.openings
            ],
        )


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
    lines: list[str] = Field(default_factory=list)


class CheckShape(Shape):
    """The check of a submitted version, for its owner."""

    number: int
    bot: str
    version: int
    ladder: str
    status: JobStatus
    passed: bool | None = Field(
        description="Null if nothing was found yet, or never will be: see status, and cancelled."
    )
    fate: Literal["entered", "to be tested", "not entered"] | None = Field(
        description="What became of the version by it on the ladder; null if it has not passed."
    )
    test: int | None = Field(description="The strength test that it is to pass before it enters.")
    cancelled: str = Field(description="Why nothing is to come of it; empty if something is.")
    findings: list[FindingShape]
    log: str
    problem: str = Field(description="Why it could not be tried, is void, or entered nothing.")
    waits: str = Field(
        description="Why no worker is given it though it is open; empty if the next one is."
    )
    created: datetime

    @classmethod
    def of(cls, one: Check, fate: EntryFate | None = None, waits: str = "") -> CheckShape:
        """A check as it travels, with its version, bot and ladder loaded."""
        return cls(
            number=one.id,
            bot=one.version.bot.name,
            version=one.version.number,
            ladder=one.ladder.name,
            status=one.status,
            passed=one.passed if one.status is JobStatus.FIXED else None,
            fate=fate and fate.word,
            test=fate and fate.test,
            cancelled=one.cancelled,
            findings=[FindingShape(**finding) for finding in one.findings],
            log=one.log,
            problem=one.problem,
            waits=waits,
            created=one.created,
        )


class CheckList(List):
    items: list[CheckShape]
