"""Somebody's own bots in short: where each stands, how its last games went, what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots import entries
from arena.bots.alarms import BotAlarm, alarms_of
from arena.competitions.ranks import Rank, ranks_of
from arena.lists.rows import seat_result
from arena.models import Bot, Entrant, EntrantState, GameSeat
from arena.ratings.trueskill import Rating

LAST_GAMES = 5
MOST_SHOWN = 12
"""Places on ladders; an account's page has them all."""


@dataclass(frozen=True, slots=True)
class LastGame:
    """One of a bot's last games on a ladder."""

    number: int
    result: str
    """``won``, ``drawn`` or ``lost``."""


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """A bot on a ladder."""

    bot: Bot
    entrant: Entrant
    rank: Rank
    last: Sequence[LastGame]
    """The newest last."""
    change: float | None
    """What these did to its rating, as people see it; None if none was rated."""


@dataclass(frozen=True, slots=True)
class OwnBots:
    """All of somebody's bots."""

    places: Sequence[OwnPlace]
    alarms: Sequence[BotAlarm]
    is_cut: bool
    """Whether there are more places."""


def own_bots(session: Session, user_id: int) -> OwnBots:
    """The bots of an account, those that it shares too."""
    bots = entries.bots_of(session, user_id)
    there = [(bot, entrant) for bot, _, entrants in bots for entrant in entrants]
    active = [(bot, its) for bot, its in there if its.state is EntrantState.ACTIVE]
    shown = active[:MOST_SHOWN]
    ranks = ranks_of(session, [entrant for _, entrant in shown]) if shown else {}
    last = _last_games(session, [entrant.id for _, entrant in shown])
    return OwnBots(
        [OwnPlace(bot, its, ranks[its.id], *last.get(its.id, ((), None))) for bot, its in shown],
        alarms_of(session, bots),
        len(active) > len(shown),
    )


def _last_games(
    session: Session, entrants: Sequence[int]
) -> dict[int, tuple[list[LastGame], float | None]]:
    """The last games of entrants, and what they did to the rating of each."""
    parts = [
        sa.select(
            GameSeat.entrant_id,
            GameSeat.game_id,
            GameSeat.rank,
            GameSeat.points,
            GameSeat.mu_before,
            GameSeat.mu_after,
        )
        .where(GameSeat.entrant_id == entrant)
        .order_by(GameSeat.game_id.desc())
        .limit(LAST_GAMES)
        .subquery()
        for entrant in entrants
    ]
    if not parts:
        return {}
    rows: dict[int, list[sa.Row[tuple[int, int, int, float, float | None, float | None]]]] = {}
    for row in session.execute(sa.union_all(*(sa.select(part) for part in parts))):
        rows.setdefault(row.entrant_id, []).append(row)
    found: dict[int, tuple[list[LastGame], float | None]] = {}
    for entrant, its in rows.items():
        its.sort(key=lambda row: row.game_id)
        games = [LastGame(row.game_id, str(seat_result(row.rank, row.points))) for row in its]
        rated = [row for row in its if row.mu_after is not None and row.mu_before is not None]
        change = None
        if rated:
            change = Rating(mu=rated[-1].mu_after).display - Rating(mu=rated[0].mu_before).display
        found[entrant] = games, change
    return found
