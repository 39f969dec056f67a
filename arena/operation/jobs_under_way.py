"""What is played and checked at this moment: what is in each slot of the workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload, selectinload

from arena.models import Bot, BotVersion, Check, Entrant, JobStatus, Match, Place

MOST = 1000
"""Jobs that are told; of more the first that were made."""


@dataclass(frozen=True, slots=True)
class JobUnderWay:
    """A job that a worker has begun."""

    worker: str
    kind: str
    """``match`` or ``check``."""
    number: int
    competition: str
    """Where it is played; of a check the ladder that it is for."""
    bots: tuple[str, ...]
    """Who plays, or is checked."""
    game: int | None = None
    """Which game of the match is played, from 1; None before that is known, and of a check."""
    plies: int | None = None
    """How many that game has by now, as the worker last told."""


def under_way(session: Session) -> list[JobUnderWay]:
    """All jobs under way, by worker."""
    found = [*_matches(session), *_checks(session)]
    return sorted(found, key=lambda one: (one.worker, one.kind, one.number))


def _matches(session: Session) -> Iterator[JobUnderWay]:
    places = selectinload(Match.places).joinedload(Place.entrant)
    query = (
        sa.select(Match)
        .where(Match.status == JobStatus.ISSUED, Match.worker.is_not(None))
        .order_by(Match.id)
        .limit(MOST)
        .options(
            joinedload(Match.competition),
            places.joinedload(Entrant.version).joinedload(BotVersion.bot),
        )
    )
    for match in session.scalars(query):
        told = match.progress
        yield JobUnderWay(
            str(match.worker),
            "match",
            match.id,
            match.competition.name,
            tuple(place.label for place in match.places),
            told["game"] + 1 if told else None,
            len(told["moves"]) if told else None,
        )


def _checks(session: Session) -> Iterator[JobUnderWay]:
    query = (
        sa.select(Check, BotVersion.number, Bot.name)
        .join(BotVersion, Check.version_id == BotVersion.id)
        .join(Bot, BotVersion.bot_id == Bot.id)
        .where(Check.status == JobStatus.ISSUED, Check.worker.is_not(None))
        .order_by(Check.id)
        .limit(MOST)
        .options(joinedload(Check.ladder))
    )
    for check, number, bot in session.execute(query):
        label = f"{bot} v{number}"
        yield JobUnderWay(str(check.worker), "check", check.id, check.ladder.name, (label,))
