"""What a box costs: the start of a Python bot up to its ``ready``, and the answer to a line.

Every level that this machine can build is measured in turn with a plain process, round by
round, so that what else the machine does meets them all alike. Both processes may run on any
core: how long a line takes depends far more on where they are than on the box.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from engine.process import HeadAndTail, PipeChannel
from engine.program import PlainProgram, Program
from engine.protocol import HELLO
from tests.benchmarks.table import Table
from workers.languages import Launch, box_python
from workers.limits import Limits
from workers.sandbox import Sandbox

BOT = "import sys\nfor line in sys.stdin:\n    print('ready echo', flush=True)\n"
OPTIONS = ("-u", "-s", "-S")
"""Without Python's site, which takes longer than any box and is the same in all of them."""
LINES = 500
WALL_US = 10_000_000
Start = Callable[[], Program]


def run(seconds: float) -> Table:
    """A row for no box and for each level; medians, and for lines the 99th percentile too."""
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
    starts: dict[str, Start] = {"none": lambda: PlainProgram(command, cwd=home)}
    for level in ("reduced", "good", "full"):
        sandbox = Sandbox("none", maximum=level)
        if sandbox.level == level:
            starts[level] = partial(sandbox.start, home, Launch(command), Limits())
    return starts


def _measure(starts: Mapping[str, Start], seconds: float) -> Table:
    start_ms: dict[str, list[float]] = defaultdict(list)
    end_ms: dict[str, list[float]] = defaultdict(list)
    line_us: dict[tuple[str, bool], list[float]] = defaultdict(list)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for name, start in starts.items():
            began = time.perf_counter()
            program = start()
            channel = PipeChannel(program, HeadAndTail(1024))
            channel.ask(HELLO, cpu_us=None, wall_us=WALL_US)
            start_ms[name].append((time.perf_counter() - began) * 1e3)
            for frozen in (False, True):
                line_us[name, frozen] += _lines(program, channel, frozen)
            began = time.perf_counter()
            program.kill()
            end_ms[name].append((time.perf_counter() - began) * 1e3)
    rows = []
    for name in starts:
        cells = [f"{median(start_ms[name]):.1f}", f"{median(end_ms[name]):.1f}"]
        for frozen in (False, True):
            times = line_us[name, frozen]
            cells.append(f"{median(times):.1f} / {quantiles(times, n=100)[98]:.1f}")
        rows.append([name, str(len(start_ms[name])), *cells])
    return Table(
        "Boxes: starting, asking and ending a Python bot",
        ["box", "bots", "start ms", "end ms", "line µs (p99)", "frozen between µs (p99)"],
        rows,
    )


def _lines(program: Program, channel: PipeChannel, frozen: bool) -> list[float]:
    """How long each line takes there and back, with or without a stop in between."""
    times = []
    for _ in range(LINES):
        began = time.perf_counter()
        channel.ask(HELLO, cpu_us=None, wall_us=WALL_US)
        if frozen:
            program.freeze()
        times.append((time.perf_counter() - began) * 1e6)
    program.thaw()
    return times
