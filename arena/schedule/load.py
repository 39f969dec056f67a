"""The jobs that wait to be issued, and how much is under way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.ground.locks import locking
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Check,
    Competition,
    Entrant,
    JobStatus,
    Ladder,
    Match,
    Place,
    Question,
    Runtime,
    Sitting,
    SittingSeat,
    User,
)
from arena.schedule.builds import BUILT, SINCE, UNTIL, lately
from arena.schedule.jobs import Leased
from arena.schedule.needs import Needs, is_any, needs_of
from engine import jobs
from engine.shelf import Missing

ATTENDANCE = timedelta(seconds=60)
"""How long after a person's last move the next one may come at any moment."""
ASKED = Match.requester_id.is_not(None)
TURN_SECONDS = 1.0
"""Matches that are shorter go to a worker several at a time, as many as take so long."""
SHORTEST_TURN = 1 / jobs.MOST_MATCHES
"""What a match is said to take at least, however short it is."""


@dataclass(slots=True)
class Load:
    """How much there is to do for workers, and how much they have.

    What they have is counted in turns: a job is one, and so are several matches that are short.
    """

    moves: int
    checks: int
    open_moves: int
    open_checks: int
    open_questions: int
    somebody_plays: bool
    """Whether a person is in the middle of a game against bots."""
    questions: int = 0
    matches: float = 0.0
    """Turns, those of matches on request included."""
    requests: float = 0.0
    """Turns of matches on request."""
    open_matches: int = 0
    open_requests: int = 0
    by_needs: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Turns of matches by what they need, in words (`arena.schedule.needs`)."""
    by_competition: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    """Turns of matches by the ids of their competitions."""
    by_platforms: defaultdict[tuple[str, frozenset[str]], float] = field(
        default_factory=lambda: defaultdict(float)
    )
    """Those of matches of bots with runtimes, by what they need and what those are made for."""
    _turns: dict[int, float] = field(default_factory=dict)

    @classmethod
    def read(cls, session: Session, now: datetime) -> Load:
        """How much there is at this moment."""
        load = cls(
            *session.execute(_LOAD, {"since": now - ATTENDANCE, "until": now + ATTENDANCE}).one()
        )
        for competition, issued, asked, asked_issued, under_way in session.execute(_MATCHES):
            turn = load._turn(competition, under_way)
            load.matches += turn * issued
            load.by_needs[needs_of(competition).words] += turn * issued
            load.by_competition[competition.id] += turn * issued
            load.requests += turn * asked_issued
            load.open_requests += asked - asked_issued
            load.open_matches += under_way - issued - (asked - asked_issued)
        made_for: defaultdict[tuple[int, Competition], set[str]] = defaultdict(set)
        for match, competition, platform in session.execute(_WITH_RUNTIMES):
            made_for[match, competition].add(platform)
        for (_, competition), platforms in made_for.items():
            key = needs_of(competition).words, frozenset(platforms)
            load.by_platforms[key] += load._turn(competition, under_way=1)
        return load

    def add(self, job: Leased, platforms: frozenset[str] = frozenset()) -> float:
        """Counts a job that was just issued, and says what part of a turn it takes.

        A match that is issued again has a turn of its own: it may be what ended the process that
        played it, and others with it.

        Args:
            platforms: what the runtimes of its bots are made for, if it is a match.
        """
        if isinstance(job, Match):
            turn = self._turn(job.competition, under_way=1) if job.attempt == 1 else 1.0
            self.matches += turn
            words = needs_of(job.competition).words
            self.by_needs[words] += turn
            self.by_competition[job.competition.id] += turn
            if platforms:
                self.by_platforms[words, platforms] += turn
            self.requests += turn if job.requester_id else 0.0
            return turn
        if isinstance(job, Check):
            self.checks += 1
        elif isinstance(job, Question):
            self.questions += 1
        else:
            self.moves += 1
        return 1.0

    def _turn(self, competition: Competition, under_way: int) -> float:
        """What part of a turn a match of a competition takes: all of it if it is long.

        Args:
            under_way: as `Competition.match_seconds` takes it, when this is first asked.
        """
        if competition.id not in self._turns:
            part = competition.match_seconds(under_way) / TURN_SECONDS
            self._turns[competition.id] = min(1.0, max(SHORTEST_TURN, part))
        return self._turns[competition.id]


def _count(
    kind: type[Match] | type[Check] | type[Sitting] | type[Question], status: JobStatus
) -> sa.ScalarSelect[int]:
    """How many jobs there are of a kind, those of home workers left out, which take no slot."""
    query = sa.select(sa.func.count()).select_from(kind).where(kind.status == status)
    if issubclass(kind, Match | Check):
        query = query.where(~kind.at_home)
    return query.scalar_subquery()


_LOAD = sa.select(
    _count(Sitting, JobStatus.ISSUED),
    _count(Check, JobStatus.ISSUED),
    _count(Sitting, JobStatus.OPEN),
    _count(Check, JobStatus.OPEN),
    _count(Question, JobStatus.OPEN),
    sa.exists().where(Sitting.finished.is_(None), Sitting.moved.between(SINCE, UNTIL)),
    _count(Question, JobStatus.ISSUED),
)
"""The first fields of a load."""
_ISSUED = Match.status == JobStatus.ISSUED
_COUNTS = (
    sa.select(
        Match.competition_id,
        sa.func.count().filter(_ISSUED).label("issued"),
        sa.func.count().filter(ASKED).label("asked"),
        sa.func.count().filter(ASKED, _ISSUED).label("asked_issued"),
        sa.func.count().label("under_way"),
    )
    .where(Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]), ~Match.at_home)
    .group_by(Match.competition_id)
    .subquery()
)
_MATCHES = sa.select(
    Competition, _COUNTS.c.issued, _COUNTS.c.asked, _COUNTS.c.asked_issued, _COUNTS.c.under_way
).join(_COUNTS, _COUNTS.c.competition_id == Competition.id)
"""The matches that are to be played, by their competitions."""


_WITH_RUNTIMES = (
    sa.select(Match.id, Competition, Runtime.platform)
    .join(Competition, Competition.id == Match.competition_id)
    .join(Place, Place.match_id == Match.id)
    .join(Entrant, Entrant.id == Place.entrant_id)
    .join(BotVersion, BotVersion.id == Entrant.version_id)
    .join(Runtime, Runtime.id == BotVersion.runtime_id)
    .where(_ISSUED)
)
"""The matches under way of bots with runtimes, and what those are made for."""

_BEYOND: sa.BindParameter[int] = sa.bindparam("ladders", expanding=True)
"""The ladders out of reach; `_LOST` are the runtimes."""
_LOST: sa.BindParameter[int] = sa.bindparam("runtimes", expanding=True)
_EARLIER, _ITS_LADDER = aliased(Check), aliased(Ladder)
_IS_FIRST = ~(
    sa.select(_EARLIER.id)
    .join(_ITS_LADDER, _ITS_LADDER.id == _EARLIER.ladder_id)
    .where(
        _EARLIER.version_id == Check.version_id,
        _ITS_LADDER.game == Ladder.game,
        _EARLIER.status.in_([JobStatus.OPEN, JobStatus.ISSUED]),
        _EARLIER.id < Check.id,
        _EARLIER.ladder_id.not_in(_BEYOND),
    )
    .exists()
)
_OF_ITS_OWNER = sa.select(Bot.person_id.label("person_id")).join(
    BotVersion, BotVersion.bot_id == Bot.id
)
_OF_ITS_OWNER = _OF_ITS_OWNER.join(Check, Check.version_id == BotVersion.id)
_BUSY = _OF_ITS_OWNER.where(Check.status == JobStatus.ISSUED)
_SERVED = (
    _OF_ITS_OWNER.add_columns(sa.func.max(Check.ended).label("last"))
    .where(Check.ended.between(SINCE, UNTIL))
    .group_by(Bot.person_id)
    .subquery()
)
"""Whose bots were checked lately, and when the last was."""
_WAITING = (
    sa.select(
        Check.id,
        Bot.person_id.label("person_id"),
        (User.name == HOUSE).label("is_of_the_house"),
        sa.func.row_number().over(partition_by=Bot.person_id, order_by=Check.id).label("place"),
    )
    .join(Check.ladder)
    .join(Check.version)
    .join(BotVersion.bot)
    .join(Bot.owner)
    .where(
        Check.status == JobStatus.OPEN,
        ~Check.at_home,
        Check.ladder_id.not_in(_BEYOND),
        sa.func.coalesce(BotVersion.runtime_id, 0).not_in(_LOST),
        _IS_FIRST,
    )
    .subquery()
)
_OPEN_CHECKS = (
    sa.select(Check)
    .join(_WAITING, _WAITING.c.id == Check.id)
    .outerjoin(_SERVED, _SERVED.c.person_id == _WAITING.c.person_id)
    .outerjoin(BUILT, BUILT.c.person_id == _WAITING.c.person_id)
    .where(
        sa.or_(
            _WAITING.c.is_of_the_house,
            sa.and_(
                _WAITING.c.place == 1,
                _WAITING.c.person_id.not_in(_BUSY),
                sa.bindparam("budget", type_=sa.Double()) > sa.func.coalesce(BUILT.c.seconds, 0.0),
            ),
        )
    )
    .order_by(_WAITING.c.is_of_the_house, _SERVED.c.last.nulls_first(), Check.id)
)
"""The checks that can be issued, in their order. Written once: it is asked for all the time, and
what SQLAlchemy takes to put it together is more than what the database takes to answer."""


Met = Collection[Needs] | None
"""The needs of which there is to be something; None for all."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What somebody can play now of all that waits."""

    met: Met
    platforms: Collection[str] | None
    """The platforms of which somebody keeps runtimes; None if no bot with one waits for anybody."""

    def beyond(self, session: Session) -> dict[str, list[int]]:
        """The ladders with open checks, and the runtimes, that are out of reach."""
        query = sa.select(Ladder).where(
            Ladder.id.in_(sa.select(Check.ladder_id).where(Check.status == JobStatus.OPEN))
        )
        ladders = [
            one.id
            for one in session.scalars(query)
            if isinstance(one.variant, Missing)
            or (self.met is not None and needs_of(one).but_the_clock not in self.met)
        ]
        if self.platforms is None:
            return {"ladders": ladders, "runtimes": []}
        lost = sa.select(Runtime.id).where(Runtime.platform.not_in(self.platforms))
        return {"ladders": ladders, "runtimes": list(session.scalars(lost))}

    @property
    def versions(self) -> sa.Select[int] | None:
        """The versions of bots that are out of reach; None if there are none."""
        if self.platforms is None:
            return None
        return (
            sa.select(BotVersion.id)
            .join(Runtime, Runtime.id == BotVersion.runtime_id)
            .where(Runtime.platform.not_in(self.platforms))
        )


