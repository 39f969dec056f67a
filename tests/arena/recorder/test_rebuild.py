"""Ratings and counters made anew from many games."""

from __future__ import annotations

import runpy
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from arena.audit import ARENA
from arena.bots.submissions import enter, submit
from arena.competitions import strength_tests
from arena.competitions.ladder_settings import change
from arena.competitions.players import NamedPlayer
from arena.competitions.strength_plans import StrengthPlan
from arena.fake.fill import fill
from arena.ground.config import Settings
from arena.ground.db import MIGRATIONS, Database
from arena.models import (
    BotVersion,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    User,
    VersionStatus,
)
from arena.recorder import recording
from arena.recorder.fold import AT_A_TIME, Fold
from arena.recorder.rebuild import FRESH_STARTS, Upkeep, rebuild, rebuild_in_parts
from arena.schedule import matchmaking, verdicts
from arena.schedule.requests import request_matches
from engine.game import Termination
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, Simulation, give_sign, report_of

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """An empty arena's database; on PostgreSQL the simulator makes all ratings anew."""
    return sqlite_database


def two_ladders(database: Database) -> Simulation:
    """An arena with two ladders, on both of which some matches were played."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"}), ("oxoxo", {})], bots=3)
    simulation.alive()
    simulation.tick()
    simulation.run(10)
    return simulation


@pytest.mark.parametrize(
    "games",
    [
        pytest.param(2_500),
        pytest.param(100_000, marks=[pytest.mark.deep, pytest.mark.timeout(900)]),
    ],
)
def test_recorded_games_are_rated_again_to_the_same_digits(database: Database, games: int) -> None:
    """A fold over what is stored does it; with another draw probability all come out other."""
    fill(database, bots=100, ladders=1, games=games, seed=1, now=NOW)
    with database.read() as session:
        told: list[int] = []
        ladder = session.scalars(sa.select(Ladder)).one()
        found = rebuild(session, ladder, write=False, advance=told.append)
        assert found.games >= games
        assert (sum(told), max(told) < found.games) == (found.games, games > AT_A_TIME)
        assert found.equal, found.differences[:3]
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.draw_probability = 0.3
        session.flush()
        assert len(rebuild(session, ladder, write=True).differences) > games
    with database.read() as session:
        assert rebuild(session, session.scalars(sa.select(Ladder)).one(), write=False).equal


def test_a_new_version_takes_over_the_rating_of_its_moment(database: Database) -> None:
    """Which is that after the last match before it entered, and before the next."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with database.begin() as session:
        give_sign(session, "w", NOW, slots=1)
        ladder = session.scalars(sa.select(Ladder)).one()
        owner = session.scalars(sa.select(User)).one()
        for digest in ("e", "f", "0"):
            match = next(matchmaking.new_matches(session, NOW))
            job = issued(session, match, Settings(), NOW)
            recording.take_in(session, [report_of(job, "w")], Settings(), NOW)
            entrant = session.scalars(sa.select(Entrant).order_by(Entrant.id)).first()
            assert entrant is not None
            name, files = entrant.version.bot.name, {"size": 9, "language": "Python"}
            version = submit(
                session, owner, name, digest=digest * 64, **files, ladder=ladder, now=NOW
            )
            version.status = VersionStatus.READY
            enter(session, ladder, version, NOW)
        found = rebuild(session, ladder, write=False)
        assert (found.games, found.entrants) == (6, 5)
        assert found.equal, found.differences


