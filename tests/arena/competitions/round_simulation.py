"""A ladder that plays rounds, without processes, and by tables that a test lays down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.competitions import rounds
from arena.competitions.dates import find_date
from arena.competitions.happenings import happen_next
from arena.deeds import By
from arena.ground.db import Database, database_time
from arena.models import (
    Bot,
    BotVersion,
    CompetitionDate,
    CompetitionState,
    DateKind,
    DivisionPlace,
    Entrant,
    Ladder,
    LadderRound,
    Meeting,
    Scope,
)
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM

HOUR = timedelta(hours=1)
USUAL = {"every": "hour", "size": 0, "moves": 0, "format": "round-robin", "settings": {}}


@dataclass
class RoundField:
    """A ladder of some bots, called by their numbers from 0."""

    database: Database
    simulation: TournamentSimulation
    now: datetime

    def ladder(self, session: Session) -> Ladder:
        return session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()

    def by(self) -> By:
        return By(ARENA, frozenset(Scope), self.now, at_machine=True)

    def lay(self, hours: float = -0.5, **settings: Any) -> None:
        """Sets the date of the next round, so many hours from now."""
        with self.database.begin() as session:
            ladder = self.ladder(session)
            date = find_date(session, ladder, DateKind.ROUND)
            if date is None:
                date = CompetitionDate(
                    competition=ladder, what=DateKind.ROUND, at=self.now, settings=USUAL
                )
                session.add(date)
            date.at = self.now + hours * HOUR
            date.settings = {**date.settings, **settings}

    def tick(self) -> list[str]:
        """Has all be done that is due, as the recorder does; gives what is told of dates."""
        while True:
            with self.database.begin() as session:
                if not rounds.rise_and_fall(session):
                    break
        found = []
        while True:
            with self.database.begin() as session:
                date = happen_next(session)
                if date is None:
                    return found
                found.append(date.outcome)

    def begin(self, **settings: Any) -> list[list[int]]:
        """Begins a round, and gives who plays in its tournaments."""
        self.lay(**settings)
        assert self.tick() == [""]
        with self.database.read() as session:
            last = session.scalar(sa.select(sa.func.max(LadderRound.number)))
            its = sa.select(LadderRound.made_id).where(LadderRound.number == last)
            made = session.scalars(its.order_by(LadderRound.division)).all()
            return [self.field(session, one) for one in made]

    def field(self, session: Session, tournament: int) -> list[int]:
        query = (
            sa.select(Bot.name)
            .join(BotVersion, BotVersion.bot_id == Bot.id)
            .join(Entrant, Entrant.version_id == BotVersion.id)
            .where(Entrant.competition_id == tournament)
            .order_by(Entrant.number)
        )
        return [int(name.removeprefix("bot-")) for name in session.scalars(query)]

    def end(
        self,
        tables: Sequence[Sequence[int]],
        lost: Mapping[int, Sequence[int]] = {},
    ) -> None:
        """Has all tournaments that go on end with these tables.

        Args:
            lost: which bots each boss has lost against.
        """
        with self.database.begin() as session:
            query = sa.select(LadderRound).where(LadderRound.ended.is_(None))
            parts = session.scalars(query.order_by(LadderRound.division)).all()
            for part, table in zip(parts, tables, strict=True):
                entrants = {
                    int(one.version.bot.name.removeprefix("bot-")): one
                    for one in session.scalars(
                        sa.select(Entrant).where(Entrant.competition_id == part.made_id)
                    )
                }
                assert sorted(entrants) == sorted(table)
                for place, bot in enumerate(table, 1):
                    entrants[bot].final_place = place
                    entrants[bot].final_points = float(len(table) - place)
                for boss, winners in lost.items():
                    for bot, one in entrants.items():
                        if boss in entrants and bot != boss:
                            first, second = sorted((one.id, entrants[boss].id))
                            won = (bot in winners) is (first == one.id)
                            session.add(
                                Meeting(
                                    first_id=first,
                                    second_id=second,
                                    competition_id=part.made_id,
                                    matches=1,
                                    games=2,
                                    wins=2 if won else 0,
                                )
                            )
                part.made.placed_games = part.made.games
                part.made.state, part.made.finished = CompetitionState.CLOSED, self.now
        self.tick()

    def finish(self) -> None:
        """Has all tournaments that go on end as their bots stand there."""
        with self.database.begin() as session:
            its = LadderRound.ended.is_(None)
            for part in session.scalars(sa.select(LadderRound).where(its)):
                part.made.state, part.made.finished = CompetitionState.CLOSED, self.now
        self.tick()

    def divisions(self) -> list[list[int]]:
        """Who stands where."""
        with self.database.read() as session:
            query = sa.select(DivisionPlace).where(~DivisionPlace.is_boss)
            found: dict[int, list[int]] = {}
            for one in session.scalars(
                query.order_by(DivisionPlace.division, DivisionPlace.number)
            ):
                its = found.setdefault(one.division, [])
                its.append(int(one.bot.name.removeprefix("bot-")))
            return list(found.values())

    def entrant(self, session: Session, bot: int) -> Entrant:
        query = sa.select(Entrant).join(Entrant.version).join(BotVersion.bot)
        ladder = self.ladder(session)
        its = query.where(Bot.name == f"bot-{bot}", Entrant.competition_id == ladder.id)
        return session.scalars(its).one()

    def set(self, bot: int, **values: Any) -> None:
        """Changes the entrant of a bot on the ladder."""
        with self.database.begin() as session:
            entrant = self.entrant(session, bot)
            for name, value in values.items():
                setattr(entrant, name, value)

    def name_boss(self, bot: int, division: int) -> None:
        with self.database.begin() as session:
            session.add(
                DivisionPlace(
                    competition_id=self.ladder(session).id,
                    bot_id=self.entrant(session, bot).version.bot_id,
                    division=division,
                    is_boss=True,
                )
            )


def round_field(database: Database) -> RoundField:
    """A paused ladder of eight bots."""
    simulation = TournamentSimulation(database, 0, CALM, "clobber", 8, size="4x3")
    with database.begin() as session:
        return RoundField(database, simulation, database_time(session))
