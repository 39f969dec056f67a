"""Every curve still runs, and what is kept of it is what the next ones are put by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.scale import figures, growth
from tests.scale.__main__ import PARTS, main


@pytest.mark.extras  # as benchmarks are
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("part", "size", "column"),
    [
        ("workers", "2x1", "fixed/s"),
        ("bots", "400", "16 matches ms"),  # of few bots all is known within the second
        ("pages", "40x1", "answers/s"),
        ("ladders", "2", "front ms"),
        ("games", "60", "backup B/game"),
    ],
)
def test_a_part_runs(part: str, size: str, column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs for a moment: a line of JSON with a case that has figures."""
    for name, value in (("BOTS", 12), ("LADDERS", 2), ("WARM_SECONDS", 1.0), ("FIRST", 30)):
        monkeypatch.setattr(growth, name, value)
    done = CliRunner().invoke(main, [part, "--sizes", size, "--seconds", "1", "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["part"] == part
    assert told["cases"]
    assert all(found[column] > 0 for found in told["cases"].values())


def test_figures_are_put_beside_the_last_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of other cases stay, and what nobody could measure is a dash."""
    monkeypatch.setattr(figures, "FILE", tmp_path / "figures.json")
    first = {"10 workers": {"fixed/s": 9.87654, "lag s": float("nan")}, "20": {"fixed/s": 1234.5}}
    figures.keep("workers", {"load": 1.5}, first)
    figures.keep("workers", {"load": 2.5}, {"20": {"fixed/s": 1500.0}})
    kept = figures.kept()["workers"]
    assert kept["10 workers"]["figures"] == {"fixed/s": 9.877, "lag s": None}
    assert [one["load"] for one in kept.values()] == [1.5, 2.5]
    table = figures.table("workers", {"10 workers": {"fixed/s": 20.0}, "30": {"fixed/s": 3.0}})
    assert table.rows == [["10 workers", "20 (9.88)"], ["30", "3"]]
    assert figures.table("workers", first).rows[0] == ["10 workers", "9.88 (9.88)", "- (-)"]


def test_sizes_are_of_one_part() -> None:
    """A curve of each of several parts has its own."""
    for words in (["--sizes", "3"], [*PARTS, "--sizes", "3"]):
        refused = CliRunner().invoke(main, words)
        assert refused.exit_code == 2
        assert "--sizes is of one part: name it" in refused.stderr
