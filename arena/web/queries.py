"""What the pages show, read from the database with a fixed number of statements a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    Place,
    PlayedGame,
    Worker,
)
from arena.ratings.trueskill import SIGMA, Rating
from arena.scheduling import ALIVE_SECONDS
from arena.tournaments.ladder import PLACEMENT_GAMES

TREND_GAMES = 30


@dataclass(frozen=True, slots=True)
class Line:
    """An entrant on the board of its ladder."""

    entrant: Entrant
    place: int | None
    """None while it is in placement or inactive."""
    trend: tuple[float, ...] = ()
    """Its display rating after each of its last games, oldest first."""
    against: tuple[int, int, int] | None = None
    """Its games against the picked bot: won, lost, drawn."""

    @property
    def rating(self) -> Rating:
        return Rating(self.entrant.mu, self.entrant.sigma)

    @property
    def score(self) -> float:
        """Points a game, from 0 to 1."""
        return self.entrant.points / self.entrant.games if self.entrant.games else 0.0

    @property
    def fault_share(self) -> float:
        """Faults a game."""
        return self.entrant.faults / self.entrant.games if self.entrant.games else 0.0


@dataclass(frozen=True, slots=True)
class Board:
    """A ladder's leaderboard."""

    ladder: Ladder
    ranked: tuple[Line, ...]
    placement: tuple[Line, ...]
    running: int


def ladders(session: Session) -> list[Ladder]:
    """Every ladder, by game, the first made first."""
    return list(session.scalars(sa.select(Ladder).order_by(Ladder.id)))


def leaders(session: Session) -> dict[int, Entrant]:
    """The best active entrant of each ladder, by its id."""
    place = sa.func.row_number().over(
        partition_by=Entrant.ladder_id, order_by=[(Entrant.mu - 3 * Entrant.sigma).desc()]
    )
    ranked = (
        sa.select(Entrant.id, place.label("place"))
        .where(Entrant.state == EntrantState.ACTIVE, Entrant.games > 0)
        .subquery()
    )
    first = (
        sa.select(Entrant)
        .join(ranked, ranked.c.id == Entrant.id)
        .where(ranked.c.place == 1)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    )
    return {entrant.ladder_id: entrant for entrant in session.scalars(first)}


def running_matches(session: Session, *, ladder_id: int | None = None) -> list[Match]:
    """The matches that a worker plays now."""
    query = (
        sa.select(Match)
        .where(Match.status == JobStatus.ISSUED, Match.worker.is_not(None))
        .order_by(Match.id.desc())
        .options(joinedload(Match.ladder), *_places())
    )
    if ladder_id is not None:
        query = query.where(Match.ladder_id == ladder_id)
    return list(session.scalars(query))


def _places() -> tuple[_AbstractLoad, ...]:
    entrant = selectinload(Match.places).joinedload(Place.entrant)
    return (entrant.joinedload(Entrant.version).joinedload(BotVersion.bot),)


def _seats() -> _AbstractLoad:
    entrant = selectinload(PlayedGame.seats).joinedload(GameSeat.entrant)
    return entrant.joinedload(Entrant.version).joinedload(BotVersion.bot)


def latest_games(
    session: Session, *, count: int, ladder_id: int | None = None, records: bool = False
) -> list[PlayedGame]:
    """The games that ended last."""
    query = (
        sa.select(PlayedGame)
        .order_by(PlayedGame.id.desc())
        .limit(count)
        .options(joinedload(PlayedGame.ladder), _seats())
    )
    if records:
        query = query.options(undefer(PlayedGame.record))
    if ladder_id is not None:
        query = query.where(PlayedGame.ladder_id == ladder_id)
    return list(session.scalars(query))


def board(session: Session, ladder: Ladder, *, picked: int | None = None) -> Board:
    """A ladder's leaderboard, by what is surely believed of each: mu - 3 sigma.

    Args:
        picked: an entrant; every line gains its games against it.
    """
    active = session.scalars(
        sa.select(Entrant)
        .where(Entrant.ladder_id == ladder.id, Entrant.state == EntrantState.ACTIVE)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot).joinedload(Bot.owner))
    ).all()
    trends = _trends(session, [entrant.id for entrant in active])
    against = _against(session, picked) if picked else {}
    ordered = sorted(active, key=lambda e: (-(e.mu - 3 * e.sigma), e.id))
    ranked = [entrant for entrant in ordered if entrant.games >= PLACEMENT_GAMES]
    placement = [entrant for entrant in ordered if entrant.games < PLACEMENT_GAMES]
    running = session.scalar(
        sa.select(sa.func.count())
        .select_from(Match)
        .where(
            Match.ladder_id == ladder.id,
            Match.status == JobStatus.ISSUED,
            Match.worker.is_not(None),
        )
    )

    def line(entrant: Entrant, place: int | None) -> Line:
        return Line(entrant, place, trends.get(entrant.id, ()), against.get(entrant.id))

    return Board(
        ladder,
        tuple(line(entrant, place) for place, entrant in enumerate(ranked, start=1)),
        tuple(line(entrant, None) for entrant in placement),
        running or 0,
    )


