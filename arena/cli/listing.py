"""How commands print a listing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from engine.protocol import visible

GOOD, BAD, DOUBTFUL = "green", "bold red", "yellow"
"""In which colours it is said what passed, what failed, and what is not known."""
OF_STATES = ("status", "state", "verdict", "check")
"""Columns that say how something stands."""
STATES: Mapping[str, str] = {
    "passed": GOOD,
    **dict.fromkeys(("failed", "refused", "suspended", "set aside", "gone"), BAD),
    "undecided": DOUBTFUL,
}
"""The colours of what such a column says, where it is more than a fact."""
TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", re.ASCII)
"""A moment as JSON has it."""


def show(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    in_json: bool,
    *,
    title: str = "",
    cells: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> None:
    """A listing as a table of some columns, or as JSON with all that is known.

    Args:
        cells: what the table has of a row besides what is in it.
    """
    if in_json:
        click.echo(json.dumps(rows))
        return
    if cells is not None:
        rows = [row | cells(row) for row in rows]
    table = Table(title=title or None)
    for column in columns:
        number = bool(rows) and isinstance(rows[0][column], int)
        heading = column.replace("_", " ")
        table.add_column(heading, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(_cell(row[column], column) for column in columns))
    print_table(table)


def say(*parts: str | tuple[str, str]) -> None:
    """Prints a line of words, some with their colour where the terminal has any."""
    Output().print(Text.assemble(*parts), soft_wrap=True)


class Output(Console):
    """Where tables are printed: as wide as the terminal, or as whole words take in a pipe."""

    def __init__(self) -> None:
        super().__init__()
        if not self.is_terminal:
            self.width = 200  # a pipe has no width; what reads it wants whole words


def print_table(table: Table) -> None:
    """Prints a table of which nothing is cut off: if it is too wide, its frame goes first."""
    console = Output()
    for column in table.columns:
        column.overflow = "fold"
    whole = console.measure(table, options=console.options.update(width=1000)).maximum
    if whole > console.width:
        table.box, table.padding = None, (0, 1, 0, 0)
    console.print(table)


def _cell(value: Any, column: str) -> str:
    """What people read: nothing for None, and no word of a stranger's as a style."""
    if column in OF_STATES and value in STATES:
        return f"[{STATES[value]}]{value}[/]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and (moment := TIMESTAMP.fullmatch(value)):
        return f"{moment[1]} {moment[2]} UTC"
    return "" if value is None else escape(visible(str(value)))
