"""The option that names the data folder, for commands that need nothing else of an arena."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class DataFolder(click.Path):
    """A folder, which an empty name is not: that is mostly a variable that was never set."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("the name is empty; '.' is the current folder", param, ctx)
        return super().convert(value, param, ctx)


def on_data(command: F) -> F:
    """Adds the option that names the data folder."""
    option = click.option("--data", type=DataFolder(), help="The data folder; var by default.")
    return option(command)
