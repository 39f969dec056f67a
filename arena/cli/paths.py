"""What a file or a folder is called on the command line."""

from __future__ import annotations

from typing import Any

import click


class NamedPath(click.Path):
    """A file or a folder, which an empty name is not: that is mostly a variable never set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            folder = "; '.' is the current folder" if self.dir_okay else ""
            self.fail(f"the name is empty{folder}", param, ctx)
        return super().convert(value, param, ctx)