@pytest.mark.long
@pytest.mark.parametrize("write", [False, True])
def test_who_came_back_is_held_less_firmly_from_that_moment(
    database: Database, write: bool
) -> None:
    """Twice, and then once more after its last match; what was stored wrong is made anew."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with database.begin() as session:
        give_sign(session, "w", NOW, slots=1)
        ladder = session.scalars(sa.select(Ladder)).one()
        entrant = session.scalars(sa.select(Entrant).order_by(Entrant.id)).first()
        assert entrant is not None
        for _ in range(2):
            for _ in range(20):
                match = next(matchmaking.new_matches(session, NOW))
                job = issued(session, match, Settings(), NOW)
                recording.take_in(session, [report_of(job, "w")], Settings(), NOW)
            assert entrant.sigma < 5
            entrant.state = EntrantState.RETIRED
            session.flush()
            enter(session, ladder, entrant.version, NOW)
            assert entrant.sigma == 5
        assert (entrant.games, entrant.games_before) == (80, 80)
        if write:
            entrant.games_before, entrant.sigma = 3, 4.0
        found = rebuild(session, ladder, write=write)
        assert len(found.differences) == (2 if write else 0), found.differences
        assert (entrant.games_before, entrant.sigma) == (80, 5)


def some_unrated(database: Database) -> Simulation:
    """An arena with a ladder, and some of the matches that were played there are unrated."""
    simulation = Simulation(database, 1, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=2)
    with database.begin() as session:
        ladder, user = (session.scalars(sa.select(one)).one() for one in (Ladder, User))
        for _ in range(3):
            request_matches(session, user, ladder, ["bot-0", "bot-1"], NOW)
    simulation.play(4)
    return simulation


@pytest.mark.long
@pytest.mark.parametrize(("rated", "holds"), [(True, False), (False, True)])
def test_what_holds_when_a_match_is_made_void(database: Database, rated: bool, holds: bool) -> None:
    """All that was folded, if the match did not count."""
    simulation = some_unrated(database)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        fold = Fold.of(ladder)
        fold.go_on(session, ladder, lambda _: None)
        fixed = sa.select(Match.id).where(Match.status == JobStatus.FIXED, Match.rated == rated)
        match = session.scalars(fixed.order_by(Match.seq)).first()
        assert match is not None
        verdicts.void(session, ARENA, match, "a mistake", now=simulation.now)
        assert fold.holds(session, ladder) is holds


def test_unrated_matches_do_not_hold_it_up(database: Database) -> None:
    """Though as many in a row were played as are folded at a time."""
    simulation = some_unrated(database)
    with database.begin() as session:
        fixed = sa.select(Match.rated).where(Match.status == JobStatus.FIXED)
        rated = session.scalars(fixed.order_by(Match.seq)).all()
        assert False in rated[:-1]
        session.scalars(sa.select(Ladder)).one().rebuild_due = True
    upkeep = Upkeep(3600, matches=1)
    made = [upkeep.go_on(database, NOW) for _ in range(len(rated) + 1)]
    assert made[-1] is not None
    assert made[-1].equal
    simulation.prove()


def test_an_older_arena_counts_no_resignation_any_more(database: Database) -> None:
    """A ladder where somebody resigned is made anew by the recorder, and no other."""
    two_ladders(database)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).order_by(Ladder.id)).first()
        assert ladder is not None
        in_it = PlayedGame.competition_id == ladder.id
        seat = session.scalars(sa.select(GameSeat).join(GameSeat.game).where(in_it)).first()
        assert seat is not None
        seat.fault = Termination.RESIGN
        seat.entrant.faults += 1
        assert not rebuild(session, ladder, write=False).equal
    migration = runpy.run_path(str(MIGRATIONS / "versions" / "0005_to_resign_is_no_fault.py"))
    with (
        database.engine.begin() as connection,
        Operations.context(MigrationContext.configure(connection)),
    ):
        migration["upgrade"]()
    with database.begin() as session:
        due = [one.rebuild_due for one in session.scalars(sa.select(Ladder).order_by(Ladder.id))]
        assert due == [True, False]
    assert Upkeep(3600).go_on(database, NOW)
    with database.read() as session:
        assert rebuild(session, session.scalars(sa.select(Ladder)).first(), write=False).equal


@pytest.mark.long
def test_what_is_due_does_not_wait_for_the_check_of_another(database: Database) -> None:
    """Which may take long, and goes on afterwards where it was."""
    simulation = two_ladders(database)
    later, upkeep = simulation.now + timedelta(days=2), Upkeep(3600, matches=1)
    assert upkeep.go_on(database, later) is None
    with database.begin() as session:
        first, second = session.scalars(sa.select(Ladder).order_by(Ladder.id))
        assert min(first.games, second.games) > 2
        second.rebuild_due = True
    found = [one for one in (upkeep.go_on(database, later) for _ in range(100)) if one]
    assert [one.competition for one in found[:2]] == [second.name, first.name]
    assert all(one.equal for one in found)


def test_one_that_never_stays_as_it_was_is_made_anew_at_last(database: Database) -> None:
    """What was folded never holds when the next part is: the draw probability is another."""
    simulation = two_ladders(database)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).order_by(Ladder.id)).first()
        assert ladder is not None
        number, ladder.rebuild_due = ladder.id, True
        assert ladder.games > 2
    upkeep, made, steps = Upkeep(3600, matches=1), None, 0
    while made is None and steps < 100:
        steps += 1
        with database.begin() as session:
            ladder = session.get_one(Ladder, number)
            change(session, ARENA, ladder, {"draws": f"0.{steps:02}"}, simulation.now)
        made = upkeep.go_on(database, simulation.now)
    assert made is not None
    with database.read() as session:
        ladder = session.get_one(Ladder, number)
        assert not ladder.rebuild_due
        assert rebuild(session, ladder, write=False).equal


def test_what_is_due_at_last_is_no_difference(database: Database) -> None:
    """A check is begun again and again; no alarm is given for what is made anew anyway."""
    simulation = two_ladders(database)
    with database.read() as session:
        ladder = session.scalars(sa.select(Ladder).order_by(Ladder.id)).first()
        assert ladder is not None
        assert ladder.games > 2
    parts = rebuild_in_parts(database, ladder.id, write=False, matches=1)
    for step in range(FRESH_STARTS + 1):
        next(parts)
        with database.begin() as session:
            session.get_one(Ladder, ladder.id).draw_probability = (step + 1) / 100
    with database.begin() as session:
        change(session, ARENA, session.get_one(Ladder, ladder.id), {"draws": "0.5"}, simulation.now)
    with pytest.raises(StopIteration) as end:
        next(parts)
    assert end.value.value is None


def test_one_that_cannot_be_read_keeps_nobody_waiting(database: Database) -> None:
    """It has an alarm, is left alone for a while, and is made anew once it can be read again."""
    simulation = two_ladders(database)
    later, upkeep = simulation.now + timedelta(days=2), Upkeep(3600)

    def change(game: str) -> tuple[str, bool]:
        with database.begin() as session:
            ladder = session.scalars(sa.select(Ladder).order_by(Ladder.id)).first()
            assert ladder is not None
            was, ladder.game = (ladder.alarm, ladder.rebuild_due), game
        return was

    with database.begin() as session:
        session.execute(sa.update(Ladder).values(rebuild_due=True))
    change("chess")
    assert upkeep.go_on(database, later) is None
    with database.read() as session:
        alarms = session.scalars(sa.select(Ladder.alarm).order_by(Ladder.id)).all()
        assert [bool(alarm) for alarm in alarms] == [True, False]
    found = [upkeep.go_on(database, later) for _ in range(3)]
    assert [one.competition for one in found if one] == ["ladder-1"] * 2, "made, and checked"
    alarm, due = change("clobber")
    assert "can't be made anew" in alarm
    assert "chess" in alarm
    assert due
    assert upkeep.go_on(database, later) is None
    made = upkeep.go_on(database, later + timedelta(hours=1))
    assert made is not None
    assert made.competition == "ladder-0"
    assert change("clobber") == ("", False)


HOURS: list[tuple[tuple[float | None, float], tuple[float | None, float], str | None]] = [
    # Who was never looked at comes first, and then whoever was longest ago.
    ((None, 48), (2, 48), "ladder-0"),
    ((2, 48), (None, 48), "ladder-1"),
    ((2, 48), (3, 48), "ladder-1"),
    ((3, 48), (2, 48), "ladder-0"),
    ((None, 48), (None, 48), "ladder-0"),
    # Not within an hour, be it of the last time or of its beginning.
    ((0.9, 48), (2, 48), "ladder-1"),
    ((None, 0.9), (2, 48), "ladder-1"),
    ((1, 48), (0.5, 48), None),
    ((None, 0.5), (1, 48), None),
]


@pytest.mark.parametrize(("one", "other", "wanted"), HOURS)
def test_which_is_checked_next(
    database: Database,
    one: tuple[float | None, float],
    other: tuple[float | None, float],
    wanted: str | None,
) -> None:
    """Of two ladders that were checked and made so many hours ago, by an upkeep that checks every
    hour. It checks ladders and tournaments, says docs/ladders.md: no strength test beside them.
    """
    Simulation(database, 1, CALM).furnish([("clobber", {}), ("oxoxo", {})], bots=2)
    with database.begin() as session:
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
        both = map(NamedPlayer, session.scalars(sa.select(BotVersion).order_by(BotVersion.id)))
        long_ago = NOW - timedelta(days=9)
        strength_tests.create(session, StrengthPlan.on(ladders[0]), *both, long_ago, ARENA)
        for ladder, (checked, created) in zip(ladders, (one, other), strict=True):
            ladder.checked = None if checked is None else NOW - timedelta(hours=checked)
            ladder.created = NOW - timedelta(hours=created)
    found = Upkeep(3600).go_on(database, NOW)
    assert (found and found.competition) == wanted
    with database.read() as session:
        looked_at = session.scalars(sa.select(Ladder).where(Ladder.checked == NOW)).all()
        assert [ladder.name for ladder in looked_at] == ([wanted] if wanted else [])
