"""What slow, silent and too many clients do to others: against the real server, by real sockets."""

from __future__ import annotations

import select
import shutil
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.cli.connections import PATIENCE_SECONDS
from arena.cli.serve import CONNECTIONS
from arena.fake.fill import fill
from arena.ground.db import Database
from arena.models import Ladder, PlayedGame
from arena.web.downloads import EACH, MOST
from tests.arena.cli.test_serve import listens
from tests.arena.running import environment, free_port, until

MAIN = "import sys; from arena.cli.serve import main; sys.exit(main(patience_seconds={}))"
IMPATIENCE_SECONDS = 0.5
GAMES, GAME_BYTES = 500, 60_000
"""An export much longer than what a server keeps of an answer for a reader, which is 16 MB."""


@pytest.fixture(scope="module")
def full_like(sqlite_like: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A database with a ladder of some long games, and its name."""
    file = tmp_path_factory.mktemp("full") / "arena.db"
    shutil.copy(sqlite_like, file)
    database = Database(f"sqlite:///{file}")
    fill(database, bots=10, ladders=1, games=GAMES, seed=1, now=datetime.now(UTC))
    record = zlib.compress(b'{"said": "%s"}' % (b"x" * GAME_BYTES))
    with database.begin() as session:
        session.execute(sa.update(PlayedGame).values(record=record))
        name = session.scalars(sa.select(Ladder.name)).one()
    database.close()
    return file, name


@contextmanager
def _served(file: Path, *, patience_seconds: float) -> Iterator[int]:
    port = free_port()
    variables = environment(
        ARENA_DATA=str(file.parent), ARENA_PORT=str(port), ARENA_PROXIES="1", ARENA_PLAY="everybody"
    )
    main = [sys.executable, "-c", MAIN.format(patience_seconds)]
    server = subprocess.Popen(main, env=variables)
    try:
        until(lambda: listens(port), "the server's start")
        yield port
    finally:
        server.terminate()
        assert server.wait(60) == 0


@pytest.fixture(scope="module")
def port(full_like: tuple[Path, str]) -> Iterator[int]:
    """Where a server of that arena's pages listens that is as patient as it is for everybody."""
    with _served(full_like[0], patience_seconds=PATIENCE_SECONDS) as port:
        yield port


@pytest.fixture(scope="module")
def impatient(full_like: tuple[Path, str]) -> Iterator[int]:
    """The same of one with less than a second instead of a minute."""
    with _served(full_like[0], patience_seconds=IMPATIENCE_SECONDS) as port:
        yield port


@pytest.fixture
def export(full_like: tuple[Path, str]) -> str:
    """Where that ladder's games are."""
    return f"/api/v1/ladders/{full_like[1]}/games.jsonl"


def _connected(stack: ExitStack, port: int, *, buffer: int | None = None) -> socket.socket:
    """A connection; with a buffer of so many bytes for what it does not read."""
    made = stack.enter_context(socket.socket())
    if buffer:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    made.settimeout(10)
    made.connect(("127.0.0.1", port))
    return made


def _ask(path: str, address: str, *more: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: arena", f"X-Forwarded-For: {address}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def _get(port: int, path: str, address: str = "192.0.2.99") -> tuple[int, dict[str, str], bytes]:
    asks = HTTPConnection("127.0.0.1", port, timeout=60)
    asks.request("GET", path, headers={"X-Forwarded-For": address})
    answer = asks.getresponse()
    found = answer.status, dict(answer.headers), answer.read()
    asks.close()
    return found


@pytest.mark.long
def test_who_does_not_read_a_download_stops_no_page(port: int, export: str) -> None:
    """Downloads have places of their own, each address only some, and what is stuck ends.

    As public reports have it of other sites, of gunicorn and of this one: as many slow readers of
    an export as the server has threads, and nobody gets a page any more.
    """
    with ExitStack() as stack:
        readers = []
        for number in range(MOST):
            reader = _connected(stack, port, buffer=4096)
            reader.sendall(_ask(export, f"192.0.2.{number}"))
            assert reader.recv(12) == b"HTTP/1.1 200"
            readers.append(reader)
        assert _get(port, "/healthz")[0] == 200
        assert _get(port, "/")[0] == 200
        status, headers, words = _get(port, export)
        assert status == 503
        assert int(headers["Retry-After"]) > 0
        assert b"sends 4 downloads at once" in words


@pytest.mark.long
def test_a_download_of_which_nothing_is_taken_ends(impatient: int, export: str) -> None:
    """And gives its place back."""
    with ExitStack() as stack:
        readers = [_connected(stack, impatient, buffer=4096) for _ in range(MOST)]
        for number, reader in enumerate(readers):
            reader.sendall(_ask(export, f"192.0.2.{number}"))
        for reader in readers:
            until(lambda: _is_over(reader), "its end", seconds=20)  # noqa: B023 - asked at once
        until(lambda: _get(impatient, export)[0] == 200, "a place", seconds=10)


@pytest.mark.long
def test_one_address_has_not_all_places(port: int, export: str) -> None:
    """Nor is a place lost that somebody leaves in the middle."""
    with ExitStack() as stack:
        for _ in range(3):
            readers = [_connected(stack, port, buffer=4096) for _ in range(EACH)]
            for reader in readers:
                reader.sendall(_ask(export, "192.0.2.1"))
                assert reader.recv(12) == b"HTTP/1.1 200"
            status, headers, words = _get(port, export, "192.0.2.1")
            assert (status, b"to your address" in words) == (429, True)
            assert int(headers["Retry-After"]) > 0
            for reader in readers:
                reader.close()
            until(lambda: _get(port, export, "192.0.2.1")[0] == 200, "a place", seconds=10)


def test_who_reads_slowly_gets_all(impatient: int, export: str) -> None:
    """It reads at more than the least rate; here for longer than the patience."""
    with ExitStack() as stack:
        reader = _connected(stack, impatient, buffer=1 << 16)
        reader.sendall(_ask(export, "192.0.2.1", "Connection: close"))
        began, got = time.monotonic(), 0
        while part := reader.recv(1 << 20):
            got += len(part)
            if time.monotonic() - began < 4 * IMPATIENCE_SECONDS:
                time.sleep(0.05)
        assert got > GAMES * GAME_BYTES


@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/", "/games.json"])
def test_requests_sent_all_at_once_hold_no_thread(port: int, path: str) -> None:
    """Of what is asked before there is an answer the first is answered: the others may be asked
    again (RFC 9112, 9.3.2). Else 16 MB of answers to one reader would hold a thread.
    """
    with ExitStack() as stack:
        for number in range(3 * MOST):
            reader = _connected(stack, port, buffer=4096)
            reader.sendall(_ask(path, f"192.0.2.{number}") * 80)
        assert _get(port, "/healthz")[0] == 200
        reader = _connected(stack, port)
        reader.sendall(_ask("/healthz", "192.0.2.1") * 3)
        said = b""
        while part := reader.recv(1 << 16):
            said += part
        assert said.count(b"HTTP/1.1 200") == 1
        assert b"Connection: close" in said


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: a", b"POST /submit HTTP/1.1\r\n"])
def test_as_many_connections_as_there_are_keep_nobody_out(port: int, begun: bytes) -> None:
    """Those that have waited the longest for their own client make room."""
    with ExitStack() as stack:
        held = []
        for _ in range(CONNECTIONS + 100):
            held.append(_connected(stack, port))
            held[-1].sendall(begun)
        assert _get(port, "/healthz")[0] == 200
        until(lambda: _is_over(held[0]), "room", seconds=10)


@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\nX: ", b"POST /submit HTTP/1.1\r\nContent-Length: 9999\r\n\r\n"]
)
def test_a_request_comes_to_its_end(impatient: int, begun: bytes) -> None:
    """Though a byte of it comes now and then."""
    with ExitStack() as stack:
        client = _connected(stack, impatient)
        client.sendall(begun)

        def ended() -> bool:
            try:
                client.sendall(b"x")
            except ConnectionError:
                return True
            return _is_over(client)

        until(ended, "the end of the request", seconds=10)


def _is_over(client: socket.socket) -> bool:
    """Whether the server has ended a connection; what it sent before need not have been read."""
    poll = select.poll()
    poll.register(client, select.POLLRDHUP)
    return bool(poll.poll(0))


@pytest.mark.long
def test_who_asks_again_in_seconds_keeps_no_connection(
    port: int, full_like: tuple[Path, str]
) -> None:
    """Of thousands of pages that ask for a part again none holds a place; who reads pages does."""
    with ExitStack() as stack:
        for more, ends in (("Accept: */*", False), ("HX-Request: true", True)) * 2:
            reader = _connected(stack, port)
            reader.sendall(_ask(f"/ladders/{full_like[1]}/board", "192.0.2.7", more))
            answer = HTTPResponse(reader)
            answer.begin()
            assert (answer.status, len(answer.read()) > 0) == (200, True)
            assert (answer.headers["Connection"] == "close") == ends
            if ends:
                assert reader.recv(1) == b""
