"""Command lines that are run in this process, and what tests of formats and tournaments share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from arena.cli import run
from arena.formats.catalogue import FORMATS
from tests.arena.formats.newcomers import NEWCOMERS

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


@pytest.fixture
def newcomers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formats that are offered for the length of a test, each by its line in the catalogue."""
    for name, form in NEWCOMERS.items():
        monkeypatch.setitem(FORMATS, name, form)
