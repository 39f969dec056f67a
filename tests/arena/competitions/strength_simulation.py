"""An arena of strength tests without processes, and a bot that is stronger."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import Actor
from arena.bots.submissions import submit
from arena.competitions import strength_tests
from arena.competitions.players import NamedPlayer
from arena.competitions.strength_plans import SITE_TERMS, StrengthPlan
from arena.ground.db import Database
from arena.models import (
    BotVersion,
    Check,
    CompetitionState,
    JobStatus,
    Ladder,
    Match,
    StrengthTest,
    TestVerdict,
    User,
    VersionStatus,
)
from arena.strength.terms import StrengthTerms
from engine.game import State
from engine.player import Choice, Turn
from tests.arena.simulator import LotPlayer, Simulation, Villainy

OWNER = Actor(1, "somebody", "a test")


class Clever(LotPlayer):
    """A player that tries each move in a few random games: it beats the lot."""

    def choose(self, turn: Turn) -> Choice:
        return Choice(max(turn.state.legal_moves(), key=lambda move: self._worth(turn.state, move)))

    def _worth(self, state: State, move: str) -> float:
        seat, after = state.to_move, state.play(move)
        assert seat is not None
        return sum(after.playout(self._random)[seat] for _ in range(6))


class StrengthSimulation(Simulation):
    """A paused ladder of two bots, of which the first is strong, and tests between them."""

    def __init__(self, database: Database, villainy: Villainy, game: str, **options: str) -> None:
        super().__init__(database, 1, villainy)
        self.furnish([(game, options)], bots=2)
        with database.begin() as session:
            session.execute(sa.delete(Check))
            session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))

    def start(self, name: str) -> LotPlayer:
        return Clever() if name.startswith("bot-0") else super().start(name)

    def create(
        self,
        first: int = 0,
        second: int = 1,
        *,
        enters: bool = False,
        by: Actor = OWNER,
        **changes: Any,
    ) -> int:
        """A test between two of the versions, the first the candidate; gives its number."""
        with self.database.begin() as session:
            versions = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).all()
            ladder = session.scalars(sa.select(Ladder)).one()
            of_terms = {field.name for field in fields(StrengthTerms)}
            terms = {key: changes.pop(key) for key in of_terms & changes.keys()}
            plan = StrengthPlan.on(
                ladder, terms=replace(SITE_TERMS, **{"elo1": 100.0, **terms}), **changes
            )
            return strength_tests.create(
                session,
                plan,
                NamedPlayer(versions[first]),
                NamedPlayer(versions[second]),
                self.now,
                by,
                ladder=ladder if enters else None,
            ).id

    def test(self, session: Session, number: int) -> StrengthTest:
        return strength_tests.find(session, number)

    def play_out(self, number: int, seconds: float = 3600) -> TestVerdict:
        """Runs until a test is over and everything under way has come in."""
        self.alive()
        self.tick()
        waited = 0.0
        while waited < seconds:
            self.run(20)
            waited += 20
            with self.database.read() as session:
                verdict = self.test(session, number).verdict
                under_way = session.scalar(
                    sa.select(Match.id).where(Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]))
                )
            if verdict is not TestVerdict.RUNNING and under_way is None:
                return verdict
        raise AssertionError(f"not over within {seconds} s")


class Equals(StrengthSimulation):
    """An arena in which both bots play by the lot."""

    def start(self, name: str) -> LotPlayer:
        return LotPlayer()


def upload(arena: StrengthSimulation, bot: str, first: StrengthTerms | None) -> int:
    """A new version of a bot; gives its id."""
    with arena.database.begin() as session:
        return submit(
            session,
            session.scalars(sa.select(User)).one(),
            bot,
            digest=f"{session.scalar(sa.select(sa.func.count(BotVersion.id)))}" * 64,
            size=1,
            language="Python",
            ladder=session.scalars(sa.select(Ladder)).one(),
            test_first=first,
            now=arena.now,
        ).id
