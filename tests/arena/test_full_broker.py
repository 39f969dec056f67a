"""A broker whose disk is full: it refuses every command, and is waited for."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime

import redis
import sqlalchemy as sa
from celery import Celery

import workers.app
from arena import processes, waking
from arena.broker import EmbeddedBroker
from arena.config import Settings
from arena.db import Database
from arena.dispatch import configure
from arena.health import TICK_MARK
from arena.models import Mark, Worker
from arena.web.app import create_app
from tests.arena.running import environment, short_folder, until
from tests.arena.web.signing_in import Browser, person

IGNORING = """
import os, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Starts a program whose writes past a limit fail, as on a full disk, rather than kill it."""


def heard_of(database: Database, since: datetime) -> bool:
    """Whether recorder and worker did something since then."""
    with database.read() as session:
        tick = session.get(Mark, TICK_MARK)
        seen = session.scalar(sa.select(Worker.last_seen))
        ticked = tick is not None and datetime.fromisoformat(tick.value) > since
        return ticked and seen is not None and seen > since


def full(client: redis.Redis) -> bool:
    """Whether a broker takes no writes."""
    try:
        client.set("some", "x" * 1000)
    except redis.ResponseError as error:
        return "MISCONF" in str(error)
    return False


def test_the_pages_go_on_with_a_full_broker() -> None:
    """Whoever signs in, in vain or not, meets no error of ours."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        broker = EmbeddedBroker(folder)
        command = [sys.executable, "-c", IGNORING, *broker.prepare()]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        stack.callback(server.wait)
        stack.callback(server.kill)
        until(broker.answers, "the broker's start")
        settings = Settings(data=folder, broker=broker.url)
        database = Database(settings.database_url)
        stack.callback(database.close)
        database.upgrade()
        person(database, "ada")
        app = create_app(settings)
        app.testing = True
        stack.callback(app.extensions["arena.database"].close)
        path = broker.url.removeprefix("redis+socket://")
        client = stack.enter_context(redis.Redis(unix_socket_path=path))
        most = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, most))
        until(lambda: full(client), "a full disk")
        browser = Browser(app)
        assert browser.sign_in("ada", "wrong").status_code == 422
        assert browser.sign_in("ada").status_code == 302
        assert browser.get("/account").status_code == 200
        waking.wake(settings)  # says so in the log, and no more


def test_a_full_broker_is_waited_for() -> None:
    """Nobody who talks to it ends, and all go on by themselves once there is room."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        database = Database(f"sqlite:///{folder}/arena.db")
        stack.callback(database.close)
        database.upgrade()
        broker = EmbeddedBroker(folder)
        variables = environment(
            ARENA_DATABASE=database.url, ARENA_BROKER=broker.url, TMPDIR=str(folder)
        )

        def start(name: str, command: list[str]) -> subprocess.Popen[bytes]:
            with (folder / f"{name}.log").open("wb") as log:
                process = subprocess.Popen(
                    command, env=variables, stdout=log, stderr=log, cwd=folder
                )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        server = start("broker", [sys.executable, "-c", IGNORING, *broker.prepare()])
        until(broker.answers, "the broker's start")
        started = [
            start("recorder", processes.recorder()),
            start("worker", processes.worker(1)),
        ]
        until(lambda: heard_of(database, datetime(2000, 1, 1, tzinfo=UTC)), "the arena's start")
        path = broker.url.removeprefix("redis+socket://")
        client = stack.enter_context(redis.Redis(unix_socket_path=path))
        most = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, most))
        until(lambda: full(client), "a full disk")
        time.sleep(5)
        assert full(client)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (most, most))
        room = datetime.now(UTC)
        until(lambda: heard_of(database, room), "the arena goes on")
        assert [process.poll() for process in started] == [None, None]
        logs = "".join((folder / f"{name}.log").read_text() for name in ("recorder", "worker"))
        assert "MISCONF" in logs


def test_a_broker_is_waited_for_however_long_it_is_away() -> None:
    """Celery would give up after a hundred times, which is within the hour."""
    of_the_arena = Celery("arena", set_as_current=False)
    configure(of_the_arena, Settings(broker="redis+socket:///nowhere"))
    for app in (of_the_arena, workers.app.app):
        assert app.conf.broker_connection_max_retries is None
