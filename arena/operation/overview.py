"""All that an operator is told at once: health, alarms, queues, and jobs under way."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.operation import alarms, health
from arena.operation.jobs_under_way import under_way
from arena.operation.queues import Queues


def as_json(session: Session, settings: Settings, now: datetime, queues: Queues) -> dict[str, Any]:
    """The overview as JSON's types, as the API and `arena top` have it.

    Args:
        queues: what the broker says, which is asked before the database.
    """
    found = health.look(session, settings, now)
    return found.as_json() | {
        "alarms": [asdict(one) for one in alarms.find(session, settings, now, found)],
        "queues": queues.waiting,
        "broker": queues.problem,
        "under_way": [asdict(one) for one in under_way(session)],
    }
