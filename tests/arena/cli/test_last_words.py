"""A fault is told with the last that the bot wrote to standard error, where its author runs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.arena.cli.conftest import DICE
from tests.arena.conftest import Cli

DIES = """\
import sys
print("book loaded", file=sys.stderr)
for line in sys.stdin:
    verb = line.split()[0]
    if verb == "hello": print("ready bad", flush=True)
    elif verb == "newgame": print("ok", flush=True)
    elif verb == "go": sys.exit("no book\\x1b[2J for this")
"""
LAST = "crash, closed its output: exit 1; last on standard error: no book for this"


@pytest.fixture
def dies(tmp_path: Path) -> Path:
    path = tmp_path / "bad.py"
    path.write_text(DIES)
    return path


@pytest.mark.parametrize("box", [[], ["--no-box"]])
def test_play_tells_it(cli: Cli, dies: Path, box: list[str]) -> None:
    """They stand in JSON and in the table, in a box and in none."""
    words = ("play", "clobber", "size=3x3", dies, DICE, "--games", "1", "--move", "20000", *box)
    (detail,) = cli(*words, "--json").json["bots"][0]["fault_details"]
    assert detail.endswith(LAST)
    out = cli(*words).out
    assert f"bad.py: {detail}\n" in out
    assert "\n    book loaded\n    no book for this\n" in out


def test_a_bridge_is_told_of_by_its_reason(cli: Cli, tmp_path: Path) -> None:
    """One line is all that it says; it isn't repeated below the table."""
    arena = f"{sys.executable} -c 'from arena.cli import main; main()'"
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\nexit 3\n")
    engine.chmod(0o755)
    command = f"{arena} bridge gtp -- {engine}"
    words = ("play", "blokus", "mode=duel", "corners=fixed", command, "random", "--games", "1")
    said = cli(*words, "--no-box", "--move", "20000")
    reason = "arena bridge: engine ended (exit 3) "
    assert f"closed its output: exit 1; last on standard error: {reason}" in said.out
    assert said.out.count(reason) == 1


def test_check_tells_it(cli: Cli, dies: Path) -> None:
    """With the clause that broke."""
    said = cli("check", dies, "--json", "--minimum", "reduced")
    broken = [finding for finding in said.json["findings"] if not finding["kept"]]
    assert broken[0]["words"] == f"crash: {LAST.partition(', ')[2]}"
