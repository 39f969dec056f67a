"""An arena that plays tournaments, without processes (see tests/arena/simulator.py)."""

from __future__ import annotations

import sqlalchemy as sa

from arena.audit import Actor
from arena.competitions.results import digest, results, to_json
from arena.competitions.tournaments import Plan, create, field_of
from arena.db import Database
from arena.models import (
    BotVersion,
    Competition,
    CompetitionState,
    JobStatus,
    Ladder,
    Match,
    Tournament,
    VersionStatus,
)
from engine.clock import TimeControl
from engine.games import GAMES
from tests.arena.simulator import CALM, Simulation, Villainy

ORGANISER = Actor(None, "organiser", "a test")


class TournamentSimulation(Simulation):
    """A paused ladder with some bots, and tournaments between them."""

    def __init__(
        self,
        database: Database,
        seed: int,
        villainy: Villainy,
        game: str,
        bots: int,
        **options: str,
    ) -> None:
        super().__init__(database, seed, villainy)
        self.variant = GAMES[game].variant(**options)
        self.furnish([(game, options)], bots=bots)
        with database.begin() as session:
            session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))

    def create(
        self, name: str, format_: str, *, seed: int = 1, top: int | None = None, **settings: int
    ) -> None:
        """A tournament between the first bots of the ladder."""
        plan = Plan(
            name, self.variant, TimeControl(move_ms=100), format_, settings=settings, seed=seed
        )
        with self.database.begin() as session:
            ladder = session.scalars(sa.select(Ladder)).one()
            create(session, plan, field_of(session, ladder, top), self.now, ORGANISER)

    def play_out(self, seconds: float) -> None:
        """Runs with the villain for so long, then without until every tournament is closed."""
        self.alive()
        self.tick()
        self.run(seconds)
        self.villainy = CALM
        for _ in range(180):
            self.run(20)
            self.requeue()
            if not self.open_tournaments():
                return
        raise AssertionError(f"not closed in an hour of calm: {self.open_tournaments()}")

    def requeue(self) -> None:
        """An operator puts back in the queue what was set aside."""
        with self.database.begin() as session:
            session.execute(
                sa.update(Match)
                .where(Match.status == JobStatus.SET_ASIDE)
                .values(status=JobStatus.OPEN, failures=0)
            )

    def open_tournaments(self) -> list[str]:
        """The names of those that are not over."""
        with self.database.read() as session:
            query = sa.select(Competition.name).where(
                Competition.kind == "tournament", Competition.state != CompetitionState.CLOSED
            )
            return list(session.scalars(query))

    def outcome(self, name: str) -> tuple[str, dict[str, object]]:
        """All that must be the same whenever a tournament is played: games and tables."""
        with self.database.read() as session:
            tournament = session.scalars(sa.select(Tournament).where(Tournament.name == name)).one()
            found = to_json(results(session, tournament))
            for each in found["rounds"]:
                each["matches"].sort(key=lambda match: (match["bots"], match["leg"]))
                for match in each["matches"]:
                    del match["match"]
            del found["created"], found["finished"]
            return digest(session, tournament), found
