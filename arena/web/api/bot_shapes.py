"""What the API says of bots, and how it is made of what the database holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from math import isfinite
from typing import Annotated, Literal, Self

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.orm import Session

from arena.bots import sharing
from arena.bots.forges import commit_of
from arena.competitions.masks import masks_of
from arena.competitions.ranks import ranks_of
from arena.models import Bot, BotVersion, Entrant, JobStatus, VersionStatus
from arena.schedule.presence import whereabouts
from arena.web import queries
from arena.web.api.competition_shapes import EntrantShape
from arena.web.api.ladder_shapes import AccuracyShape, RankedEntrant
from arena.web.api.shapes import At, List, Shape
from arena.web.entrants import HISTORY_GAMES, OPENINGS_SHOWN, SPLIT_GAMES, OnLadder
from arena.web.permissions import may_read, owns
from engine.bot_options import BotOption, OptionKind

PAGE = "Where its page is on this server, which is for the bot's owners."
OUTCOME = "What it came to, or how it stands, in words: stopped at hello, 16 not tried."


def page_of(check: int) -> str:
    """Where the page of a check is on its server."""
    return f"/checks/{check}"


def portrait_of(digest: str) -> str:
    """Where a bot's picture is on its server."""
    return f"/pictures/{digest}.webp"


class BotShape(Shape):
    """A bot, through all its versions."""

    name: str
    owner: Annotated[str, At("owner.name")]
    open_source: bool = Field(description="Whether everybody may read its code and its logs.")
    created: datetime
    description: str = Field(description="What its owners say of it, in Markdown.")
    links: list[str]
    tags: Annotated[list[str], At(lambda one: [its.tag for its in one.tags])]
    picture: Annotated[str | None, At(lambda one: one.picture and portrait_of(one.picture))] = (
        Field(description="Where its picture is on this server.")
    )


class BotList(List):
    items: list[BotShape]


class WaitingShape(Shape):
    """A version that is to pass a strength test before it enters a ladder."""

    version: int
    test: int


class AtHomeShape(Shape):
    """A version that stays on its owner's machine, and whether it is there."""

    version: int
    connected: bool
    since: Annotated[
        datetime | None, Field(description="Since when it is, or is not; null if it never was.")
    ]


class OptionShape(Shape):
    """What can be chosen about a version."""

    name: str
    kind: OptionKind
    default: str = Field(description="What it is if nobody chooses it.")
    least: float | None = Field(description="Of a number.")
    most: float | None = Field(description="Of a number.")
    choices: list[str] = Field(description="Of a choice; none of any other.")

    @classmethod
    def declared(cls, words: str) -> Self:
        """An option, as a bot declares it."""
        found = BotOption.read(words)
        least, most = (end if isfinite(end) else None for end in (found.least, found.most))
        return cls(
            name=found.name,
            kind=found.kind,
            default=found.default,
            least=least,
            most=most,
            choices=list(found.choices),
        )


class BotDetail(BotShape):
    """A bot with its versions on ladders."""

    co_owners: list[str] = Field(description="Who else may do with it whatever its owner may.")
    ladders: list[RankedEntrant]
    waiting: list[WaitingShape] = Field(description="Versions that are to pass a test first.")
    at_home: AtHomeShape | None = Field(
        description="Its newest version, if that stays on its owner's machine."
    )
    masks: list[str] = Field(
        description="For its owners: what it is called in anonymous competitions."
    )
    stands_for: str | None = Field(
        description="For its owners: of such a name the bot that is behind it."
    )

    @classmethod
    def looked_up(cls, session: Session, bot: Bot) -> Self:
        """A bot, with what is known of its versions."""
        on = queries.entrants_of_bot(session, bot)
        ranks = ranks_of(session, on)
        waiting = [
            WaitingShape(version=number, test=test.id)
            for number, tests in queries.tests_waited_for(session, bot).items()
            for test in tests
        ]
        versions = sa.select(BotVersion).where(queries.versions_to_see(bot))
        newest = session.scalar(versions.order_by(BotVersion.number.desc()).limit(1))
        at_home = None
        if newest and (its := whereabouts(session, newest, datetime.now(UTC))):
            at_home = AtHomeShape(version=newest.number, **its._asdict())
        return cls.of(
            bot,
            at_home=at_home,
            co_owners=[user.name for user in sharing.co_owners(session, bot)],
            masks=[one.name for one in masks_of(session, [bot.id])] if owns(bot) else [],
            stands_for=bot.masks.name if bot.masks and owns(bot) else None,
            ladders=[RankedEntrant.of(one, **asdict(ranks[one.id])) for one in on],
            waiting=waiting,
        )


class OpponentShape(Shape):
    """What a version did against another."""

    bot: str
    version: int
    games: Annotated[int, At("score.games")]
    wins: Annotated[int, At("score.wins")]
    draws: Annotated[int, At("score.draws")]
    losses: Annotated[int, At("score.losses")]
    score: Annotated[float, At("score.share")] = Field(description="Points a game, from 0 to 1.")
    expected: float = Field(description="The score that the present ratings expect.")
    surprise: float = Field(description="How far the two are apart, in standard errors.")


class SeatSplitShape(Shape):
    """What a version did in one seat."""

    seat: Annotated[int, At(lambda one: one.seat + 1)]
    name: str
    games: int
    score: float = Field(description="Points a game, from 0 to 1.")
    cpu_ms: float = Field(description="CPU time a game.")
    move_ms: float = Field(description="CPU time a move, about.")


