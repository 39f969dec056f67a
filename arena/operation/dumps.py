"""Sees to it that there is a dump of each day, if that is wanted."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime

from arena.dumps.daily import folder_of, is_made
from arena.ground.config import Settings
from arena.ground.refusals import Refusal
from arena.operation import processes
from engine.program import exit_words
from engine.timers import Every

RETRY_SECONDS = 600.0
"""How long after one that failed the next one is begun."""


class DailyDumps:
    """Starts the process that makes the dump of the day, and hears what became of it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None
        self._trying = Every(RETRY_SECONDS)
        self._problem = ""

    def look(self, now: datetime) -> str:
        """Goes on; gives what is wrong with the last one, in words, or nothing."""
        if self._settings.dumps:
            self._hear()
            if self._process is None and self._is_due(now) and self._trying.is_due():
                self._process = subprocess.Popen(
                    processes.dump(),
                    env={**os.environ, **self._settings.environment()},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    text=True,
                )
        return self._problem

    def _is_due(self, now: datetime) -> bool:
        try:
            return not is_made(folder_of(self._settings, now))
        except (Refusal, OSError):
            return True  # which is for the process to say

    def _hear(self) -> None:
        """What became of a process that has ended."""
        if self._process is None or self._process.poll() is None:
            return
        told, _ = self._process.communicate()
        code, self._process = self._process.returncode, None
        if code == 0:
            self._problem, self._trying = "", Every(RETRY_SECONDS)
        else:
            why = told.strip() or f"its process ended ({exit_words(code)})"
            self._problem = f"the dump of the day could not be made: {why}"

    def end(self) -> None:
        """Breaks off what is under way; it goes on when it is started again."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
