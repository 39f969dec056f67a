"""What competitions may be called, and what the arena calls those that it makes by itself."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.bots.furnish import furnish, ladder_name
from arena.competitions import ladder_settings, tournaments
from arena.competitions.founding import demand_name, free_name
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import Competition, Ladder, StrengthTest
from engine.clock import TimeControl
from engine.games import GAMES
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.simulator import CALM, START

VARIANT = GAMES["clobber"].variant(size="4x4")
NO_NAMES = ["", "Cup", "cup of tea", "-cup", "c" * 81, "c\n", "кубок"]
OF_TESTS = ["test-1", "test-27", "test-0", "test-007", "test-99999999999"]
NAMES = ["test", "test-", "test-a", "test-1a", "a-test-1", "new", "feed", "c" * 80]


@pytest.mark.parametrize("name", [*NO_NAMES, *OF_TESTS])
def test_ladders_and_tournaments_are_refused_the_same_names(
    sqlite_database: Database, name: str
) -> None:
    """Those that are none, and those that strength tests get."""
    words = "is no name for a" if name in NO_NAMES else "is what a strength test is called"
    with sqlite_database.begin() as session:
        with pytest.raises(Refusal, match=words):
            ladder_settings.create(session, ARENA, name, VARIANT, {}, START)
        plan = tournaments.TournamentPlan(name, VARIANT, TimeControl(move_ms=100), "swiss")
        with pytest.raises(Refusal, match=words):
            tournaments.create(session, plan, [], START, ARENA)


def test_other_names_are_taken(sqlite_database: Database) -> None:
    """No address begins with a name in such a way that it would be another's."""
    with sqlite_database.begin() as session:
        for name in NAMES:
            demand_name(session, name, "ladder")


@pytest.mark.parametrize(
    ("name", "end", "free"),
    [
        ("cup", "", ["cup", "cup-2", "cup-3"]),
        ("cup", "-final", ["cup-final", "cup-final-2"]),
        ("c" * 80, "", ["c" * 80, "c" * 78 + "-2"]),
        ("c" * 80, "-season-1", ["c" * 71 + "-season-1", "c" * 69 + "-season-1-2"]),
    ],
)
def test_a_name_that_is_taken_gets_a_number(
    sqlite_database: Database, name: str, end: str, free: list[str]
) -> None:
    """Behind its end, and no name is longer than a database keeps."""
    with sqlite_database.begin() as session:
        for wanted in free:
            assert free_name(session, name, end) == wanted
            ladder_settings.create(session, ARENA, wanted, VARIANT, {}, START)
            session.flush()


def test_a_test_takes_the_next_number_whose_name_is_free(database: Database) -> None:
    """Two others bear the names of the next two, as in an arena where nobody was refused them."""
    arena = StrengthSimulation(database, CALM, "clobber", size="4x4")
    first = arena.create()
    with database.begin() as session:
        session.scalars(sa.select(Ladder)).one().name = f"test-{first + 1}"
        session.get_one(StrengthTest, first).name = f"test-{first + 2}"
    assert [arena.create(), arena.create()] == [first + 3, first + 4]
    with database.read() as session:
        query = sa.select(Competition.id, Competition.name).order_by(Competition.id)
        assert session.execute(query).all()[1:] == [
            (first, f"test-{first + 2}"),
            (first + 3, f"test-{first + 3}"),
            (first + 4, f"test-{first + 4}"),
        ]


def test_a_start_opens_a_ladder_whose_name_is_taken(sqlite_database: Database) -> None:
    """An organiser made that before the game was furnished: it gets another name."""
    clobber = GAMES["clobber"]
    first = ladder_name(clobber, clobber.offered[0])
    with sqlite_database.begin() as session:
        ladder_settings.create(session, ARENA, first, VARIANT, {}, START)
        ladder_settings.create(session, ARENA, f"{first}-2", VARIANT, {}, START)
        furnish(session, [], START, games=[clobber])
        names = set(session.scalars(sa.select(Ladder.name)))
    assert names == {
        first, f"{first}-2", f"{first}-3",
        *(ladder_name(clobber, variant) for variant in clobber.offered[1:]),
    }  # fmt: skip
