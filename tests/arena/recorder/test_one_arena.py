"""A broker serves one arena: two would take each other's messages."""

from __future__ import annotations

import pytest
import redis

from arena.ground.db import Database
from arena.recorder.claim import BROKER_KEY, ClaimError, claim_broker
from arena.recorder.process import Recorder, guarded
from arena.signing import arena_id


def test_a_broker_is_one_arenas(queue: redis.Redis) -> None:
    """Another is refused, until the first has been away for a minute; a full one can't be asked."""
    claim_broker(queue, "first")
    claim_broker(queue, "first")
    assert 50 < queue.ttl(BROKER_KEY) <= 60
    with pytest.raises(ClaimError, match="another arena is at work on this broker"):
        claim_broker(queue, "second")
    queue.delete(BROKER_KEY)  # as a minute does
    queue.config_set("maxmemory", 1)
    claim_broker(queue, "second")
    queue.config_set("maxmemory", 0)
    assert queue.get(BROKER_KEY) is None
    claim_broker(queue, "second")
    with pytest.raises(ClaimError):
        claim_broker(queue, "first")


def test_a_recorder_works_on_no_broker_of_another(
    database: Database, recorder: Recorder, queue: redis.Redis
) -> None:
    """Neither at its start nor at a tick, when the other came while it was away."""
    queue.set(BROKER_KEY, "another")
    with pytest.raises(ClaimError):
        recorder.take_over()
    with pytest.raises(ClaimError):
        guarded(recorder.tick)
    queue.delete(BROKER_KEY)
    recorder.tick()
    with database.begin() as session:
        assert queue.get(BROKER_KEY) == arena_id(session).encode()
