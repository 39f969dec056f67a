"""Fields that are set before a competition begins, and stay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import BotVersion, Competition, Entrant, EntrantState, Match
from arena.ratings.book import NEW


def enter_field(
    session: Session,
    competition: Competition,
    versions: Sequence[BotVersion],
    now: datetime,
    *,
    first: int = 1,
) -> None:
    """Enters versions in a competition that has not begun, numbered in their order.

    Args:
        first: the number of the first of them.
    """
    last = session.scalar(sa.select(sa.func.max(Match.seq))) or 0
    session.add_all(
        Entrant(
            competition=competition,
            version=version,
            state=EntrantState.ACTIVE,
            number=number,
            entered=now,
            entered_after=last,
            mu=NEW.mu,
            sigma=NEW.sigma,
        )
        for number, version in enumerate(versions, first)
    )
    session.flush()
