"""What the pages of bots, matches and games show, with a fixed number of statements a page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, defer, joinedload, selectinload, undefer
from sqlalchemy.orm.strategy_options import _AbstractLoad

from arena.competitions.players import handed_in
from arena.formats.score import Score
from arena.ground.config import Settings
from arena.ground.db import is_lately
from arena.ground.numbered_pages import Page, page_of
from arena.models import (
    ALIVE_SECONDS,
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    Entrant,
    GameDayCount,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    Place,
    PlayedGame,
    StrengthTest,
    TestVerdict,
    Worker,
)
from arena.schedule.idle import why_idle, why_it_waits
from arena.web.permissions import owns

RUNNING_SHOWN = 20
"""How many of the running matches pages list."""


_LATER = aliased(Ladder)
_IS_PAST = sa.exists().where(_LATER.series_id == Ladder.series_id, _LATER.season > Ladder.season)
_MADE = sa.func.coalesce(Ladder.series_id, Ladder.id)


def ladders(session: Session) -> list[Ladder]:
    """Every ladder, the first made first; of one that began again the last season."""
    return list(session.scalars(sa.select(Ladder).where(~_IS_PAST).order_by(_MADE)))


def page_of_ladders(session: Session, page: int) -> Page[Ladder]:
    """A page of them, from 1, game by game."""
    return page_of(session, sa.select(Ladder).where(~_IS_PAST), (Ladder.game, _MADE), page)


def main_ladders(session: Session) -> list[Ladder]:
    """The ladder that stands for each game: an open one, with most games of these."""
    order = Ladder.state != CompetitionState.OPEN, Ladder.games.desc(), Ladder.id
    place = sa.func.row_number().over(partition_by=Ladder.game, order_by=order)
    placed = sa.select(Ladder.id, place.label("place")).where(~_IS_PAST).subquery()
    first = sa.select(placed.c.id).where(placed.c.place == 1)
    return list(session.scalars(sa.select(Ladder).where(Ladder.id.in_(first)).order_by(_MADE)))


def living_workers(session: Session, now: datetime) -> int:
    """How many workers gave a sign of life."""
    recent = is_lately(Worker.last_seen, timedelta(seconds=ALIVE_SECONDS), now)
    query = sa.select(sa.func.count()).select_from(Worker).where(recent)
    return session.scalar(query) or 0


def running_matches(session: Session, *, ladder: Competition | None = None) -> list[Match]:
    """The matches that a worker plays now, the last begun first."""
    query = (
        sa.select(Match)
        .where(Match.status == JobStatus.ISSUED, Match.worker.is_not(None))
        .order_by(Match.id.desc())
        .limit(RUNNING_SHOWN)
        .options(joinedload(Match.competition), places())
    )
    if ladder is not None:
        # The sum keeps SQLite from looking through all matches that the ladder ever had; those
        # that are issued are few.
        query = query.where(Match.competition_id + 0 == ladder.id)
    return list(session.scalars(query))


def happening(
    session: Session, competition: Competition, settings: Settings, now: datetime
) -> tuple[list[Match], str | None]:
    """The matches of a competition that are played now, and why none is; None if one is."""
    running = running_matches(session, ladder=competition)
    return running, None if running else why_idle(session, competition, settings, now)


def why_waiting(session: Session, match: Match, settings: Settings) -> str | None:
    """Why no worker is given a match, in a sentence; None if none waits for it, or any may."""
    if match.status is not JobStatus.OPEN:
        return None
    return why_it_waits(session, match, settings, datetime.now(UTC))


def places() -> _AbstractLoad:
    """What loads with matches who plays in them."""
    return named(selectinload(Match.places).joinedload(Place.entrant))


def _seats() -> _AbstractLoad:
    return named(selectinload(PlayedGame.seats).joinedload(GameSeat.entrant))


def named(entrant: _AbstractLoad) -> _AbstractLoad:
    """What loads with entrants what they are called, who may look into them, and no more."""
    its = Entrant.version_id, Entrant.options, Entrant.own_time, Entrant.own_threads
    version = entrant.load_only(*its).joinedload(Entrant.version)
    bot = version.load_only(BotVersion.number, BotVersion.bot_id).joinedload(BotVersion.bot)
    return bot.load_only(Bot.name, Bot.owner_id, Bot.open_source)


def _where() -> _AbstractLoad:
    """What loads with games the names of their competitions."""
    return joinedload(PlayedGame.competition).load_only(Competition.name, Competition.title)


def _fate() -> _AbstractLoad:
    """What loads with games what became of their matches."""
    fate = (Match.status, Match.problem, Match.requester_id, Match.competition_id)
    return joinedload(PlayedGame.match).load_only(*fate)


def _games(ids: sa.Select[int] | Sequence[int]) -> sa.Select[PlayedGame]:
    """Games with their seats, the last first."""
    return (
        sa.select(PlayedGame)
        .where(PlayedGame.id.in_(ids))
        .order_by(PlayedGame.id.desc())
        .options(_where(), _fate(), _seats())
    )


def games_by_id(session: Session, ids: Sequence[int]) -> list[PlayedGame]:
    """Some games with their seats, the last first."""
    return list(session.scalars(_games(ids)))


def games_in_order(session: Session, ids: Sequence[int]) -> list[PlayedGame]:
    """Some games with their seats and openings, in the order of these numbers."""
    fate = (Match.status, Match.problem, Match.requester_id, Match.competition_id)
    match = joinedload(PlayedGame.match).load_only(*fate, Match.options, Match.opening)
    query = sa.select(PlayedGame).where(PlayedGame.id.in_(ids))
    query = query.options(joinedload(PlayedGame.competition), match, _seats())
    found = {game.id: game for game in session.scalars(query)}
    return [found[number] for number in ids]


def latest_games(session: Session, ladder: Ladder, *, count: int) -> list[PlayedGame]:
    """The games of a ladder that ended last."""
    last = sa.select(PlayedGame.id).where(PlayedGame.competition_id == ladder.id)
    return list(session.scalars(_games(last.order_by(PlayedGame.id.desc()).limit(count))))


def latest_of_each(session: Session, *, count: int) -> list[PlayedGame]:
    """The last games of ladders, from as many of them as can be."""
    query = sa.select(Ladder.id).where(~_IS_PAST, Ladder.last_game.is_not(None))
    lively = session.scalars(query.order_by(Ladder.last_game.desc(), _MADE).limit(count)).all()
    if not lively:
        return []
    parts = [
        sa.select(PlayedGame.id)
        .where(PlayedGame.competition_id == ladder)
        .order_by(PlayedGame.id.desc())
        .limit(max(1, count // len(lively)))
        .subquery()
        for ladder in lively
    ]
    ids = session.scalars(sa.union_all(*(sa.select(part) for part in parts))).all()
    return list(session.scalars(_games(ids)))


def games_of_day(session: Session, day: datetime) -> dict[str, int]:
    """How many games by the rules of each game ended on a day, in UTC."""
    query = sa.select(GameDayCount.game, GameDayCount.games)
    rows = session.execute(query.where(GameDayCount.day == day.toordinal()))
    return {row.game: row.games for row in rows}


def versions_to_see(bot: Bot) -> sa.ColumnElement[bool]:
    """The condition that a version is a bot's, and for who asks to see; those that were only tried
    are its owners' alone."""
    its = BotVersion.bot_id == bot.id
    return its if owns(bot) else sa.and_(its, handed_in())


