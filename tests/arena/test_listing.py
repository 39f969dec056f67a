"""How commands print tables."""

from __future__ import annotations

from collections import Counter

import click
import pytest

from arena.cli.listing import show

ROWS = [
    {"rank": 1, "bot": "clobber-expert", "rating": "2204 ± 229", "W-D-L": "117-23-160"},
    {"rank": 2, "bot": "[red]" + "long" * 8, "rating": "1750 ± 209", "W-D-L": "10-0-10"},
]
COLUMNS = ("rank", "bot", "rating", "W-D-L")


@pytest.mark.parametrize(
    ("width", "whole"), [(None, True), (200, True), (70, True), (40, False), (30, False)]
)
def test_nothing_of_a_table_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    width: int | None,
    whole: bool,
) -> None:
    """In a pipe and in a terminal: the frame goes before a name is broken; no letter is lost."""
    if width:
        monkeypatch.setenv("FORCE_COLOR", "1")  # which is taken for a terminal
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(width))
    show(ROWS, COLUMNS, in_json=False)
    out = click.unstyle(capsys.readouterr().out)
    assert all(len(line) <= (width or 200) for line in out.splitlines())
    cells = [str(row[column]) for row in ROWS for column in COLUMNS]
    assert Counter("".join(cells).replace(" ", "")) <= Counter(out)
    assert all(cell in out for cell in cells) == whole
