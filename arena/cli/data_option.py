"""The option that names the data folder, for commands that need nothing else of an arena."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.cli.paths import NamedPath

F = TypeVar("F", bound=Callable[..., Any])


def on_data(command: F) -> F:
    """Adds the option that names the data folder."""
    kind = NamedPath(path_type=Path)
    return click.option("--data", type=kind, help="The data folder; var by default.")(command)
