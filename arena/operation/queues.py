"""How much waits in the broker, and whether it is there at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, islice

import redis

from engine.jobs import MATCHES_QUEUE, RESULTS_QUEUE
from engine.messages import address_of
from engine.translation import N_, gettext

STEP = "\x06\x16"
PRIORITIES = ("", f"{STEP}3", f"{STEP}6", f"{STEP}9")
"""What kombu adds to a queue's name for each of its steps of priority."""
ANSWER_SECONDS = 2.0
FULL = 0.95
"""The share of its memory at which the next large message may be refused."""
BGSAVE = "rdb_last_bgsave_status"
LOSES = {
    True: N_(
        "the broker throws away whole queues when it is full (maxmemory-policy %(policy)s): set it "
        "to noeviction"
    ),
    False: N_(
        "the broker throws away what keeps other arenas off it when it is full (maxmemory-policy "
        "%(policy)s): set it to noeviction"
    ),
}
"""What is said of a broker that does not keep all, by whether it may throw away any key."""


@dataclass(frozen=True, slots=True)
class Queues:
    """What the broker says of its queues."""

    waiting: Mapping[str, int] | None
    """How many messages nobody has taken yet, by queue; None if it does not say."""
    problem: str = ""
    """Why it does not, or why it takes no more, in words."""
    risk: str = ""
    """What may become of it though it takes messages now, in words."""
    memory_used: int | None = None
    """Bytes."""
    memory_most: int = 0
    """Bytes that it may take, beyond which it takes no message; 0 for no bound."""


def keys_of(queue: str) -> list[str]:
    """The keys under which a queue lies, that of the first to be taken first."""
    return [f"{queue}{step}" for step in PRIORITIES]


def keys_of_jobs(client: redis.Redis) -> list[str]:
    """The keys under which jobs wait, those of games and runtimes that nobody has any more, too."""
    names = {MATCHES_QUEUE}
    for key in client.scan_iter(match=f"{MATCHES_QUEUE}[.+]*", count=1000):
        names.add(key.decode().partition(STEP)[0])
    return [key for name in sorted(names) for key in keys_of(name)]


def keys_of_results(client: redis.Redis) -> list[str]:
    """The keys under which waits what is said to recorders, of each shard and those that were."""
    its = {key.decode() for key in client.scan_iter(match=f"{RESULTS_QUEUE}.[0-9]*", count=1000)}
    return [*keys_of(RESULTS_QUEUE), *sorted(its)]


def connect(broker: str, *, seconds: float = ANSWER_SECONDS) -> redis.Redis:
    """Whoever speaks to a broker, at its first word and not before.

    Args:
        broker: its address, as Celery takes it.
        seconds: how long it may take to answer.
    """
    return redis.Redis.from_url(
        address_of(broker), socket_timeout=seconds, socket_connect_timeout=seconds
    )


def look(broker: str) -> Queues:
    """How much waits in a broker, and how full it is."""
    if not broker:
        return Queues(None, gettext("there is no broker"))
    try:
        with connect(broker) as client:
            keys = {MATCHES_QUEUE: keys_of_jobs(client), RESULTS_QUEUE: keys_of_results(client)}
            steps = client.pipeline(transaction=False)
            for key in chain.from_iterable(keys.values()):
                steps.llen(key)
            steps.info("memory")
            steps.info("persistence")
            *lengths, memory, persistence = steps.execute()
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError):
        return Queues(None, gettext("the broker refuses the login of ARENA_BROKER"))
    except (redis.RedisError, ValueError):
        return Queues(None, gettext("the broker does not answer"))
    each = iter(lengths)
    waiting = {queue: sum(islice(each, len(its))) for queue, its in keys.items()}
    used, most = int(memory["used_memory"]), int(memory["maxmemory"])
    problem = ""
    if most and used >= FULL * most:
        problem = gettext(
            "the broker is full: %(used)s of %(most)s MiB",
            used=f"{used / 2**20:.0f}",
            most=f"{most / 2**20:.0f}",
        )
    elif "err" in (persistence.get("aof_last_write_status"), persistence.get(BGSAVE)):
        problem = gettext(
            "the broker can't write its file, and refuses messages: is its disk full?"
        )
    policy, risk = str(memory.get("maxmemory_policy")), ""
    if most and policy != "noeviction":
        risk = gettext(LOSES[policy.startswith("allkeys")], policy=policy)
    return Queues(waiting, problem, risk, used, most)
