"""The process that judges games, as the recorder starts it, follows it, and ends it where it must.

What a package's rules do in Python is broken off by the process itself, after a time. In C no
Python runs any more; so it tells at which game it is, and if it stays there for longer, it is
killed, and that game is set aside: it is not judged by these rules any more, and the operator is
told. The same becomes of a game at which it dies twice.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlalchemy.orm import Session

from arena.models import Mark, PlayedGame
from arena.operation import health
from arena.recorder.judging import ASIDE_MARK, GAME_SECONDS, UnjudgedGame, is_due, set_aside
from engine.games import GAMES

WORDS = (sys.executable, "-P", "-m", "arena.recorder.judging")
GRACE_SECONDS = 30.0
"""How much longer a game may take than it may: the process breaks it off by itself, if it can."""
STILL = 30
"""How many times as much must pass by the clock until a process stands still that takes no time of
a core."""
MOST_ASIDE = 1_000
"""Games that are remembered as set aside: the newest."""

log = logging.getLogger("arena.recorder.judging_process")


class Judging:
    """The process that judges, if there is something to judge."""

    def __init__(
        self,
        environment: Mapping[str, str],
        tables: Path,
        words: Sequence[str] = WORDS,
        patience_seconds: float = GAME_SECONDS + GRACE_SECONDS,
    ) -> None:
        """Prepares to judge; no process runs yet.

        Args:
            environment: what it is started with.
            tables: the folder of tables.
            words: how it is started.
            patience_seconds: how much time of a core it may take for one game.
        """
        self._environment, self._words = environment, words
        self._tables, self._patience = tables, patience_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._told = b""
        self._at = 0
        """The game that it is at; 0 if at none."""
        self._since = self._cpu = 0.0
        """When it began, and what time of a core it had taken then."""
        self._died_at = 0

    def look(self, session: Session) -> None:
        """Follows it; starts it if there is something to judge, and none runs."""
        if self._process is not None:
            self._follow()
            if self._process.poll() is None:
                taken = _cpu_seconds(self._process.pid) - self._cpu
                waited = time.monotonic() - self._since
                if taken <= self._patience and waited <= STILL * self._patience:
                    return
                self._process.kill()
                self._process.wait()
                self._set_aside(
                    session, f"its rules did not end within {self._patience:.0f} s of a core"
                )
            elif self._process.returncode and self._at:
                if self._died_at == self._at:
                    self._set_aside(session, "the process that judges ended twice with it")
                self._died_at = self._at
            self._end()
        aside = set_aside(session)
        health.note(session, health.JUDGING_MARK, aside[max(aside)].words if aside else "")
        if is_due(session, self._tables):
            self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._words,
            env={**os.environ, **self._environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        self._told, self._at, self._since, self._cpu = b"", 0, time.monotonic(), 0.0

    def _follow(self) -> None:
        """Hears at which game it is."""
        assert self._process is not None
        assert self._process.stdout is not None
        *lines, self._told = (self._told + (self._process.stdout.read() or b"")).split(b"\n")
        lines = [line for line in lines if line.isdigit()]
        if lines:
            self._at, self._since = int(lines[-1]), time.monotonic()
            self._cpu = _cpu_seconds(self._process.pid)

    def _set_aside(self, session: Session, why: str) -> None:
        """Leaves the game that it was at out from now on."""
        game = session.get(PlayedGame, self._at)
        if game is None:
            log.error("judging stood still, and is begun again")
            return
        where = game.competition
        words = (
            f"game {game.id} of {where.name} can't be judged: {why}; it is set aside until "
            f"{where.game} has other rules"
        )
        log.error("%s", words)
        aside = set_aside(session)
        aside[game.id] = UnjudgedGame(where.game, GAMES.rules(where.game), words)
        newest = dict(sorted(aside.items())[-MOST_ASIDE:])
        session.merge(Mark(key=ASIDE_MARK, value=json.dumps(newest)))

    def _end(self) -> None:
        if self._process is not None:
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def close(self) -> None:
        """Ends it, if it runs; what it was at is judged later."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._end()


def _cpu_seconds(pid: int) -> float:
    """What time of a core a process has taken; 0 if it is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")
