"""What a captured worker may write to the queue of results sends nothing to the other workers.

Nor does it end the recorder or deafen it: it drops what it can't read, and goes on.
"""

from __future__ import annotations

import json
import subprocess
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import redis
import sqlalchemy as sa
from celery import Celery, signature
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.ground.db import Database
from arena.models import Worker
from arena.operation import processes
from arena.operation.broker import EmbeddedBroker
from arena.recorder.inbox import Inbox
from engine import jobs, reporting
from engine.messages import Message, UnreadableError, pack, unpack
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


def hears(client: redis.Redis, database: Database) -> None:
    """Waits until the recorder has handled all that was sent, and then one message more."""
    client.lpush(jobs.RESULTS_QUEUE, pack(jobs.WORKER_ALIVE, SIGN.to_json()))

    def heard() -> bool:
        with database.read() as session:
            return session.get(Worker, SIGN.worker) is not None

    until(heard, "the recorder hears", pause=0.02)
    until(lambda: not client.llen(jobs.RESULTS_QUEUE), "all is handled", pause=0.02)
    with database.begin() as session:
        session.execute(sa.delete(Worker))


SIGN = reporting.SignOfLife("honest", 1, "good")


def test_nobody_commands_the_recorder_from_afar(
    arena: tuple[Celery, redis.Redis, Database],
) -> None:
    """Celery's remote control can end a process, or have it stop taking messages."""
    app, client, database = arena
    hears(client, database)
    for order, words in (("shutdown", {}), ("cancel_consumer", {"queue": jobs.RESULTS_QUEUE})):
        app.control.broadcast(order, arguments=words)
    hears(client, database)


def test_nobody_commands_a_worker_from_afar() -> None:
    """The same setting in its own app."""
    assert workers.app.conf.worker_enable_remote_control is False


@pytest.mark.parametrize("forge", FORGERIES)
def test_no_job_comes_of_a_message(arena: tuple[Celery, redis.Redis, Database], forge: Any) -> None:
    """Whatever it carries; and the recorder goes on."""
    app, client, database = arena
    client.delete(*client.keys("*matches*"), "none")
    forge(app)
    hears(client, database)
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
    "no task": MESSAGE | {"headers": {"id": "7"}},
    # Two of them deafened a recorder for good: the base64 of ``[[],{},5]``.
    "a body without what Celery adds": MESSAGE | {"body": "W1tdLHt9LDVd"},
    "a body that is no base64": MESSAGE | {"body": "!!!"},
    "a body of half a byte": MESSAGE | {"body": "A"},
    "a body that is no JSON": MESSAGE | {"body": "AAAA"},
    "a body of a number": MESSAGE | {"body": "NQ=="},
    "a body of too few": MESSAGE | {"body": b64encode(b"[[],{}]").decode()},
    "a body told by a number": MESSAGE | {"body": b64encode(b"[5,{},{}]").decode()},
    "a body named by a list": MESSAGE | {"body": b64encode(b"[[],[],{}]").decode()},
    "a body of no number": MESSAGE | {"body": b64encode(b"[[NaN],{},{}]").decode()},
    "a number of many digits": MESSAGE
    | {"body": b64encode(b"[[%s],{},{}]" % (b"9" * 5000)).decode()},
    "a body nested too deeply": MESSAGE | {"body": b64encode(b"[" * 100_000).decode()},
    # Of so many that a message holds, the recorder would be killed for its memory, again and again.
    "a body of too many lists": MESSAGE
    | {"body": b64encode(b"[[%s0],{},{}]" % (b"[]," * 1_500_000)).decode()},
    "too many objects": b'{"x": [%s0]}' % (b"{}," * 1_500_000),
    "a body that is no UTF-8": MESSAGE | {"body": b64encode(b'[["\xff"],{},{}]').decode()},
}


def test_nonsense_is_dropped(arena: tuple[Celery, redis.Redis, Database]) -> None:
    """Each would end a plain Celery worker, be held by it for ever, or be refused by none."""
    _, client, database = arena
    for nonsense in NONSENSE.values():
        for _ in range(3):
            client.lpush(jobs.RESULTS_QUEUE, written(nonsense))
    hears(client, database)


def test_brackets_in_a_text_are_no_parts() -> None:
    """A bot may write them without end, and its game would count for nobody."""
    written_by_a_bot = '",[{\\' * 1_000_001
    assert unpack(pack("arena.record_match", written_by_a_bot)).args == [written_by_a_bot]


def written(nonsense: Any) -> bytes:
    return nonsense if isinstance(nonsense, bytes) else json.dumps(nonsense).encode()


def test_what_another_release_had_in_hand_deafens_nobody(
    arena: tuple[Celery, redis.Redis, Database],
) -> None:
    """It kept what it had in keys of its own, and took it up again after each start."""
    _, client, database = arena
    of_before = ("unacked.results", "unacked.results.index")
    client.hset(of_before[0], "q", json.dumps([MESSAGE | {"body": "W1tdLHt9LDVd"}, "", ""]))
    client.zadd(of_before[1], {"q": 0})
    hears(client, database)
    broker = f"redis+socket://{client.get_connection_kwargs()['path']}"
    inbox = Inbox(broker, jobs.RESULTS_QUEUE, (), Counter())
    inbox.begin()
    inbox.close()
    assert client.exists(*of_before) == 0


