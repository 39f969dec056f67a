"""A broker whose disk or memory is full: it is waited for, or emptied, and all go on."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest
import redis
import sqlalchemy as sa
from celery import Celery

import workers.app
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Mark, Worker
from arena.operation import processes, queues
from arena.operation.broker import EmbeddedBroker, _program
from arena.operation.broker_users import file_of, users_for
from arena.operation.health import TICK_MARK
from arena.recorder import dispatch
from arena.recorder.dispatch import configure
from arena.web.app import create_app
from engine import jobs, reporting
from engine.messages import pack
from tests.arena.running import broker, environment, free_port, short_folder, until
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
        stack.callback(gc.collect)  # of a connection that fails Celery leaves the socket to it
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
        began = time.monotonic()
        dispatch.wake(settings)  # says so in the log, and no more
        assert time.monotonic() - began < 3


@pytest.mark.long
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

        def logs() -> str:
            return "".join((folder / f"{name}.log").read_text() for name in ("recorder", "worker"))

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
        # Neither takes the first refusal for the last word.
        until(lambda: logs().count("MISCONF") > 3, "refusals that are told")
        assert full(client)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (most, most))
        room = datetime.now(UTC)
        until(lambda: heard_of(database, room), "the arena goes on")
        assert [process.poll() for process in started] == [None, None]


def test_a_broker_is_waited_for_however_long_it_is_away() -> None:
    """Celery would give up after a hundred times, which is within the hour."""
    of_the_arena = Celery("arena", set_as_current=False)
    configure(of_the_arena, Settings(broker="redis+socket:///nowhere"))
    for app in (of_the_arena, workers.app.app):
        assert app.conf.broker_connection_max_retries is None


def test_a_broker_without_memory_is_emptied() -> None:
    """Filled by one worker's login while the recorder is away, or while it is there.

    As of a public report: with `noeviction` such a broker lets no consumer of Celery's in, so that
    nothing was taken off its queue ever again.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        database = Database(f"sqlite:///{folder}/arena.db")
        stack.callback(database.close)
        database.upgrade()
        users = {user.name: user for user in users_for(["box1"])}
        (folder / "users.acl").write_text(file_of(list(users.values())))
        port = free_port()
        options = {"port": str(port), "aclfile": "users.acl", "save": "", "bind": "127.0.0.1"}
        options |= {"maxmemory": "4mb", "maxmemory-policy": "noeviction"}
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        server = subprocess.Popen([_program(), *words], cwd=folder, stdout=subprocess.DEVNULL)
        stack.callback(server.wait)
        stack.callback(server.kill)
        urls = {
            name: f"redis://{name}:{user.password}@127.0.0.1:{port}/0"
            for name, user in users.items()
        }
        worker = stack.enter_context(redis.Redis.from_url(urls["worker-box1"]))
        until(lambda: answers(worker), "the broker's start")
        variables = environment(ARENA_DATABASE=database.url, ARENA_BROKER=urls["arena"])

        def start() -> subprocess.Popen[bytes]:
            with (folder / "recorder.log").open("ab") as log:
                process = subprocess.Popen(
                    processes.recorder(), env=variables, stdout=log, stderr=log, cwd=folder
                )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        sign = reporting.SignOfLife("box1", 1, "good")
        junk = pack(jobs.MATCH_PROGRESS, {"lease": None, "filling": "x" * 2000})

        alive = pack(jobs.WORKER_ALIVE, sign.to_json())

        def is_taken(*messages: bytes) -> bool:
            try:
                return bool(worker.lpush(jobs.RESULTS_QUEUE, *messages))
            except redis.OutOfMemoryError:
                return False

        is_taken(alive)
        for message in (junk, alive):
            while is_taken(message):
                pass
        assert "the broker is full" in queues.look(urls["arena"]).problem
        begun = datetime.now(UTC)
        recorder = start()
        until(lambda: heard_of(database, begun), "what was sent is taken off")
        until(lambda: queues.look(urls["arena"]).waiting[jobs.RESULTS_QUEUE] == 0, "all of it")
        assert queues.look(urls["arena"]).problem == ""
        # So many by one command, or the recorder might take off as fast as they come.
        while is_taken(*[junk] * 50):
            pass
        worker_again = datetime.now(UTC)

        until(lambda: is_taken(alive), "room for a sign of life")
        until(lambda: heard_of(database, worker_again), "it is heard")
        assert recorder.poll() is None


@pytest.mark.parametrize(
    ("policy", "most", "words"),
    [
        ("noeviction", "256mb", ""),
        ("volatile-ttl", "0", ""),
        ("volatile-ttl", "256mb", "(maxmemory-policy volatile-ttl): set it to noeviction"),
        ("allkeys-lru", "0", ""),
        ("allkeys-lru", "256mb", "(maxmemory-policy allkeys-lru): set it to noeviction"),
        ("allkeys-random", "256mb", "(maxmemory-policy allkeys-random): set it to noeviction"),
    ],
)
def test_a_broker_that_would_throw_something_away_is_told(
    policy: str, most: str, words: str
) -> None:
    """Nobody would miss queues, of which all is played again, nor the claim on the broker."""
    with broker() as embedded:
        with queues.connect(embedded.url) as client:
            client.config_set("maxmemory", most)
            client.config_set("maxmemory-policy", policy)
        found = queues.look(embedded.url)
        assert (found.problem, found.waiting is None, bool(found.risk)) == ("", False, bool(words))
        assert found.risk.endswith(words)


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
