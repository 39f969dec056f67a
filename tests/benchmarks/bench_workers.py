"""At how many workers the recorder is full: a simulation of the queue between them.

Workers play matches that take a random time, and one recorder takes their results in turn, each
for as long as it takes here: that is measured first, on SQLite. A worker has one message under way
and one waiting, as in the arena, each of a match or of several that are short; the next one is
made when the results of one of its are recorded. So beyond a number of workers they wait for the
recorder, and games a second grow no more.
"""

from __future__ import annotations

import heapq
from random import Random

from arena.schedule.leases import AHEAD
from arena.schedule.load import SHORTEST_TURN, TURN_SECONDS
from tests.benchmarks.bench_recorder import databases, measure
from tests.benchmarks.table import Table

GAMES = 2
"""Of a match."""
MATCH_SECONDS = (0.1, 1.0, 10.0, 60.0)
"""How long a match takes on the average: bots that answer at once, quick and slow ones."""
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
FULL = 0.9
"""Of what so many workers could play if nobody waited: with less the recorder is full."""
MATCHES = 4000


def run(seconds: float) -> Table:
    """A row for each length of a match."""
    with databases() as found, found["SQLite"]() as database:
        cost = measure(database, 1, seconds / 2)
    recorder = cost.cpu / cost.matches
    rows = []
    for length in MATCH_SECONDS:
        rates = [simulate(workers, length, recorder) for workers in WORKERS]
        fits = [
            workers
            for workers, rate in zip(WORKERS, rates, strict=True)
            if rate >= FULL * workers / length
        ]
        told = [f"{GAMES * rates[WORKERS.index(workers)]:,.3g}" for workers in (1, 8, 64, 512)]
        most = f"more than {WORKERS[-1]}" if fits[-1:] == [WORKERS[-1]] else max(fits, default=0)
        rows.append([f"{length:g} s", *told, most])
    columns = ["a match", "1 worker", "8", "64", "512", "workers that the recorder keeps busy"]
    return Table(
        f"Games a second by workers; the recorder takes {1e3 * recorder:.1f} ms a match",
        columns,
        rows,
    )


def simulate(workers: int, match_seconds: float, recorder_seconds: float) -> float:
    """Matches a second that so many workers and one recorder get done."""
    random = Random(workers)
    together = int(1 / min(1.0, max(SHORTEST_TURN, match_seconds / TURN_SECONDS)))

    def message_seconds() -> float:
        return sum(random.expovariate(1 / match_seconds) for _ in range(together))

    waiting = [AHEAD - 1] * workers
    idle = [False] * workers
    # What is under way, by its end; a result waits for the recorder from then on.
    ends = [(message_seconds(), worker) for worker in range(workers)]
    heapq.heapify(ends)
    recorder_free = now = 0.0
    results: list[tuple[float, int]] = []
    done = 0
    while done < MATCHES:
        if results and (not ends or max(recorder_free, results[0][0]) <= ends[0][0]):
            came, worker = heapq.heappop(results)
            now = recorder_free = max(recorder_free, came) + together * recorder_seconds
            done += together
            if idle[worker]:
                idle[worker] = False
                heapq.heappush(ends, (now + message_seconds(), worker))
            else:
                waiting[worker] += 1
        else:
            now, worker = heapq.heappop(ends)
            heapq.heappush(results, (now, worker))
            if waiting[worker]:
                waiting[worker] -= 1
                heapq.heappush(ends, (now + message_seconds(), worker))
            else:
                idle[worker] = True
    return done / now