def entrants_of_bot(session: Session, bot: Bot) -> list[Entrant]:
    """A bot's entrants on all ladders, ladder by ladder, newest version first; those that were only
    tried there for its owners alone."""
    return list(
        session.scalars(
            sa.select(Entrant)
            .join(Entrant.version)
            .join(Entrant.competition)
            .where(versions_to_see(bot), Competition.kind == "ladder")
            .where(sa.true() if owns(bot) else ~Entrant.is_tried)
            .order_by(Entrant.competition_id, BotVersion.number.desc())
            .options(joinedload(Entrant.competition), joinedload(Entrant.version))
        )
    )


def versions_of_bot(session: Session, bot: Bot) -> list[tuple[BotVersion, list[Check]]]:
    """A bot's versions that are for who asks to see, newest first, each with its checks, the last
    one first."""
    versions = session.scalars(
        sa.select(BotVersion).where(versions_to_see(bot)).order_by(BotVersion.number.desc())
    ).all()
    checks = checks_of_versions(session, versions)
    return [(version, checks.get(version.id, [])) for version in versions]


def checks_of_versions(session: Session, versions: Sequence[BotVersion]) -> dict[int, list[Check]]:
    """The checks of some versions without their logs, by the versions' ids, the last one first."""
    of_them = sa.select(Check).where(Check.version_id.in_([version.id for version in versions]))
    of_them = of_them.options(defer(Check.log), joinedload(Check.ladder)).order_by(Check.id.desc())
    found: dict[int, list[Check]] = {}
    for check in session.scalars(of_them):
        found.setdefault(check.version_id, []).append(check)
    return found


