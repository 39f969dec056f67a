"""What a box costs: the start of a Python bot up to its ``ready``, and the answer to a line.

Every level that this machine can build is measured in turn with a plain process, round by
round, so that what else the machine does meets them all alike; and both processes are on one
core, as in a match, since how long a line takes depends far more on where they are than on the
box. What a box costs is told by the least times of each, which other work on the machine
hardly touches: a start, and the mean of the quickest tenth of the lines.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median

from engine.channel import HeadAndTail, PipeChannel
from engine.clock import Limit
from engine.program import PlainProgram, Program
from engine.protocol import HELLO
from tests.benchmarks.table import Table
from workers.launches import Launch, box_python
from workers.limits import Limits
from workers.sandbox import Sandbox

BOT = "import sys\nfor line in sys.stdin:\n    print('ready echo', flush=True)\n"
OPTIONS = ("-u", "-s", "-S")
"""Options that leave out Python's site, which takes longer than any box and is the same in all."""
LINES = 500
LIMIT = Limit(wall_us=10_000_000)
Start = Callable[[], Program]


def run(seconds: float) -> Table:
    """A row for no box and for each level: medians, and beside them what the box adds at best."""
    home = Path(tempfile.mkdtemp(prefix="arena-bench-"))
    try:
        home.chmod(0o755)
        (home / "bot.py").write_text(BOT)
        (home / "bot.py").chmod(0o644)
        return _measure(_starts(home), seconds)
    finally:
        shutil.rmtree(home)


def _starts(home: Path) -> Mapping[str, Start]:
    """The ways to start the bot."""
    command = (box_python(), *OPTIONS, "./bot.py")
    core = max(os.sched_getaffinity(0))
    starts: dict[str, Start] = {"none": lambda: PlainProgram(command, cwd=home)}
    for level in ("reduced", "good", "full"):
        sandbox = Sandbox("none", maximum=level)
        if sandbox.level == level:
            starts[level] = partial(sandbox.start, home, Launch(command), Limits(), core=core)
    return starts


def _measure(starts: Mapping[str, Start], seconds: float) -> Table:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        return _rounds(starts, seconds)
    finally:
        os.sched_setaffinity(0, before)


def _rounds(starts: Mapping[str, Start], seconds: float) -> Table:
    start_ms: dict[str, list[float]] = defaultdict(list)
    end_ms: dict[str, list[float]] = defaultdict(list)
    line_us: dict[tuple[str, bool], list[float]] = defaultdict(list)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for name, start in starts.items():
            began = time.perf_counter()
            program = start()
            channel = PipeChannel(program, HeadAndTail(1024))
            channel.ask(HELLO, LIMIT)
            start_ms[name].append((time.perf_counter() - began) * 1e3)
            for frozen in (False, True):
                line_us[name, frozen] += _lines(program, channel, frozen)
            began = time.perf_counter()
            program.kill()
            end_ms[name].append((time.perf_counter() - began) * 1e3)
    rows = []
    for name in starts:
        cells = [_cell(start_ms[name], min(start_ms[name]) - min(start_ms["none"]))]
        cells.append(f"{median(end_ms[name]):.1f}")
        for frozen in (False, True):
            added = _quickest(line_us[name, frozen]) - _quickest(line_us["none", False])
            cells.append(_cell(line_us[name, frozen], added))
        rows.append([name, str(len(start_ms[name])), *cells])
    return Table(
        "Boxes: starting, asking and ending a Python bot; median, and what is added at best",
        ["box", "bots", "start ms", "end ms", "line µs", "frozen between µs"],
        rows,
    )


def _cell(times: Sequence[float], added: float) -> str:
    return f"{median(times):.1f} ({added:+.1f})"


def _quickest(times: Sequence[float]) -> float:
    """The mean of the quickest tenth."""
    return mean(sorted(times)[: max(1, len(times) // 10)])


def _lines(program: Program, channel: PipeChannel, frozen: bool) -> list[float]:
    """How long each line takes there and back, with or without a stop in between."""
    times = []
    for _ in range(LINES):
        began = time.perf_counter()
        channel.ask(HELLO, LIMIT)
        if frozen:
            program.freeze()
        times.append((time.perf_counter() - began) * 1e6)
    program.thaw()
    return times
