"""Made-up workers at a bare broker: what they take first, and what they say of it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import redis

from arena.operation import queues
from arena.operation.broker import EmbeddedBroker
from engine import jobs, reporting
from engine.clock import TimeControl
from engine.games import GAMES
from engine.live import LivePlies, channel_of
from engine.match import MatchSpec
from engine.messages import pack, unpack
from engine.record import GameRecord, Ply, replay
from tests.arena.running import broker, until
from tests.scale.crew import Crew

FIRST, LATER = queues.keys_of(jobs.MATCHES_QUEUE)[::2]


@pytest.fixture(scope="module")
def queue() -> Iterator[EmbeddedBroker]:
    """A broker for all of these tests."""
    with broker() as found:
        yield found


@pytest.fixture
def client(queue: EmbeddedBroker) -> Iterator[redis.Redis]:
    """A connection to it, with nothing in it."""
    with queues.connect(queue.url) as found:
        found.flushall()
        yield found


def job(number: int, kind: str = "match", *, shard: int = 0) -> jobs.Job:
    """A job of two games of Clobber."""
    spec = MatchSpec(GAMES["clobber"].variant(size="5x6"), ("a", "b"), TimeControl(move_ms=100))
    files = (jobs.BotFiles("0" * 64, "here"),) * 2
    lease = jobs.Lease(kind, number, 1, f"ticket {number}", shard)
    return jobs.Job(lease, spec, files, jobs.Grant(2**28, 4, 1000), 30.0)


def give(client: redis.Redis, key: str, task: str, *given: jobs.Job) -> None:
    """Puts a message with jobs into a queue."""
    client.lpush(key, pack(task, *(one.to_json() for one in given)))


def said(client: redis.Redis, name: str, task: str) -> list[dict[str, object]]:
    """What was said by a queue to a task, message by message, the oldest first."""
    found = [unpack(raw) for raw in reversed(client.lrange(name, 0, -1))]
    return [one for message in found if message.task == task for one in message.args]


def reports(client: redis.Redis, name: str) -> list[reporting.MatchReport]:
    """The reports of matches in a queue, the oldest first."""
    return list(map(reporting.MatchReport.from_json, said(client, name, jobs.RECORD_MATCH)))


def test_what_is_first_is_taken_first(queue: EmbeddedBroker, client: redis.Redis) -> None:
    """Each message by its priority, and each report to the shard of its job."""
    give(client, LATER, jobs.PLAY_MATCH, job(1), job(2))
    give(client, LATER, jobs.PLAY_MATCH, job(3, shard=2))
    give(client, FIRST, jobs.CHECK_BOT, job(4, "check"))
    give(client, FIRST, jobs.PLAY_MOVE, job(5, "move"))
    crew = Crew(queue.url, 1, 0.05)
    crew.start()
    other = jobs.results_of(2)
    until(lambda: client.llen(other), "the last report", pause=0.01)
    crew.stop(finish=True)
    results = jobs.RESULTS_QUEUE
    (check,) = map(reporting.CheckReport.from_json, said(client, results, jobs.RECORD_CHECK))
    assert check.passed
    (void,) = said(client, results, jobs.RECORD_VOID)
    assert jobs.Lease.from_json(void["lease"]).job == 5
    assert void["failed"] is False
    first, last = reports(client, results), reports(client, other)
    assert [one.lease.job for one in (*first, *last)] == [1, 2, 3]
    assert list(crew.sent) == [1, 2, 3]
    for report in (*first, *last):
        for game in report.games:
            replay(game)  # the rules find nothing wrong
    order = [unpack(raw).task for raw in reversed(client.lrange(results, 0, -1))]
    assert order[0] == jobs.WORKER_ALIVE
    assert order[-1] == jobs.RECORD_MATCH


def test_who_watches_is_told_each_ply(queue: EmbeddedBroker, client: redis.Redis) -> None:
    """Whoever listens hears all of a match, as it is reported in the end."""
    watching = client.pubsub()
    watching.subscribe(channel_of(7))
    give(client, LATER, jobs.PLAY_MATCH, job(7))
    crew = Crew(queue.url, 1, 2.0, seed=2)
    crew.start()
    until(lambda: reports(client, jobs.RESULTS_QUEUE), "the report")
    crew.stop(finish=True)
    told: dict[int, dict[int, Ply]] = {}
    while message := watching.get_message(timeout=0.2):
        if message["type"] == "message":
            word = LivePlies.from_json(message["data"])
            told.setdefault(word.game, {}).update(enumerate(word.plies, start=word.first))
    ((one, other),) = (report.games for report in reports(client, jobs.RESULTS_QUEUE))
    assert _beginning(one, told[0]) == len(one.plies)
    assert _beginning(other, told[1]) > 0


def _beginning(game: GameRecord, plies: dict[int, Ply]) -> int:
    """How many plies were told, which are those that the game begins with."""
    assert [plies[number] for number in sorted(plies)] == list(game.plies[: len(plies)])
    return len(plies)


def test_signs_take_the_place_of_the_last_ones(queue: EmbeddedBroker, client: redis.Redis) -> None:
    """No more than one of a match that is under way stands there, and one of a worker."""
    give(client, LATER, jobs.PLAY_MATCH, job(8))
    crew = Crew(queue.url, 2, 60.0)
    crew.start()
    field = job(8).lease.field
    until(lambda: client.hexists(jobs.SIGNS, field), "the sign that it was begun", pause=0.05)
    begun = unpack(client.hget(jobs.SIGNS, field))
    assert begun.task == jobs.JOB_STARTED
    assert reporting.Started.from_json(begun.args[0]).worker in crew.names
    time.sleep(0.1)
    crew.stop()
    assert client.hlen(jobs.SIGNS) == 1
    assert not reports(client, jobs.RESULTS_QUEUE)
