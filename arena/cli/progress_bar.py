"""How far long work is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from typing import Self

import click
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from engine.plurals import counted
from engine.protocol import visible
from engine.translation import gettext

WORTH_TENTHS = 20
"""The shortest work of which every tenth is told."""
BAR_WIDTH = 20
"""The columns that it takes, so that all stands in a line of 80."""
LINE_SECONDS = 5.0
"""So long after a line another one tells what was done since."""


class OnTerminal:
    """What stands on a terminal for as long as a block runs; elsewhere nothing does."""

    _shown: Progress | Live | None = None

    def __enter__(self) -> Self:
        if self._shown:
            self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._shown.stop()


class ProgressBar(OnTerminal):
    """Shows how much of some work is done, while it goes on.

    On a terminal a bar stands meanwhile; elsewhere a line is said at every tenth of the way, and
    every few seconds if something was done.

    Args:
        doing: what goes on, in a word or two, in the language that is spoken.
        unit: what is counted, such as ``game``.
        units: several of them, if it is not that with an s.
        total: how many there are; None where nobody knows.
    """

    def __init__(self, doing: str, unit: str, units: str = "", *, total: int | None = None) -> None:
        self._unit, self._units = unit, units or f"{unit}s"
        self._doing, self._total, self._done, self._words = doing, total, 0, ""
        self._told, self._due = 0, time.monotonic() + LINE_SECONDS
        console = Console(stderr=True)
        self._bar: Progress | None = None
        if console.is_terminal:
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(BAR_WIDTH),
                TextColumn("{task.fields[count]}", markup=False),
                TimeRemainingColumn(),
            )
            self._bar = self._shown = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task(doing, total=total, count=self._count())

    def advance(self, more: int = 1, words: str = "") -> None:
        """Shows that so many more are done; ``words`` as for `show`."""
        self.show(self._done + more, words=words)

    def show(self, done: int, *, total: int | None = None, words: str = "") -> None:
        """Shows that so many are done.

        Args:
            total: how many there are by now; by default as many as before.
            words: what else there is to tell by now.
        """
        before, self._done = self._done, done
        self._total, self._words = total or self._total, visible(words, but="")
        if self._bar:
            self._bar.update(
                self._task,
                completed=done,
                total=self._total,
                description=self._words or self._doing,
                count=self._count(),
            )
        elif self._passes_a_tenth(before) or (self._told < done and time.monotonic() >= self._due):
            self.say(self._line())
            self._told, self._due = done, time.monotonic() + LINE_SECONDS

    def say(self, line: str) -> None:
        """Says a line beside the bar."""
        if self._bar:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            click.echo(line, err=True)

    def _passes_a_tenth(self, before: int) -> bool:
        if self._total is None or self._total < WORTH_TENTHS:
            return False
        return self._done * 10 // self._total > before * 10 // self._total

    def _line(self) -> str:
        if self._total is None:
            line = counted(self._done, self._unit, self._units)
        else:
            whole = counted(self._total, self._unit, self._units)
            line = gettext("%(done)s of %(whole)s", done=self._done, whole=whole)
        return f"{line}; {self._words}" if self._words else line

    def _count(self) -> str:
        """How many are done of how many, as a bar has room for it."""
        if self._total is None:
            return counted(self._done, self._unit, self._units)
        return f"{self._done}/{counted(self._total, self._unit, self._units)}"
