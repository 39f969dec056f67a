"""How far a tournament is, for whoever waits for it."""

from __future__ import annotations

import time as wall

import sqlalchemy as sa

from arena.cli.progress_bar import ProgressBar
from arena.competitions.results import Results, results
from arena.ground.db import Database
from arena.models import CompetitionState, JobStatus, Tournament
from engine.plurals import counted

LOOK_SECONDS = 0.5


class TournamentProgress:
    """Looks at a tournament now and then, and tells a bar how far it is."""

    def __init__(self, database: Database, name: str, bar: ProgressBar) -> None:
        self._database, self._name, self._bar = database, name, bar
        self._due = 0.0
        self._over = False

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
        self._tell(found)
        self._over = found.tournament.state is not CompetitionState.OPEN or bool(held_up(found))
        # The tables of a large field take a while, and whoever plays needs the time more.
        self._due = now + max(LOOK_SECONDS, 20 * (wall.monotonic() - now))
        return self._over

    def _tell(self, found: Results) -> None:
        leader = found.standings[0]
        words = found.tournament.title
        if leader.points:
            words += f": {found.label(leader.number)} leads with {counted(leader.points, 'point')}"
        self._bar.show(found.count(JobStatus.FIXED), total=found.planned, words=words)


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
