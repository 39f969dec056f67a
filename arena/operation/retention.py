"""What is not kept for ever: the logs of bots, which can be many times as large as their games, and
what bots answered in positions that nobody keeps.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.models import BotAnswer, GameSeat, JobStatus, PlayedGame, Question
from arena.models.analyses import IS_SWEPT
from arena.models.matches import IS_LOGGED

AT_ONCE = 500
"""Logs or answers forgotten in one transaction, which must not hold anybody up."""


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


def forget_answers(session: Session, settings: Settings, now: datetime) -> int:
    """Deletes answers that were there long enough, the oldest first, and says how many.

    Questions go with the last of their answers.
    """
    if not settings.answer_days:
        return 0
    begin = now - timedelta(days=settings.answer_days)
    oldest = (
        sa.select(BotAnswer.question_id, BotAnswer.ply)
        .where(IS_SWEPT, BotAnswer.answered < begin)
        .order_by(BotAnswer.answered)
        .limit(AT_ONCE)
    )
    # The rows that were found, for new ones have other keys.
    found = session.execute(oldest).all()
    if found:
        key = sa.tuple_(BotAnswer.question_id, BotAnswer.ply)
        its = sa.delete(BotAnswer).where(key.in_([tuple(row) for row in found]))
        session.execute(its, execution_options={"synchronize_session": False})
    has_answers = sa.select(BotAnswer.ply).where(BotAnswer.question_id == Question.id).exists()
    over = Question.status.not_in([JobStatus.OPEN, JobStatus.ISSUED])
    # What is asked within a day is counted.
    asked = Question.created < min(begin, now - timedelta(days=1))
    empty = sa.select(Question.id).where(over, asked, ~has_answers)
    gone = sa.delete(Question).where(Question.id.in_(empty.limit(AT_ONCE)))
    session.execute(gone, execution_options={"synchronize_session": False})
    return len(found)
