"""Sees to it that git repositories are asked that are due."""

from __future__ import annotations

import logging
import os
import subprocess
import time
from datetime import datetime

from sqlalchemy.orm import Session

from arena.bots import repositories
from arena.ground.config import Settings
from arena.operation import processes
from engine.program import exit_words
from engine.timers import Every

RETRY_SECONDS = 60.0
"""How long after one that failed the next process is begun."""
LONGEST_SECONDS = 1800.0
"""How long one may take until it is taken to hang: each repository has its own time, and all are
asked in turn."""

log = logging.getLogger("arena.fetching")


class Fetches:
    """Starts the process that asks repositories, and hears what became of it; waits for nothing."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.process: subprocess.Popen[bytes] | None = None
        """The one that runs; None if none does."""
        self._began = 0.0
        self._retrying = Every(RETRY_SECONDS)
        self._failed = False

    @property
    def is_at_work(self) -> bool:
        """Whether one was started of which it was not heard yet what became of it."""
        return self.process is not None

    def look(self, session: Session, now: datetime) -> None:
        """Follows its process; starts one if a repository is to be asked, and none runs."""
        if self.process is not None:
            self._hear(self.process)
        is_time = not self._failed or self._retrying.is_due()
        if self.process is None and is_time and repositories.is_any_due(session, now):
            self._began = time.monotonic()
            self.process = subprocess.Popen(
                processes.fetch(),
                env={**os.environ, **self._settings.environment()},
                stdin=subprocess.DEVNULL,
            )

    def _hear(self, process: subprocess.Popen[bytes]) -> None:
        """What became of a process."""
        if process.poll() is None:
            if time.monotonic() - self._began > LONGEST_SECONDS:
                log.error("the process that asks git repositories hangs, and is begun again")
                self.end()
            return
        self._failed = process.returncode != 0
        if self._failed:
            self._retrying.begin()
            words = exit_words(process.returncode)
            log.error("the process that asks git repositories ended (%s)", words)
        self.process = None

    def end(self) -> None:
        """Breaks off what is under way; it is asked again later."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
