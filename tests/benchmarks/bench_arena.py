"""A whole arena: how soon it shows its first page, what it holds in memory, what a game costs it.

It is `arena up` with two workers in a fresh folder, started a second time. Memory is what its
processes hold by themselves and share in proportion (PSS), while it plays. What a game costs is
the CPU time of the recorder, the broker and the workers' own processes, by the number of games
that were recorded meanwhile; bots, and the boxes around them, are processes of their own. The
workers' part is mostly the start of boxes, and the referee.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

import psutil
import sqlalchemy as sa

from arena.ground.db import Database
from arena.models import PlayedGame
from engine.games import GAMES
from tests.arena.running import RunningArena, short_folder, until
from tests.arena.test_end_to_end import furnish_small
from tests.benchmarks.table import Table

SMOKE_SECONDS = 1.0
"""Who asks for less wants to see that all is run, and no numbers."""
ROLES = {
    "workers": "workers.tasks",
    "recorder": "arena.recorder.process",
    "broker": "valkey",
    "pages": "serve",
}
"""A word in the command line of each kind of process."""


def run(seconds: float) -> Table:
    """A row for the start, and one for each kind of process."""
    with short_folder() as folder, RunningArena(folder / "data") as arena:
        arena.data.mkdir()
        database = Database(f"sqlite:///{arena.data / 'arena.db'}")
        if seconds >= SMOKE_SECONDS:
            arena.start()
            stop(arena)
        else:
            # Two bots are soon checked.
            oxoxo = GAMES["oxoxo"]
            furnish_small(database, oxoxo, oxoxo.offered[0], kept=("random", "greedy"))
        began = time.perf_counter()
        arena.start()
        assert arena.page("/")[0] == 200
        start = time.perf_counter() - began
        until(lambda: games(database), "the first game")
        count, before = games(database), cpu_seconds(arena)
        deadline = time.monotonic() + seconds
        until(lambda: time.monotonic() > deadline and games(database) > count, "games", seconds=300)
        after, played = cpu_seconds(arena), games(database) - count
        memory = memory_bytes(arena)
        database.close()
        stop(arena)
    rows: list[list[str]] = [["second start, to the first page", f"{start:.1f} s", "-", "-"]]
    for role in (*ROLES, "all"):
        spent = sum(after[one] - before[one] for one in ROLES if role in (one, "all"))
        held = sum(memory[one] for one in ROLES if role in (one, "all"))
        rows.append([role, "-", f"{held / 2**20:.0f}", f"{1e3 * spent / played:.1f}"])
    columns = ["what", "time", "memory, MiB", f"CPU a game, ms ({played} games)"]
    return Table("A whole arena with two workers", columns, rows)


def stop(arena: RunningArena) -> None:
    """Stops it as Ctrl-C does."""
    arena.interrupt()
    arena.wait()
    arena.await_end("the arena's end")


def games(database: Database) -> int:
    """How many games it has recorded."""
    with database.read() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(PlayedGame)) or 0


def processes(arena: RunningArena) -> list[tuple[str, psutil.Process]]:
    """Its own processes with their roles; no bots, and nothing that builds a box for one."""
    assert arena.supervisor is not None
    found = []
    for process in psutil.Process(arena.supervisor.pid).children(recursive=True):
        try:
            line = " ".join(process.cmdline())
        except psutil.Error:
            continue
        for role, word in ROLES.items():
            if word in line and "bwrap" not in line:
                found.append((role, process))
                break
    return found


def cpu_seconds(arena: RunningArena) -> Mapping[str, float]:
    """What each role's processes have used so far."""
    spent: Counter[str] = Counter()
    for role, process in processes(arena):
        times = process.cpu_times()
        spent[role] += times.user + times.system
    return spent


def memory_bytes(arena: RunningArena) -> Mapping[str, int]:
    """What each role's processes hold."""
    held: Counter[str] = Counter()
    for role, process in processes(arena):
        held[role] += process.memory_full_info().pss
    return held
