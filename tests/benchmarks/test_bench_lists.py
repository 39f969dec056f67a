"""The measured lists: each filter is one that can be meant, and what it finds is counted."""

import pytest

from arena.ground.db import Database
from tests.benchmarks.bench_lists import measure
from tests.benchmarks.bench_pages import filled


@pytest.mark.long
def test_every_filter_is_measured(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in a small made-up arena; at least ten of them are combinations."""
    for name, size in (("BOTS", "12"), ("LADDERS", "2"), ("GAMES", "60")):
        monkeypatch.setenv(f"PAGES_{name}", size)
    found = measure(filled(database), 0)
    assert sum("&" in words for words in found) >= 10
    assert found["all"].games == 50
    for took in found.values():
        assert len(took.wall_ms) == len(took.cpu_ms) == 5
        assert min(took.cpu_ms) > 0
        assert 1 <= took.statements <= 5
