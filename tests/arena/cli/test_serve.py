"""The server of the pages as `arena up` starts it: what it bears."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

import pytest

from arena.bots.intake import Sender
from arena.cli.bundle_intake import BundleIntake
from tests.arena.running import environment, free_port, until

MAIN = "import sys; from arena.cli.serve import main; sys.exit(main())"
SILENT = 300
"""More than waitress takes by default, which is 100."""


@pytest.fixture
def port(sqlite_like: Path, tmp_path: Path) -> Iterator[int]:
    """Where a server of an empty arena's pages listens."""
    port = free_port()
    shutil.copy(sqlite_like, tmp_path / "arena.db")
    variables = environment(ARENA_DATA=str(tmp_path), ARENA_PORT=str(port))
    server = subprocess.Popen([sys.executable, "-c", MAIN], env=variables)
    try:
        until(lambda: listens(port), "the server's start")
        yield port
    finally:
        server.terminate()
        assert server.wait(60) == 0


def listens(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_a_proxy_of_this_machine_is_no_way_to_the_metrics(port: int) -> None:
    """Also where nobody told the settings of it."""
    for headers, status in (({}, 200), ({"X-Forwarded-For": "10.1.2.3"}, 403)):
        asks = HTTPConnection("127.0.0.1", port, timeout=30)
        asks.request("GET", "/metrics", headers=headers)
        assert asks.getresponse().status == status
        asks.close()


def test_who_says_nothing_keeps_nobody_out(port: int) -> None:
    """Browsers keep connections open in which they ask for nothing."""
    with ExitStack() as stack:
        for _ in range(SILENT):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        asks = HTTPConnection("127.0.0.1", port, timeout=30)
        asks.request("GET", "/healthz")
        assert asks.getresponse().read() == b"ok\n"
        asks.close()


def test_what_a_killed_upload_left_is_swept(tmp_path: Path) -> None:
    """When the next bot is taken in; but not what another process may still be writing."""
    bot = tmp_path / "bot.py"
    bot.touch()
    store = tmp_path / "store"
    store.mkdir()
    for name, hours in ((".new-old", 25), (".new-young", 23), ("0" * 64, 1000)):
        (store / name).touch()
        os.utime(store / name, (time.time() - hours * 3600,) * 2)
    sender = Sender(0, lambda _: None, lambda _: None)
    taken = BundleIntake(store)(bot, sender)
    assert {file.name for file in store.iterdir()} == {".new-young", "0" * 64, taken.digest}
