"""The process that sends mail and messages to hooks.

It asks the database once a second whether something is due, and changes it only then, so that it
holds up nobody who writes. Mail goes out one letter after the other; hooks are tried a few at the
same time, one of each person. Who does not answer costs a thread for some seconds. Any number of
these processes may run: each takes what no other has (`arena.sender.backlog`).
"""

from __future__ import annotations

import gc
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection
from datetime import datetime

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from arena.ground.config import SettingError, Settings, load
from arena.ground.db import FAILED, Database, SchemaError, database_time, unusable
from arena.ground.logs import begin_log
from arena.ground.outside import OutsideError, read_address
from arena.models import Delivery, Mail
from arena.present import present_settings
from arena.sender import backlog
from arena.sender.messages import body_of, headers_of
from arena.sender.post_office import MailServer
from arena.sender.posting import HookAnswer, post
from engine.timers import Every

AT_ONCE = 8
"""Hooks that are tried at the same time."""
TURN_SECONDS, TIDY_SECONDS = 1.0, 60.0
AWAY_SECONDS = 5.0
"""How long it takes until a database that is away is asked again."""
PATIENCE_SECONDS = 30
REFUSED = 3
"""The exit code of a process that can't do its work here (see `arena.operation.supervisor`)."""

log = logging.getLogger("arena.sender")


class Sending:
    """Takes what is due, and sends it in threads of its own.

    Args:
        clock: tells the time by which things are due; by default the database's.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Callable[[Session], datetime] = database_time,
    ) -> None:
        self._settings, self._database, self._clock = settings, database, clock
        self._mail = MailServer(settings) if settings.mail else None
        self._mailing: threading.Thread | None = None
        self._tidying = Every(TIDY_SECONDS)
        self._lock = threading.Lock()
        self._busy: dict[int, threading.Thread] = {}
        """The people to whose hooks something is being sent."""

    def turn(self) -> None:
        """Begins to send whatever is due, as far as there is room."""
        with self._lock:
            busy = set(self._busy)
        with self._database.read() as session:
            now = self._clock(session)
            mails = (
                self._mail is not None
                and not (self._mailing and self._mailing.is_alive())
                and backlog.is_mail_due(session, now)
            )
            hooks = (
                present_settings(session, self._settings).hooks != "nobody"
                and len(busy) < AT_ONCE
                and backlog.is_delivery_due(session, busy, now)
            )
        if self._tidying.is_due():
            with self._database.begin() as session:
                backlog.tidy(session, now)
        if mails:
            self._begin_mail(now)
        if hooks:
            self._begin_hooks(busy, now)

    def join(self) -> None:
        """Waits until all is sent that was begun."""
        with self._lock:
            threads = list(self._busy.values())
        for thread in (*threads, *filter(None, [self._mailing])):
            thread.join()

    def _begin_mail(self, now: datetime) -> None:
        with self._database.begin() as session:
            backlog.write_letters(session, self._settings, now)
            session.flush()
            letters = backlog.take_letters(session, now)
        if letters:
            self._mailing = self._begun(self._send_letters, letters)

    def _send_letters(self, letters: list[Mail]) -> None:
        assert self._mail is not None
        fates = self._mail.send(letters)
        with self._database.begin() as session:
            now = self._clock(session)
            words = list(backlog.note_letters(session, letters, fates, now))
        for line in words:
            log.warning("%.300s", line)

    def _begin_hooks(self, busy: Collection[int], now: datetime) -> None:
        with self._database.begin() as session:
            taken = backlog.take_deliveries(session, busy, AT_ONCE - len(busy), now)
        with self._lock:
            for delivery in taken:
                self._busy[delivery.hook.user_id] = self._begun(self._send_one, delivery, now)

    def _send_one(self, delivery: Delivery, now: datetime) -> None:
        try:
            started = time.monotonic()
            came = self._tried(delivery, now)
            milliseconds = round(1000 * (time.monotonic() - started))
            with self._database.begin() as session:
                now = self._clock(session)
                backlog.note_delivery(session, delivery.id, came, milliseconds, now)
        finally:
            with self._lock:
                self._busy.pop(delivery.hook.user_id, None)

    def _tried(self, delivery: Delivery, now: datetime) -> HookAnswer | OutsideError:
        try:
            place = read_address(delivery.hook.url)
            body = body_of(delivery, self._settings.pages)
            headers = headers_of(delivery, body, now)
            return post(place, body, headers, inside=self._settings.inside_hosts)
        except OutsideError as error:
            return error

    def _begun(self, do: Callable[..., None], *what: object) -> threading.Thread:
        def guarded() -> None:
            try:
                do(*what)
            except FAILED as error:
                # What was sent will be sent once more; whoever gets it knows it by its id.
                log.warning("the database failed: %.200s", error)
            except Exception:
                log.exception("this should not have happened")

        # A daemon: who does not answer keeps this process from no end.
        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        return thread


def main() -> int:
    """Sends until SIGTERM; what keeps it from that is one line."""
    gc.enable()  # all is imported, for which it was off
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, lambda *_: over.set())
    try:
        settings = load()
        begin_log(settings)
        database = Database(settings.database_url, patience_seconds=PATIENCE_SECONDS)
        database.demand_schema()
    except (SettingError, SchemaError) as error:
        print(f"nothing is sent: {error}", file=sys.stderr)
        return REFUSED
    except SQLAlchemyError as error:
        print(unusable(error), file=sys.stderr)
        return REFUSED
    gc.freeze()
    sending = Sending(settings, database)
    log.info("mail and hooks are sent" if settings.mail else "hooks are sent, and no mail")
    while not over.wait(TURN_SECONDS):
        try:
            sending.turn()
        except FAILED as error:
            log.warning("the database failed: %.200s", error)
            over.wait(AWAY_SECONDS)
        except Exception:
            log.exception("this should not have happened")
            over.wait(AWAY_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
