"""The option that names the data folder, for commands that need nothing else of an arena."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.cli.paths import NamedPath

F = TypeVar("F", bound=Callable[..., Any])


def on_data(command: F, words: str = "The data folder; var by default.") -> F:
    """Adds the option that names the data folder."""
    return click.option("--data", type=NamedPath(path_type=Path), help=words)(command)
