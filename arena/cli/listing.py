"""How commands print a listing."""

from __future__ import annotations

import json
import os
import pydoc
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from arena.cli.keys import is_terminal
from engine.protocol import visible
from engine.translation import gettext, pgettext, spoken, translated

GOOD, BAD, DOUBTFUL = "green", "bold red", "yellow"
"""The colours in which it is said what passed, what failed, and what is not known."""
OF_STATES = ("status", "state", "verdict", "check")
"""Columns that say how something stands."""
STATES: Mapping[str, str] = {
    "passed": GOOD,
    **dict.fromkeys(("failed", "refused", "suspended", "set aside", "gone"), BAD),
    "undecided": DOUBTFUL,
}
"""The colours of what such a column says, where it is more than a fact."""
UTC = " UTC"
"""What stands behind a moment."""
FOLDS = 3
"""Lines that a cell may take."""
TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", re.ASCII)
"""A moment as JSON has it."""


def show(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    in_json: bool,
    *,
    title: str = "",
    cells: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> None:
    """A listing as a table of some columns, or as JSON with all that is known.

    Args:
        columns: by their English names, which are the keys of the rows.
        cells: what the table has of a row besides what is in it.
        kinds: by the columns of states, what is in them, for `state_of`.
    """
    if in_json:
        click.echo(json.dumps(rows))
        return
    if cells is not None:
        rows = [row | cells(row) for row in rows]
    headings = {
        column.replace("_", " "): bool(rows) and isinstance(rows[0][column], int)
        for column in columns
    }
    kinds = kinds or {}
    cells_of = [
        [_cell(row[column], column, kinds.get(column)) for column in columns] for row in rows
    ]
    print_table(headings, cells_of, title)


def state_of(kind: str, state: str) -> str:
    """A state in the word that goes with what is in it; English where there is none.

    Args:
        kind: as pages have it, ``a ladder``; empty for what all say alike.
    """
    if kind == "a tournament" and state == "closed":
        return pgettext("a tournament", "closed")
    if kind == "a version" and state == "checking":
        return pgettext("a version", "checking")
    # It may come from a server, and have a per cent sign.
    return spoken().catalogue.pgettext(kind, state) if kind else translated(state)


def say(*parts: str | tuple[str, str]) -> None:
    """Prints a line of words, some with their colour where the terminal has any."""
    Output().print(Text.assemble(*parts), soft_wrap=True)


class Output(Console):
    """Where tables are printed: as wide as the terminal, or as whole words take in a pipe."""

    def __init__(self) -> None:
        super().__init__()
        if not self.is_terminal:
            self.width = 200  # a pipe has no width; what reads it wants whole words


def print_table(
    headings: Mapping[str, bool], rows: Sequence[Sequence[str]], title: str = ""
) -> None:
    """Prints a table of which nothing is cut off, by a pager where it is longer than the screen.

    If it is too wide, its frame goes first, then columns with nothing in them. What then still
    takes more than a few lines of its column is told beneath its row, if the others fit so.

    Args:
        headings: in English, and whether what stands below them is numbers.
        rows: of cells in rich's markup.
    """
    console = Output()
    with console.capture() as printed:
        for part in _fitting(console, headings, rows, title):
            console.print(part)
    text = printed.get()
    if is_terminal() and text.count("\n") >= console.height:
        # As others have it that page: colours, and it stays on the screen.
        os.environ.setdefault("LESS", "FRX")
        pydoc.pager(text)
    else:
        click.echo(text, nl=False, file=sys.stdout, color=True)


def _fitting(
    console: Console, headings: Mapping[str, bool], rows: Sequence[Sequence[str]], title: str
) -> Iterable[Table | Text]:
    """A table as the terminal has room for it, in parts."""

    def width(table: Table) -> int:
        return console.measure(table, options=console.options.update(width=1000)).maximum

    def fits(table: Table) -> bool:
        return width(table) <= console.width

    whole, bare = _table(headings, rows, title), _table(headings, rows, title, bare=True)
    if fits(whole) or fits(bare) or not rows:
        return [whole if fits(whole) else bare]
    used = [number for number in range(len(headings)) if any(row[number] for row in rows)]
    names = [list(headings)[number] for number in used]
    rows = [[row[number] for number in used] for row in rows]
    headings = {name: headings[name] for name in names}
    filled = _table(headings, rows, title, bare=True)
    if fits(filled):
        return [filled]
    columns = list(zip(*rows, strict=True))
    widths = [_text_width(column) for column in columns]
    longest = widths.index(max(widths))
    told = columns.pop(longest)
    name = names.pop(longest)
    others = {heading: headings[heading] for heading in names}
    rest = _table(others, list(zip(*columns, strict=True)), title, bare=True)
    if not others or not fits(rest):
        return [filled]
    if max(widths) <= FOLDS * (console.width - width(rest) - 1):
        for number, column in enumerate(filled.columns):
            column.no_wrap = number != longest
        return [filled]
    name = translated(name)
    return _with_notes(console, rest, [f"{name}: {cell}" if cell else "" for cell in told])


def _text_width(cells: Iterable[str]) -> int:
    """How wide a column of texts is; moments are none, and stay in a line."""
    return max(0 if cell.endswith(UTC) else Text.from_markup(cell).cell_len for cell in cells)


def _table(
    headings: Mapping[str, bool],
    rows: Iterable[Sequence[str]],
    title: str,
    *,
    bare: bool = False,
) -> Table:
    """One of these cells; a bare one without its frame."""
    table = Table(title=title or None)
    if bare:
        table.box, table.padding = None, (0, 1, 0, 0)
    for heading, is_number in headings.items():
        justify: JustifyMethod = "right" if is_number else "left"
        table.add_column(translated(heading), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _with_notes(console: Console, table: Table, notes: Sequence[str]) -> Iterator[Text]:
    """A bare table that fits, whose rows are a line each, with a note beneath each that has one."""
    with console.capture() as printed:
        console.print(table)
    lines = Text.from_ansi(printed.get()).split("\n")
    head = len(lines) - len(notes)
    yield from lines[:head]
    for line, note in zip(lines[head:], notes, strict=True):
        yield line
        if note:
            text = Text.from_markup(note, overflow="fold")
            yield from (
                Text("    ").append_text(one) for one in text.wrap(console, console.width - 4)
            )


def _cell(value: Any, column: str, kind: str | None = None) -> str:
    """What people read: nothing for None, and no word of a stranger's as a style.

    Args:
        kind: of what has the state; without one it is told as it is.
    """
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if column in OF_STATES and isinstance(value, str):
        shown = escape(visible(value if kind is None else state_of(kind, value)))
        return f"[{STATES[value]}]{shown}[/]" if value in STATES else shown
    if isinstance(value, str) and (moment := TIMESTAMP.fullmatch(value)):
        return f"{moment[1]} {moment[2]}{UTC}"
    return "" if value is None else escape(visible(str(value)))
