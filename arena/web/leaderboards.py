"""The leaderboard of a ladder, read with a fixed number of statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.models import (
    Bot,
    BotVersion,
    Competition,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    PlayedGame,
)
from arena.ratings.trueskill import Rating
from arena.tournaments.ladder import PLACEMENT_GAMES

TREND_GAMES = 30
"""A trend shows so many of an entrant's games."""
MOVEMENT_GAMES = 200
"""A rank is compared with the one before so many games of the ladder."""


Rated = sa.Row[int, int, float, float, int]
"""Of an entrant only what ranks it (see `_active_ratings`)."""
E = TypeVar("E", Entrant, Rated)


@dataclass(frozen=True, slots=True)
class Against:
    """Games against one bot."""

    wins: int
    draws: int
    losses: int

    @property
    def score(self) -> float:
        """Points a game, from 0 to 1."""
        return (self.wins + self.draws / 2) / (self.wins + self.draws + self.losses)


@dataclass(frozen=True, slots=True)
class Line:
    """An entrant on the board of its ladder."""

    entrant: Entrant
    rank: int | None
    """None while it is in placement."""
    climbed: int = 0
    """How many ranks it gained lately; negative if it lost some."""
    trend: tuple[float, ...] = ()
    """Its display rating after each of its last games, oldest first."""
    against: Against | None = None
    """What it did against the picked bot."""

    @property
    def rating(self) -> Rating:
        """What is believed of it."""
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
    games_to_be_ranked: int
    picked: Entrant | None
    """Whose games against everyone the lines show."""
    running: int
    """Matches that a worker plays now."""


SORTS: Mapping[str, Callable[[Line], Any]] = {
    "rank": lambda line: line.rank,
    "bot": lambda line: line.entrant.version.bot.name.lower(),
    "version": lambda line: -line.entrant.version.created.timestamp(),
    "rating": lambda line: -line.rating.mu,
    "games": lambda line: -line.entrant.games,
    "score": lambda line: -line.score,
    "faults": lambda line: -line.fault_share,
    "last": lambda line: -line.entrant.last_game.timestamp() if line.entrant.last_game else 0,
}
"""The orders in which ranked bots can be shown, each with what people look for at the top."""

COLUMNS: Mapping[str, Callable[[Line], Any]] = {
    "rank": lambda line: line.rank,
    "bot": lambda line: line.entrant.version.bot.name,
    "version": lambda line: line.entrant.version.number,
    "owner": lambda line: line.entrant.version.bot.owner.name,
    "language": lambda line: line.entrant.version.language,
    "rating": lambda line: round(line.rating.display, 1),
    "interval": lambda line: round(line.rating.display_margin, 1),
    "mu": lambda line: line.entrant.mu,
    "sigma": lambda line: line.entrant.sigma,
    "games": lambda line: line.entrant.games,
    "wins": lambda line: line.entrant.wins,
    "draws": lambda line: line.entrant.draws,
    "losses": lambda line: line.entrant.losses,
    "score": lambda line: round(line.score, 4),
    "faults": lambda line: line.entrant.faults,
    "last_game": lambda line: line.entrant.last_game and line.entrant.last_game.isoformat(),
}
AGAINST_COLUMNS: Mapping[str, Callable[[Line], Any]] = {
    "against_wins": lambda line: line.against and line.against.wins,
    "against_draws": lambda line: line.against and line.against.draws,
    "against_losses": lambda line: line.against and line.against.losses,
}
"""What CSV and JSON say of each bot; the second part only beside a picked one."""


def columns(board: Board) -> Mapping[str, Callable[[Line], Any]]:
    """What CSV and JSON say of each bot of a board."""
    return {**COLUMNS, **AGAINST_COLUMNS} if board.picked else COLUMNS


def rows(board: Board) -> list[dict[str, Any]]:
    """What CSV and JSON say of the bots of a board, the ranked ones first."""
    return [
        {key: value(line) for key, value in columns(board).items()}
        for line in (*board.ranked, *board.placement)
    ]


def board_json(board: Board) -> dict[str, Any]:
    """A board as JSON's types."""
    return {
        "ladder": board.ladder.name,
        "variant": str(board.ladder.variant),
        "games": board.ladder.games,
        "running": board.running,
        "against": board.picked and board.picked.version.label,
        "bots": rows(board),
    }


def board(
    session: Session, ladder: Ladder, *, picked_id: int | None = None, sort: str = "rank"
) -> Board:
    """A ladder's leaderboard, ranked by what is surely believed of each: mu - 3 sigma.

    Args:
        picked_id: an active entrant of it; every line gains its games against that one.
        sort: a key of `SORTS` for the ranked bots.
    """
    active = session.scalars(
        sa.select(Entrant)
        .where(Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot).joinedload(Bot.owner))
    ).all()
    ranked = in_order(ladder, active)
    placement = [entrant for entrant in active if entrant not in ranked]
    picked = next((entrant for entrant in active if entrant.id == picked_id), None)
    trends = _last_ratings(session, active, TREND_GAMES)
    climbed = _climbed(session, ladder, ranked)
    against = _against(session, picked) if picked else {}

    def line(entrant: Entrant, rank: int | None) -> Line:
        return Line(
            entrant,
            rank,
            climbed.get(entrant.id, 0),
            tuple(rating.display for rating in trends.get(entrant.id, ())),
            against.get(entrant.id),
        )

    lines = [line(entrant, rank) for rank, entrant in enumerate(ranked, start=1)]
    return Board(
        ladder,
        tuple(sorted(lines, key=SORTS[sort])),
        tuple(line(entrant, None) for entrant in sorted(placement, key=_standing)),
        games_to_be_ranked(ladder, len(active)),
        picked,
        _count_running(session, ladder),
    )


