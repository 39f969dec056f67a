"""Strength tests on the site: what is played, when it is decided, what is kept."""

from __future__ import annotations

import dataclasses
from itertools import islice

import pytest
import sqlalchemy as sa

from arena import audit
from arena.competitions import strength_tallies, strength_tests
from arena.competitions.opening_series import opening_series
from arena.competitions.strength_deeds import CloneTest, StopTest
from arena.competitions.strength_plans import plan_of
from arena.ground.db import Database
from arena.models import (
    CompetitionState,
    Entrant,
    GameSeat,
    JobStatus,
    Match,
    PlayedGame,
    TestVerdict,
)
from arena.recorder.rebuild import rebuild
from arena.schedule.matchmaking import new_matches
from arena.strength.sequential import StrengthError
from engine.games import GAMES
from engine.openings import Opening, openings
from engine.player import Choice, CrashError, Turn
from tests.arena.competitions.strength_simulation import OWNER, Equals, StrengthSimulation
from tests.arena.doing import do
from tests.arena.simulator import CALM, START, LotPlayer, Villainy


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    return sqlite_database


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [(0, 1, TestVerdict.PASSED), (1, 0, TestVerdict.FAILED)],
)
def test_the_stronger_bot_is_found(
    arena: StrengthSimulation, first: int, second: int, verdict: TestVerdict
) -> None:
    """Every match has its opening of the series, and what is kept is what the games say."""
    number = arena.create(first, second, seed=5)
    assert arena.play_out(number) is verdict
    with arena.database.begin() as session:
        test = arena.test(session, number)
        assert test.state is CompetitionState.CLOSED
        assert test.finished is not None
        matches = session.scalars(
            sa.select(Match).where(Match.competition_id == number).order_by(Match.id)
        ).all()
        series = islice(openings(test.variant, 5), len(matches))
        assert [
            Opening(GAMES["clobber"].variant(**match.options), tuple(match.opening))
            for match in matches
        ] == list(series)
        standing = strength_tests.standing_of(session, test)
        assert standing.matches == len(matches) >= 16
        assert standing.games == session.scalar(sa.select(sa.func.count(PlayedGame.id)))
        assert {match.played_by for match in matches} == {"one", "two"}
        tallies = strength_tallies.tallies_of(session, [test])[number]
        assert [tally.worker for tally in tallies] == ["one", "two"]
        for tally in tallies:
            played = sum(match.played_by == tally.worker for match in matches)
            assert sum(tally.counts) == played
        entrants = session.scalars(
            sa.select(Entrant).where(Entrant.competition_id == number).order_by(Entrant.number)
        ).all()
        assert [entrant.wins for entrant in entrants] == [standing.wins, standing.losses]
        assert rebuild(session, test, write=False).equal
        # What was spoilt is found and mended.
        tallies[0].wins += 1
        session.flush()
        assert "came out" in rebuild(session, test, write=True).differences[0]
        assert strength_tests.standing_of(session, test) == standing


@pytest.mark.long
def test_nothing_is_lost_or_counted_twice(database: Database) -> None:
    """Under a villain who kills, loses, doubles and delays: each match counts just once."""
    villainy = dataclasses.replace(Villainy(), faulty_bots=False)
    arena = StrengthSimulation(database, villainy, "clobber", size="4x4")
    number = arena.create(max_games=60, elo0=-1.0, elo1=1.0)
    arena.alive()
    arena.tick()
    arena.run(150)
    arena.villainy = CALM
    assert arena.play_out(number) in (TestVerdict.UNDECIDED, TestVerdict.STOPPED)
    with database.begin() as session:
        test = arena.test(session, number)
        fixed = session.scalars(
            sa.select(Match).where(Match.competition_id == number, Match.status == JobStatus.FIXED)
        ).all()
        assert strength_tests.standing_of(session, test).matches == len(fixed)
        keys = {(str(match.options), tuple(match.opening)) for match in fixed}
        assert len(keys) == len(fixed)
        assert rebuild(session, test, write=False).equal


