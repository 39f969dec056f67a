"""Runs the benchmarks and prints their tables: ``python -m tests.benchmarks [NAME ...]``.

A benchmark is a module ``bench_NAME`` in this folder with ``run(seconds: float) -> Table``
that takes about so many seconds.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Runs those that were named, or all."""
    names = sorted(
        path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")
    )
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(names)}")
    parser.add_argument(
        "--seconds", type=float, default=20, help="about how long each takes (default 20)"
    )
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(names)):
        parser.error(f"there is no benchmark {unknown[0]!r}; there are: {', '.join(names)}")
    for name in chosen.names or names:
        print(import_module(f"tests.benchmarks.bench_{name}").run(chosen.seconds), "\n", flush=True)


if __name__ == "__main__":
    main()