def open_moves(session: Session, count: int, reach: Reach) -> Sequence[Sitting]:
    """The sittings in which a bot's move is due, who waits longest first."""
    if count <= 0:
        return []
    waiting = sa.select(Sitting).where(Sitting.status == JobStatus.OPEN)
    if reach.met is not None:
        waiting = waiting.where(Sitting.ladder.has(is_any(Ladder, reach.met)))
    if (beyond := reach.versions) is not None:
        seats = sa.exists().where(SittingSeat.sitting_id == Sitting.id)
        waiting = waiting.where(~seats.where(SittingSeat.version_id.in_(beyond)))
    first = waiting.order_by(Sitting.moved).limit(count)
    return session.scalars(locking(first, Sitting)).all()


_OF_EACH = (
    sa.select(
        Question.id,
        sa.func.row_number()
        .over(partition_by=Question.user_id, order_by=(Question.asked_ms, Question.id))
        .label("place"),
    )
    .where(Question.status == JobStatus.OPEN)
    .subquery()
)
"""The questions that wait, of each person the short ones first."""


def open_questions(session: Session, count: int, reach: Reach) -> Sequence[Question]:
    """The next questions to bots, one of each person before a second of anybody."""
    if count <= 0:
        return []
    waiting = sa.select(Question).join(_OF_EACH, _OF_EACH.c.id == Question.id)
    waiting = waiting.where(Question.status == JobStatus.OPEN)
    if reach.met is not None:
        waiting = waiting.where(Question.ladder.has(is_any(Ladder, reach.met)))
    if (beyond := reach.versions) is not None:
        waiting = waiting.where(Question.version_id.not_in(beyond))
    first = waiting.order_by(_OF_EACH.c.place, Question.id).limit(count)
    return session.scalars(first).all()