def tests_waited_for(session: Session, bot: Bot) -> dict[int, list[StrengthTest]]:
    """The running tests that versions of a bot are to pass before they enter, by their numbers."""
    rows = session.execute(
        sa.select(BotVersion.number, StrengthTest)
        .select_from(Entrant)
        .join(StrengthTest, StrengthTest.id == Entrant.competition_id)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .where(
            BotVersion.bot_id == bot.id,
            Entrant.number == 1,
            StrengthTest.ladder_id.is_not(None),
            StrengthTest.verdict == TestVerdict.RUNNING,
        )
        .order_by(StrengthTest.id)
    )
    found: dict[int, list[StrengthTest]] = {}
    for number, test in rows:
        found.setdefault(number, []).append(test)
    return found


def games_of_entrant(session: Session, entrant: Entrant, *, count: int) -> list[PlayedGame]:
    """The last games of an entrant."""
    recent = (
        sa.select(GameSeat.game_id)
        .where(GameSeat.entrant_id == entrant.id)
        .distinct()
        .order_by(GameSeat.game_id.desc())
        .limit(count)
    )
    return list(session.scalars(_games(recent)))


def match(session: Session, number: int) -> Match | None:
    """A match with its places and games."""
    return session.scalar(
        sa.select(Match)
        .where(Match.id == number)
        .options(
            joinedload(Match.competition), places(), selectinload(Match.games).options(_seats())
        )
    )


def game(session: Session, number: int) -> PlayedGame | None:
    """A game with its record and seats, and the other games of its match."""
    return session.scalar(
        sa.select(PlayedGame)
        .where(PlayedGame.id == number)
        .options(
            undefer(PlayedGame.record),
            joinedload(PlayedGame.competition),
            joinedload(PlayedGame.match).selectinload(Match.games).options(_seats()),
            _seats(),
        )
    )


def scores_against(session: Session, entrants: Collection[int]) -> dict[int, Score]:
    """What some entrants together did against everybody else, by the ids of the others."""
    meetings = session.execute(
        sa.select(
            Meeting.first_id, Meeting.second_id, Meeting.games, Meeting.wins, Meeting.draws
        ).where(
            sa.or_(Meeting.first_id.in_(entrants), Meeting.second_id.in_(entrants)),
            Meeting.games > 0,
        )
    )
    found: dict[int, Score] = {}
    for row in meetings:
        rival = row.second_id if row.first_id in entrants else row.first_id
        found[rival] = found.get(rival, Score()) + score_in(row, entrants)
    return found


def score_in(meeting: sa.Row[*tuple[Any, ...]], entrants: Collection[int]) -> Score:
    """What the one of two that is among some entrants did in the counts of their meeting."""
    score = Score(meeting.wins, meeting.draws, meeting.games - meeting.wins - meeting.draws)
    return score if meeting.first_id in entrants else score.turned
