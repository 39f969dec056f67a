"""The command test, run in this process, and what it leaves."""

import json
import sys
from pathlib import Path

from arena.cli import run
from arena.cli.report import json_text, leave

PROGRAM = [sys.executable, "-c", "from arena.cli import main; main()"]
SMALL = ["--game", "clobber", "size=4x4"]


def write_json(path: Path, data: dict) -> None:
    """Writes it as a report is written."""
    leave([(str(path), lambda: json_text(data))], show=lambda: None)


def saved(path: Path) -> dict:
    return json.loads(path.read_text())


def arena(*arguments: str) -> int:
    """The exit code of a command line, run in this process."""
    try:
        return run(["test", *arguments])
    except SystemExit as end:
        return int(end.code or 0)
