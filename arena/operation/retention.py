"""What is not kept for ever: the logs of bots, which can be many times as large as their games."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.models import GameSeat, PlayedGame
from arena.models.matches import IS_LOGGED

AT_ONCE = 500
"""Logs forgotten in one transaction, which must not hold anybody up."""


def logs_begin(settings: Settings, now: datetime) -> datetime | None:
    """When the first games ended whose logs are still kept; None if all are."""
    return now - timedelta(days=settings.log_days) if settings.log_days else None


def forget_logs(session: Session, settings: Settings, now: datetime) -> int:
    """Empties logs that were kept long enough, the oldest first, and says how many."""
    begin = logs_begin(settings, now)
    if begin is None:
        return 0
    # Games are numbered as they end, so that the first logs are the oldest.
    oldest = (
        sa.select(GameSeat.game_id, PlayedGame.finished)
        .join(PlayedGame, PlayedGame.id == GameSeat.game_id)
        .where(IS_LOGGED)
        .order_by(GameSeat.game_id)
        .limit(AT_ONCE)
        .subquery()
    )
    last = session.scalar(sa.select(sa.func.max(oldest.c.game_id)).where(oldest.c.finished < begin))
    if last is None:
        return 0
    forget = sa.update(GameSeat).where(IS_LOGGED, GameSeat.game_id <= last).values(log="")
    done = session.execute(forget, execution_options={"synchronize_session": False})
    return cast("sa.CursorResult[Any]", done).rowcount
