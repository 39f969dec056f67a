"""A process that the recorder starts for some work, and that says in a line what is wrong."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from arena.ground.config import Settings
from engine.program import exit_words
from engine.timers import Every

RETRY_SECONDS = 600.0
"""How long after one that failed the next one is begun."""


class StartedProcess:
    """Starts a process where it is due, and hears what became of it; waits for nothing.

    Args:
        words: how it is started.
        failed: what is said before its line, in plain English.
    """

    def __init__(self, settings: Settings, words: Sequence[str], failed: str) -> None:
        self._settings, self._words, self._failed = settings, words, failed
        self.process: subprocess.Popen[str] | None = None
        """The one that runs; None if none does."""
        self._trying = Every(RETRY_SECONDS)
        self.problem = ""
        """What is wrong with the last one, in words; empty if nothing is."""

    def hear(self) -> bool:
        """What became of one that has ended; whether one may be started now."""
        if self.process is not None and self.process.poll() is not None:
            told, _ = self.process.communicate()
            code, self.process = self.process.returncode, None
            if code == 0:
                self.problem, self._trying = "", Every(RETRY_SECONDS)
            else:
                why = told.strip() or f"its process ended ({exit_words(code)})"
                self.problem = f"{self._failed}: {why}"
        return self.process is None

    def start(self) -> None:
        """Starts one, unless the last one failed only lately."""
        if self._trying.is_due():
            self.process = subprocess.Popen(
                self._words,
                env={**os.environ, **self._settings.environment()},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
            )

    def end(self) -> None:
        """Breaks off what is under way; it goes on when it is started again."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
