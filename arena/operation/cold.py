"""Sees to it that records become cold, and that the files that have them are all there."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.keeping.moving import begins_cold, is_any_waiting
from arena.models import DayFile
from arena.operation import processes
from arena.operation.started import StartedProcess
from engine.timers import Every

LOOK_SECONDS = 3600.0
"""How often it is seen that all files are there."""


class ColdRecords(StartedProcess):
    """Starts the process that moves records to the cold store, and hears what became of it."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, processes.cold(), "something is wrong with cold records")
        self._looking = Every(LOOK_SECONDS)

    def look(self, session: Session, days: float, now: datetime) -> str:
        """Goes on; gives what is wrong, in words, or nothing.

        Args:
            days: after how many records become cold; 0 for never.
        """
        if self.hear() and (self.problem or self._is_due(session, days, now)):
            self.start()
        return self.problem

    def _is_due(self, session: Session, days: float, now: datetime) -> bool:
        if days and is_any_waiting(session, begins_cold(days, now)):
            return True
        is_any_there = session.scalar(sa.select(DayFile.id).limit(1)) is not None
        return is_any_there and self._looking.is_due()
