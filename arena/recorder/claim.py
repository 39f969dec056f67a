"""The claims to the shards of a database, each of which one recorder has, whatever is started.

Ratings and the order of matches are right because one process writes those of a competition. The
claims belong to the connection through which that process writes: there is no connection without
one, and they end with their connection. On PostgreSQL each is an advisory lock of the session; when
the session is lost, so are the claims and whatever was not committed, and the next one has to claim
anew. On SQLite there is one, to all shards: a lock on a file beside the database.

Each recorder has about as many shards as any other (`share_of`), those that have recorded for long
one more where that does not come out even. Who has too many gives some up at its next tick, and who
has too few takes what is free: so who ends, is killed or comes anew moves no shard that need not
be. There is an order of recorders, that in which their sessions began.

A recorder that hangs, with its host perhaps, holds its locks. It is known by its session, of which
the server says when it last asked for anything, by its own clock: who has been silent for
`ARENA_TAKE_OVER_SECONDS`, and is not waiting for the server, has its session ended by the others.
What it had not committed is gone, and when it wakes it has to claim anew like any other. One that
was killed has lost its claims at once, and one whose host vanished within half a minute.

Who finds all taken waits, and says so: it takes over when another ends. An arena that brings all
of its processes along gives up soon, since nobody would read what its recorder says.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from itertools import takewhile
from math import inf
from typing import Any

import redis
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from arena.ground.db import Database
from arena.ground.file_locks import lock_file
from arena.schedule.shards import COUNT_MARK, MOST_SHARDS
from engine.plurals import counted

log = logging.getLogger("arena.recorder")

KEY = int.from_bytes(b"arena")
"""The advisory lock of the first shard, after which the others' follow; that before it is shared by
all recorders. Each database of a server has locks of its own."""
HIGH, LOW = divmod(KEY, 2**32)
"""The halves of that number, as the server lists it."""
ASK_SECONDS, TELL_SECONDS = 0.5, 60.0
"""The time between two attempts, and between two lines about them."""
AGREE_SECONDS = 5.0
"""How long a recorder waits for the others to be of its number of shards, or to end."""
TRY, LEAVE = "SELECT pg_try_advisory_lock(%s)", "SELECT pg_advisory_unlock(%s)"
BE_THERE = "SELECT pg_advisory_lock_shared(%s)"
FILE = "claim"
BROKER_KEY, BROKER_SECONDS = "arena.id", 60
KEEPALIVES = (
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
)
"""What has a server find within 25 seconds that a host is gone, and end its session."""
SESSIONS = """
    SELECT l.pid, l.objid::bigint - %(low)s, l.pid = pg_backend_pid(),
        coalesce(a.state_change < clock_timestamp() - make_interval(secs => %(silence)s)
            AND (a.state <> 'active' OR a.wait_event_type = 'Client'), false)
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.classid = %(high)s
        AND l.objid::bigint BETWEEN %(low)s - 1 AND %(low)s + %(most)s - 1
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ORDER BY a.backend_start, l.pid
"""
"""Each lock of a recorder: of which session, of which shard (-1 if of none), whether it is this
one's, and whether that one hangs; in the order in which the sessions began."""
END = "SELECT pg_terminate_backend(%s)"
COUNT = "SELECT value::int FROM mark WHERE key = %s"
KEEP_COUNT = """
    INSERT INTO mark (key, value) VALUES (%s, %s)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
NEVER = 1e9
"""Seconds."""


class ClaimError(RuntimeError):
    """Another goes on recording; one sentence that says what to do."""


def share_of(place: int, recorders: int, shards: int) -> int:
    """How many of the shards a recorder has.

    Args:
        place: in the order of the recorders, from 0.
    """
    each, more = divmod(shards, recorders)
    return each + (place < more)


class Claims:
    """What a process claims of a database, by each connection to it anew."""

    def __init__(
        self,
        database: Database,
        shards: int = 1,
        *,
        whole: bool = False,
        take_over_seconds: float = NEVER,
        patience: float = inf,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        """Has every connection of a database claim it for its process, and wait until it may.

        Args:
            database: the database; of its connections there is to be one at a time.
            shards: into how many the arena is divided.
            whole: whether it wants all of them, or none.
            take_over_seconds: after so many, another recorder hangs that asks for nothing.
            patience: after so many seconds of waiting, a connection fails with ClaimError.
            meanwhile: done again and again while it waits.
        """
        self._engine, self._count, self._silence = database.engine, shards, take_over_seconds
        self._whole, self._patience, self._meanwhile = whole, patience, meanwhile
        self._path = sa.make_url(database.url).database
        self.are_several = shards > 1 and self._engine.dialect.name != "sqlite"
        """Whether others may have a part of what there is to claim."""
        self.held: frozenset[int] = frozenset()
        """The shards that the present connection has claimed."""
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", self._claim_file)
            event.listen(self._engine, "close", self._release_file)
        else:
            event.listen(self._engine, "connect", self._claim_session)

    def look(self, connection: Any) -> None:
        """Takes or gives up what it is to have now, as others came or went.

        Args:
            connection: the driver's, within a transaction or not.
        """
        if self._engine.dialect.name == "sqlite":
            return
        asked = {"low": LOW, "high": HIGH, "most": MOST_SHARDS, "silence": self._silence}
        mine, taken, place, there = set[int](), set[int](), 0, 0
        for pid, shard, is_mine, hangs in connection.execute(SESSIONS, asked).fetchall():
            if shard >= 0:
                (mine if is_mine else taken).add(shard)
            elif is_mine:
                place, there = there, there + 1
            elif hangs:
                log.warning("another recorder hangs, and its session %s is ended", pid)
                connection.execute(END, (pid,))
            else:
                there += 1
        # Who has come late waits, and takes none from whom there is only one left.
        most = max(share_of(place, there, self._count), min(1, len(mine)))
        for shard in sorted(mine)[most:]:
            connection.execute(LEAVE, (KEY + shard,))
            mine.discard(shard)
        before = frozenset(mine)
        for shard in range(self._count):
            if len(mine) < most and shard not in mine | taken and _locks(connection, shard):
                mine.add(shard)
        # While it has one nobody changes their number, as somebody may have while it waited.
        if mine - before and (known := self._known(connection)) != self._count:
            raise ClaimError(self._disagreement(known))
        if mine != self.held and self._count > 1 and mine:
            its = ", ".join(map(str, sorted(mine)))
            log.info("of the %s shards this recorder has now: %s", self._count, its)
        self.held = frozenset(mine)

    def _look_for_all(self, connection: Any) -> None:
        """Takes all shards, or none."""
        mine = list(takewhile(partial(_locks, connection), range(self._count)))
        if len(mine) < self._count:
            for shard in mine:
                connection.execute(LEAVE, (KEY + shard,))
            mine = []
        self.held = frozenset(mine)

    def _claim_file(self, _: Any, record: sa.pool.ConnectionPoolEntry) -> None:
        with ExitStack() as given_up:
            owners_alone = partial(os.open, mode=0o600)
            file = given_up.enter_context(open(f"{self._path}.recorder", "a", opener=owners_alone))
            # Whoever may open it could keep all recorders away; earlier releases let all do so.
            with suppress(OSError):
                os.fchmod(file.fileno(), 0o600)
            self._wait(lambda: lock_file(file.fileno()))
            given_up.pop_all()
        record.info[FILE] = file
        self.held = frozenset(range(self._count))

    def _release_file(self, _: Any, record: sa.pool.ConnectionPoolEntry) -> None:
        if file := record.info.pop(FILE, None):
            file.close()

    def _claim_session(self, connection: Any, _: sa.pool.ConnectionPoolEntry) -> None:
        look = self._look_for_all if self._whole else self.look

        def claims() -> bool:
            # A transaction each, so that none stays open while this one waits.
            look(connection)
            connection.commit()
            return bool(self.held)

        try:
            for words in KEEPALIVES:
                connection.execute(words)
            self._agree(connection)
            connection.commit()
            if not self._whole:
                connection.execute(BE_THERE, (KEY - 1,))
                connection.commit()
            self._wait(claims)
        except self._engine.dialect.loaded_dbapi.Error as error:
            connection.close()
            raise OperationalError(TRY, {}, error) from error
        except BaseException:
            connection.close()
            raise

    def _agree(self, connection: Any) -> None:
        """Sees that all recorders are of one number of shards; who is alone changes it.

        Raises:
            ClaimError: others are at work by another number.
        """
        end = time.monotonic() + AGREE_SECONDS
        while (known := self._known(connection)) != self._count:
            connection.commit()
            # One of a release before knows of no shards: it has the first lock, and records all.
            most = max(known, self._count)
            mine = list(takewhile(partial(_locks, connection), range(most)))
            if len(mine) == most:
                connection.execute(KEEP_COUNT, (COUNT_MARK, str(self._count)))
                connection.commit()
            for shard in mine:
                connection.execute(LEAVE, (KEY + shard,))
            connection.commit()
            if len(mine) == most:
                return
            if time.monotonic() > end:
                raise ClaimError(self._disagreement(known))
            self._meanwhile()
            time.sleep(ASK_SECONDS)

    def _known(self, connection: Any) -> int:
        """How many shards the arena is divided into; one that is not prepared will be as asked."""
        is_there = connection.execute("SELECT to_regclass('mark') IS NOT NULL").fetchone()[0]
        row = connection.execute(COUNT, (COUNT_MARK,)).fetchone() if is_there else (self._count,)
        return row[0] if row else 1

    def _disagreement(self, known: int) -> str:
        return (
            f"the recorders at work divide the arena into {counted(known, 'shard')}, and this one "
            f"was told {self._count}: give all the same ARENA_SHARDS, or stop the others first"
        )

    def _wait(self, claims: Callable[[], bool]) -> None:
        """Tries until it succeeds, or patience is at its end."""
        due, again = time.monotonic(), ""
        end = due + self._patience
        while not claims():
            if time.monotonic() >= end:
                raise ClaimError(
                    "another arena is at work on this database: stop it first, or use another "
                    "database (if its host vanished, try again in half a minute)"
                )
            if time.monotonic() >= due:
                words = (
                    "another recorder is %sat work on this database; this one waits until it ends"
                )
                log.warning(words, again)
                due, again = time.monotonic() + TELL_SECONDS, "still "
            self._meanwhile()
            time.sleep(ASK_SECONDS)
        if again:
            log.warning("this recorder takes over")


def _locks(connection: Any, shard: int) -> bool:
    """Claims a shard, if nobody else has it."""
    return bool(connection.execute(TRY, (KEY + shard,)).fetchone()[0])


def claim_broker(client: redis.Redis, arena: str) -> None:
    """Claims a broker for an arena, for a minute: to be done again before that is over.

    Two arenas on one broker would take each other's messages. A broker that is full keeps no new
    claim, and a broker that is away none at all.

    Args:
        arena: what no other arena has.

    Raises:
        ClaimError: another arena has it.
        redis.RedisError: it does not answer.
    """
    with suppress(redis.OutOfMemoryError):
        client.set(BROKER_KEY, arena, nx=True, ex=BROKER_SECONDS)
    found = client.get(BROKER_KEY)
    if found not in (None, arena.encode()):
        raise ClaimError(
            "another arena is at work on this broker: give each a broker of its own, or another "
            f"database of it, as in redis://HOST/1 (if the other is gone, wait {BROKER_SECONDS} s)"
        )
    client.expire(BROKER_KEY, BROKER_SECONDS)