def games_to_be_ranked(ladder: Competition, field: int) -> int:
    """How many games a bot needs for a place on the board among so many active ones."""
    if ladder.variant.seats > 1:
        return PLACEMENT_GAMES
    # Two bots race only once, so nobody has more games than opponents.
    return max(1, min(PLACEMENT_GAMES, field - 1))


def in_order(ladder: Competition, active: Sequence[E]) -> list[E]:
    """Those of a ladder's active entrants that have a place on its board, the first first."""
    needed = games_to_be_ranked(ladder, len(active))
    return sorted((entrant for entrant in active if entrant.games >= needed), key=_standing)


def _standing(entrant: Entrant | Rated) -> tuple[float, int]:
    return (-Rating(entrant.mu, entrant.sigma).conservative, entrant.id)


def leaders(session: Session, ladders: Sequence[Ladder]) -> dict[int, Entrant]:
    """Who is first on each ladder's board, by the ladder's id."""
    fields: dict[int, list[Rated]] = {}
    for row in session.execute(_active_ratings()):
        fields.setdefault(row.competition_id, []).append(row)
    firsts = [in_order(ladder, fields.get(ladder.id, []))[:1] for ladder in ladders]
    found = session.scalars(
        sa.select(Entrant)
        .where(Entrant.id.in_([row.id for first in firsts for row in first]))
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    )
    return {entrant.competition_id: entrant for entrant in found}


def rank_of(session: Session, entrant: Entrant) -> tuple[int | None, int]:
    """An entrant's rank on its board, None if it has none there, and how many have one."""
    rows = session.execute(
        _active_ratings().where(Entrant.competition_id == entrant.competition_id)
    ).all()
    order = [row.id for row in in_order(entrant.competition, rows)]
    return (order.index(entrant.id) + 1 if entrant.id in order else None, len(order))


def _active_ratings() -> sa.Select[int, int, float, float, int]:
    return sa.select(
        Entrant.competition_id, Entrant.id, Entrant.mu, Entrant.sigma, Entrant.games
    ).where(Entrant.state == EntrantState.ACTIVE)


def _count_running(session: Session, ladder: Ladder) -> int:
    query = (
        sa.select(sa.func.count())
        .select_from(Match)
        .where(
            Match.competition_id == ladder.id,
            Match.status == JobStatus.ISSUED,
            Match.worker.is_not(None),
        )
    )
    return session.scalar(query) or 0


def _climbed(session: Session, ladder: Ladder, ranked: Sequence[Entrant]) -> dict[int, int]:
    """How many ranks each gained over the ladder's last games, among those that are ranked now."""
    before = session.scalar(
        sa.select(PlayedGame.id)
        .where(PlayedGame.competition_id == ladder.id)
        .order_by(PlayedGame.id.desc())
        .offset(MOVEMENT_GAMES)
        .limit(1)
    )
    ratings = _last_ratings(session, ranked, 1, until=before or 0)
    were_there = [entrant for entrant in ranked if entrant.id in ratings]
    earlier = sorted(were_there, key=lambda e: (-ratings[e.id][-1].conservative, e.id))
    return {entrant.id: earlier.index(entrant) - now for now, entrant in enumerate(were_there)}


def _last_ratings(
    session: Session, entrants: Sequence[Entrant], games: int, *, until: int | None = None
) -> dict[int, list[Rating]]:
    """The ratings of some entrants after their last games, in statements that read only those.

    Args:
        games: how many for each.
        until: the last game that counts.
    """
    found: dict[int, list[tuple[int, Rating]]] = {}
    # SQLite takes 500 parts of a union at most.
    for start in range(0, len(entrants), 200):
        parts = []
        for entrant in entrants[start : start + 200]:
            last = sa.select(
                GameSeat.entrant_id, GameSeat.game_id, GameSeat.mu_after, GameSeat.sigma_after
            ).where(GameSeat.entrant_id == entrant.id, GameSeat.mu_after.is_not(None))
            if until is not None:
                last = last.where(GameSeat.game_id <= until)
            parts.append(last.order_by(GameSeat.game_id.desc()).limit(games).subquery())
        for row in session.execute(sa.union_all(*(sa.select(part) for part in parts))):
            found.setdefault(row[0], []).append((row[1], Rating(row[2], row[3])))
    return {
        entrant: [rating for _, rating in sorted(rows, key=lambda row: row[0])]
        for entrant, rows in found.items()
    }


def _against(session: Session, picked: Entrant) -> dict[int, Against]:
    """Games of everyone against one entrant, as they see it."""
    meetings = session.scalars(
        sa.select(Meeting).where(
            sa.or_(Meeting.first_id == picked.id, Meeting.second_id == picked.id),
            Meeting.games > 0,
        )
    )
    found = {}
    for meeting in meetings:
        lost = meeting.games - meeting.wins - meeting.draws
        if meeting.first_id == picked.id:
            found[meeting.second_id] = Against(lost, meeting.draws, meeting.wins)
        else:
            found[meeting.first_id] = Against(meeting.wins, meeting.draws, lost)
    return found
