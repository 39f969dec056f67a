"""Options that several commands have, for those, too, that need nothing else of an arena."""

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


def as_json(command: F) -> F:
    """Adds the option that asks for JSON, for a command that takes it as ``in_json``."""
    return click.option("--json", "in_json", is_flag=True, help="Print JSON.")(command)
