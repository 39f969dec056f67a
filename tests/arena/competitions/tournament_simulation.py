"""An arena that plays tournaments, without processes (see tests/arena/simulator.py)."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from arena.audit import Actor
from arena.competitions.fields import field_of
from arena.competitions.results import results, to_json
from arena.competitions.tournament_matches import digest
from arena.competitions.tournaments import TournamentPlan, create
from arena.formats.catalogue import FORMATS
from arena.ground.db import Database
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
from arena.schedule import verdicts
from engine.clock import TimeControl
from engine.games import GAMES
from tests.arena.formats.newcomers import NEWCOMERS
from tests.arena.simulator import CALM, Simulation, Villainy

ORGANISER = Actor(None, "organiser", "a test")
FOR_TWO = [name for name, form in {**FORMATS, **NEWCOMERS}.items() if 2 in form.for_seats]
"""The formats of games of two, with those that only tests have (the fixture newcomers)."""


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
        self.voided: list[int] = []
        self.variant = GAMES[game].variant(**options)
        self.furnish([(game, options)], bots=bots)
        with database.begin() as session:
            session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))

    def create(
        self, name: str, format_: str, *, seed: int = 1, top: int | None = None, **settings: int
    ) -> None:
        """A tournament between the first bots of the ladder."""
        plan = TournamentPlan(
            name, self.variant, TimeControl(move_ms=100), format_, settings=settings, seed=seed
        )
        with self.database.begin() as session:
            ladder = session.scalars(sa.select(Ladder)).one()
            create(session, plan, field_of(session, ladder)[:top], self.now, ORGANISER)

    def play_out(self, seconds: float, *, voids: int = 0) -> None:
        """Runs with the villain for so long, then without until every tournament is closed.

        Args:
            voids: how often an organiser makes a match void meanwhile.
        """
        self.alive()
        self.tick()
        for _ in range(voids):
            self.later(self.random.random() * seconds, self.void)
        self.run(seconds)
        # A bot that crashes is no mishap of the arena's: it does so whatever else happens.
        self.villainy = replace(CALM, faulty_bots=self.villainy.faulty_bots)
        for _ in range(720):
            self.run(5)
            self.requeue()
            if not self.open_tournaments():
                return
        raise AssertionError(f"not closed in an hour of calm: {self.open_tournaments()}")

    def void(self) -> None:
        """An organiser makes some match void that is played already, once there is one."""
        with self.database.begin() as session:
            played = sa.select(Match.id).where(Match.status == JobStatus.FIXED).order_by(Match.id)
            matches = session.scalars(played).all()
            if matches:
                number = self.random.choice(matches)
                verdicts.void(session, ORGANISER, number, "the machine was busy", now=self.now)
                self.voided.append(number)
            else:
                self.later(1, self.void)

    def requeue(self) -> None:
        """An operator puts back in the queue what was set aside."""
        with self.database.begin() as session:
            aside = sa.select(Match.id).where(Match.status == JobStatus.SET_ASIDE)
            for number in session.scalars(aside).all():
                verdicts.requeue(session, ORGANISER, Match, number, self.now)

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
