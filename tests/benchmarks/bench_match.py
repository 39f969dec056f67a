"""What it saves that bots keep their processes from one match of a pairing to the next.

Matches of two games of 40 plies, between bots that answer at once: some start their bots and send
them away, others have those of the match before. Both take turns in every box that this machine
can build, with all of it on one core. What counts is the clock, since a start is mostly the
kernel's and the bot's own work; beside it stands this process's own CPU time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from functools import partial
from statistics import median

from engine.clock import TimeControl
from engine.match import MatchSpec, Players, StartPlayer, play_match
from engine.process import BotProcess
from tests.benchmarks.bench_referee import Start, starts
from tests.benchmarks.instant import clobber, game_of, instant_bot, on_one_core
from tests.benchmarks.table import Table

SPEC = MatchSpec(clobber("8x8"), ("one", "two"), TimeControl(move_ms=1000))
PLIES = 40
MATCHES = 16
"""As many as can be in one message."""
Way = Callable[[MatchSpec, StartPlayer, int], None]


def started_anew(spec: MatchSpec, start: StartPlayer, matches: int) -> None:
    """Each match has bots of its own."""
    for _ in range(matches):
        play_match(spec, start)


def kept(spec: MatchSpec, start: StartPlayer, matches: int) -> None:
    """The bots of the first match play all of them."""
    with closing(Players(start)) as players:
        for _ in range(matches):
            players.play(spec)


WAYS: tuple[Way, ...] = (started_anew, kept)


def run(seconds: float) -> Table:
    """A row for each box and way."""
    spent: dict[tuple[str, Way], list[tuple[float, float]]] = defaultdict(list)
    with on_one_core() as core, instant_bot(game_of(SPEC.variant, PLIES)) as bot:
        ways_to_start = starts(bot, core)
        deadline = time.monotonic() + seconds
        while not spent or time.monotonic() < deadline:
            for box, start in ways_to_start.items():
                for way in WAYS:
                    began, used = time.perf_counter(), time.process_time()
                    way(SPEC, partial(_player, start), MATCHES)
                    took = time.perf_counter() - began, time.process_time() - used
                    spent[box, way].append(took)
    rows = []
    for (box, way), times in spent.items():
        clock, cpu = (1e3 * median(column) / MATCHES for column in zip(*times, strict=True))
        rows.append([box, way.__name__.replace("_", " "), f"{clock:.1f}", f"{cpu:.1f}"])
    return Table(
        f"A match of two games of {PLIES} plies, {bot.language} bots that answer at once, in ms",
        ["box", "bots", "clock", "worker's CPU time"],
        rows,
    )


def _player(start: Start, _entrant: int) -> BotProcess:
    return BotProcess(start)
