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
from tests.arena.cli.pressing import press
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
    """A pipe and a terminal have it whole: the frame goes before a name is broken."""
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


LONG = "it said nothing within ten seconds and [so] it was ended, as the log of its check shows"


@pytest.mark.parametrize(
    ("check", "lines"),
    [
        # What takes few lines stays in its column; what takes more stands beneath its row.
        (LONG[:40], ["bot      owner   check              ", "mybot-12 someone it said nothing"]),
        (LONG, ["bot      owner   ", "mybot-12 someone ", "    check: it said nothing within ten"]),
    ],
)
def test_a_long_cell_takes_no_seven_lines(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    check: str,
    lines: list[str],
) -> None:
    """And a column with nothing in it takes no room from the others."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "40"}.items():
        monkeypatch.setenv(name, value)
    row = {"bot": "mybot-12", "owner": "someone", "problem": "", "check": check}
    show([row, row | {"check": "passed"}], tuple(row), in_json=False)
    out = click.unstyle(capsys.readouterr().out)
    told = out.splitlines()
    assert [line[: len(its)].rstrip() for line, its in zip(told, lines, strict=False)] == [
        its.rstrip() for its in lines
    ]
    assert all(len(line) <= 40 for line in told)
    assert Counter(check.replace(" ", "")) <= Counter(out)
    assert len(told) < 10


@pytest.mark.parametrize(("height", "is_paged"), [("5", True), ("1000", False)])
def test_what_is_longer_than_the_screen_is_paged(height: str, is_paged: bool) -> None:
    """A terminal has it go through the pager that somebody uses."""
    code, out = press(["games"], [], LINES=height, PAGER="sed s/^/paged:/")
    assert code == 0
    assert "Clobber" in out
    assert all(line.startswith("paged:") == is_paged for line in out.splitlines() if line.strip())


def test_people_read_headings_and_moments(capsys: pytest.CaptureFixture[str]) -> None:
    """They are words, and times to the second; JSON has them as they are."""
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
