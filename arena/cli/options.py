"""Options that several commands have, for those, too, that need nothing else of an arena, and what
a file or a folder is called among them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class NamedPath(click.Path):
    """A file or a folder, which an empty name is not: that is mostly a variable never set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            folder = "; '.' is the current folder" if self.dir_okay else ""
            self.fail(f"the name is empty{folder}", param, ctx)
        return super().convert(value, param, ctx)


def on_data(command: F, words: str = "The data folder; var by default.") -> F:
    """Adds the option that names the data folder."""
    return click.option("--data", type=NamedPath(path_type=Path), help=words)(command)


def as_json(command: F) -> F:
    """Adds the option that asks for JSON, for a command that takes it as ``in_json``."""
    return click.option("--json", "in_json", is_flag=True, help="Print JSON.")(command)
