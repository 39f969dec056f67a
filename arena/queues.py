"""How much waits in the broker, and whether it is there at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import redis

from engine.jobs import MATCHES_QUEUE, RESULTS_QUEUE

PRIORITIES = ("", "\x06\x163", "\x06\x166", "\x06\x169")
"""What kombu adds to a queue's name for each of its steps of priority."""
ANSWER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Queues:
    """What the broker says of its queues."""

    waiting: Mapping[str, int] | None
    """How many messages nobody has taken yet, by queue; None if it does not say."""
    problem: str = ""
    """Why it does not, in words."""


def look(broker: str) -> Queues:
    """How much waits in a broker."""
    if not broker:
        return Queues(None, "there is no broker")
    queues = (MATCHES_QUEUE, RESULTS_QUEUE)
    address = "unix:" + broker.removeprefix("redis+socket:") if "+socket:" in broker else broker
    try:
        with redis.Redis.from_url(
            address, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
        ) as client:
            steps = client.pipeline(transaction=False)
            for queue in queues:
                for step in PRIORITIES:
                    steps.llen(f"{queue}{step}")
            lengths = steps.execute()
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError):
        return Queues(None, "the broker refuses the login of ARENA_BROKER")
    except (redis.RedisError, ValueError):
        return Queues(None, "the broker does not answer")
    each = len(PRIORITIES)
    return Queues(
        {
            queue: sum(lengths[number * each : (number + 1) * each])
            for number, queue in enumerate(queues)
        }
    )
