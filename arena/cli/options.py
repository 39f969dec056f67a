"""Options that several commands have, for those, too, that need nothing else of an arena, and what
a file or a folder is called among them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.translation import ENGLISH, gettext, speak

F = TypeVar("F", bound=Callable[..., Any])


class NamedPath(click.Path):
    """A file or a folder, which an empty name is not: that is mostly a variable never set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            words = (
                gettext("the name is empty; '.' is the current folder")
                if self.dir_okay
                else gettext("the name is empty")
            )
            self.fail(words, param, ctx)
        return super().convert(value, param, ctx)


def on_data(command: F, words: str = "The data folder; var by default.") -> F:
    """Adds the option that names the data folder."""
    return click.option("--data", type=NamedPath(path_type=Path), help=words)(command)


def in_english(_context: click.Context, _option: click.Parameter, given: bool) -> bool:
    """Has a command speak English where what it prints is for programs: a callback of options."""
    if given:
        speak(ENGLISH)
    return given


def as_json(command: F) -> F:
    """Adds the option that asks for JSON, for a command that takes it as ``in_json``.

    What is printed so is for programs: it is in English, whoever asks.
    """
    return click.option("--json", "in_json", is_flag=True, help="Print JSON.", callback=in_english)(
        command
    )
