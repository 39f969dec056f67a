"""Final tables: who came how far in a ladder or a tournament that is over, once and for all.

A ladder's ratings follow its games as they come, and depend a little on their order. Its final
table does not: strengths are estimated from all games at once (`arena.ratings.bradley_terry`), with
their intervals, and who is ranked when it closes has its place by them. A tournament's places are
those of its standings. Both are kept on the entrants, so that a trophy is a place that is kept.

It may take long, so the recorder has a process of its own do it (`arena.recorder.placing`). If a
match is made void afterwards, the number of games is another one, and the table is made anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.kinds import kind_of
from arena.competitions.ranks import games_to_be_ranked
from arena.competitions.results import results
from arena.ground.locks import lock
from arena.models import (
    Bot,
    BotVersion,
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    LadderRound,
    Match,
    PlayedGame,
    Tournament,
)
from arena.ratings.bradley_terry import Strength, fit_counted
from arena.ratings.result import GameResult

MOST_FITTED = 600
"""Of more entrants only those are looked at that were active to the end: to estimate all together
takes as many steps as the cube of their number."""
PODIUM = 3
"""Who came so far has a trophy."""
AT_A_TIME = 10_000
"""Rows that are read at a time."""


class Placed(NamedTuple):
    """Where an entrant came."""

    place: int | None
    strength: Strength | None = None
    points: float | None = None


@dataclass(frozen=True, slots=True)
class Trophy:
    """That a bot was among the first of what is over."""

    entrant: Entrant
    """With its competition and its version."""

    @property
    def place(self) -> int:
        """From 1."""
        assert self.entrant.final_place is not None
        return self.entrant.final_place


def due() -> sa.Select[int]:
    """A query for the ids of those that are over, and of which the places are to be made."""
    unplayed = sa.exists().where(
        Match.competition_id == Competition.id,
        Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]),
    )
    return (
        sa.select(Competition.id)
        .where(
            Competition.kind.in_(["ladder", "tournament"]),
            Competition.state == CompetitionState.CLOSED,
            ~Competition.rebuild_due,
            sa.or_(
                Competition.placed_games.is_(None), Competition.placed_games != Competition.games
            ),
            # What is under way when it closes is called off first.
            ~unplayed,
        )
        .order_by(Competition.id)
    )


def placed(session: Session, competition: Competition) -> dict[int, Placed]:
    """Where everybody came in a competition that is over, by the entrants' ids."""
    if isinstance(competition, Tournament):
        found = results(session, competition)
        return {
            found.entrants[line.number].id: Placed(line.place, points=line.points)
            for line in found.standings
        }
    assert isinstance(competition, Ladder)
    return _of_ladder(session, competition)


def _of_ladder(session: Session, ladder: Ladder) -> dict[int, Placed]:
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
    strengths = fit_counted(_counted(session, ladder, only))
    ranked = [one for one in there if one.games >= needed and one.id in strengths]

    def key(one: Entrant) -> tuple[float, float]:
        return -round(strengths[one.id].elo, 1), -round(one.points / one.games, 6)

    ranked.sort(key=lambda one: (*key(one), one.id))
    keys = [key(one) for one in ranked]
    places = {one.id: keys.index(key(one)) + 1 for one in ranked}
    return {one.id: Placed(places.get(one.id), strengths.get(one.id)) for one in there}


def _counted(
    session: Session, ladder: Ladder, only: Set[int] | None
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
    kind, sides = kind_of(ladder), ladder.variant.side_of
    race = ladder.variant.seats == 1
    found: Counter[GameResult[int]] = Counter()
    # The games of a race are one result, in which everybody is a side of its own.
    for _, group in groupby(rows, key=lambda row: row[0] if race else (row[0], row[1])):
        seated = list(group)
        who = [row.entrant_id for row in seated]
        if only is None or only >= set(who):
            its = range(len(seated)) if race else sides
            found[kind.result(who, its, [row.rank for row in seated])] += 1
    return dict(sorted(found.items(), key=lambda one: _order(one[0])))


def _order(result: GameResult[int]) -> tuple[tuple[int, ...], ...]:
    return result.entrants, result.sides, result.ranks


def keep(session: Session, competition: Competition, found: Mapping[int, Placed]) -> None:
    """Keeps where everybody came, if the competition is still as it was when that was found."""
    games = competition.games
    lock(session, competition)
    if competition.games != games or competition.state is not CompetitionState.CLOSED:
        return
    query = sa.select(Entrant).where(Entrant.competition_id == competition.id).order_by(Entrant.id)
    for entrant in session.scalars(query):
        entrant.final_place, its, entrant.final_points = found.get(entrant.id, Placed(None))
        elo: list[float | None] = [None] * 3
        if its is not None:
            elo = [round(one, 3) for one in (its.elo, its.lower, its.upper)]
        entrant.final_elo, entrant.final_lower, entrant.final_upper = elo
    competition.placed_games = games
    session.flush()


def final_table(session: Session, ladder: Ladder, *, most: int | None = None) -> Sequence[Entrant]:
    """The final table of a closed ladder: who was ranked by places, then who was in placement.

    Args:
        most: only the first so many.
    """
    query = (
        sa.select(Entrant)
        .where(Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE)
        .order_by(sa.nulls_last(Entrant.final_place), Entrant.id)
        .limit(most)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot).joinedload(Bot.owner))
    )
    return session.scalars(query).all()


def trophies_of(session: Session, bots: Collection[int]) -> list[Trophy]:
    """The first three places of bots in what is over, but for rounds of ladders; the last first.

    Args:
        bots: their ids.
    """
    query = (
        sa.select(Entrant)
        .join(Entrant.competition)
        .join(Entrant.version)
        .where(
            BotVersion.bot_id.in_(bots),
            Entrant.final_place <= PODIUM,
            Competition.state == CompetitionState.CLOSED,
            LadderRound.lists(),
        )
        .order_by(Competition.finished.desc(), Competition.id.desc(), Entrant.final_place)
        .options(
            joinedload(Entrant.competition), joinedload(Entrant.version).joinedload(BotVersion.bot)
        )
    )
    return [Trophy(entrant) for entrant in session.scalars(query)]
