"""Processes stay small and start fast: none imports what it has no use for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALL_OF_THE_ENGINE = """
import importlib, pkgutil, engine
for module in pkgutil.walk_packages(engine.__path__, "engine."):
    if not module.name.startswith("engine.games.openspiel"):  # it is an extra
        importlib.import_module(module.name)
"""
MOST_SECONDS = 0.1
"""The most CPU time that a bot which knows the rules pays before anything else."""

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


def test_the_engine_needs_nothing_but_python() -> None:
    """All of it is imported without the folders where packages are."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-S", "-c", ALL_OF_THE_ENGINE], env=environment, check=True)


def test_the_shelf_is_there_at_once() -> None:
    """Its games are loaded when they are named; the quickest of a few times, as others work too."""
    code = (
        "import sys, time; began = time.process_time(); import engine.games; "
        "print(time.process_time() - began); "
        "print(*(name for name in sys.modules if name.startswith('engine.games.')))"
    )
    said = [subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(3)]
    assert min(float(one.split()[0]) for one in said) < MOST_SECONDS
    assert [one.split()[1:] for one in said] == [[], [], []]