def open_matches(
    session: Session, count: int, which: sa.ColumnElement[bool], reach: Reach
) -> Iterator[Match]:
    """The open matches of a kind that come next, as long as more are asked for.

    Args:
        count: how many are wanted; so many are read at once.
    """
    if count <= 0:
        return
    waiting = _waiting(reach).where(which)
    last: int | None = 0
    while last is not None:
        more = waiting.where(Match.id > last).limit(count)
        # Who has one locked is making it void, and may wait for another that is being recorded.
        found = session.scalars(locking(more, Match, free=True)).all()
        last = found[-1].id if len(found) == count else None
        yield from found


_A_DAY = timedelta(hours=24)
_OF_ITS_REQUESTER = (
    sa.select(
        Match.id,
        sa.func.row_number().over(partition_by=Match.requester_id, order_by=Match.id).label("turn"),
    )
    .where(ASKED, Match.created.between(SINCE, UNTIL))
    .subquery()
)
"""The requests of the last day, played or not, each by which of its requester's it is."""
_REQUESTS_IN_TURN = (
    sa.select(Match.id)
    .outerjoin(_OF_ITS_REQUESTER, _OF_ITS_REQUESTER.c.id == Match.id)
    .where(ASKED, Match.status == JobStatus.OPEN, ~Match.at_home)
    .order_by(sa.func.coalesce(_OF_ITS_REQUESTER.c.turn, 0), Match.id)
)


