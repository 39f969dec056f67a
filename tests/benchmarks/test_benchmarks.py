"""Every benchmark still runs, so that none can rot; what it measures in a moment is no matter."""

from importlib import import_module
from pathlib import Path

import pytest

NAMES = sorted(
    path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")
)
SMALL = {"PAGES_BOTS": "12", "PAGES_LADDERS": "2", "PAGES_GAMES": "60"}
"""The made-up arena whose pages are measured."""


# Some start whole arenas, which a busy machine is slow at.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a moment: a table with its rows full."""
    for key, size in SMALL.items():
        monkeypatch.setenv(key, size)
    table = import_module(f"tests.benchmarks.bench_{name}").run(0.01)
    assert table.rows
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert all(str(cell) for row in table.rows for cell in row)
