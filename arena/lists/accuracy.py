"""How accurate bots are against perfect play, where that is certain (see `engine.truth`).

Of the newest games of a competition it is added up what was judged of them, so that it is right
whatever was made void, and at whatever moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Bot, BotVersion, Competition, JudgedSeat, ListedSeat
from engine.game import Variant
from engine.truth import Judgement

MOST_GAMES = 5_000
"""The newest so many games are looked at."""
FIRST_SEAT: Any = sa.literal_column("0")


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What was judged of the moves of a version in a competition's newest games."""

    bot: str
    version: int
    games: int
    """How many games there are in which some of its moves were judged."""
    judged: int
    kept: int
    results: int
    """Moves that gave a result away."""
    lost: int

    @property
    def share(self) -> float:
        """The accuracy: of the moves that had something to lose, the share that lost nothing."""
        return self.kept / self.judged

    @property
    def loss(self) -> float:
        """What a judged move lost on average."""
        return self.lost / self.judged


def is_solved(variant: Variant) -> bool:
    """Whether something finds the values of its positions."""
    return type(variant).truth is not Variant.truth


def accuracies(session: Session, competition: Competition) -> list[Accuracy]:
    """Those of all versions of which something was judged, the most accurate first."""
    # Of the index of first seats alone; spelt out for that (see `arena.lists.parts`).
    newest = (
        sa.select(ListedSeat.game_id)
        .where(
            ListedSeat.competition_id == competition.id,
            ListedSeat.seat == FIRST_SEAT,
            ListedSeat.counts,
        )
        .order_by(ListedSeat.game_id.desc())
        .limit(MOST_GAMES)
        .subquery()
    )
    return _added_up(session, newest)


def accuracy_of(session: Session, version: BotVersion, competition: Competition) -> Accuracy | None:
    """The accuracy of a version in a competition; None if nothing of it was judged."""
    if not is_solved(competition.variant):
        return None
    newest = (
        sa.select(ListedSeat.game_id)
        .where(
            ListedSeat.version_id == version.id,
            ListedSeat.competition_id == competition.id,
            ListedSeat.counts,
        )
        .order_by(ListedSeat.game_id.desc())
        .limit(MOST_GAMES)
        .subquery()
    )
    found = _added_up(session, newest, ListedSeat.version_id == version.id)
    return found[0] if found else None


def _added_up(
    session: Session, games: sa.Subquery, *which: sa.ColumnElement[bool]
) -> list[Accuracy]:
    columns = (JudgedSeat.judged, JudgedSeat.kept, JudgedSeat.results, JudgedSeat.lost)
    ids = sa.select(games.c.game_id)
    query = (
        sa.select(
            Bot.name,
            BotVersion.number,
            sa.func.count(sa.distinct(JudgedSeat.game_id)),
            *(sa.func.sum(column) for column in columns),
        )
        .join(
            ListedSeat,
            sa.and_(ListedSeat.game_id == JudgedSeat.game_id, ListedSeat.seat == JudgedSeat.seat),
        )
        .join(BotVersion, BotVersion.id == ListedSeat.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(JudgedSeat.game_id.in_(ids), *which)
        .group_by(Bot.name, BotVersion.number)
    )
    found = [
        Accuracy(name, number, *map(int, sums)) for name, number, *sums in session.execute(query)
    ]
    return sorted(found, key=lambda one: (-one.share, -one.judged, one.bot, one.version))


@dataclass(frozen=True, slots=True)
class GameMarks:
    """What is certain of a game: the moves that lost something, and of how many that is known."""

    judged: int
    kept: int
    marks: Sequence[Judgement]
    """Those that lost something, in their order."""


def marks_of(session: Session, game: int) -> GameMarks | None:
    """What is certain of a game; None if nothing is, or it is not judged yet."""
    rows = session.scalars(sa.select(JudgedSeat).where(JudgedSeat.game_id == game)).all()
    if not rows:
        return None
    marks = [
        Judgement(ply, row.seat, best, value, tuple(better))
        for row in rows
        for ply, best, value, better in row.marks
    ]
    return GameMarks(
        sum(row.judged for row in rows),
        sum(row.kept for row in rows),
        sorted(marks, key=lambda one: one.ply),
    )
