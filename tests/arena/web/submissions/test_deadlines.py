"""What is in time: by when it began, and by the database's clock."""

from __future__ import annotations

import socket
import threading
import time
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from arena.bots import sending
from arena.cli import connections
from arena.ground.db import Database, database_time
from arena.models import CompetitionDate, DateKind, Ladder, SentFile, User
from arena.web.identity import BEGAN
from tests.arena.running import free_port, until
from tests.arena.web.signing_in import Browser
from tests.arena.web.submissions.conftest import BOT, LADDER, submit

SECOND = timedelta(seconds=1)


def lay(database: Database, what: DateKind, seconds: float) -> None:
    """Lays a date of the ladder into the table, so many seconds from now."""
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == LADDER)).one()
        at = database_time(session) + seconds * SECOND
        session.add(CompetitionDate(competition=ladder, what=what, at=at, settings={}))


def begun(browser: Browser, seconds: float) -> None:
    """Has the requests of a browser have begun so long ago, as if they came slowly."""
    client: FlaskClient = browser.client

    def opened(*given: Any, environ_base: dict[str, Any], **named: Any) -> Any:
        environ_base = {**environ_base, BEGAN: time.monotonic() - seconds}
        return FlaskClient.open(client, *given, environ_base=environ_base, **named)

    client.open = opened  # type: ignore[method-assign]


def test_an_upload_that_began_in_time_counts(database: Database, app: Flask, ada: Browser) -> None:
    """Though all of it is there after the date; another that began later is refused, and says
    since when, without a bot left behind."""
    lay(database, DateKind.FREEZE, -30)
    begun(ada, 60)
    assert submit(ada, (BOT, "early.py"), name="early").status_code == 302
    begun(ada, 0)
    late = submit(ada, (BOT, "late.py"), name="late")
    assert late.status_code == 422
    assert "are frozen since" in late.text
    assert "Enter a bot here" not in ada.get(f"/ladders/{LADDER}").text


def test_who_sends_a_byte_in_time_and_the_rest_much_later_is_late(
    database: Database, app: Flask, ada: Browser
) -> None:
    """A small bot has five minutes: one that came for an hour began five minutes ago."""
    lay(database, DateKind.FREEZE, -310)
    begun(ada, 3600)
    late = submit(ada, (BOT, "late.py"), name="late")
    assert late.status_code == 422
    assert "are frozen since" in late.text
    assert sending.grace(16 * 2**20) == timedelta(seconds=300 + 16 * 2**20 / 125_000)
    assert sending.grace(2**30) == timedelta(hours=2)


def test_the_first_part_of_the_last_large_file_counts(database: Database) -> None:
    """If they were sent for what is handed in next, and not for long."""
    minute = 60 * SECOND
    with database.begin() as session:
        ada = session.scalars(sa.select(User.id).where(User.name == "ada")).one()
        now = database_time(session)
        for digest, begun, ended, mib in (
            ("1", 50, 1, 400), ("2", 5, None, 2), ("3", 40, 20, 400), ("4", 150, 1, 900),
            ("5", 10, 2, 200), ("6", 30, 20, 2), ("7", 40, 1, 2),
        ):  # fmt: skip
            session.add(
                SentFile(
                    user_id=ada,
                    digest=digest * 64,
                    size=mib * 2**20,
                    used=now,
                    begun=now - begun * minute,
                    ended=None if ended is None else now - ended * minute,
                )
            )
        session.flush()
        for files, expected in (
            ("1", 50),
            ("2", 0),
            ("3", 0),
            ("4", 0),
            ("15", 10),
            ("5", 10),
            ("", 0),
            ("16", 30),  # the last that was begun, though another came later
            ("41", 50),  # one of before, which is in this bot, too
            ("12", 0),
            ("7", (300 + 2**21 / 125_000) / 60),  # a small one doesn't take so long
        ):
            digests = [one * 64 for one in files]
            assert sending.began(session, ada, digests, now) == now - expected * minute, files
        # What comes with the bot itself came when that did, whatever was begun before.
        sending.claim(session, ada, {"2" * 64: 2**21}, 2**30, now)
        assert sending.began(session, ada, ["2" * 64], now) == now


def test_a_request_began_with_its_first_byte() -> None:
    """The server has the application know it, which gets the request when all of it is there."""
    waited: list[float] = []

    def application(environment: dict[str, Any], answer: Any) -> list[bytes]:
        waited.append(time.monotonic() - environment[BEGAN])
        answer("200 OK", [("Content-Length", "0")])
        return []

    port = free_port()
    server = connections.listen(application, host="127.0.0.1", port=port, threads=1)
    threading.Thread(target=server.run, daemon=True).start()
    with socket.create_connection(("127.0.0.1", port)) as one:
        one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab")
        time.sleep(0.3)
        one.sendall(b"cd")
        until(lambda: bool(waited), "the request")
    server.close()
    assert 0.1 < waited[0] < 30  # the server may see the first byte late
