"""How commands print a listing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def show(
    rows: Sequence[dict[str, Any]], columns: Sequence[str], in_json: bool, *, title: str = ""
) -> None:
    """A listing as a table of some columns, or as JSON with all that is known."""
    if in_json:
        click.echo(json.dumps(rows))
        return
    table = Table(title=title or None)
    for column in columns:
        number = bool(rows) and isinstance(rows[0][column], int)
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    console = Console()
    # A pipe has no width; what reads it wants whole words.
    console = console if console.is_terminal else Console(width=200)
    console.print(table)


def _cell(value: Any) -> str:
    """What people read: nothing for None, and no word of a stranger's as a style."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else escape(visible(str(value)))


def visible(text: str) -> str:
    """A stranger's text with what would command a terminal, or can't be seen, written out."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in text)
