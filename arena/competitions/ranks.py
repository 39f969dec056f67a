"""Ranks on the boards of ladders, and the best that each bot ever had there.

On a board stand the active entrants with games enough, by what is surely believed of each:
mu - 3 sigma. A rank is read from the ratings of its moment. The best one can't be made anew from
results, for they don't say who was active when; so it is kept. Recording a result does not touch
it: `note_best` looks at all boards now and then, and what stood there only between two looks is
not remembered.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.formats.roster import PLACEMENT_GAMES
from arena.models import Competition, Entrant, EntrantState, Ladder


@dataclass(frozen=True, slots=True)
class Rank:
    """Where an entrant stands."""

    rank: int | None
    """None while it has no place on its board."""
    ranked: int
    """How many have one."""


def games_to_be_ranked(ladder: Competition, field: int) -> int:
    """How many games a bot needs for a place on the board among so many active ones."""
    if ladder.variant.seats > 1:
        return PLACEMENT_GAMES
    # Two bots race only once, so nobody has more games than opponents.
    return max(1, min(PLACEMENT_GAMES, field - 1))


def needed_games(
    races: Collection[int],
    ladder: sa.ColumnElement[int] | sa.SQLColumnExpression[int],
    field: sa.ColumnElement[int],
) -> sa.ColumnElement[int]:
    """`games_to_be_ranked` within a statement.

    Args:
        races: the ids of the ladders whose games have one seat.
        field: how many are active on the ladder.
    """
    rivals = field - 1
    return sa.case(
        (ladder.not_in(races) | (rivals > PLACEMENT_GAMES), PLACEMENT_GAMES),
        (rivals < 1, 1),
        else_=rivals,
    )


def active_on(ladder: int | sa.SQLColumnExpression[int]) -> sa.ColumnElement[bool]:
    """Whether an entrant is paired on a ladder."""
    return sa.and_(Entrant.competition_id == ladder, Entrant.state == EntrantState.ACTIVE)


def _placed(ladders: Sequence[Competition]) -> sa.Subquery:
    """The boards of some ladders: of each entrant id, competition_id, best_rank, rank, ranked."""
    races = [ladder.id for ladder in ladders if ladder.variant.seats == 1]
    field = (
        sa.select(
            Entrant.id,
            Entrant.competition_id,
            Entrant.conservative,
            Entrant.games,
            Entrant.best_rank,
            sa.func.count().over(partition_by=Entrant.competition_id).label("field"),
        )
        .where(
            Entrant.competition_id.in_([ladder.id for ladder in ladders]),
            Entrant.state == EntrantState.ACTIVE,
        )
        .subquery()
    )
    board = field.c.competition_id
    order = (field.c.conservative.desc(), field.c.id)
    return (
        sa.select(
            field.c.id,
            board,
            field.c.best_rank,
            sa.func.row_number().over(partition_by=board, order_by=order).label("rank"),
            sa.func.count().over(partition_by=board).label("ranked"),
        )
        .where(field.c.games >= needed_games(races, board, field.c.field))
        .subquery()
    )


def ranks_of(session: Session, entrants: Collection[Entrant]) -> dict[int, Rank]:
    """Where some entrants of ladders stand, by their ids; their competitions are loaded."""
    ladders = {entrant.competition_id: entrant.competition for entrant in entrants}
    placed = _placed(list(ladders.values()))
    ids = [entrant.id for entrant in entrants]
    rows = session.execute(
        # The first of each board, too, for how many there are.
        sa.select(placed.c.id, placed.c.competition_id, placed.c.rank, placed.c.ranked).where(
            placed.c.id.in_(ids) | (placed.c.rank == 1)
        )
    ).all()
    ranks = {row.id: row.rank for row in rows}
    ranked = {row.competition_id: row.ranked for row in rows}
    return {
        entrant.id: Rank(ranks.get(entrant.id), ranked.get(entrant.competition_id, 0))
        for entrant in entrants
    }


def note_best(session: Session, now: datetime) -> int:
    """Keeps the ranks that are better than what each bot had before, on all ladders.

    Returns:
        How many there were; mostly none, and then nothing is written.
    """
    placed = _placed(session.scalars(sa.select(Ladder)).all())
    better = placed.c.best_rank.is_(None) | (placed.c.rank < placed.c.best_rank)
    # By their ids, as flushes write: whoever changes several entrants does it in that order.
    rows = session.execute(
        sa.select(placed.c.id, placed.c.rank).where(better).order_by(placed.c.id)
    )
    found = [{"id": row.id, "best_rank": row.rank, "best_rank_at": now} for row in rows]
    if found:
        session.execute(sa.update(Entrant), found)
    return len(found)
