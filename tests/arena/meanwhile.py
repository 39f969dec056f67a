"""Two transactions at the same moment, as two processes have them."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import Database

MEANWHILE = 0.1
"""Seconds in which another on SQLite gets as far as it can: to its beginning."""
PATIENCE = 10.0
"""Seconds that it may take on PostgreSQL, which tells who waits."""
STEADY = 5
"""Looks in a row at which somebody waits who will not go on by himself."""

Deed = Callable[[Session], object]


def give_way(database: Database, is_over: Callable[[], bool]) -> None:
    """Waits until the transaction of somebody else is over, or waits for one that is open.

    Args:
        is_over: whether it is over.
    """
    if database.engine.dialect.name == "sqlite":
        time.sleep(MEANWHILE)
        return
    waits = sa.text("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
    deadline, looks = time.monotonic() + PATIENCE, 0
    with database.engine.connect() as connection:
        while looks < STEADY and not is_over() and time.monotonic() < deadline:
            looks = looks + 1 if connection.scalar(waits) else 0
            time.sleep(0.005)


def at_once(database: Database, first: Deed, second: Deed, *, rest: Deed = lambda _: None) -> None:
    """Does the first, and the second before that is committed, which has the rest still to do."""
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as session:
            first(session)
            session.flush()
            other = pool.submit(in_a_transaction, database, second)
            give_way(database, other.done)
            rest(session)
        other.result(60)


def in_a_transaction(database: Database, deed: Deed) -> None:
    """Does something, and commits it."""
    with database.begin() as session:
        deed(session)


class Pause:
    """A function that rests when it has done its work, so that somebody else gets on."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._reached, self._gone_on = Event(), Event()
        self._database: Database | None = None

    def __call__(self, *args: Any, **named: Any) -> Any:
        found = self._function(*args, **named)
        if self._database and not self._reached.is_set():
            self._reached.set()
            give_way(self._database, self._gone_on.is_set)
        return found

    def between(self, database: Database, first: Deed, second: Deed) -> None:
        """Does the first, which calls this function, and the second while it rests."""
        self._database = database
        with ThreadPoolExecutor(1) as pool:
            resting = pool.submit(in_a_transaction, database, first)
            assert self._reached.wait(60)
            in_a_transaction(database, second)
            self._gone_on.set()
            resting.result(60)
