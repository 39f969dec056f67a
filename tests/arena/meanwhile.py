"""Two transactions at the same moment, as two processes have them."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from sqlalchemy.orm import Session

from arena.db import Database

MEANWHILE = 0.3
"""Seconds in which the second gets as far as it can before the first is done."""

Deed = Callable[[Session], object]


def at_once(database: Database, first: Deed, second: Deed, *, rest: Deed = lambda _: None) -> None:
    """Does the first, and the second before that is committed, which has the rest still to do."""
    with ThreadPoolExecutor(1) as pool:
        with database.begin() as session:
            first(session)
            session.flush()
            other = pool.submit(in_a_transaction, database, second)
            time.sleep(MEANWHILE)
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
        self._reached = Event()

    def __call__(self, *args: Any, **named: Any) -> Any:
        found = self._function(*args, **named)
        if not self._reached.is_set():
            self._reached.set()
            time.sleep(MEANWHILE)
        return found

    def between(self, database: Database, first: Deed, second: Deed) -> None:
        """Does the first, which calls this function, and the second while it rests."""
        with ThreadPoolExecutor(1) as pool:
            resting = pool.submit(in_a_transaction, database, first)
            assert self._reached.wait(60)
            in_a_transaction(database, second)
            resting.result(60)
