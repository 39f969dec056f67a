"""The measured pages: they are there, and what is said of their times is so."""

import pytest

from arena.ground.db import Database
from tests.benchmarks.bench_pages import filled, measure, quantile


@pytest.mark.long
def test_every_page_is_measured(sqlite_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small made-up arena has all the pages; the docs ask the database for its notice alone."""
    for name, size in (("BOTS", "12"), ("LADDERS", "2"), ("GAMES", "60")):
        monkeypatch.setenv(f"PAGES_{name}", size)
    pages = measure(filled(sqlite_database), 0)
    for took in pages.values():
        assert len(took.wall_ms) == len(took.cpu_ms) == 5
        assert took.statements >= pages["docs"].statements > 0
        assert 0 < took.sent_bytes < took.bytes / 2


@pytest.mark.parametrize(("share", "value"), [(0.5, 10.0), (0.95, 19.0), (1.0, 20.0), (0.01, 1.0)])
def test_quantiles(share: float, value: float) -> None:
    """They go by the nearest rank: of 1 to 20 the 95th percentile is the 19th."""
    assert quantile([float(n) for n in range(20, 0, -1)], share) == value
