"""Command lines that are run in this process, and what they came to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.cli import run

ROOT = Path(__file__).parents[3]
BOTS = ROOT / "tests" / "bots"
DICE = str(BOTS / "dice.py")

Cli = Callable[..., "Said"]


class Said:
    """What a command line came to."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in this process."""

    def call(*words: object) -> Said:
        try:
            code = run([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        return Said(code, *capsys.readouterr())

    return call


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
