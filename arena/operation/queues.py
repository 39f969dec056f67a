"""How much waits in the broker, and whether it is there at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import redis

from engine.jobs import MATCHES_QUEUE, RESULTS_QUEUE
from engine.messages import address_of

PRIORITIES = ("", "\x06\x163", "\x06\x166", "\x06\x169")
"""What kombu adds to a queue's name for each of its steps of priority."""
ANSWER_SECONDS = 2.0
FULL = 0.95
"""The share of its memory at which the next large message may be refused."""
BGSAVE = "rdb_last_bgsave_status"


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
    """Under which keys a queue lies, the one of the first to be taken first."""
    return [f"{queue}{step}" for step in PRIORITIES]


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
        return Queues(None, "there is no broker")
    queues = (MATCHES_QUEUE, RESULTS_QUEUE)
    try:
        with connect(broker) as client:
            steps = client.pipeline(transaction=False)
            for queue in queues:
                for key in keys_of(queue):
                    steps.llen(key)
            steps.info("memory")
            steps.info("persistence")
            *lengths, memory, persistence = steps.execute()
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError):
        return Queues(None, "the broker refuses the login of ARENA_BROKER")
    except (redis.RedisError, ValueError):
        return Queues(None, "the broker does not answer")
    each = len(PRIORITIES)
    waiting = {
        queue: sum(lengths[number * each : (number + 1) * each])
        for number, queue in enumerate(queues)
    }
    used, most = int(memory["used_memory"]), int(memory["maxmemory"])
    problem = ""
    if most and used >= FULL * most:
        problem = f"the broker is full: {used / 2**20:.0f} of {most / 2**20:.0f} MiB"
    elif "err" in (persistence.get("aof_last_write_status"), persistence.get(BGSAVE)):
        problem = "the broker can't write its file, and refuses messages: is its disk full?"
    policy, risk = str(memory.get("maxmemory_policy")), ""
    if most and policy != "noeviction":
        lost = "whole queues" if policy.startswith("allkeys") else "what keeps other arenas off it"
        risk = (
            f"the broker throws away {lost} when it is full (maxmemory-policy {policy}): "
            "set it to noeviction"
        )
    return Queues(waiting, problem, risk, used, most)
