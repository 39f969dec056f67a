"""What is written so that games can be found: by the recorder, a void match, the migration."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.ground.db import Database
from arena.lists.rows import MOST_GIVEN, given_by_bots, opening_number, seat_result
from arena.models import (
    GameDay,
    GameDayCount,
    GameTag,
    GameValue,
    JobStatus,
    ListedSeat,
    Match,
    SeatResult,
    Selection,
)
from arena.schedule.verdicts import void
from engine.clock import TimeControl
from engine.games import GAMES
from engine.player import Choice, Turn
from engine.referee import play_game
from tests.arena.lists.conftest import plain_games
from tests.arena.simulator import CALM, LotPlayer, Simulation
from tests.conftest import DATABASES
from tests.furnished import furnished_database

TABLES = (ListedSeat, GameValue, GameTag, GameDay)
"""The tables of the lists as a migration made them."""


class Talker(LotPlayer):
    """It gives a number and a tag with every move."""

    def choose(self, turn: Turn) -> Choice:
        chosen = super().choose(turn)
        return Choice(chosen.move, cpu_us=7, values={"ply": turn.ply}, tags=("own",))


class Talk(Simulation):
    """Bots that say something."""

    player = Talker


def furnish(database: Database) -> None:
    """Has the recorder take in some matches of a game for two, and of a puzzle."""
    simulation = Talk(database, 1, CALM)
    variants = [("clobber", {"size": "4x3"}), ("puzzle", {"task": "tetrominoes"})]
    simulation.furnish(variants, bots=3)
    simulation.alive()
    simulation.tick()
    simulation.run(12)


@pytest.fixture(params=DATABASES)
def recorded(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Database]:
    """An arena whose recorder took in some games."""
    with furnished_database(request, tmp_path, furnish) as (database, _):
        yield database


def rows(session: Session) -> dict[str, list[str]]:
    """All that is written to find games by."""
    return {
        table.__tablename__: sorted(map(str, session.execute(sa.select(table.__table__))))
        for table in TABLES
    }


@pytest.mark.long
def test_the_recorder_writes_what_the_games_say(recorded: Database) -> None:
    """A row for each seat, number and tag, as the records have them."""
    with recorded.read() as session:
        games = {game.number: game for game in plain_games(session)}
        assert len(games) > 10
        assert len({game.game for game in games.values()}) == 2
        seats = session.scalars(sa.select(ListedSeat)).all()
        assert len(seats) == sum(len(game.seats) for game in games.values())
        for row in seats:
            game = games[row.game_id]
            seat = game.seats[row.seat]
            assert (row.ending, row.plies, row.finished) == (game.ending, game.plies, game.finished)
            assert (row.opening, row.worker, row.counts) == (game.opening, game.worker, True)
            assert (row.game, row.fault) == (game.game, seat.fault)
            if len(game.seats) > 1:
                assert row.result == seat.result
        told = {(row.game_id, row.seat): row.value for row in session.scalars(sa.select(GameValue))}
        tagged = {(row.game_id, row.seat) for row in session.scalars(sa.select(GameTag))}
    values = {(n, seat.seat): seat.values for n, game in games.items() for seat in game.seats}
    assert told == {place: its["ply"] for place, its in values.items() if its}
    assert tagged == told.keys()


def test_the_games_of_a_day_are_counted(recorded: Database) -> None:
    """Game by game, as the games have it; and by the migration the same."""

    def counted(session: Session) -> dict[tuple[int, str], int]:
        found = session.execute(sa.select(GameDayCount.day, GameDayCount.game, GameDayCount.games))
        return {(day, game): games for day, game, games in found}

    with recorded.read() as session:
        expected = Counter((game.finished.toordinal(), game.game) for game in plain_games(session))
        assert counted(session) == expected
    migration = importlib.import_module("migrations.versions.0035_games_of_a_day")
    with recorded.begin() as session:
        session.execute(sa.schema.DropTable(sa.inspect(GameDayCount).local_table))
        with Operations.context(MigrationContext.configure(session.connection())):
            migration.upgrade()
        assert counted(session) == expected


def test_a_void_match_counts_no_more(recorded: Database) -> None:
    """Its games are still found, and as such that do not count."""
    with recorded.begin() as session:
        match = session.scalars(sa.select(Match).where(Match.status == JobStatus.FIXED)).first()
        assert match is not None
        games = {game.id for game in match.games}
        void(session, ARENA, match.id, "a power cut", now=datetime(2026, 5, 4, tzinfo=UTC))
    with recorded.read() as session:
        uncounted = sa.select(ListedSeat.game_id).where(ListedSeat.counts.is_(False))
        assert set(session.scalars(uncounted)) == games


def test_the_migration_writes_the_same_of_games_that_are_there(recorded: Database) -> None:
    """But for tags, which no game had before."""
    with recorded.begin() as session:
        session.execute(sa.delete(GameTag))
    with recorded.read() as session:
        before = rows(session)
    migration = importlib.import_module("migrations.versions.0022_lists_of_games")
    with recorded.begin() as session:
        for table in (*TABLES, Selection):
            session.execute(sa.schema.DropTable(sa.inspect(table).local_table))
        with Operations.context(MigrationContext.configure(session.connection())) as operations:
            migration.upgrade()
            there = {
                one["name"] for one in sa.inspect(session.connection()).get_columns("listed_seat")
            }
            for column in ListedSeat.__table__.columns:
                if column.name not in there:  # which later ones brought
                    usual = None if column.nullable else ""
                    its = sa.Column(column.name, column.type, server_default=usual)
                    operations.add_column("listed_seat", its)
    with recorded.read() as session:
        assert rows(session) == before


def test_what_a_bot_says_beyond_measure() -> None:
    """The first of more numbers and tags can be looked for; a number is the mean of a game."""

    class Babbler(LotPlayer):
        def choose(self, turn: Turn) -> Choice:
            move = super().choose(turn).move
            first = {f"key{turn.ply // 2}": 1.0, "depth": float(turn.ply)}
            return Choice(move, values=first, tags=(f"tag{turn.ply // 2}", "same"))

    variant = GAMES["clobber"].variant(size="10x8")
    record = play_game(variant, [Babbler(), LotPlayer()], time=TimeControl(move_ms=1000), seed=3)
    own = record.plies[::2]
    assert len(own) > MOST_GIVEN + 2
    found = given_by_bots(record)
    values = {row["key"]: row["value"] for row in found.values}
    assert set(values) == {"depth", *(f"key{number}" for number in range(MOST_GIVEN - 1))}
    assert values["depth"] == sum(ply.values["depth"] for ply in own) / len(own)
    tags = [row["tag"] for row in found.tags]
    assert tags == ["tag0", "same", *(f"tag{number}" for number in range(1, MOST_GIVEN - 1))]
    assert {row["seat"] for row in (*found.values, *found.tags)} == {0}


@pytest.mark.parametrize(
    ("rank", "points", "result"),
    [
        (1, 1.0, SeatResult.WON),
        (2, 0.0, SeatResult.LOST),
        (1, 0.5, SeatResult.DRAWN),
        # Two of four share the first rank; the third beat one.
        (1, 2.5 / 3, SeatResult.DRAWN),
        (3, 1 / 3, SeatResult.LOST),
    ],
)
def test_what_came_of_it_for_a_seat(rank: int, points: float, result: SeatResult) -> None:
    """As wins, draws and losses are counted of an entrant."""
    assert seat_result(rank, points) is result


def test_an_opening_has_one_number() -> None:
    """Its start and its moves make it, in whatever order options stand; 63 bits of SHA-256."""
    number = opening_number({"size": "4x4", "a": "1"}, ["a1b1"])
    assert number == opening_number({"a": "1", "size": "4x4"}, ["a1b1"])
    assert number != opening_number({"a": "1", "size": "4x5"}, ["a1b1"])
    assert number != opening_number({"a": "1", "size": "4x4"}, [])
    assert 0 <= opening_number({}, []) < 2**63
