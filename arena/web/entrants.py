"""What a bot did on one of its ladders, as its page and the API show it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.ranks import Rank, ranks_of
from arena.formats.score import Score
from arena.lists.accuracy import Accuracy, accuracy_of
from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    GameSeat,
    Match,
    Meeting,
    PlayedGame,
)
from arena.ratings.trueskill import Rating
from arena.web import queries
from arena.web.charts import RatedGame
from arena.web.words import opening_words

HISTORY_GAMES = 500
"""The course of a rating is told over so many games."""
SPLIT_GAMES = 500
"""Openings are told apart in so many of an entrant's last games."""
OPENINGS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Opponent:
    """What an entrant did against another."""

    bot: str
    version: int
    score: Score
    expected: float
    """The share of the points that the present ratings would expect of two sides."""

    @property
    def surprise(self) -> float:
        """How far the score is from what was expected, in standard errors of so many games."""
        spread = max(self.expected * (1 - self.expected), 0.01) / self.score.games
        return float(abs(self.score.share - self.expected) / spread**0.5)


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


@dataclass(frozen=True, slots=True)
class OpeningSplit:
    """What an entrant did from one opening."""

    moves: tuple[str, ...]
    words: str
    """The moves, after a position or a lot that the opening has of its own."""
    games: int
    score: float
    """Points a game, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class OnLadder:
    """What a bot did on a ladder: one of its versions there, and how it came to be."""

    entrant: Entrant
    """The version that is shown."""
    rank: Rank
    best: Entrant | None
    """The one that had the best rank of all its versions there; None if none was ever ranked."""
    history: Sequence[RatedGame]
    """The ratings of all its versions after their last games, in order."""
    opponents: Sequence[Opponent]
    """Whom that version met, the most surprising first."""
    seats: Sequence[SeatSplit]
    openings: Sequence[OpeningSplit]
    """The openings that it had most often lately."""
    accuracy: Accuracy | None
    """How it plays against perfect play; None if nothing of it was judged."""

    @property
    def mean_score(self) -> float:
        """Points a game, from 0 to 1, of all its games."""
        return self.entrant.points / self.entrant.games if self.entrant.games else 0.5

    @property
    def best_rank(self) -> int | None:
        """The best rank, the present one too, at which nobody may have looked yet."""
        ranks = (self.rank.rank, self.best and self.best.best_rank)
        return min((rank for rank in ranks if rank), default=None)


def shown_first(entrants: Sequence[Entrant]) -> Entrant | None:
    """The one of a bot's entrants that is asked for most: active, and with the most games."""
    return max(
        entrants, key=lambda e: (e.state is EntrantState.ACTIVE, e.games, e.id), default=None
    )


def on_ladder(session: Session, shown: Entrant, versions: Sequence[Entrant]) -> OnLadder:
    """What a bot did on a ladder.

    Args:
        shown: the entrant that is shown, with its competition and version loaded.
        versions: all entrants of the same bot on the same ladder.
    """
    placed = [one for one in versions if one.best_rank is not None]
    return OnLadder(
        shown,
        ranks_of(session, [shown])[shown.id],
        min(placed, key=lambda one: (one.best_rank, one.best_rank_at), default=None),
        _history(session, versions),
        _opponents(session, shown),
        _seats(session, shown),
        openings(session, shown),
        accuracy_of(session, shown.version, shown.competition),
    )


def _history(session: Session, entrants: Sequence[Entrant]) -> list[RatedGame]:
    versions = {entrant.id: entrant.version.number for entrant in entrants}
    rows = session.execute(
        sa.select(GameSeat.game_id, GameSeat.entrant_id, GameSeat.mu_after, GameSeat.sigma_after)
        .where(GameSeat.entrant_id.in_(versions), GameSeat.mu_after.is_not(None))
        .order_by(GameSeat.game_id.desc())
        .limit(HISTORY_GAMES)
    ).all()
    return [
        RatedGame(versions[entrant_id], Rating(mu, sigma), number)
        for number, entrant_id, mu, sigma in reversed(rows)
        if mu is not None and sigma is not None
    ]


def _opponents(session: Session, entrant: Entrant) -> list[Opponent]:
    other = sa.case((Meeting.first_id == entrant.id, Meeting.second_id), else_=Meeting.first_id)
    rows = session.execute(
        sa.select(
            Meeting.first_id,
            Meeting.games,
            Meeting.wins,
            Meeting.draws,
            Entrant.mu,
            Entrant.sigma,
            BotVersion.number,
            Bot.name,
        )
        .join(Entrant, Entrant.id == other)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(
            sa.or_(Meeting.first_id == entrant.id, Meeting.second_id == entrant.id),
            Meeting.games > 0,
        )
        .order_by(Entrant.id)
    )
    own = Rating(entrant.mu, entrant.sigma)
    found = [
        Opponent(
            row.name,
            row.number,
            queries.score_in(row, [entrant.id]),
            own.outperforms(Rating(row.mu, row.sigma)),
        )
        for row in rows
    ]
    return sorted(found, key=lambda opponent: -opponent.surprise)


def _seats(session: Session, entrant: Entrant) -> list[SeatSplit]:
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


def openings(session: Session, entrant: Entrant) -> list[OpeningSplit]:
    """What an entrant did lately from the openings that it had most often."""
    lately = (
        sa.select(GameSeat.game_id, GameSeat.points)
        .where(GameSeat.entrant_id == entrant.id, GameSeat.mu_after.is_not(None))
        .order_by(GameSeat.game_id.desc())
        .limit(SPLIT_GAMES)
        .subquery()
    )
    # As text, for PostgreSQL can't compare JSON.
    moves, options = sa.cast(Match.opening, sa.Text), sa.cast(Match.options, sa.Text)
    games = sa.func.count()
    rows = session.execute(
        sa.select(moves, options, games, sa.func.avg(lately.c.points))
        .select_from(lately)
        .join(PlayedGame, PlayedGame.id == lately.c.game_id)
        .join(Match, Match.id == PlayedGame.match_id)
        .group_by(moves, options)
        .order_by(games.desc(), moves, options)
        .limit(OPENINGS_SHOWN)
    )
    variant = entrant.competition.variant
    return [
        OpeningSplit(
            played := tuple(json.loads(text)),
            opening_words(variant, json.loads(own), played),
            count,
            score,
        )
        for text, own, count, score in rows
    ]
