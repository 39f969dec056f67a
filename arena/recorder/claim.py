"""The claim to be the one recorder of a database, whatever else is started.

Ratings and the order of matches are right because one process writes them down. The claim
belongs to the connection through which that process writes: there is no connection without it,
and it ends with its connection. On PostgreSQL it is an advisory lock of the session; when the
session is lost, so are the claim and whatever was not committed, and the next one has to claim
anew. On SQLite it is a lock on a file beside the database. A recorder that is stopped keeps its
claim; one that was killed has lost it, and one whose host vanished loses it within half a minute.

Who finds it taken waits, and says so: it takes over when the other ends. An arena that brings all
of its processes along gives up soon, since nobody would read what its recorder says.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from math import inf
from typing import Any

import redis
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from arena.ground.db import Database
from arena.ground.file_locks import lock_file

log = logging.getLogger("arena.recorder")

KEY = int.from_bytes(b"arena")
"""Of the advisory lock; each database of a server has locks of its own."""
ASK_SECONDS, TELL_SECONDS = 0.5, 60.0
"""Between two attempts, and between two lines about them."""
TRY = "SELECT pg_try_advisory_lock(%s)"
FILE = "claim"
BROKER_KEY, BROKER_SECONDS = "arena.id", 60
KEEPALIVES = (
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
)
"""By which a server finds within 25 seconds that a host is gone, and ends its session."""


class ClaimError(RuntimeError):
    """Another goes on recording; one sentence that says what to do."""


def claim_connections(
    database: Database, patience: float = inf, meanwhile: Callable[[], object] = lambda: None
) -> None:
    """Makes every connection of a database claim it for its process, and wait until it may.

    Args:
        database: the database; of its connections there is to be one at a time.
        patience: after so many seconds of waiting, a connection fails with ClaimError.
        meanwhile: done again and again while it waits.
    """
    engine = database.engine
    path = sa.make_url(database.url).database

    def claim_file(_: Any, record: sa.pool.ConnectionPoolEntry) -> None:
        with ExitStack() as given_up:
            owners_alone = partial(os.open, mode=0o600)
            file = given_up.enter_context(open(f"{path}.recorder", "a", opener=owners_alone))
            # Whoever may open it could keep all recorders away; earlier releases let all do so.
            with suppress(OSError):
                os.fchmod(file.fileno(), 0o600)
            _wait(lambda: lock_file(file.fileno()), patience, meanwhile)
            given_up.pop_all()
        record.info[FILE] = file

    def release_file(_: Any, record: sa.pool.ConnectionPoolEntry) -> None:
        if file := record.info.pop(FILE, None):
            file.close()

    def claim_session(connection: Any, _: sa.pool.ConnectionPoolEntry) -> None:
        def locks() -> bool:
            # A transaction each, so that none stays open while this one waits.
            found = connection.execute(TRY, (KEY,)).fetchone()[0]
            connection.commit()
            return bool(found)

        try:
            for words in KEEPALIVES:
                connection.execute(words)
            _wait(locks, patience, meanwhile)
        except engine.dialect.loaded_dbapi.Error as error:
            raise OperationalError(TRY, {}, error) from error

    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", claim_file)
        event.listen(engine, "close", release_file)
    else:
        event.listen(engine, "connect", claim_session)


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


def _wait(claims: Callable[[], bool], patience: float, meanwhile: Callable[[], object]) -> None:
    """Tries until it succeeds, or patience is at its end."""
    due, again = time.monotonic(), ""
    end = due + patience
    while not claims():
        if time.monotonic() >= end:
            raise ClaimError(
                "another arena is at work on this database: stop it first, or use another "
                "database (if its host vanished, try again in half a minute)"
            )
        if time.monotonic() >= due:
            words = "another recorder is %sat work on this database; this one waits until it ends"
            log.warning(words, again)
            due, again = time.monotonic() + TELL_SECONDS, "still "
        meanwhile()
        time.sleep(ASK_SECONDS)
    if again:
        log.warning("this recorder takes over")
