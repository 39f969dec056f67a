"""Sees to it that there is a dump of each day, if that is wanted."""

from __future__ import annotations

from datetime import datetime

from arena.dumps.daily import folder_of, is_made
from arena.ground.config import Settings
from arena.ground.refusals import Refusal
from arena.operation import processes
from arena.operation.started import StartedProcess


class DailyDumps(StartedProcess):
    """Starts the process that makes the dump of the day, and hears what became of it."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, processes.dump(), "the dump of the day could not be made")

    def look(self, now: datetime) -> str:
        """Goes on; gives what is wrong with the last one, in words, or nothing."""
        if self._settings.dumps and self.hear() and self._is_due(now):
            self.start()
        return self.problem

    def _is_due(self, now: datetime) -> bool:
        try:
            return not is_made(folder_of(self._settings, now))
        except (Refusal, OSError):
            return True  # which is for the process to say
