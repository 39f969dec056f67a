"""What the pages of bots, matches and games show, with a fixed number of statements a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import NormalDist

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload, selectinload, undefer
from sqlalchemy.orm.strategy_options import _AbstractLoad

from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionKind,
    Entrant,
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
from arena.ratings.trueskill import SIGMA, Rating
from arena.web.charts import RatedGame
from arena.workforce import ALIVE_SECONDS

RUNNING_SHOWN = 20
"""Of the matches that run, pages list so many."""
SPLIT_GAMES = 500
"""Openings are told apart in so many of an entrant's last games."""
OPENINGS_SHOWN = 10


def ladders(session: Session) -> list[Ladder]:
    """Every ladder, the first made first."""
    return list(session.scalars(sa.select(Ladder).order_by(Ladder.id)))


def living_workers(session: Session, now: datetime) -> int:
    """How many workers gave a sign of life."""
    recent = now - timedelta(seconds=ALIVE_SECONDS)
    query = sa.select(sa.func.count()).select_from(Worker).where(Worker.last_seen >= recent)
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


def places() -> _AbstractLoad:
    """With matches: who plays in them."""
    entrant = selectinload(Match.places).joinedload(Place.entrant)
    return entrant.joinedload(Entrant.version).joinedload(BotVersion.bot)


def _seats() -> _AbstractLoad:
    entrant = selectinload(PlayedGame.seats).joinedload(GameSeat.entrant)
    return entrant.joinedload(Entrant.version).joinedload(BotVersion.bot)


def with_seats() -> sa.Select[PlayedGame]:
    """Games with their seats."""
    return sa.select(PlayedGame).options(joinedload(PlayedGame.competition), _seats())


def _games(ids: sa.Select[int] | Sequence[int]) -> sa.Select[PlayedGame]:
    """Games with their seats, the last first."""
    return (
        sa.select(PlayedGame)
        .where(PlayedGame.id.in_(ids))
        .order_by(PlayedGame.id.desc())
        .options(joinedload(PlayedGame.competition), joinedload(PlayedGame.match), _seats())
    )


def games_by_id(session: Session, ids: Sequence[int]) -> list[PlayedGame]:
    """Some games with their seats, the last first."""
    return list(session.scalars(_games(ids)))


def latest_games(session: Session, ladder: Ladder, *, count: int) -> list[PlayedGame]:
    """The games of a ladder that ended last."""
    last = sa.select(PlayedGame.id).where(PlayedGame.competition_id == ladder.id)
    return list(session.scalars(_games(last.order_by(PlayedGame.id.desc()).limit(count))))


