"""How far long work is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from engine.plurals import counted

WORTH_A_LINE = 20
"""Shorter work is told by no lines."""


@contextmanager
def counted_games(doing: str, total: int) -> Iterator[Callable[[int], None]]:
    """Shows how many of so many games are done; gives what is called with how many more are.

    On a terminal a bar stands while it goes on; elsewhere a line is said every tenth of the way.

    Args:
        doing: a word for what is done to them, such as ``playing``.
    """
    console = Console(stderr=True)
    if console.is_terminal:
        columns = (
            TextColumn(doing),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task(doing, total=total)
            yield lambda games: progress.advance(task, games)
        return
    count = 0

    def advance(games: int) -> None:
        nonlocal count
        before, count = count, count + games
        if total >= WORTH_A_LINE and count * 10 // total > before * 10 // total:
            click.echo(f"{count} of {counted(total, 'game')}", err=True)

    yield advance
