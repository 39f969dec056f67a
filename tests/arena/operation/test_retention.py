"""The logs of bots, and what they answered, are kept for so many days; all else for ever."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena.analyses.analysis_deeds import KeepAnalysis
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import BotAnswer, BotVersion, GameSeat, JobStatus, Ladder, PlayedGame, Question
from arena.operation import retention
from arena.operation.retention import forget_answers, forget_logs
from engine.analysis import Tree
from engine.games import find_variant
from tests.arena.doing import do
from tests.arena.simulator import CALM, Simulation
from tests.conftest import DATABASES
from tests.furnished import furnished_database

END = datetime.fromisoformat("2026-07-01T12:00:00+00:00")
DAYS = [100, 91, 90, 10, 0]
"""Before END, on which a game each ended."""


def age(database: Database) -> None:
    """Makes a game for each of DAYS and no other; each has a log of one of its seats."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=4)
    simulation.alive()
    simulation.tick()
    simulation.run(20)
    with database.begin() as session:
        session.execute(sa.update(GameSeat).values(log=""))
        games = session.scalars(sa.select(PlayedGame).order_by(PlayedGame.id)).all()
        for game, days in zip(games, DAYS, strict=False):
            game.finished = END - timedelta(days=days)
            game.seats[1].log = f"{days} days old"
        for game in games[len(DAYS) :]:
            game.finished = END


@pytest.fixture(params=DATABASES)
def aged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An arena with such games."""
    with furnished_database(request, tmp_path, age) as (database, _):
        yield database


def kept(database: Database) -> list[int]:
    """How old the games are whose logs are kept."""
    with database.read() as session:
        logs = sa.select(GameSeat.log).where(GameSeat.log != "").order_by(GameSeat.game_id)
        return [int(log.split()[0]) for log in session.scalars(logs)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("days", "left"),
    [
        # Kept for so many days to the second.
        (90.0, [90, 10, 0]),
        (0.5, [0]),
        (3650.0, DAYS),
        # No limit.
        (0.0, DAYS),
    ],
)
def test_logs_are_kept_for_so_many_days(aged: Database, days: float, left: list[int]) -> None:
    with aged.begin() as session:
        assert forget_logs(session, Settings(log_days=days), END) == len(DAYS) - len(left)
    assert kept(aged) == left
    with aged.begin() as session:
        assert forget_logs(session, Settings(log_days=days), END) == 0


def test_the_oldest_go_first_and_some_at_a_time(
    aged: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a long time's logs hold nobody up."""
    monkeypatch.setattr(retention, "AT_ONCE", 2)
    for left in (DAYS[2:], DAYS[4:], DAYS[4:]):
        with aged.begin() as session:
            forget_logs(session, Settings(log_days=1), END)
        assert kept(aged) == left


@pytest.mark.parametrize("aged", ["sqlite"], indirect=True)
def test_games_without_logs_are_not_looked_at(aged: Database) -> None:
    """Both statements go by an index of those that have one."""
    seen: list[tuple[str, tuple[object, ...]]] = []

    @sa.event.listens_for(aged.engine, "before_cursor_execute")
    def note(connection, cursor, statement, parameters, context, many) -> None:  # type: ignore[no-untyped-def]
        seen.append((statement, parameters))

    with aged.begin() as session:
        forget_logs(session, Settings(log_days=1), END)
    done = [one for one in seen if one[0].startswith(("SELECT", "UPDATE"))]
    assert len(done) == 2
    with aged.read() as session:
        for statement, parameters in done:
            plan = session.connection().exec_driver_sql(
                f"EXPLAIN QUERY PLAN {statement}", parameters
            )
            steps = [row.detail for row in plan if "game_seat" in row.detail]
            assert steps
            assert all("ix_game_seat_logged" in step for step in steps), steps


def asked(database: Database, keys: list[str]) -> None:
    """Makes for each of DAYS a question with an answer of that age, and one without an answer."""
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        version = session.scalars(sa.select(BotVersion)).first()
        assert version is not None
        for number, days in enumerate(DAYS):
            when = END - timedelta(days=days)
            about = {"version": version, "ladder": ladder, "game": {}, "plies": [0], "keys": []}
            for status in (JobStatus.FIXED, JobStatus.SET_ASIDE):
                made = Question(**about, asked_ms=10, status=status, created=when)
                session.add(made)
                session.flush()
                if status is JobStatus.SET_ASIDE:
                    continue
                its = {"key": keys[number], "version_id": version.id, "seat": 0, "move": "a1a2"}
                said = {"detail": "", "text": "", "pv": [], "cpu_us": 1, "move_ms": 10}
                session.add(BotAnswer(question_id=made.id, ply=0, **its, **said, answered=when))


def ages(database: Database, column: Any) -> list[float]:
    with database.read() as session:
        found = session.scalars(sa.select(column))
        return sorted(((END - when) / timedelta(days=1) for when in found), reverse=True)


def test_answers_are_kept_for_so_many_days(aged: Database) -> None:
    """And for ever with an analysis that somebody keeps: with what is known when it is kept.

    Questions go with their answers, but for those of a day, which count.
    """
    tree = Tree.begin(find_variant("clobber", ["size=4x3"]))
    for number in range(4):
        tree = tree.played(number, tree.states[number].legal_moves()[0])
    asked(aged, list(tree.keys))
    with aged.begin() as session:
        assert forget_answers(session, Settings(answer_days=0.0), END) == 0
        # Its positions are the first and the second, of which the answers are 100 and 91 days old.
        first = tree.text().split()[0]
        do(session, KeepAnalysis("kept", "clobber size=4x3", first), END)
        assert forget_answers(session, Settings(answer_days=90.0), END) == 0
        assert forget_answers(session, Settings(answer_days=9.0), END) == 2
    assert ages(aged, BotAnswer.answered) == [100, 91, 0]
    assert ages(aged, Question.created) == [100, 91, 0, 0]
    with aged.begin() as session:
        assert forget_answers(session, Settings(answer_days=0.001), END + timedelta(hours=2)) == 1
    assert ages(aged, Question.created) == [100, 91, 0, 0]
