"""Processes stay small and start fast: none imports what it has no use for."""

from __future__ import annotations

import subprocess
import sys

import pytest

UNUSED = {
    "arena.cli.up": ["sqlalchemy", "celery", "flask", "rich", "networkx"],
    "arena.cli.play": ["sqlalchemy", "celery", "flask", "networkx"],
    "arena.cli.position": ["sqlalchemy", "celery", "flask", "rich", "networkx"],
    "arena.recorder.process": ["flask", "alembic", "networkx"],
    "arena.cli.serve": ["celery", "alembic", "networkx"],
    "workers.tasks": ["sqlalchemy", "flask", "networkx"],
}


@pytest.mark.parametrize("module", UNUSED)
def test_a_process_imports_no_more_than_it_needs(module: str) -> None:
    """Each of these packages would cost it ten megabytes, or a tenth of a second and more."""
    code = "import importlib, sys; importlib.import_module(sys.argv[1]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, module], capture_output=True, text=True, check=True
    )
    assert set(UNUSED[module]) & set(done.stdout.split()) == set()
