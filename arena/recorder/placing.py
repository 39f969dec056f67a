"""The process that makes final tables, and how the recorder starts it when one is due.

To estimate the strengths of hundreds of bots from all their games takes longer than the recorder
may be away. Nothing that it writes moves a rating.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions import final_tables
from arena.competitions.kinds import kind_of
from arena.ground.config import Settings, load
from arena.ground.db import FAILED, Database
from arena.ground.logs import begin_log
from arena.models import Competition
from arena.operation import health
from engine.program import exit_words
from engine.shelf import Missing
from engine.timers import Every

WORDS = (sys.executable, "-P", "-m", "arena.recorder.placing")
RETRY_SECONDS = 60.0
"""How long after one that left something the next one is begun for that."""

log = logging.getLogger("arena.placing")


class Placing:
    """The process that makes final tables, while there is one to make."""

    def __init__(self, environment: Mapping[str, str], words: Sequence[str] = WORDS) -> None:
        """Prepares to place; no process runs yet.

        Args:
            environment: what it is started with.
            words: how it is started.
        """
        self._environment, self._words = environment, words
        self._process: subprocess.Popen[bytes] | None = None
        self._tried: int | None = None
        """The first that was due when it was last started."""
        self._trying = Every(RETRY_SECONDS)

    @property
    def is_at_work(self) -> bool:
        """Whether one was started of which it was not heard yet what became of it."""
        return self._process is not None

    @property
    def ended(self) -> bool:
        """Whether no process runs."""
        return self._process is None or self._process.poll() is not None

    def look(self, session: Session) -> None:
        """Hears what became of it; starts it if something is due, and none runs."""
        if not self.ended:
            return
        if self._process is not None:
            code, self._process = self._process.returncode, None
            words = f"final tables can't be made: its process ended ({exit_words(code)})"
            health.note(session, health.PLACING_MARK, words if code else "")
        first = session.scalar(final_tables.due().limit(1))
        if first is not None and (first != self._tried or self._trying.remaining() <= 0):
            self._tried = first
            self._trying.begin()
            self._process = subprocess.Popen(
                self._words,
                env={**os.environ, **self._environment},
                stdin=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """Ends it, if it runs; it is begun anew later."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


def place_all(database: Database) -> int:
    """Makes all final tables that are due; gives how many could not be made."""
    with database.read() as session:
        numbers = session.scalars(final_tables.due()).all()
    failed = 0
    for number in numbers:
        try:
            with database.read() as session:
                competition = session.get_one(Competition, number)
                if isinstance(competition.variant, Missing):
                    continue  # who is on whose side is not to be guessed
                found = kind_of(competition).final_places(session, competition)
            with database.begin() as session:
                session.add(competition)
                final_tables.keep(session, competition, found)
                kind_of(competition).keep_winner(session, competition)
            log.info("the final table of %s is made", competition.name)
        except FAILED:
            raise
        except Exception:
            log.exception("the final table of competition %s", number)
            failed += 1
    return failed


def main(settings: Settings | None = None) -> int:
    """Makes what is due, and ends; 1 if something could not be made."""
    settings = settings or load()
    os.nice(19)
    begin_log(settings)
    database = Database(settings.database_url)
    try:
        return 1 if place_all(database) else 0
    except sa.exc.SQLAlchemyError as error:
        log.warning("the database failed: %s", str(error).splitlines()[0])
        return 1
    finally:
        database.close()


if __name__ == "__main__":
    sys.exit(main())