class OpeningSplitShape(Shape):
    """What a version did from one opening."""

    moves: Annotated[list[str], At(lambda one: list(one.moves))]
    words: str = Field(
        description="The moves, after a position or a lot that the opening has of its own."
    )
    games: int
    score: float = Field(description="Points a game, from 0 to 1.")


class RatingAfter(Shape):
    """A bot's rating after a game."""

    game: Annotated[int, At("number")]
    version: int
    rating: Annotated[float, At(lambda one: round(one.rating.display, 1))]
    interval: Annotated[float, At(lambda one: round(one.rating.display_margin, 1))]


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
    accuracy: AccuracyShape | None = Field(
        description="Against perfect play; null where nothing is certain, or it was not judged."
    )

    @classmethod
    def shown(cls, found: OnLadder, versions: Sequence[Entrant]) -> BotOnLadder:
        """What a bot did, by the one of its versions that is shown; seats are counted from 1."""
        names = found.entrant.competition.variant.seat_names
        return cls.of(
            found.entrant,
            **asdict(found.rank),
            versions=[EntrantShape.of(one) for one in versions],
            history=[RatingAfter.of(game) for game in found.history],
            opponents=[OpponentShape.of(one) for one in found.opponents],
            seats=[SeatSplitShape.of(one, name=names[one.seat]) for one in found.seats],
            openings=[OpeningSplitShape.of(one) for one in found.openings],
            accuracy=found.accuracy and AccuracyShape.of(found.accuracy),
        )


class LastCheck(Shape):
    """What a version's last check came to."""

    number: Annotated[int, At("id")]
    page: Annotated[str, At(lambda one: page_of(one.id))] = Field(description=PAGE)
    ladder: Annotated[str, At("ladder.name")]
    outcome: str = Field(description=OUTCOME)


class CommitShape(Shape):
    """The commit of a git repository that a version's files are of."""

    commit: Annotated[str, At("hash")] = Field(description="Its name in full.")
    subject: str
    repository: str = Field(description="Its https address; empty where it is not known.")
    dirty: bool = Field(description="Whether files were changed since that commit.")
    page: str = Field(description="Its page at the repository's forge; empty if none is known.")


class VersionShape(Shape):
    """An uploaded revision of a bot."""

    bot: Annotated[str, At("bot.name")]
    version: Annotated[int, At("number")]
    language: str
    size: Annotated[
        int, At(lambda one: one.size if one.files_bytes is None else one.files_bytes)
    ] = Field(description="Bytes of its files.")
    digest: Annotated[str, At("told_digest")] = Field(
        description="That of its bundle; empty in an anonymous competition."
    )
    note: str
    status: VersionStatus
    created: datetime
    options: Annotated[
        list[OptionShape] | None,
        At(lambda one: one.options and [*map(OptionShape.declared, one.options)]),
    ] = Field(description="What can be chosen about it; null if no check has asked it yet.")
    check: Annotated[LastCheck | None, At(lambda _: None)] = Field(
        description="Its last check; null if it has none."
    )
    commit: Annotated[CommitShape | None, At(lambda _: None)] = Field(
        description="For who may read its code; null to others, and where nobody said one."
    )

    @classmethod
    def with_checks(cls, session: Session, versions: Sequence[BotVersion]) -> list[Self]:
        """Versions, each with its last check and its commit."""
        checks = queries.checks_of_versions(session, versions)
        last = {one: LastCheck.of(its[0]) for one, its in checks.items()}
        told = {one.id: commit_of(one) for one in versions if may_read(one.bot)}
        commits = {one: its and CommitShape.of(its) for one, its in told.items()}
        return [
            cls.of(version, check=last.get(version.id), commit=commits.get(version.id))
            for version in versions
        ]


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

    number: Annotated[int, At("id")]
    page: Annotated[str, At(lambda one: page_of(one.id))] = Field(description=PAGE)
    outcome: str = Field(description=OUTCOME)
    bot: Annotated[str, At("version.bot.name")]
    version: Annotated[int, At("version.number")]
    ladder: Annotated[str, At("ladder.name")]
    enters: bool = Field(description="Whether the version is to enter; if not, it is only tried.")
    status: JobStatus
    passed: Annotated[
        bool | None, At(lambda one: one.passed if one.status is JobStatus.FIXED else None)
    ] = Field(
        description="Null if nothing was found yet, or never will be: see status, and cancelled."
    )
    fate: Annotated[
        Literal["entered", "to be tested", "not entered"] | None, At(lambda _: None)
    ] = Field(
        description="What became of the version by it on the ladder; null if it has not passed."
    )
    test: Annotated[int | None, At(lambda _: None)] = Field(
        description="The strength test that it is to pass before it enters."
    )
    cancelled: str = Field(description="Why nothing is to come of it; empty if something is.")
    findings: Annotated[
        list[FindingShape], At(lambda one: [FindingShape(**each) for each in one.findings])
    ]
    log: str
    problem: str = Field(description="Why it could not be tried, is void, or entered nothing.")
    waits: Annotated[str, At(lambda _: "")] = Field(
        description="Why no worker is given it though it is open; empty if the next one is."
    )
    created: datetime


class CheckList(List):
    items: list[CheckShape]
