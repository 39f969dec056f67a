"""The jobs that wait to be issued, and how much is under way."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Check,
    JobStatus,
    Ladder,
    Match,
    Sitting,
    User,
)

PRESENT = timedelta(seconds=60)
"""For so long after a person's last move the next one may come at any moment."""
ASKED = Match.requester_id.is_not(None)


def _count(
    kind: type[Match] | type[Check] | type[Sitting],
    status: JobStatus,
    *which: sa.ColumnElement[bool],
) -> sa.ScalarSelect[int]:
    """How many jobs there are of a kind."""
    query = sa.select(sa.func.count()).select_from(kind)
    return query.where(kind.status == status, *which).scalar_subquery()


_LOAD = sa.select(
    _count(Sitting, JobStatus.ISSUED).label("moves"),
    _count(Match, JobStatus.ISSUED).label("matches"),
    _count(Match, JobStatus.ISSUED, ASKED).label("requests"),
    _count(Check, JobStatus.ISSUED).label("checks"),
    _count(Sitting, JobStatus.OPEN).label("open_moves"),
    _count(Match, JobStatus.OPEN, ~ASKED).label("open_matches"),
    _count(Match, JobStatus.OPEN, ASKED).label("open_requests"),
    _count(Check, JobStatus.OPEN).label("open_checks"),
    # Whether a person is in the middle of a game against bots.
    sa.exists()
    .where(Sitting.finished.is_(None), Sitting.moved > sa.bindparam("lately"))
    .label("somebody_plays"),
)


def read_load(session: Session, now: datetime) -> sa.Row[*tuple[Any, ...]]:
    """How many jobs of each kind are issued and open, and whether somebody plays against bots."""
    return session.execute(_LOAD, {"lately": now - PRESENT}).one()


def open_moves(session: Session, count: int) -> Sequence[Sitting]:
    """The sittings in which a bot's move is due, who waits longest first."""
    if count <= 0:
        return []
    waiting = sa.select(Sitting).where(Sitting.status == JobStatus.OPEN).with_for_update()
    return session.scalars(waiting.order_by(Sitting.moved, Sitting.id).limit(count)).all()


def open_matches(session: Session, count: int, which: sa.ColumnElement[bool]) -> Sequence[Match]:
    """The next open matches of a kind."""
    if count <= 0:
        return []
    waiting = sa.select(Match).where(Match.status == JobStatus.OPEN, which)
    return session.scalars(waiting.order_by(Match.id).limit(count)).all()


def open_checks(session: Session, count: int) -> Sequence[Check]:
    """The next open checks, people's bots first.

    Of one version and game only the first is issued, which speaks for all.
    """
    if count <= 0:
        return []
    earlier, its_ladder = aliased(Check), aliased(Ladder)
    first = ~(
        sa.select(earlier.id)
        .join(its_ladder, its_ladder.id == earlier.ladder_id)
        .where(
            earlier.version_id == Check.version_id,
            its_ladder.game == Ladder.game,
            earlier.status.in_([JobStatus.OPEN, JobStatus.ISSUED]),
            earlier.id < Check.id,
        )
        .exists()
    )
    return session.scalars(
        sa.select(Check)
        .join(Check.ladder)
        .join(Check.version)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(Check.status == JobStatus.OPEN, first)
        .order_by(User.name == HOUSE, Check.id)
        .limit(count)
    ).all()
