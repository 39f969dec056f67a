"""How much waits in the broker, and whether it is there at all."""

from __future__ import annotations

from collections.abc import Mapping

import redis

from engine.jobs import MATCHES_QUEUE, RESULTS_QUEUE

PRIORITIES = ("", "\x06\x163", "\x06\x166", "\x06\x169")
"""What kombu adds to a queue's name for each of its steps of priority."""
ANSWER_SECONDS = 2.0


def waiting(broker: str) -> Mapping[str, int] | None:
    """How many messages nobody has taken yet, by queue; None if the broker does not answer."""
    if not broker:
        return None
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
    except (redis.RedisError, ValueError):
        return None
    each = len(PRIORITIES)
    return {
        queue: sum(lengths[number * each : (number + 1) * each])
        for number, queue in enumerate(queues)
    }
