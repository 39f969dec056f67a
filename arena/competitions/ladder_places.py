"""Where everybody came on a ladder that is over, by all of its games at once.

Its ratings follow its games as they come, and depend a little on their order; these places do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import groupby

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.kind import Placed
from arena.competitions.ranks import games_to_be_ranked
from arena.models import (
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
)
from arena.ratings.bradley_terry import fit_counted
from arena.ratings.result import GameResult

MOST_FITTED = 600
"""The most entrants that are all estimated; of more only those are that were active to the end: to
estimate all together takes as many steps as the cube of their number."""
AT_A_TIME = 10_000
"""Rows that are read at a time."""
ResultOf = Callable[[Sequence[int], Sequence[int], Sequence[int]], GameResult[int]]


def places_on(session: Session, ladder: Ladder, result_of: ResultOf) -> dict[int, Placed]:
    """Where everybody came on a ladder that is over, by the entrants' ids.

    Args:
        result_of: a game says that of its entrants, by them, their sides and their ranks.
    """
    entrants = session.scalars(
        sa.select(Entrant).where(Entrant.competition_id == ladder.id, Entrant.games > 0)
    ).all()
    field = sa.select(sa.func.count()).select_from(Entrant)
    active = session.scalars(
        field.where(Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE)
    ).one()
    needed = games_to_be_ranked(ladder, active)
    there = [one for one in entrants if one.state is EntrantState.ACTIVE]
    only = {one.id for one in there} if len(entrants) > MOST_FITTED else None
    strengths = fit_counted(_counted(session, ladder, result_of, only))
    ranked = [one for one in there if one.games >= needed and one.id in strengths]

    def key(one: Entrant) -> tuple[float, float]:
        return -round(strengths[one.id].elo, 1), -round(one.points / one.games, 6)

    ranked.sort(key=lambda one: (*key(one), one.id))
    keys = [key(one) for one in ranked]
    places = {one.id: keys.index(key(one)) + 1 for one in ranked}
    return {one.id: Placed(places.get(one.id), strengths.get(one.id)) for one in there}


def _counted(
    session: Session, ladder: Ladder, result_of: ResultOf, only: Set[int] | None
) -> Mapping[GameResult[int], int]:
    """The results of a ladder that count, each with how often it came, whatever their order.

    Args:
        only: the entrants whose games among each other are wanted; None for all.
    """
    rows = session.execute(
        sa.select(Match.id, PlayedGame.number, GameSeat.entrant_id, GameSeat.rank)
        .join(PlayedGame, PlayedGame.match_id == Match.id)
        .join(GameSeat, GameSeat.game_id == PlayedGame.id)
        .where(Match.competition_id == ladder.id, Match.status == JobStatus.FIXED, Match.rated)
        .order_by(Match.id, PlayedGame.number, GameSeat.seat)
        .execution_options(yield_per=AT_A_TIME)
    )
    sides, race = ladder.variant.side_of, ladder.variant.seats == 1
    found: Counter[GameResult[int]] = Counter()
    # The games of a race are one result, in which everybody is a side of its own.
    for _, group in groupby(rows, key=lambda row: row[0] if race else (row[0], row[1])):
        seated = list(group)
        who = [row.entrant_id for row in seated]
        if only is None or only >= set(who):
            its = range(len(seated)) if race else sides
            found[result_of(who, its, [row.rank for row in seated])] += 1
    return dict(sorted(found.items(), key=lambda one: _order(one[0])))


def _order(result: GameResult[int]) -> tuple[tuple[int, ...], ...]:
    return result.entrants, result.sides, result.ranks
