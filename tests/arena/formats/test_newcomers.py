"""A format that is a module and a line is a whole one: to commands, forms, API, and pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.long
def test_a_format_is_a_module_and_a_line() -> None:
    """Two that the arena does not have go through all of its doors, in a process of their own."""
    doors = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    tried = subprocess.run(
        [*doors, "tests/arena/formats/doors.py"], cwd=ROOT, capture_output=True, text=True
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert "1 passed" in tried.stdout