def test_the_limit_can_be_raised(arena: StrengthSimulation) -> None:
    """An undecided test goes on where it was, and plays no opening again."""
    number = arena.create(max_games=40, elo0=-1.0, elo1=1.0)
    assert arena.play_out(number) is TestVerdict.UNDECIDED
    with arena.database.begin() as session:
        test = arena.test(session, number)
        assert test.reason == "the limit of 40 games is reached"
        assert strength_tests.standing_of(session, test).games == 40
        for games, words in ((40, "has had 40 games"), (10**6, "at most")):
            with pytest.raises(StrengthError, match=words), session.begin_nested():
                strength_tests.extend(session, test, games, arena.now, OWNER)
        session.refresh(test)
        strength_tests.extend(session, test, 70, arena.now, OWNER)
        assert (test.verdict, test.reason) == (TestVerdict.RUNNING, "")
        (noted,) = audit.entries(session, action="extend test")
        assert noted.detail == "from 40 to 70 games"
    # A recorder that was started anew knows the openings from the matches alone.
    opening_series.cache_clear()
    assert arena.play_out(number) is TestVerdict.UNDECIDED
    with arena.database.read() as session:
        test = arena.test(session, number)
        assert strength_tests.standing_of(session, test).games == 70
        made = session.execute(
            sa.select(Match.opening).where(Match.competition_id == number).order_by(Match.id)
        )
        series = islice(openings(test.variant, 0), 35)
        assert [tuple(row.opening) for row in made] == [one.moves for one in series]


@pytest.mark.long
def test_a_decided_test_is_cloned_and_not_extended(arena: StrengthSimulation) -> None:
    """To play on after a verdict would be another test; a clone has openings of its own."""
    number = arena.create(max_games=500, note="quicker moves", weight=0.5)
    assert arena.play_out(number) is TestVerdict.PASSED
    with arena.database.begin() as session:
        test = arena.test(session, number)
        with pytest.raises(StrengthError, match="is decided"):
            strength_tests.extend(session, test, 1000, arena.now, OWNER)
        with pytest.raises(StrengthError, match="is over: passed"):
            do(session, StopTest(test.id), arena.now, OWNER)
        twin = do(session, CloneTest(test.id), arena.now, OWNER)
        assert twin.id != number
        plans = [plan_of(one) for one in (test, twin)]
        assert dataclasses.replace(plans[0], seed=twin.seed) == plans[1] != plans[0]
    assert arena.play_out(twin.id) is TestVerdict.PASSED
    with arena.database.begin() as session:
        # Stopped a moment before the matches that were under way decided it.
        test = arena.test(session, twin.id)
        test.verdict = TestVerdict.STOPPED
        with pytest.raises(StrengthError, match="is decided"):
            strength_tests.extend(session, test, 1000, arena.now, OWNER)


def test_a_stopped_test_keeps_what_comes_in(arena: StrengthSimulation) -> None:
    """Matches under way are counted, and the verdict stands."""
    number = arena.create()
    arena.alive()
    arena.tick()
    arena.run(8)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        do(session, StopTest(test.id), arena.now, OWNER)
        before = strength_tests.standing_of(session, test).matches
        assert (test.verdict, test.reason) == (TestVerdict.STOPPED, "by somebody")
        with pytest.raises(StrengthError, match=f"may have {test.max_games} games already"):
            strength_tests.extend(session, test, test.max_games - 2, arena.now, OWNER)
    assert arena.play_out(number) is TestVerdict.STOPPED
    with arena.database.read() as session:
        after = strength_tests.standing_of(session, arena.test(session, number)).matches
        assert after > before
        assert after == session.scalar(sa.select(sa.func.count(Match.id)))
        said = [(entry.actor, entry.action, entry.detail) for entry in audit.entries(session)]
        assert said[:2] == [
            ("somebody", "stop test", ""),
            ("arena", "end test", "stopped: by somebody"),
        ]


def test_a_small_board_runs_out_of_openings(database: Database) -> None:
    """Then a test ends undecided and says so, once all is played, and can't be extended; two of
    one seed have all openings each."""
    arena = StrengthSimulation(database, CALM, "clobber", size="2x3")
    numbers = [arena.create(elo0=-0.1, elo1=0.1) for _ in range(2)]
    with database.begin() as session:
        tests = [arena.test(session, number) for number in numbers]
        whole = sum(1 for _ in openings(tests[0].variant, 0))
        assert len(list(new_matches(session, START))) == 2 * whole
        assert [test.verdict for test in tests] == [TestVerdict.RUNNING] * 2
    assert [arena.play_out(number) for number in numbers] == [TestVerdict.UNDECIDED] * 2
    with database.begin() as session:
        for test in (arena.test(session, number) for number in numbers):
            assert test.reason == strength_tests.OUT_OF_OPENINGS
            assert strength_tests.standing_of(session, test).matches == whole
            with pytest.raises(StrengthError, match="can't go on"):
                strength_tests.extend(session, test, 50_000, arena.now, OWNER)