def test_an_enormous_message_never_comes_to_the_recorder(
    arena: tuple[Celery, redis.Redis, Database],
) -> None:
    """As large as the broker's whole memory it would take the recorder some gigabytes to read."""
    _, client, database = arena
    with pytest.raises(redis.RedisError):
        client.lpush(jobs.RESULTS_QUEUE, bytes((64 << 20) + 1))
    hears(client, database)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
TASKS = st.sampled_from(
    [
        *(jobs.RECORD_MATCH, jobs.RECORD_CHECK, jobs.RECORD_MOVE, jobs.RECORD_VOID),
        *(jobs.JOB_STARTED, jobs.MATCH_PROGRESS, jobs.WORKER_ALIVE, jobs.BOT_BUILT),
        *("arena.wake", "arena.tick", "celery.chord"),
    ]
)
LEASES = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["match", "check", "move"]) | ANY_JSON,
        "job": st.integers() | ANY_JSON,
        "attempt": st.integers() | ANY_JSON,
        "ticket": st.text(max_size=9) | ANY_JSON,
    },
)
TOLD = st.fixed_dictionaries(
    {},
    optional={
        "lease": LEASES | ANY_JSON,
        "worker": st.text(max_size=9) | ANY_JSON,
        **dict.fromkeys(["slots", "isolation", "languages", "format", "clock", "failed"], ANY_JSON),
        **dict.fromkeys(
            ["games", "logs", "seconds", "findings", "log", "game", "problem"], ANY_JSON
        ),
        "progress": st.fixed_dictionaries(
            {}, optional=dict.fromkeys(["game", "moves", "findings"], ANY_JSON)
        ),
    },
)
"""Nearly what a worker says: most of its fields, some of them wrong."""
BODIES = st.one_of(
    st.binary(max_size=40).map(lambda data: b64encode(data).decode()),
    ANY_JSON.map(lambda told: b64encode(json.dumps(told).encode()).decode()),
    st.tuples(st.lists(TOLD | ANY_JSON, max_size=3), ANY_JSON, ANY_JSON).map(
        lambda told: b64encode(json.dumps(told).encode()).decode()
    ),
    ANY_JSON,
)
MESSAGES = st.one_of(
    st.binary(max_size=60),
    st.fixed_dictionaries(
        {"body": BODIES, "headers": st.fixed_dictionaries({"task": TASKS, "id": ANY_JSON})},
        optional=dict.fromkeys(["properties", "content-type", "content-encoding"], ANY_JSON),
    ).map(lambda message: json.dumps(message).encode()),
    st.tuples(TASKS, st.lists(TOLD, min_size=1, max_size=2)).map(lambda m: pack(m[0], *m[1])),
)


@pytest.mark.long
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=st.lists(MESSAGES, min_size=10, max_size=60))
def test_no_message_deafens_the_recorder(
    arena: tuple[Celery, redis.Redis, Database], messages: list[bytes]
) -> None:
    """Whatever is nearly a message, or none at all, is gone, and the next one is heard."""
    _, client, database = arena
    with client.pipeline() as steps:
        for message in messages:
            steps.lpush(jobs.RESULTS_QUEUE, message)
        steps.execute()
    hears(client, database)


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_no_message(name: str) -> None:
    with pytest.raises(UnreadableError):
        unpack(written(NONSENSE[name]))


def test_a_message_says_what_was_packed() -> None:
    told = {"name": "\N{SNOWMAN}", "number": 1.5, "list": [1, None, True]}
    assert unpack(pack("a.task", told, 7)) == Message("a.task", [told, 7], {})


def test_what_can_be_kept_nowhere_is_replaced() -> None:
    """Nothing, and halves of characters; not a whole one in halves, or what looks like one."""
    found = unpack(pack("a.task", {"a\0b": "\ud83d\ude00 \ud83d \\ud83d"})).args
    assert found == [{"a\ufffdb": "\N{GRINNING FACE} \ufffd \\ud83d"}]


@pytest.mark.parametrize("options", [{"compression": "zlib"}, {"serializer": "yaml"}])
def test_what_is_packed_otherwise_is_not_unpacked(
    arena: tuple[Celery, redis.Redis, Database], options: dict[str, str]
) -> None:
    """It might fill the memory, or make objects."""
    app, client, database = arena
    app.send_task(jobs.JOB_STARTED, args=({},), **options, **WAKE)
    (raw,) = client.lrange(jobs.RESULTS_QUEUE, 0, -1) or (None,)
    if raw is not None:  # the recorder may have been faster
        with pytest.raises(UnreadableError):
            unpack(raw)
    hears(client, database)