def latest_of_each(session: Session, shown: Sequence[Ladder], *, count: int) -> list[PlayedGame]:
    """The last games of some ladders, from as many of them as can be."""
    played = [ladder for ladder in shown if ladder.last_game is not None]
    if not played:
        return []
    lively = sorted(played, key=lambda ladder: str(ladder.last_game), reverse=True)[:count]
    parts = [
        sa.select(PlayedGame.id)
        .where(PlayedGame.competition_id == ladder.id)
        .order_by(PlayedGame.id.desc())
        .limit(max(1, count // len(lively)))
        .subquery()
        for ladder in lively
    ]
    ids = session.scalars(sa.union_all(*(sa.select(part) for part in parts))).all()
    return list(session.scalars(_games(ids)))


@dataclass(frozen=True, slots=True)
class Opponent:
    """What an entrant did against another."""

    entrant: Entrant
    games: int
    wins: int
    draws: int
    expected: float
    """The score a game that the present ratings would expect of two sides."""

    @property
    def losses(self) -> int:
        """Games in which it ranked behind."""
        return self.games - self.wins - self.draws

    @property
    def score(self) -> float:
        """Points a game, from 0 to 1."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def surprise(self) -> float:
        """How far the score is from what was expected, in standard errors of so many games."""
        spread = max(self.expected * (1 - self.expected), 0.01) / self.games
        return float(abs(self.score - self.expected) / spread**0.5)


def entrants_of_bot(session: Session, bot: Bot) -> list[Entrant]:
    """A bot's entrants on all ladders, ladder by ladder, newest version first."""
    return list(
        session.scalars(
            sa.select(Entrant)
            .join(Entrant.version)
            .join(Entrant.competition)
            .where(BotVersion.bot_id == bot.id, Competition.kind == CompetitionKind.LADDER)
            .order_by(Entrant.competition_id, BotVersion.number.desc())
            .options(joinedload(Entrant.competition), joinedload(Entrant.version))
        )
    )


def versions_of_bot(session: Session, bot: Bot) -> list[tuple[BotVersion, Check | None]]:
    """A bot's versions, newest first, each with its last check."""
    versions = session.scalars(
        sa.select(BotVersion).where(BotVersion.bot_id == bot.id).order_by(BotVersion.number.desc())
    ).all()
    of_them = sa.select(Check).where(Check.version_id.in_([version.id for version in versions]))
    checks = {check.version_id: check for check in session.scalars(of_them.order_by(Check.id))}
    return [(version, checks.get(version.id)) for version in versions]


def tests_waited_for(session: Session, bot: Bot) -> dict[int, list[StrengthTest]]:
    """The running tests that versions of a bot are to pass before they enter a ladder."""
    rows = session.execute(
        sa.select(Entrant.version_id, StrengthTest)
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
    for version_id, test in rows:
        found.setdefault(version_id, []).append(test)
    return found


def opponents(session: Session, entrant: Entrant) -> list[Opponent]:
    """Whom an entrant met, the most surprising first."""
    other = sa.case((Meeting.first_id == entrant.id, Meeting.second_id), else_=Meeting.first_id)
    rows = session.execute(
        sa.select(Meeting, Entrant)
        .join(Entrant, Entrant.id == other)
        .where(
            sa.or_(Meeting.first_id == entrant.id, Meeting.second_id == entrant.id),
            Meeting.games > 0,
        )
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    )
    found = []
    for meeting, rival in rows:
        losses = meeting.games - meeting.wins - meeting.draws
        wins = meeting.wins if meeting.first_id == entrant.id else losses
        found.append(Opponent(rival, meeting.games, wins, meeting.draws, _expected(entrant, rival)))
    return sorted(found, key=lambda opponent: (-opponent.surprise, opponent.entrant.id))


def _expected(entrant: Entrant, rival: Entrant) -> float:
    """The probability that one performs better than the other (Herbrich et al., 2007)."""
    spread = (2 * (SIGMA / 2) ** 2 + entrant.sigma**2 + rival.sigma**2) ** 0.5
    return NormalDist().cdf((entrant.mu - rival.mu) / spread)


@dataclass(frozen=True, slots=True)
class SeatSplit:
    """What an entrant did in one seat."""

    seat: int
    games: int
    score: float
    """Points a game, from 0 to 1."""
    cpu_ms: float
    """CPU time a game."""
    move_ms: float
    """CPU time a move, as if each seat had the same share of a game's plies."""


def splits_by_seat(session: Session, entrant: Entrant) -> list[SeatSplit]:
    """What an entrant did in each seat that it ever had."""
    rows = session.execute(
        sa.select(
            GameSeat.seat,
            sa.func.count(),
            sa.func.avg(GameSeat.points),
            sa.func.sum(GameSeat.cpu_us),
            sa.func.sum(PlayedGame.plies),
        )
        .join(PlayedGame, PlayedGame.id == GameSeat.game_id)
        .where(GameSeat.entrant_id == entrant.id, GameSeat.mu_after.is_not(None))
        .group_by(GameSeat.seat)
        .order_by(GameSeat.seat)
    )
    seats = entrant.competition.variant.seats
    return [
        SeatSplit(
            seat, games, score, float(us) / 1000 / games, float(us) / 1000 * seats / max(plies, 1)
        )
        for seat, games, score, us, plies in rows
    ]


@dataclass(frozen=True, slots=True)
class OpeningSplit:
    """What an entrant did from one opening."""

    moves: tuple[str, ...]
    games: int
    score: float
    """Points a game, from 0 to 1."""


def splits_by_opening(session: Session, entrant: Entrant) -> list[OpeningSplit]:
    """What an entrant did lately from the openings that it had most often."""
    lately = (
        sa.select(GameSeat.game_id, GameSeat.points)
        .where(GameSeat.entrant_id == entrant.id, GameSeat.mu_after.is_not(None))
        .order_by(GameSeat.game_id.desc())
        .limit(SPLIT_GAMES)
        .subquery()
    )
    # As text, for PostgreSQL can't compare JSON.
    moves = sa.cast(Match.opening, sa.Text)
    games = sa.func.count()
    rows = session.execute(
        sa.select(moves, games, sa.func.avg(lately.c.points))
        .select_from(lately)
        .join(PlayedGame, PlayedGame.id == lately.c.game_id)
        .join(Match, Match.id == PlayedGame.match_id)
        .group_by(moves)
        .order_by(games.desc(), moves)
        .limit(OPENINGS_SHOWN)
    )
    return [OpeningSplit(tuple(json.loads(text)), count, score) for text, count, score in rows]


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


def history(session: Session, entrants: Sequence[Entrant], *, count: int = 500) -> list[RatedGame]:
    """The rating of a bot's versions on one ladder after each of their last games, in order."""
    versions = {entrant.id: entrant.version.number for entrant in entrants}
    rows = session.execute(
        sa.select(GameSeat.game_id, GameSeat.entrant_id, GameSeat.mu_after, GameSeat.sigma_after)
        .where(GameSeat.entrant_id.in_(versions), GameSeat.mu_after.is_not(None))
        .order_by(GameSeat.game_id.desc())
        .limit(count)
    ).all()
    return [
        RatedGame(versions[entrant_id], Rating(mu, sigma))
        for _, entrant_id, mu, sigma in reversed(rows)
        if mu is not None and sigma is not None
    ]


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
