"""Runs the benchmarks: ``python -m tests.benchmarks [NAME]...``.

A benchmark is a module ``bench_NAME`` in this folder with ``run(seconds: float) -> Table``
that takes about so many seconds; the first line of its docstring says what it measures.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from arena.cli.arguments import Seconds

NAMES = sorted(
    path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")
)
ADDITIONS = 1_000_000


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, type=click.Choice(NAMES))
@click.option(
    "--seconds",
    type=Seconds(min=0),
    default=20.0,
    show_default=True,
    help="About how long each takes; few show no more than that it runs.",
)
@click.option("--json", "in_json", is_flag=True, help="Print JSON, a line for each table.")
def main(names: Sequence[str], *, seconds: float, in_json: bool) -> None:
    """Runs the benchmarks that are named, or all, and prints a table for each.

    Above it stands when and where it was measured, and how fast the machine was just then: the
    same server may be half as fast an hour later.
    """
    chosen = names or NAMES
    for number, name in enumerate(chosen, start=1):
        benchmark = import_module(f"tests.benchmarks.bench_{name}")
        subject = str(benchmark.__doc__).splitlines()[0]
        click.echo(f"{number} of {len(chosen)}, {name}: {subject}", err=True)
        about = circumstances()
        table = benchmark.run(seconds)
        if in_json:
            click.echo(json.dumps({"benchmark": name, **about, **table.to_json()}))
        else:
            words = "{measured}, Python {python}, {cores} cores of {processor}; "
            paced = "a million additions took {additions_ms} ms"
            click.echo(f"{(words + paced).format(**about)}\n{table}\n")


def circumstances() -> dict[str, Any]:
    """When and where it is measured; and what a million additions by a plain loop take, in ms."""
    return {
        "measured": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "processor": processor(),
        "additions_ms": round(1e3 * min(additions_seconds() for _ in range(3)), 1),
    }


def processor() -> str:
    """What the kernel calls the processor, or else its architecture."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def additions_seconds() -> float:
    """CPU time in seconds of a plain loop."""
    began, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return time.process_time() - began


if __name__ == "__main__":
    main(prog_name="python -m tests.benchmarks")
