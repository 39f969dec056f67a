"""What tests of the commands share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.cli import run
from tests.arena.conftest import Said

ROOT = Path(__file__).parents[3]
BOTS = ROOT / "tests" / "bots"
DICE = str(BOTS / "dice.py")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games as `play` wrote them."""
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    words = ["play", "clobber", "size=4x4", DICE, DICE, "--move", "20000", "--records", str(path)]
    with pytest.raises(SystemExit) as ended:
        run(words)
    assert ended.value.code == 0
    return path


def assert_refused(said: Said, words: str) -> None:
    """One line on standard error, nothing on standard output, exit code 2."""
    assert (said.code, said.out) == (2, ""), said.err
    (line,) = said.err.splitlines()
    assert re.match(f"arena: .*{words}", line), line