def open_requests(
    session: Session, count: int, which: sa.ColumnElement[bool], reach: Reach, now: datetime
) -> Iterator[Match]:
    """The open matches on request that come next, as long as more are asked for.

    They go round by who asked: the first of a day of each before the second of anybody, so that
    nobody's heap of requests is in front of another's. What has waited for longer is before all.

    Args:
        count: how many are wanted; so many are read at once.
    """
    if count <= 0:
        return
    lately = {"since": now - _A_DAY, "until": now + _A_DAY}
    ids = session.scalars(_REQUESTS_IN_TURN, lately).all()
    for first in range(0, len(ids), count):
        its = _waiting(reach).where(which, Match.id.in_(ids[first : first + count]))
        yield from session.scalars(locking(its, Match, free=True)).all()


def _waiting(reach: Reach) -> sa.Select[Match]:
    """The open matches that somebody can play now."""
    waiting = sa.select(Match).where(Match.status == JobStatus.OPEN, ~Match.at_home)
    if reach.met is not None:
        waiting = waiting.where(Match.competition.has(is_any(Competition, reach.met, matches=True)))
    if (beyond := reach.versions) is not None:
        theirs = Place.entrant.has(Entrant.version_id.in_(beyond))
        waiting = waiting.where(~Match.places.any(theirs))
    return waiting


def open_at_home(
    session: Session, versions: Collection[int], which: sa.ColumnElement[bool]
) -> Sequence[Check | Match]:
    """The open checks of some versions at home, and the open matches with them of a kind."""
    is_open = Check.status == JobStatus.OPEN, Check.at_home, Check.version_id.in_(versions)
    checks = session.scalars(locking(sa.select(Check).where(*is_open), Check, free=True)).all()
    its = Match.places.any(Place.entrant.has(Entrant.version_id.in_(versions)))
    waiting = sa.select(Match).where(Match.status == JobStatus.OPEN, Match.at_home, its, which)
    matches = session.scalars(locking(waiting, Match, free=True)).all()
    return [*checks, *matches]


def open_checks(
    session: Session, count: int, reach: Reach, build_seconds: float, now: datetime
) -> Sequence[Check]:
    """The next open checks, people's bots first.

    They go round by owner: one check of each is issued at a time, and next is whose last one was
    longest ago, so that nobody's heap of uploads or slow builds is in front of another's bot. Of
    one version and game only the first is issued, which speaks for all. What is out of reach is in
    nobody's way.

    Args:
        build_seconds: the builds of one owner within an hour, after which the next waits; 0 for
            as many as there are.
    """
    if count <= 0:
        return []
    limits = {**lately(now), "budget": build_seconds or inf, **reach.beyond(session)}
    return session.scalars(_OPEN_CHECKS.limit(count), limits).all()
