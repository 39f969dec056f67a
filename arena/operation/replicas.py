"""A replica of the database, and how far it follows: PostgreSQL's streaming replication.

It is asked once a second, by a thread, which position of the first database's log it has come to.
One that is more than `MOST_BEHIND` seconds behind, is away, is of another arena or another schema,
or follows nobody, is not to be read from.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import deque

import sqlalchemy as sa

from arena.ground.db import Database, SchemaError
from arena.models import Mark
from arena.signing import ARENA_MARK

LOOK_SECONDS = 1.0
STALE_SECONDS = 3.0
"""How long after a look nobody knows any more whether it follows."""
MOST_BEHIND = 5.0
PATIENCE_SECONDS = 2
"""How long a replica is waited for before it counts as away."""
POSITION = re.compile(r"([0-9A-F]{1,8})/([0-9A-F]{1,8})")
PAGE_BYTES, HEADS = 8192, (24, 40)
"""How long the pages of PostgreSQL's log are, and how long the heads of these."""
WRITTEN = sa.select(sa.cast(sa.literal_column("pg_current_wal_insert_lsn()"), sa.Text))
REPLAYED = sa.select(sa.cast(sa.literal_column("pg_last_wal_replay_lsn()"), sa.Text))

log = logging.getLogger("arena.replica")


def position(text: str | None) -> int | None:
    """A position of a log, as PostgreSQL writes it (``16/B374D848``); None if it is none."""
    found = POSITION.fullmatch(text or "")
    if found is None:
        return None
    at = int(found[1], 16) << 32 | int(found[2], 16)
    # Where the next record comes onto a new page, the one who writes is after the page's head
    # already, and who has replayed all is before it. No record ends within.
    return at - at % PAGE_BYTES if at % PAGE_BYTES in HEADS else at


class NotFollowing(RuntimeError):
    """Why a replica is not read from, in words."""


class Replica:
    """A database that follows another, and how far it is.

    Args:
        first_url: of the database that is followed, which is looked at by connections of its own.
        url: of the replica.
    """

    def __init__(self, first_url: str, url: str) -> None:
        self._first = Database(first_url, patience_seconds=PATIENCE_SECONDS)
        self.database = Database(url, patience_seconds=PATIENCE_SECONDS)
        self.problem = "nobody has looked yet"
        """Why it is not read from, in words, as the last look found; empty if it is."""
        self._written = deque[tuple[float, int]](maxlen=60)
        """When the first one had come to which position, the oldest first."""
        self._replayed, self._looked = -1, float("-inf")
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Sees how far it is, and whether it may be read from."""
        began = time.monotonic()
        try:
            with self._first.engine.connect() as connection:
                written, of_first = _look(connection, WRITTEN)
            self._written.append((began, written))
            with self.database.engine.connect() as connection:
                replayed, of_this = _look(connection, REPLAYED)
            if of_this != of_first:
                raise NotFollowing("it is not a copy of the first one, or not prepared for this")
            reached = [when for when, at in self._written if at <= replayed]
            if not reached and began - self._written[0][0] <= MOST_BEHIND:
                raise NotFollowing("how far behind it is must be seen first")
            if not reached or began - reached[-1] > MOST_BEHIND:
                raise NotFollowing(f"it is more than {MOST_BEHIND:.0f} s behind")
            self._replayed, problem = replayed, ""
        except (sa.exc.SQLAlchemyError, SchemaError, NotFollowing) as error:
            problem = str(error).partition("\n")[0]
        self._looked = began
        self._tell(problem)

    def fail(self, error: Exception) -> None:
        """Has it not be read from until the next look, since something failed there."""
        self._tell(str(error).partition("\n")[0])

    def has(self, wanted: int | None) -> bool:
        """Whether it can be read from, and has come to a position."""
        return not self.unread and (wanted is None or self._replayed >= wanted)

    @property
    def unread(self) -> str:
        """Why it is not read from, in words, that nobody has looked lately, too; empty if it is."""
        if not self.problem and time.monotonic() - self._looked > STALE_SECONDS:
            return f"nobody has seen for {STALE_SECONDS:.0f} s how far it is"
        return self.problem

    def watch(self) -> None:
        """Has a thread look again and again, until this is closed or the process ends."""
        self._thread = threading.Thread(target=self._go_on_looking, name="replica", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the looking, and the connections to both databases."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self.database.close()
        self._first.close()

    def _go_on_looking(self) -> None:
        while not self._over.is_set():
            self.look()
            self._over.wait(LOOK_SECONDS)

    def _tell(self, problem: str) -> None:
        if problem and not self.problem:
            log.warning("the replica is not read from: %s", problem)
        elif self.problem and not problem:
            log.info("the replica is read from")
        self.problem = problem


def _look(
    connection: sa.Connection, place: sa.Select[str]
) -> tuple[int, tuple[str | None, str | None]]:
    """How far a database is, and of what arena and schema it is.

    Raises:
        NotFollowing: it can't say how far.
    """
    found = position(connection.scalar(place))
    schema = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    arena = connection.scalar(sa.select(Mark.value).where(Mark.key == ARENA_MARK))
    if found is None:
        raise NotFollowing("it follows no other")
    return found, (schema, arena)
