"""Made-up workers at a real recorder: each match is counted once, whatever is killed meanwhile."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

import workers.app
from arena.ground.db import Database
from arena.operation import queues
from engine import jobs, timers
from tests import postgres
from tests.arena.running import PATIENCE, broker, until
from tests.scale import counting
from tests.scale.crew import Crew, Murmur
from tests.scale.stand import Observer, Stand, furnish, waiting_results

WORKERS, SLOTS, MATCH_SECONDS, SECONDS = 10, 2, 1.5, 1.0
QUICKLY = {"ARENA_TICK_SECONDS": "0.5", "ARENA_TAKE_UP_SECONDS": "2", "ARENA_LEASE_SECONDS": "2"}

SPOILED = {
    "another order": 'UPDATE "match" SET seq = 100000 WHERE seq = (SELECT min(seq) FROM "match")',
    "a game that is missing": "DELETE FROM game_seat WHERE game_id = 3",
    "a game counted twice": "UPDATE entrant SET games = games + 1, wins = wins + 1 WHERE id = 1",
    "a meeting counted twice": "UPDATE meeting SET games = games + 2, matches = matches + 1",
    "a ladder that counts a game more": "UPDATE competition SET games = games + 1 WHERE id = 1",
    "a rating that nothing moved": "UPDATE entrant SET mu = mu - 0.01 WHERE id = 2",
    "a game that moved nothing": "UPDATE game_seat SET mu_after = mu_before WHERE game_id = 4",
    "a winner who lost": "UPDATE game_seat SET rank = 1 - rank WHERE game_id = 1",
}


@pytest.mark.long
def test_each_match_is_counted_once(
    postgres_url: str, postgresql_like: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Some workers are of the release before, and the recorder is killed in the middle.

    Then each thing that could be wrong is made wrong, which is to be seen.
    """
    with (
        postgres.database(postgres_url, like=postgresql_like) as url,
        broker() as queue,
        Stand(tmp_path, url, queue.url, **QUICKLY) as stand,
    ):
        furnish(stand.database, ladders=2, bots=8)
        crew = Crew(queue.url, WORKERS, MATCH_SECONDS, slots=SLOTS)
        old = Crew(queue.url, 2, MATCH_SECONDS, slots=SLOTS, name="old", by_queue=True)
        stand.start("recorder")
        crew.start()
        old.start()
        with Observer(stand, crew) as observer:
            while not (first := observer.measure(SECONDS)).fixed:
                pass
            stand.processes["recorder"].kill()
            stand.end("recorder")
            stand.start("recorder")
            before = len(observer.seen)
            until(lambda: len(observer.seen) > before + 2 * WORKERS, "results after the kill")
            crew.stop(finish=True)
            old.stop(finish=True)
            with queues.connect(queue.url) as client:
                until(lambda: not waiting_results(client), "all that was said")
        assert first.cpu.keys() == {"recorder", "others", "database", "broker", "workers"}
        assert first.cpu["recorder"]
        assert 0 < first.lag(50) < PATIENCE
        assert crew.said.keys() >= {jobs.WORKER_ALIVE, jobs.JOB_STARTED, jobs.RECORD_MATCH}
        by_queue = {f"{task} by the queue" for task in (jobs.JOB_STARTED, jobs.MATCH_PROGRESS)}
        assert old.said.keys() >= {jobs.RECORD_MATCH, *by_queue}
        stand.end("recorder")
        assert observer.seen.keys() <= crew.sent.keys()
        _prove(stand.database, subtests)


def _prove(database: Database, subtests: pytest.Subtests) -> None:
    with database.engine.connect() as connection:
        assert counting.fixed(connection) > 3 * WORKERS
        assert counting.problems(connection) == []
        for what, words in SPOILED.items():
            connection.rollback()
            connection.execute(sa.text(words))
            with subtests.test(what):
                assert counting.problems(connection)


def test_a_murmur_is_said_where_a_worker_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash has it, or the queue, too: whatever waits, and however long nobody hears it."""
    random, said, now = Random(1), list[str](), 0.0
    waiting = is_new = 0
    monkeypatch.setattr(timers, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(workers.app, "time", SimpleNamespace(monotonic=lambda: now))

    def say(*_: object) -> int:
        said.append("queue")
        return waiting

    monkeypatch.setattr(workers.app, "say", say)
    speaker = SimpleNamespace(hset=lambda *_: is_new)
    monkeypatch.setattr(workers.app, "_speaker", lambda _: speaker)
    ours, theirs = Murmur("field", 10.0, now), workers.app.Murmur("field", 10.0)
    for _ in range(3000):
        now += random.expovariate(1 / 5)
        waiting, is_new = random.choice((0, 1999, 2000, 19_999, 20_000)), random.random() < 0.2
        before = len(said)
        theirs.say("task", {})
        is_said = not ours.is_heard(is_new, now) and ours.may()
        assert is_said is (len(said) > before)
        if is_said:
            ours.waiting = waiting
    assert 100 < len(said) < 2900
