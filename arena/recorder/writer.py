"""How the recorder writes to the database, and sends what it has issued.

A database that is away is waited for, so that no message is lost meanwhile; one that fails a
single transaction is not.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TypeVar

import redis
import sqlalchemy as sa
from celery import Celery
from kombu.exceptions import OperationalError
from sqlalchemy import event
from sqlalchemy.orm import Session

from arena.competitions.rosters import Rosters
from arena.ground.config import Settings
from arena.ground.db import FAILED, Database
from arena.operation.watchdog import Pulse
from arena.present import Watch
from arena.recorder.claim import Claims
from arena.recorder.dispatch import CeleryQueue, configure
from arena.schedule import allocation
from arena.schedule.shards import Shards
from engine.jobs import Batch
from engine.timers import Every

T = TypeVar("T")

WAKE_SECONDS = 0.25
"""How often other recorders are woken."""
PAUSES = (0.1, 1, 2, 4, 8)
"""Seconds before each new try of a transaction that the database failed."""

log = logging.getLogger("arena.recorder")


class ProcessEnding(Exception):
    """This process is to end, and the message in hand stays in the queue."""


class ClaimChangedError(ProcessEnding):
    """This process goes on with other shards, as if it had ended and begun anew: what it had in
    hand may be another's now."""


def utc_now() -> datetime:
    """This moment, by the arena's clock."""
    return datetime.now(UTC)


class Writer:
    """The database and the queue of jobs, for the one process that writes."""

    def __init__(self, settings: Settings) -> None:
        self.own_settings = settings
        """The settings of the environment."""
        self._present = Watch(lambda: self.database)
        self.app = Celery("arena")
        configure(self.app, settings)
        self.queue = CeleryQueue(self.app, settings)
        self.pulse = Pulse()
        self.counted: Counter[str] = Counter()
        """What happened since it was last written down (see `arena.schedule.occurrences`)."""
        self.shards = Shards(settings.shards, frozenset())
        """Those that it has claimed, as it goes by them."""
        self._waking = Every(WAKE_SECONDS)
        self.rosters = Rosters()
        """Those of ladders, as the last transaction left them that made matches."""
        self.is_to_end = False
        """Whether somebody asked this process to end."""
        self.may_issue_more = False
        """Whether as much was issued at the last time as is at once."""

    @property
    def settings(self) -> Settings:
        """Those that held when `look` was last called: it may be asked within a transaction."""
        return self._present.known.settings(self.own_settings)

    def look(self) -> None:
        """Sees what holds now, outside of transactions: the database is claimed by one connection
        at a time, and a second one would wait for the first."""
        self._present.now()

    @cached_property
    def database(self) -> Database:
        """This process's database, which it alone records in.

        Raises:
            SchemaError: what drives it is not installed.
        """
        found = Database(self.own_settings.database_url)
        settings = self.own_settings
        self._claims = Claims(
            found,
            settings.shards,
            take_over_seconds=settings.take_over_seconds,
            meanwhile=self.pulse.beat,
        )
        event.listen(found.engine, "begin", self._demand_claims)
        # Whoever gets answers goes on, however long all of them take.
        event.listen(found.engine, "before_cursor_execute", self.pulse.beat)
        return found

    def transact(self, do: Callable[[Session], T]) -> T:
        """Runs a transaction, again after a pause when the database failed it.

        A database that is away is waited for without end: the message in hand tells of a match
        that took long to play. One that takes writes again and still fails this one is not.

        Raises:
            ProcessEnding: the database failed it, and this process is to end.
            ClaimChangedError: the connection was lost, and with it what had been claimed.
        """
        pauses, is_back = iter(PAUSES), False
        while True:
            try:
                return self._once(do)
            except FAILED as error:
                pause = next(pauses, None)
                if pause is None:
                    if self.is_to_end:
                        raise ProcessEnding from error
                    if is_back:
                        raise
                    is_back = not self.database.is_away()
                    pause = PAUSES[0 if is_back else -1]
                problem = str(error).splitlines()[0]
                log.warning("the database failed, trying again in %s s: %s", pause, problem)
                self.pulse.beat()
                time.sleep(pause)

    def _once(self, do: Callable[[Session], T]) -> T:
        try:
            with self.database.begin() as session:
                return do(session)
        except BaseException:
            self.rosters.clear()  # something in them may never have been
            raise

    @property
    def claims(self) -> Claims:
        """What this process has claimed of the database."""
        assert self.database  # whose connections claim it
        return self._claims

    def _demand_claims(self, _: sa.Connection) -> None:
        """Begins no transaction by a connection that has claimed something else than was there when
        it was decided what to write."""
        if not self.shards.held:
            self.shards.change(self._claims.held)
        if self._claims.held != self.shards.held:
            raise ClaimChangedError

    def claim(self) -> None:
        """Takes or gives up shards as others came or went. Not while there is something in hand."""

        def look(session: Session) -> None:
            self.claims.look(session.connection().connection.driver_connection)

        if self.claims.are_several or not self.shards.held:
            self.transact(look)

    def go_by_claims(self) -> bool:
        """Goes by what is claimed now; says whether that is something else than before."""
        if self.claims.held == self.shards.held:
            return False
        self.shards.change(self.claims.held)
        self.rosters.clear()
        return True

    def send(self, issued: Sequence[Batch]) -> None:
        """Sends jobs, and wakes the recorders to whom a turn was left.

        What the broker does not take is issued again when its lease ends.
        """
        self.may_issue_more = sum(map(len, issued)) >= allocation.MOST_AT_ONCE
        try:
            self.queue.send(issued)
            if self.shards.to_wake and self._waking.is_due():
                self.queue.wake(self.shards.to_wake)
                self.shards.to_wake.clear()
        except (OperationalError, redis.RedisError) as error:
            log.warning("the broker took no jobs: %.200s", error)

    def fill(self) -> None:
        """Issues what there is room for, so that no worker waits for the next tick."""
        self.send(
            self.transact(
                lambda session: allocation.fill(
                    session, self.settings, utc_now(), self.rosters, self.shards
                )
            )
        )
