"""What the arena sends its workers."""

from __future__ import annotations

import pytest
from celery import Celery

from arena.ground.config import Settings
from arena.recorder.dispatch import CeleryQueue, configure
from engine import jobs
from engine.clock import TimeControl
from engine.games import GAMES
from engine.match import MatchSpec

GRANT = jobs.Grant(memory_bytes=2**28, threads=1, log_bytes=0)
HOUR_MS = 60 * 60 * 1000


def job(number: int, time: TimeControl) -> jobs.Job:
    """A game pair of at most 41 plies each: a full board of 6x7, the last square empty."""
    spec = MatchSpec(GAMES["clobber"].variant(size="6x7"), ("one", "two"), time)
    lease = jobs.Lease("match", number, 1, "ticket")
    return jobs.Job(lease, spec, (jobs.BotFiles("1" * 64, "/nowhere"),) * 2, GRANT, 30.0)


@pytest.mark.parametrize(
    ("times", "hours"),
    [
        # Six more than two games may take: of 41 moves of an hour each by the wall clock, ...
        ([TimeControl(move_ms=HOUR_MS, charge="wall")], 6 + 2 * 41),
        # ... of twice two hours for each of two, by CPU time, and 10 s more for each; ...
        ([TimeControl(time_ms=2 * HOUR_MS)], 6 + 2 * (2 * 2 * 2 + 20 / 3600)),
        # ... and of several short matches together.
        ([TimeControl(time_ms=5_000, charge="wall")] * 9, 6 + 9 * 2 * 2 * 5 / 3600),
    ],
    ids=["an hour a move", "two hours a game", "several"],
)
def test_no_worker_ends_what_may_take_so_long(times: list[TimeControl], hours: float) -> None:
    """The limit of a message is beyond all that the clocks of its matches allow."""
    app = Celery("arena")
    settings = Settings(broker="memory://")
    configure(app, settings)
    batch = [job(number, time) for number, time in enumerate(times)]
    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue(jobs.MATCHES_QUEUE)
        queue.clear()
        CeleryQueue(app, settings).send([batch])
        message = queue.get(timeout=60)
        message.ack()
    assert message.headers["timelimit"] == [pytest.approx(hours * 3600), None]


@pytest.mark.parametrize("charge", ["cpu", "wall"])
def test_a_usual_match_has_some_hours(charge: str) -> None:
    """Nobody waits for days for one that hangs."""
    spec = job(1, TimeControl(time_ms=60_000, inc_ms=500, charge=charge)).spec
    assert spec.longest_seconds < 3600
