"""What a captured worker may write to the queue of results sends nothing to the other workers.

Nor does it end the recorder, which drops what it can't read.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import redis
import sqlalchemy as sa
from celery import Celery, signature

from arena import processes
from arena.broker import EmbeddedBroker
from arena.db import Database
from arena.health import TICK_MARK
from arena.models import Mark
from arena.transport import UNREADABLE, plain
from engine import jobs
from tests.arena.running import environment, short_folder, until
from workers import tasks as workers

JOB = signature(jobs.PLAY_MATCH, args=({},), queue=jobs.MATCHES_QUEUE, immutable=True)
WAKE = {"queue": jobs.RESULTS_QUEUE, "ignore_result": True}


@pytest.fixture(scope="module")
def arena() -> Iterator[tuple[Celery, redis.Redis, Database]]:
    """A recorder at work; what sends to it, its broker and its database."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        database = Database(f"sqlite:///{folder}/arena.db")
        stack.callback(database.close)
        database.upgrade()
        broker = EmbeddedBroker(folder)
        variables = environment(ARENA_DATABASE=database.url, ARENA_BROKER=broker.url)
        for name, command in (("broker", broker.prepare()), ("recorder", processes.recorder())):
            with (folder / f"{name}.log").open("wb") as log:
                process = subprocess.Popen(
                    command, env=variables, stdout=log, stderr=log, cwd=folder
                )
            stack.callback(process.wait)
            stack.callback(process.kill)
            until(broker.answers, "the broker's start")
        path = broker.url.removeprefix("redis+socket://")
        client = stack.enter_context(redis.Redis(unix_socket_path=path))
        sender = Celery("captured", broker=broker.url, set_as_current=False)
        yield sender, client, database


def linked(app: Celery) -> None:
    app.send_task("arena.wake", link=JOB, **WAKE)


def linked_to_an_error(app: Celery) -> None:
    app.send_task(jobs.JOB_STARTED, args=({},), link_error=JOB, **WAKE)


def chained(app: Celery) -> None:
    app.send_task("arena.wake", chain=[dict(JOB)], **WAKE)


def grouped(app: Celery) -> None:
    words: dict[str, Any] = {"tasks": [dict(JOB)], "result": [["7", None], []], "group_id": "7"}
    app.send_task("celery.group", kwargs={**words, "partial_args": []}, **WAKE)


def in_a_chord(app: Celery) -> None:
    app.send_task("celery.chord", kwargs={"header": [], "body": dict(JOB)}, **WAKE)


FORGERIES = (linked, linked_to_an_error, chained, grouped, in_a_chord)


def ticked(database: Database) -> bool:
    """Whether the recorder has handled a tick since the last one was forgotten."""
    with database.read() as session:
        return session.get(Mark, TICK_MARK) is not None


def forget_tick(database: Database) -> None:
    with database.begin() as session:
        session.execute(sa.delete(Mark).where(Mark.key == TICK_MARK))


def test_nobody_commands_the_recorder_from_afar(
    arena: tuple[Celery, redis.Redis, Database],
) -> None:
    """Celery's remote control can end a process, or have it stop taking messages."""
    app, _, database = arena
    app.send_task("arena.tick", **WAKE)
    until(lambda: ticked(database), "the recorder's start")
    for order, words in (("shutdown", {}), ("cancel_consumer", {"queue": jobs.RESULTS_QUEUE})):
        app.control.broadcast(order, arguments=words)
    forget_tick(database)
    app.send_task("arena.tick", **WAKE)
    until(lambda: ticked(database), "another tick")


def test_nobody_commands_a_worker_from_afar() -> None:
    """The same setting in its own app."""
    assert workers.app.conf.worker_enable_remote_control is False


@pytest.mark.parametrize("forge", FORGERIES)
def test_no_job_comes_of_a_message(arena: tuple[Celery, redis.Redis, Database], forge: Any) -> None:
    """Whatever it carries; and the recorder goes on."""
    app, client, database = arena
    forget_tick(database)
    client.delete(*client.keys("*matches*"), "none")
    forge(app)
    app.send_task("arena.tick", **WAKE)
    until(lambda: ticked(database), "the recorder's tick")
    sent = [key for key in client.keys("*") if key.startswith(jobs.MATCHES_QUEUE.encode())]
    assert sent == []


MESSAGE: dict[str, Any] = {
    "body": "W10=",
    "headers": {"task": "arena.tick", "id": "7"},
    "properties": {"delivery_tag": "7", "delivery_info": {}, "body_encoding": "base64"},
}
NONSENSE: dict[str, Any] = {
    "no JSON": b"\xff",
    "nothing": b"",
    "a number": 5,
    "null": None,
    "an empty object": {},
    "nested too deeply": b"[" * 100_000,
    "no headers": MESSAGE | {"headers": None},
    "no body": MESSAGE | {"body": None},
    "a list for a task": MESSAGE | {"headers": {"task": ["arena.tick"], "id": "7"}},
    "lines for a task": MESSAGE | {"headers": {"task": "arena\nERROR", "id": "7"}},
    "a number for an id": MESSAGE | {"headers": {"task": "arena.tick", "id": 7}},
    "an end that is no time": MESSAGE
    | {"headers": {"task": "arena.tick", "id": "7", "expires": "9999-12-31T23:59:59-14:00"}},
}


def test_nonsense_is_dropped(arena: tuple[Celery, redis.Redis, Database]) -> None:
    """Each would end a plain Celery worker, or be refused by none; the recorder goes on."""
    app, client, database = arena
    for nonsense in NONSENSE.values():
        raw = nonsense if isinstance(nonsense, bytes) else json.dumps(nonsense)
        client.lpush(jobs.RESULTS_QUEUE, raw)
    client.lpush(jobs.RESULTS_QUEUE, json.dumps(MESSAGE | {"properties": {}}))
    forget_tick(database)
    app.send_task("arena.tick", **WAKE)
    until(lambda: ticked(database), "the recorder's tick")
    assert client.llen(jobs.RESULTS_QUEUE) == 0


def test_an_enormous_message_never_comes_to_the_recorder(
    arena: tuple[Celery, redis.Redis, Database],
) -> None:
    """As large as the broker's whole memory it would take the recorder some gigabytes to read."""
    app, client, database = arena
    with pytest.raises(redis.RedisError):
        client.lpush(jobs.RESULTS_QUEUE, bytes((64 << 20) + 1))
    forget_tick(database)
    app.send_task("arena.tick", **WAKE)
    until(lambda: ticked(database), "the recorder's tick")
    assert client.llen(jobs.RESULTS_QUEUE) == 0


@pytest.mark.parametrize("name", [name for name, one in NONSENSE.items() if type(one) is not bytes])
def test_nonsense_is_no_message(name: str) -> None:
    with pytest.raises(UNREADABLE):
        plain(NONSENSE[name])


def test_a_message_keeps_what_it_needs_alone() -> None:
    """Not that it is packed, waits for a time, asks for an answer, or another's delivery tag."""
    more = {"compression": "zlib", "eta": "2999-01-01T00:00:00+00:00", "timelimit": [1, 1]}
    sent = MESSAGE | {"headers": MESSAGE["headers"] | more, "content-encoding": "zlib"}
    sent["properties"] = MESSAGE["properties"] | {"reply_to": jobs.MATCHES_QUEUE}
    found = plain(sent)
    assert found["headers"] == {"task": "arena.tick", "id": "7", "lang": "py"}
    assert found["content-encoding"] == "utf-8"
    assert "reply_to" not in found["properties"]
    assert found["properties"]["delivery_tag"] != "7"
