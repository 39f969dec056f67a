"""Final tables: who came how far in a ladder or a tournament that is over, once and for all.

A ladder's ratings follow its games as they come, and depend a little on their order. Its final
table does not: strengths are estimated from all games at once (`arena.ratings.bradley_terry`), with
their intervals, and who is ranked when it closes has its place by them. A tournament's places are
those of its standings. Both are kept on the entrants, so that a trophy is a place that is kept.

It may take long, so the recorder has a process of its own do it (`arena.recorder.placing`). If a
match is made void afterwards, the number of games is another one, and the table is made anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.kind import Placed
from arena.ground.locks import lock
from arena.models import (
    Bot,
    BotVersion,
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    LadderRound,
    Match,
    Tournament,
)

PODIUM = 3
"""Who came so far has a trophy."""


@dataclass(frozen=True, slots=True)
class Trophy:
    """A place of a bot among the first of what is over."""

    entrant: Entrant
    """The entrant that has it, with its competition and its version."""

    @property
    def place(self) -> int:
        """The final place, from 1."""
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
            Competition.is_organised(),
            Competition.state == CompetitionState.CLOSED,
            ~Competition.rebuild_due,
            sa.or_(
                Competition.placed_games.is_(None),
                Competition.placed_games != Competition.games,
                Competition.id.in_(_winner_is_missing()),
            ),
            # What is under way when it closes is called off first.
            ~unplayed,
        )
        .order_by(Competition.id)
    )


def _winner_is_missing() -> sa.Select[int]:
    """The ids of tournaments that ended before their winners were kept, but have places by now."""
    first = sa.exists().where(Entrant.competition_id == Tournament.id, Entrant.final_place == 1)
    return sa.select(Tournament.id).where(
        Tournament.winner.is_(None), Tournament.reason.is_(None), first
    )


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