def _trends(session: Session, entrants: Sequence[int]) -> dict[int, tuple[float, ...]]:
    """The last display ratings of some entrants, in one statement that reads only those rows."""
    if not entrants:
        return {}
    found: dict[int, list[tuple[int, float]]] = {}
    # SQLite takes 500 parts of a union at most.
    for start in range(0, len(entrants), 200):
        parts = [
            sa.select(GameSeat.entrant_id, GameSeat.game_id, GameSeat.mu_after)
            .where(GameSeat.entrant_id == entrant)
            .order_by(GameSeat.game_id.desc())
            .limit(TREND_GAMES)
            .subquery()
            for entrant in entrants[start : start + 200]
        ]
        for row in session.execute(sa.union_all(*(sa.select(part) for part in parts))):
            found.setdefault(row[0], []).append((row[1], Rating(row[2]).display))
    return {entrant: tuple(rating for _, rating in sorted(rows)) for entrant, rows in found.items()}


def _against(session: Session, picked: int) -> dict[int, tuple[int, int, int]]:
    """Games of everyone against one entrant: won, lost, drawn, as they see it."""
    meetings = session.scalars(
        sa.select(Meeting).where(sa.or_(Meeting.first_id == picked, Meeting.second_id == picked))
    )
    found = {}
    for meeting in meetings:
        lost = meeting.games - meeting.wins - meeting.draws
        if meeting.first_id == picked:
            found[meeting.second_id] = (lost, meeting.wins, meeting.draws)
        else:
            found[meeting.first_id] = (meeting.wins, lost, meeting.draws)
    return found


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
        return self.games - self.wins - self.draws

    @property
    def score(self) -> float:
        """Points a game."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def surprise(self) -> float:
        """How far the score is from what was expected, in standard errors of so many games."""
        spread = max(self.expected * (1 - self.expected), 0.01) / self.games
        return float(abs(self.score - self.expected) / spread**0.5)


def entrants_of_bot(session: Session, bot: Bot) -> list[Entrant]:
    """A bot's entrants on all ladders, newest version first."""
    return list(
        session.scalars(
            sa.select(Entrant)
            .join(Entrant.version)
            .where(BotVersion.bot_id == bot.id)
            .order_by(BotVersion.number.desc(), Entrant.id)
            .options(joinedload(Entrant.ladder), joinedload(Entrant.version))
        )
    )


def versions_of_bot(session: Session, bot: Bot) -> list[tuple[BotVersion, Check | None]]:
    """A bot's versions, newest first, each with its last check."""
    versions = session.scalars(
        sa.select(BotVersion).where(BotVersion.bot_id == bot.id).order_by(BotVersion.number.desc())
    ).all()
    checks: dict[int, Check] = {}
    for check in session.scalars(
        sa.select(Check)
        .where(Check.version_id.in_([version.id for version in versions]))
        .order_by(Check.id)
    ):
        checks[check.version_id] = check
    return [(version, checks.get(version.id)) for version in versions]


def opponents(session: Session, entrant: Entrant) -> list[Opponent]:
    """Whom an entrant met, the most surprising first."""
    other = sa.case((Meeting.first_id == entrant.id, Meeting.second_id), else_=Meeting.first_id)
    rows = session.execute(
        sa.select(Meeting, Entrant)
        .join(Entrant, Entrant.id == other)
        .where(sa.or_(Meeting.first_id == entrant.id, Meeting.second_id == entrant.id))
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


def games_of_entrants(session: Session, ids: Iterable[int], *, count: int) -> list[PlayedGame]:
    """The last games of some entrants."""
    recent = (
        sa.select(GameSeat.game_id)
        .where(GameSeat.entrant_id.in_(list(ids)))
        .group_by(GameSeat.game_id)
        .order_by(GameSeat.game_id.desc())
        .limit(count)
    )
    return list(
        session.scalars(
            sa.select(PlayedGame)
            .where(PlayedGame.id.in_(recent))
            .order_by(PlayedGame.id.desc())
            .options(joinedload(PlayedGame.ladder), _seats())
        )
    )


def history(session: Session, entrant: Entrant, *, count: int = 500) -> list[tuple[int, Rating]]:
    """An entrant's rating after each of its last games, oldest first, by the games' ids."""
    rows = session.execute(
        sa.select(GameSeat.game_id, GameSeat.mu_after, GameSeat.sigma_after)
        .where(GameSeat.entrant_id == entrant.id)
        .order_by(GameSeat.game_id.desc())
        .limit(count)
    ).all()
    return [(game_id, Rating(mu, sigma)) for game_id, mu, sigma in reversed(rows)]


def match(session: Session, match_id: int) -> Match | None:
    """A match with its places and games."""
    return session.scalar(
        sa.select(Match)
        .where(Match.id == match_id)
        .options(joinedload(Match.ladder), *_places(), selectinload(Match.games).options(_seats()))
    )


def game(session: Session, game_id: int) -> PlayedGame | None:
    """A game with its record and seats."""
    return session.scalar(
        sa.select(PlayedGame)
        .where(PlayedGame.id == game_id)
        .options(
            undefer(PlayedGame.record),
            joinedload(PlayedGame.ladder),
            joinedload(PlayedGame.match).selectinload(Match.games),
            _seats(),
        )
    )


def living_workers(session: Session, now: datetime) -> list[Worker]:
    """The workers that gave a sign of life."""
    recent = now - timedelta(seconds=ALIVE_SECONDS)
    return list(session.scalars(sa.select(Worker).where(Worker.last_seen >= recent)))
