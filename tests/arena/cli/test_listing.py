"""How commands print tables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import click
import pytest

from arena.cli.listing import BAD, GOOD, say, show
from tests.arena.running import COMMAND

ROWS = [
    {"rank": 1, "bot": "clobber-expert", "rating": "2204 ± 229", "W-D-L": "117-23-160"},
    {"rank": 2, "bot": "[red]" + "long" * 8, "rating": "1750 ± 209", "W-D-L": "10-0-10"},
]
DICE = Path(__file__).parents[2] / "bots" / "dice.py"
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


def test_people_read_headings_and_moments(capsys: pytest.CaptureFixture[str]) -> None:
    """In words and to the second; JSON has them as they are."""
    row = {"last_sign_in": "2026-01-31T18:00:09.123456+00:00", "note": "2026-01-31Tea"}
    show([row], tuple(row), in_json=False)
    out = capsys.readouterr().out
    assert "last sign in" in out
    assert " 2026-01-31 18:00:09 UTC " in out
    assert " 2026-01-31Tea " in out
    show([row], tuple(row), in_json=True)
    assert json.loads(capsys.readouterr().out) == [row]


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1", "TERM": "xterm"}, True),
        ({"FORCE_COLOR": "1", "TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False),
    ],
    ids=["pipe", "terminal", "NO_COLOR", "dumb"],
)
def test_colours_are_for_terminals_that_have_them(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variables: dict[str, str],
    coloured: bool,
) -> None:
    """And only for how something stands, whatever a bot is called."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    say(("ok    ", GOOD), " go: [red]\n", ("BROKEN", BAD), " move")
    out = capsys.readouterr().out
    assert click.unstyle(out) == "ok     go: [red]\nBROKEN move\n"
    assert ("\x1b[3" in out) == coloured
    assert ("\x1b[1;31mBROKEN\x1b[0m move" in out) == coloured
    show([{"bot": "failed", "status": "failed"}], ("bot", "status"), in_json=False)
    assert capsys.readouterr().out.count("\x1b[1;31mfailed") == coloured


@pytest.fixture
def play(tmp_path: Path) -> list[str]:
    """A command that prints a table with a name that is not ASCII."""
    bots = [shutil.copy(DICE, tmp_path / name) for name in ("é.py", "e.py")]
    return [*COMMAND, "play", "clobber", "size=2x2", *bots, "--no-box"]


def test_a_terminal_without_a_character_is_shown_its_number(play: list[str]) -> None:
    """Instead of nothing at all."""
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    said = subprocess.run(play, capture_output=True, env=ascii_only, check=True)
    assert b"\\xe9.py" in said.stdout
