"""The records of a competition: its longest and shortest game, and the win least expected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.lists.parts import FIRST_SEAT, a_seat
from arena.models import GameSeat, PlayedGame
from arena.ratings.trueskill import Rating
from engine.game import Termination

LOOKED_AT = 1000
"""How many of the last games the least expected win is looked for in."""
MOST_PASSED = 10_000
"""So many games that ended otherwise are passed over."""


@dataclass(frozen=True, slots=True)
class Records:
    """Numbers of games that ended by the rules; None where there is none yet."""

    longest: int | None
    shortest: int | None
    upset: int | None
    """The win least expected among the last `LOOKED_AT` games."""
    expected: float
    """How probable that was, by the ratings before the game."""

    @property
    def games(self) -> list[int]:
        """The numbers of all games that hold a record."""
        return [one for one in (self.longest, self.shortest, self.upset) if one is not None]


def records_of(session: Session, competition_id: int) -> Records:
    """The records of a competition among the games that count."""
    upset, expected = _upset(session, competition_id)
    longest, shortest = (_first(session, competition_id, longest=one) for one in (True, False))
    return Records(longest, shortest, upset, expected)


def _first(session: Session, competition_id: int, *, longest: bool) -> int | None:
    """The longest or shortest game; None if too many that ended by a fault are more so."""
    seat = a_seat()
    order = (seat.plies, seat.game_id)
    rows = session.execute(
        sa.select(seat.game_id, seat.ending, seat.counts)
        .where(seat.competition_id == competition_id, seat.seat == FIRST_SEAT)
        .order_by(*(one.desc() for one in order) if longest else order)
        .limit(MOST_PASSED),
        # Mostly one of the first is it.
        execution_options={"yield_per": 100},
    )
    with rows:
        ended = (row for row in rows if row.ending is Termination.NORMAL and row.counts)
        return next((row.game_id for row in ended), None)


def _upset(session: Session, competition_id: int) -> tuple[int | None, float]:
    """The win least expected, and how probable it was."""
    last = (
        sa.select(PlayedGame.id, PlayedGame.termination)
        .where(PlayedGame.competition_id == competition_id)
        .order_by(PlayedGame.id.desc())
        .limit(LOOKED_AT)
        .subquery()
    )
    rows = session.execute(
        sa.select(
            GameSeat.game_id,
            GameSeat.entrant_id,
            GameSeat.rank,
            GameSeat.mu_before,
            GameSeat.sigma_before,
        )
        .join(last, last.c.id == GameSeat.game_id)
        .where(last.c.termination == Termination.NORMAL, GameSeat.mu_before.is_not(None))
        .order_by(GameSeat.game_id)
    )
    found: tuple[float, int] | None = None
    for game, seats in groupby(rows, key=lambda row: row.game_id):
        expected = _expected(seats)
        if expected is not None and (found is None or (expected, -game) < found):
            found = expected, -game
    return (None, 0.0) if found is None else (-found[1], found[0])


def _expected(seats: Iterable[Any]) -> float | None:
    """How probable it was that the winner of a game beat the best of the others; None if nobody
    won it alone.
    """
    winners: dict[int, Rating] = {}
    others: list[Rating] = []
    for row in seats:
        belief = Rating(row.mu_before, row.sigma_before)
        if row.rank == 1:
            winners[row.entrant_id] = belief
        else:
            others.append(belief)
    if len(winners) != 1 or not others:
        return None
    (winner,) = winners.values()
    return winner.outperforms(max(others, key=lambda one: one.mu))
