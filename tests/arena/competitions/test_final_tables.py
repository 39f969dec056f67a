"""Final tables: made once when something is over, whatever the order of its games was."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.competitions import tournaments
from arena.competitions.fields import field_of
from arena.competitions.final_tables import due, final_table, trophies_of
from arena.competitions.ladder_settings import change
from arena.fake.fill import fill
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    BotVersion,
    Competition,
    Entrant,
    JobStatus,
    Ladder,
    Mark,
    Match,
    Tournament,
    VersionStatus,
)
from arena.operation import health
from arena.ratings.bradley_terry import fit, fit_counted
from arena.ratings.result import GameResult
from arena.recorder.placing import Placing, place_all
from arena.recorder.rebuild import rebuild
from arena.schedule import leases, matchmaking, verdicts
from tests.arena.running import until
from tests.arena.simulator import CALM, Simulation

NOW = datetime(2026, 5, 4, tzinfo=UTC)
Line = tuple[str, int | None, float | None]


def closed(session: Session) -> Ladder:
    ladder = session.scalars(sa.select(Ladder)).one()
    change(session, ARENA, ladder, {"state": "closed"}, NOW)
    return ladder


def table(database: Database) -> list[Line]:
    with database.read() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        return [(one.label, one.final_place, one.final_elo) for one in final_table(session, ladder)]


def test_results_that_are_counted_give_the_same() -> None:
    """A result that came three times is three results."""
    results = [
        GameResult((1, 2), (0, 1), (1, 2)),
        GameResult((2, 3), (0, 1), (1, 1)),
        GameResult((1, 2, 3, 4), (0, 1, 2, 3), (1, 2, 2, 4)),
    ]
    counted = dict(zip(results, (3, 2, 5), strict=True))
    one_by_one = [result for result, times in counted.items() for _ in range(times)]
    found, expected = fit_counted(counted), fit(one_by_one)
    for one, its in expected.items():
        for name in ("elo", "lower", "upper"):
            assert getattr(found[one], name) == pytest.approx(getattr(its, name))


def test_no_order_of_games_decides_it(sqlite_database: Database) -> None:
    """The same games completed in another order: other ratings, the same table."""
    fill(sqlite_database, bots=12, ladders=1, games=1500, seed=3, now=NOW)
    with sqlite_database.begin() as session:
        closed(session)
    assert place_all(sqlite_database) == 0
    before = table(sqlite_database)
    places = [place for _, place, _ in before if place is not None]
    assert places == sorted(places)
    assert places[0] == 1
    with sqlite_database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        rated = sa.select(Match).where(Match.competition_id == ladder.id, Match.seq.is_not(None))
        matches = session.scalars(rated.order_by(Match.seq)).all()
        numbers = [match.seq for match in matches]
        session.execute(sa.update(Match).values(seq=Match.seq + 1_000_000))
        for match, number in zip(matches, reversed(numbers), strict=True):
            match.seq = number
        session.flush()
        assert not rebuild(session, ladder, write=True).equal
        ladder.placed_games = None
    assert place_all(sqlite_database) == 0
    assert table(sqlite_database) == before


@pytest.mark.long
def test_it_is_made_when_all_is_over_and_anew_after_a_void(database: Database) -> None:
    """The process that the recorder starts makes it; what is under way is called off first."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.alive()
    simulation.tick()
    simulation.run(40)
    with database.begin() as session:
        next(matchmaking.new_matches(session, simulation.now))
        ladder = closed(session)
    assert place_all(database) == 0
    with database.read() as session:
        assert session.get_one(Ladder, ladder.id).placed_games is None
    with database.begin() as session:
        leases.call_off(session)
    process = [sys.executable, "-P", "-m", "arena.recorder.placing"]
    environment = os.environ | Settings(database=database.url).environment()
    subprocess.run(process, env=environment, check=True, timeout=60)
    before = table(database)
    with database.begin() as session:
        ladder = session.get_one(Ladder, ladder.id)
        assert ladder.placed_games == ladder.games > 0
        some = sa.select(Match.id).where(Match.status == JobStatus.FIXED, Match.rated)
        number = session.scalars(some.limit(1)).one()
        verdicts.void(session, ARENA, number, note="cheated", now=NOW)
        session.flush()
        assert rebuild(session, ladder, write=True).differences
    assert place_all(database) == 0
    assert [elo for *_, elo in table(database)] != [elo for *_, elo in before]


def test_the_first_three_have_trophies(sqlite_database: Database) -> None:
    """Ladders and tournaments have some; of one that was called off nobody has any."""
    simulation = Simulation(sqlite_database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=4)
    with sqlite_database.begin() as session:
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.state = "paused"
        for name in ("cup", "off"):
            plan = tournaments.TournamentPlan(name, ladder.variant, ladder.time, "round-robin")
            tournaments.create(session, plan, field_of(session, ladder), simulation.now, ARENA)
    simulation.alive()
    simulation.tick()
    with sqlite_database.begin() as session:
        off = session.scalars(sa.select(Tournament).where(Tournament.name == "off")).one()
        tournaments.call_off(session, off, "rain", NOW, ARENA)
    simulation.run(120)
    assert place_all(sqlite_database) == 0
    with sqlite_database.read() as session:
        cup = session.scalars(sa.select(Competition).where(Competition.name == "cup")).one()
        assert cup.finished is not None
        bots = session.scalars(sa.select(BotVersion.bot_id)).all()
        found = trophies_of(session, bots)
        assert {one.entrant.competition.name for one in found} == {"cup"}
        assert 3 <= len(found) <= 4
        assert min(one.place for one in found) == 1
        assert cup.winner in {one.entrant.label for one in found if one.place == 1}
        assert trophies_of(session, []) == []
        off_places = sa.select(Entrant.final_place).where(Entrant.competition_id == off.id)
        assert set(session.scalars(off_places)) == {None}
        won = cup.winner
    # One that ended before winners were kept, and has places: nothing is due once it has its own.
    with sqlite_database.begin() as session:
        session.execute(sa.update(Tournament).values(winner=None))
        assert session.scalars(due()).all() == [cup.id]
    assert place_all(sqlite_database) == 0
    with sqlite_database.read() as session:
        assert session.scalars(due()).all() == []
        winners = sa.select(Tournament.name, Tournament.winner).order_by(Tournament.id)
        assert session.execute(winners).all() == [("cup", won), ("off", None)]


def test_the_process_is_started_when_something_is_due(
    sqlite_database: Database, tmp_path: Path
) -> None:
    """Once for what it leaves, until a while has passed; that it failed is an alarm."""
    fill(sqlite_database, bots=10, ladders=1, games=20, seed=3, now=NOW)
    count = tmp_path / "started"
    placing = Placing({}, ("sh", "-c", f"echo >> {count}; exit 3"))
    with sqlite_database.begin() as session:
        placing.look(session)
        assert not count.exists()
        closed(session)
        session.flush()
        for _ in range(3):
            placing.look(session)
            until(lambda: placing.ended, "its end")
        assert count.read_text() == "\n"
        told = session.get_one(Mark, health.PLACING_MARK)
        assert told.value == "final tables can't be made: its process ended (exit 3)"
    placing.close()
