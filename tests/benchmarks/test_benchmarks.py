"""Every benchmark still runs, so that none can rot; what it measures in a moment is no matter."""

import json
from importlib import import_module

import pytest
from click.testing import CliRunner

from tests.benchmarks.__main__ import NAMES, main

pytestmark = pytest.mark.extras  # nothing of the program needs them

SMALL = {"PAGES_BOTS": "12", "PAGES_LADDERS": "2", "PAGES_GAMES": "60"}
"""The made-up arena whose pages are measured."""


# Some start whole arenas, which a busy machine is slow at.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs for a moment: a table with its rows full."""
    for key, size in SMALL.items():
        monkeypatch.setenv(key, size)
    table = import_module(f"tests.benchmarks.bench_{name}").run(0.01)
    assert table.rows
    assert {len(row) for row in table.rows} == {len(table.columns)}
    assert all(str(cell) for row in table.rows for cell in row)


def test_a_table_says_when_and_where_it_was_measured() -> None:
    """As text, above it; as JSON, with the cells by their columns."""
    text = CliRunner().invoke(main, ["pairing", "--seconds", "0"])
    first, title, *_ = text.stdout.splitlines()
    assert " UTC, Python 3." in first
    assert " a million additions took " in first
    assert title == "Order of 40 bots after 30 games each"
    assert text.stderr.startswith("1 of 1, pairing: How soon a ladder's board is the truth")
    (line,) = CliRunner().invoke(main, ["pairing", "--seconds", "0", "--json"]).stdout.splitlines()
    told = json.loads(line)
    assert told["benchmark"] == "pairing"
    assert told["additions_ms"] > 0
    assert [row["pairing"] for row in told["rows"]] == ["as ladders pair", "by the lot"]
    # 20 fields of 40 bots, each of which has 30 games at least where they are dealt evenly.
    assert all(row["fields"] == "20" for row in told["rows"])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nothing"], "'nothing' is not one of 'arena', 'box'"),
        (["pairing", "--seconds", "-1"], "-1.0 is not in the range x>=0"),
        (["pairing", "--seconds", "nan"], "nan is no number of seconds"),
        (["pairing", "--seconds", "inf"], "inf is no number of seconds"),
    ],
)
def test_a_benchmark_refuses(words: list[str], problem: str) -> None:
    """Names that are none, and seconds that are none; nothing is measured."""
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 2
    assert problem in refused.stderr
    assert not refused.stdout
