"""The sender as a process: it sends what is due until it is told to end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Delivery, DeliveryState
from arena.operation import processes
from tests.arena.sender.receivers import Receiver, waited_for
from tests.arena.sender.test_sender import add_hook, somebody, tell


@contextmanager
def begin(settings: Settings, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The process of these settings, for a while."""
    environment = {**os.environ, **settings.environment()}
    with subprocess.Popen(
        processes.sender(), env=environment, cwd=folder, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_sends_until_it_is_told_to_end(
    sqlite_database: Database, hooks_server: Receiver, tmp_path: Path
) -> None:
    """And ends at once, though a hook hangs."""
    with sqlite_database.begin() as session:
        ada, bob = somebody(session), somebody(session, "bob")
        for person in (ada, bob):
            add_hook(session, person, hooks_server.url)
        tell(session, ada, now=datetime.now(UTC))
    settings = Settings(database=sqlite_database.url, inside="localhost")
    with begin(settings, tmp_path) as process:
        assert waited_for(lambda: hooks_server.got, 20)
        hooks_server.behaves = "hangs"
        with sqlite_database.begin() as session:
            tell(session, bob, now=datetime.now(UTC))
        assert waited_for(lambda: len(hooks_server.got) == 2)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=5)
    assert process.returncode == 0
    assert "hooks are sent, and no mail" in said
    with sqlite_database.read() as session:
        states = session.scalars(sa.select(Delivery.state).order_by(Delivery.id)).all()
        assert states == [DeliveryState.ARRIVED, DeliveryState.WAITS]
