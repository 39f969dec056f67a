"""How far a tournament is: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time as wall
from types import TracebackType
from typing import Self

import click
import sqlalchemy as sa
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from arena.competitions.results import Results, results
from arena.db import Database
from arena.models import CompetitionState, JobStatus, Tournament
from engine.plurals import counted

LOOK_SECONDS = 0.5
LINE_SECONDS = 5.0


class TournamentProgress:
    """Looks at a tournament now and then, and tells how far it is."""

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._name = name
        self._due = self._told = 0.0
        self._over = False
        self._last = ""
        console = Console(stderr=True)
        self._bar = (
            Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("matches"),
                TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            if console.is_terminal
            else None
        )
        self._task = self._bar.add_task(name, total=None) if self._bar else None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def say(self, line: str) -> None:
        """A line beside the bar."""
        if self._bar:
            self._bar.console.print(line, markup=False, highlight=False)
        else:
            click.echo(line, err=True)

    def follow(self) -> None:
        """Waits until it is over."""
        while not self.is_over():
            wall.sleep(LOOK_SECONDS)

    def is_over(self) -> bool:
        """Whether all is played, or nothing more can be for now; looked up now and then."""
        now = wall.monotonic()
        if self._over or now < self._due:
            return self._over
        with self._database.read() as session:
            query = sa.select(Tournament).where(Tournament.name == self._name)
            found = results(session, session.scalars(query).one())
        self._tell(found, now)
        self._over = found.tournament.state is not CompetitionState.OPEN or bool(held_up(found))
        # The tables of a large field take a while, and whoever plays needs the time more.
        self._due = now + max(LOOK_SECONDS, 20 * (wall.monotonic() - now))
        return self._over

    def _tell(self, found: Results, now: float) -> None:
        played = found.count(JobStatus.FIXED)
        leader = found.standings[0]
        words = found.tournament.title
        if leader.points:
            words += f": {found.label(leader.number)} leads with {counted(leader.points, 'point')}"
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=played, total=found.planned, description=words)
        elif now - self._told >= LINE_SECONDS:
            of = "" if found.planned is None else f" of {found.planned}"
            line = f"{played}{of} matches; {words}"
            if line != self._last:
                click.echo(line, err=True)
            self._told, self._last = now, line


def held_up(found: Results) -> str:
    """Why nothing more is played until somebody decides; empty if that is not so."""
    if not found.is_held_up:
        return ""
    for one in found.suspended:
        return f"{found.tournament.name} is held up: {one.version.label} is suspended, {one.reason}"
    numbers = " ".join(map(str, found.set_aside))
    return (
        f"{found.tournament.name} is held up: matches failed too often, through no bot's fault; "
        f"try them again with: arena match requeue {numbers}"
    )
