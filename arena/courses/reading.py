"""The process that has hand-ins read for the report of similar ones, and how the recorder starts
it when some are not yet.

What it found is kept by the digest of the files, so each is read once and the report is there at
once. Each bundle is read by a process of its own (`arena.courses.prints`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.players import named_players
from arena.courses.hand_ins import students
from arena.ground.config import Settings, load
from arena.ground.db import Database, database_time
from arena.ground.logs import begin_log
from arena.ground.refusals import Refusal
from arena.models import BotVersion, CompetitionDate, DateKind, ReadCode, TaughtCourse
from engine.program import exit_words
from engine.timers import Every

WORDS = (sys.executable, "-P", "-m", "arena.courses.reading")
READS = (sys.executable, "-P", "-m", "arena.courses.prints")
LOOK_SECONDS, RETRY_SECONDS = 10.0, 60.0
RECENT = timedelta(days=30)
"""How long after its marking a course is looked at for what is to be read."""
SAMPLES = Path(__file__).parents[2] / "bots"
"""What `arena new` begins with, and the sample bots: everybody was given them."""
BROKEN_OFF, NOT_STORED = "its reading was broken off", "it is not stored"

log = logging.getLogger("arena.courses.reading")


class Reading:
    """The process that reads hand-ins, while there is one to read."""

    def __init__(self, settings: Settings, words: Sequence[str] = WORDS) -> None:
        """Prepares to read; no process runs yet.

        Args:
            words: how it is started.
        """
        self._settings, self._words = settings, words
        self._process: subprocess.Popen[bytes] | None = None
        self._looking = Every(LOOK_SECONDS)
        self._retrying = Every(RETRY_SECONDS)
        self._failed = False

    @property
    def is_at_work(self) -> bool:
        """Whether one was started of which it was not heard yet what became of it."""
        return self._process is not None

    def look(self, session: Session) -> None:
        """Hears what became of it; starts it if something is to be read, and none runs."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            self._process, self._failed = None, code != 0
            if code:
                log.error("the process that reads hand-ins ended (%s)", exit_words(code))
                self._retrying.begin()
        is_time = self._retrying.is_due() if self._failed else self._looking.is_due()
        if is_time and unread(session, self._settings.bundles):
            self._process = subprocess.Popen(
                self._words,
                env={**os.environ, **self._settings.environment()},
                stdin=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """Ends it, if it runs; it is begun anew later."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


def unread(session: Session, store: Path) -> list[str]:
    """The digests of what is to be read and is not yet: all hand-ins of courses whose deadline is
    past, and what everybody was given; what was not stored, as soon as it is. Of what nothing
    happened to for a while nothing is new."""
    now = database_time(session)
    past = sa.select(CompetitionDate.competition_id).where(
        CompetitionDate.what == DateKind.FREEZE, CompetitionDate.at <= now
    )
    query = sa.select(TaughtCourse).where(
        TaughtCourse.ladder_id.in_(past),
        sa.or_(
            TaughtCourse.marked.is_(None),
            TaughtCourse.marked > now - RECENT,
            TaughtCourse.late_until > now - RECENT,
        ),
    )
    wanted: dict[str, None] = {}
    for course in session.scalars(query):
        its = [*handed_in(session, course).values(), *given_to_all(session, course)]
        wanted |= dict.fromkeys(its)
    read = sa.select(ReadCode.digest, ReadCode.unread).where(ReadCode.digest.in_(wanted))
    known = {
        digest
        for digest, why in session.execute(read)
        if why != [["", NOT_STORED]] or not (store / digest).exists()
    }
    return [digest for digest in wanted if digest not in known]


def handed_in(session: Session, course: TaughtCourse) -> dict[str, str]:
    """The digest of what each student of a course has handed in, by their names; what is a team's
    by the name of one of it."""
    its = {
        one.counts.version.id: (one.user.name, one.counts.version.digest)
        for one in reversed(students(session, course))
        if one.counts is not None and one.counts.version.digest
    }
    return dict(sorted(its.values()))


def given_to_all(session: Session, course: TaughtCourse) -> list[str]:
    """The digests of the code that all students of a course were given."""
    found = [samples_digest()]
    for name in course.given:
        try:
            (its,) = named_players(session, [name])
        except Refusal:
            continue  # it was deleted since
        if its.version.bot_id == course.bot_ids[name]:
            found.append(its.version.digest)
    return found


@cache
def samples_digest() -> str:
    """The digest that the samples' fingerprints are kept by: another for each release of them."""
    known = hashlib.sha256(b"samples")
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            known.update(path.name.encode() + path.read_bytes())
    return known.hexdigest()


def read_code(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """What `arena.courses.prints` finds in bundles or folders, one after the other; that it was
    broken off, or one is not there, if so."""
    words = [*READS, *map(str, paths)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for path, line in zip(paths, process.stdout, strict=False):
            try:
                yield json.loads(line)
            except ValueError:
                why = BROKEN_OFF if path.exists() else NOT_STORED
                log.warning("%s is not read: %s", path.name, why)
                yield {"prints": [], "files": [], "unread": [["", why]]}


def read_all(database: Database, store: Path) -> None:
    """Reads all that is to be read."""
    with database.read() as session:
        wanted = unread(session, store)
    samples = samples_digest()
    paths = [SAMPLES if digest == samples else store / digest for digest in wanted]
    for digest, found in zip(wanted, read_code(paths), strict=False):
        with database.begin() as session:
            # What was deleted meanwhile leaves nothing behind.
            kept = sa.select(BotVersion.id).where(BotVersion.digest == digest).limit(1)
            if digest == samples or session.scalar(kept) is not None:
                session.merge(ReadCode(digest=digest, **found))


def main(settings: Settings | None = None) -> int:
    """Reads what is to be read, and ends."""
    settings = settings or load()
    os.nice(19)
    begin_log(settings)
    database = Database(settings.database_url)
    try:
        read_all(database, settings.bundles)
    except sa.exc.SQLAlchemyError as error:
        log.warning("the database failed: %s", str(error).splitlines()[0])
        return 1
    finally:
        database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