@pytest.mark.parametrize("others", [0, 1, 2])
def test_a_recorder_goes_on_where_another_left_off(arena: StrengthSimulation, others: int) -> None:
    """However many matches the other has made meanwhile, the next has the series' next opening."""
    number = arena.create(seed=3)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        mine = opening_series(test.variant, 3)
        made = new_matches(session, START)
        next(made)
        opening_series.cache_clear()
        for _ in range(others):
            next(made)
        session.flush()
        *_, last = islice(openings(test.variant, 3), 2 + others)
        played = [one.opening for one in session.scalars(sa.select(Match).order_by(Match.id))]
        so_far = [Opening(test.variant, tuple(moves)) for moves in played]
        assert mine.opening(1 + others, lambda: so_far) == last


@pytest.mark.long
def test_more_than_two_seats_are_shared(database: Database) -> None:
    """A match of three seats is six games; the lone side and the allies are each bot's in turn."""
    arena = Equals(database, CALM, "siege", setup="fixed")
    number = arena.create()
    arena.alive()
    arena.tick()
    games = sa.select(sa.func.count()).select_from(PlayedGame)
    played = 0
    while not played:
        arena.run(1)
        with database.read() as session:
            played = session.scalar(games) or 0
    with database.begin() as session:
        test = arena.test(session, number)
        standing = strength_tests.standing_of(session, test)
        assert standing.games == 6 * standing.matches == played
        assert len(standing.counts) == 17
        seats = session.execute(
            sa.select(GameSeat.seat, Entrant.number, sa.func.count())
            .join(Entrant, Entrant.id == GameSeat.entrant_id)
            .group_by(GameSeat.seat, Entrant.number)
        ).all()
        assert {count for *_, count in seats} == {3 * standing.matches}
        assert len(seats) == 6
        assert rebuild(session, test, write=False).equal


@pytest.mark.long
@pytest.mark.parametrize(("aside", "verdict"), [(2, "passed"), (3, "stopped")])
def test_what_can_not_be_played_is_given_up(
    arena: StrengthSimulation, aside: int, verdict: str
) -> None:
    """A test of which several matches were set aside is stopped, and says why; no other is."""
    number = arena.create()
    arena.alive()
    arena.tick()
    arena.run(8)
    other = arena.create(seed=1)
    with arena.database.begin() as session:
        some = sa.select(Match.id).where(Match.status == JobStatus.ISSUED).limit(aside)
        session.execute(
            sa.update(Match)
            .where(Match.id.in_(session.scalars(some).all()))
            .values(status=JobStatus.SET_ASIDE, ticket=None, lease_ends=None, worker=None)
        )
    assert arena.play_out(number) == verdict
    assert arena.play_out(other) is TestVerdict.PASSED
    with arena.database.read() as session:
        reason = arena.test(session, number).reason
        assert ("3 of its matches could not be played" in reason) is (aside == 3)


class Failing(StrengthSimulation):
    """An arena in which the stronger bot crashes at each of its first moves."""

    def start(self, name: str) -> LotPlayer:
        return Crasher() if name.startswith("bot-0") else super().start(name)


class Crasher(LotPlayer):
    """A player that ends when it is asked."""

    def choose(self, turn: Turn) -> Choice:
        raise CrashError("closed its output: exit 1")


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0)])
def test_faults_decide_no_test(database: Database, first: int, second: int) -> None:
    """Soon it is undecided, with the reason, and neither goes on nor lets a version in."""
    arena = Failing(database, CALM, "clobber", size="4x4")
    number = arena.create(first, second, enters=True)
    assert arena.play_out(number) is TestVerdict.UNDECIDED
    with arena.database.begin() as session:
        test = arena.test(session, number)
        standing = strength_tests.standing_of(session, test)
        assert 5 <= sum(map(sum, (side.values() for side in standing.faults))) == standing.games
        assert "are too many to tell who is stronger" in test.reason
        entered = sa.select(Entrant.state).where(Entrant.competition_id == test.ladder_id)
        assert "it entered" not in test.reason
        assert len(session.scalars(entered).all()) == 2
        with pytest.raises(StrengthError, match=r"can't go on: .* mend the bots"):
            strength_tests.extend(session, test, 40_000, arena.now, OWNER)


@pytest.mark.long
def test_faults_may_be_what_is_tested(database: Database) -> None:
    """Then whoever has none passes; a clone is made with the same setting."""
    arena = Failing(database, CALM, "clobber", size="4x4")
    number = arena.create(1, 0, allow_faults=True)
    assert arena.play_out(number) is TestVerdict.PASSED
    with arena.database.begin() as session:
        twin = do(session, CloneTest(number), arena.now, OWNER)
        assert twin.allow_faults
