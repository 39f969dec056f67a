"""The log of each process of an arena: one form for all, which the operator chooses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import arena

ROOT = Path(arena.__file__).parent
BEGUN = """
import logging
from arena.ground.config import load
from arena.ground.logs import begin_log
begin_log(load())
logging.getLogger("arena.some").warning("said")
"""


@pytest.mark.parametrize("form", ["plain", "json"])
def test_lines_have_the_form_that_is_set(form: str) -> None:
    """As `ARENA_LOG` says, on standard error."""
    environment = os.environ | {"ARENA_LOG": form}
    done = subprocess.run(
        [sys.executable, "-c", BEGUN], env=environment, capture_output=True, text=True, check=True
    )
    (line,) = done.stderr.splitlines()
    if form == "plain":
        assert line.endswith(" WARNING said")
    else:
        told = json.loads(line)
        assert (told["level"], told["logger"], told["message"]) == ("warning", "arena.some", "said")


def test_no_process_begins_its_log_otherwise() -> None:
    """Or its lines would be text where the operator has asked for JSON."""
    begun = {
        str(file.relative_to(ROOT))
        for file in ROOT.rglob("*.py")
        if "basicConfig" in file.read_text(encoding="utf-8")
    }
    assert begun == {"ground/logs.py"}
