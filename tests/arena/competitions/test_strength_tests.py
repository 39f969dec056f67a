"""Strength tests on the site: what is played, when it is decided, what is kept."""

from __future__ import annotations

import dataclasses
from itertools import islice
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, entries
from arena.audit import ARENA, Actor
from arena.competitions import strength_tallies, strength_tests
from arena.competitions.strength_plans import FirstTest, Plan
from arena.db import Database
from arena.first_tests import admit, conclude
from arena.matchmaking import new_matches
from arena.models import (
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    StrengthTest,
    TestTally,
    TestVerdict,
    User,
    VersionStatus,
)
from arena.rebuild import rebuild
from arena.strength import StrengthError
from arena.submissions import SubmissionError, submit
from arena.web.queries import tests_waited_for as waited_for
from engine.game import State
from engine.games import GAMES
from engine.openings import Opening, openings
from engine.player import Choice, Turn
from engine.reporting import Finding
from tests.arena.simulator import CALM, START, LotPlayer, Simulation, Villainy

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
            plan = Plan.on(ladder, **{"elo1": 100.0, **changes})
            return strength_tests.create(
                session,
                plan,
                versions[first],
                versions[second],
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


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    return sqlite_database


@pytest.fixture
def arena(database: Database) -> StrengthSimulation:
    return StrengthSimulation(database, CALM, "clobber", size="4x4")


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
    strength_tests._series.cache_clear()
    assert arena.play_out(number) is TestVerdict.UNDECIDED
    with arena.database.read() as session:
        test = arena.test(session, number)
        assert strength_tests.standing_of(session, test).games == 70
        made = session.execute(
            sa.select(Match.opening).where(Match.competition_id == number).order_by(Match.id)
        )
        series = islice(openings(test.variant, 0), 35)
        assert [tuple(row.opening) for row in made] == [one.moves for one in series]


def test_a_decided_test_is_cloned_and_not_extended(arena: StrengthSimulation) -> None:
    """To play on after a verdict would be another test; a clone has openings of its own."""
    number = arena.create(max_games=500, note="quicker moves", weight=0.5)
    assert arena.play_out(number) is TestVerdict.PASSED
    with arena.database.begin() as session:
        test = arena.test(session, number)
        with pytest.raises(StrengthError, match="is decided"):
            strength_tests.extend(session, test, 1000, arena.now, OWNER)
        with pytest.raises(StrengthError, match="is over: passed"):
            strength_tests.stop(session, test, arena.now, OWNER)
        twin = strength_tests.clone(session, test, arena.now, OWNER, seed=99)
        assert twin.id != number
        plans = [strength_tests.plan_of(one) for one in (test, twin)]
        assert dataclasses.replace(plans[0], seed=99) == plans[1]
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
        strength_tests.stop(session, test, arena.now, OWNER)
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
        mine = strength_tests._series(test.variant, 3)
        made = new_matches(session, START)
        next(made)
        strength_tests._series.cache_clear()
        for _ in range(others):
            next(made)
        session.flush()
        *_, last = islice(openings(test.variant, 3), 2 + others)
        assert mine.opening(session, test) == last


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


# A test before a new version is active.


def upload(arena: StrengthSimulation, bot: str, first: FirstTest | None) -> int:
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


def active(session: Session, bot: str) -> list[int]:
    """The numbers of a bot's active versions on the ladder."""
    query = (
        sa.select(Entrant)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .where(Entrant.state == EntrantState.ACTIVE)
    )
    found = [entrant.version for entrant in session.scalars(query)]
    return [version.number for version in found if version.bot.name == bot]


class Equals(StrengthSimulation):
    """In which both bots play by the lot."""

    def start(self, name: str) -> LotPlayer:
        return LotPlayer()


class Improving(StrengthSimulation):
    """In which the second bot plays as well as the first from its second version on."""

    def start(self, name: str) -> LotPlayer:
        return Clever() if name == "bot-1 v2" else LotPlayer()


@pytest.mark.parametrize(
    ("bot", "verdict", "then"),
    [("bot-1", TestVerdict.PASSED, [2]), ("bot-0", TestVerdict.FAILED, [1])],
)
def test_a_new_version_enters_when_it_has_passed(
    database: Database, bot: str, verdict: TestVerdict, then: list[int]
) -> None:
    """One that is no better stays out, and the test says why."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    upload(arena, bot, FirstTest(elo1=100.0))
    arena.alive()
    arena.tick()
    arena.run(6)
    with database.read() as session:
        test = session.scalars(sa.select(StrengthTest)).one()
        assert active(session, bot) == [1]
        assert test.title == f"{bot} v2 against {bot} v1"
    assert arena.play_out(test.id) is verdict
    with database.read() as session:
        assert active(session, bot) == then
        said = arena.test(session, test.id).reason
        assert said == ("it entered clobber size=4x4" if then == [2] else "")


def test_a_first_version_has_nobody_to_be_tested_against(arena: StrengthSimulation) -> None:
    """It enters at once."""
    upload(arena, "newcomer", FirstTest())
    arena.alive()
    arena.tick()
    arena.run(10)
    with arena.database.read() as session:
        assert active(session, "newcomer") == [1]
        assert session.scalars(sa.select(StrengthTest)).all() == []


def test_a_later_version_takes_over(database: Database) -> None:
    """Of two versions that wait only the later is tested, and it never steps behind a newer."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    arena.alive()
    arena.tick()
    for _ in range(2):
        upload(arena, "bot-1", FirstTest(elo1=50.0))
        arena.run(6)
    with database.read() as session:
        first, second = session.scalars(sa.select(StrengthTest).order_by(StrengthTest.id))
        assert (first.verdict, first.reason) == (TestVerdict.STOPPED, "version 3 came after it")
        assert second.verdict is TestVerdict.RUNNING
    upload(arena, "bot-1", None)
    arena.run(6)
    with database.begin() as session:
        assert active(session, "bot-1") == [4]
        second = arena.test(session, second.id)
        assert (second.verdict, second.reason) == (
            TestVerdict.STOPPED,
            "version 4 entered meanwhile",
        )
        second.verdict, second.reason = TestVerdict.PASSED, ""
        second.state = CompetitionState.CLOSED
        conclude(session, second, arena.now)
        assert second.reason == "version 4 had entered clobber size=4x4 meanwhile"
        assert active(session, "bot-1") == [4]


def test_the_version_submitted_last_is_tested(database: Database) -> None:
    """Whichever check ends first: here that of version 3, which then waits for its test."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    first, last = (upload(arena, "bot-1", FirstTest(elo1=50.0)) for _ in range(2))
    with database.begin() as session:
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        findings = [Finding(True, "played").to_json()]
        session.execute(sa.update(Check).values(status=JobStatus.FIXED, findings=findings))
        by_version = {check.version_id: check for check in session.scalars(sa.select(Check))}
        for number in (last, first):
            admit(session, by_version[number], arena.now)
        assert by_version[first].problem == "version 3 came after it"
        test = session.scalars(sa.select(StrengthTest)).one()
        assert (test.verdict, test.title) == (TestVerdict.RUNNING, "bot-1 v3 against bot-1 v1")


@pytest.mark.parametrize("leave", ["retire", "withdraw"])
def test_a_bot_that_leaves_waits_for_no_test(database: Database, leave: str) -> None:
    """It is stopped: nothing could come of it, for the candidate would not enter."""
    arena = Improving(database, CALM, "clobber", size="4x4")
    arena.alive()
    arena.tick()
    for bot in ("bot-0", "bot-1"):
        upload(arena, bot, FirstTest(elo1=50.0))
    arena.run(6)
    with database.begin() as session:
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-1")).one()
        assert list(waited_for(session, bot)) == [2]
        if leave == "withdraw":
            entries.withdraw(session, ARENA, bot, arena.now)
        else:
            on_ladder = sa.select(Entrant).join(Ladder, Ladder.id == Entrant.competition_id)
            mine = on_ladder.join(Entrant.version).where(BotVersion.bot_id == bot.id)
            entries.retire(session, ARENA, session.scalars(mine).one(), arena.now)
        assert waited_for(session, bot) == {}
        tests = session.scalars(sa.select(StrengthTest).order_by(StrengthTest.title))
        assert [test.verdict for test in tests] == [TestVerdict.RUNNING, TestVerdict.STOPPED]


def test_what_can_not_be_tested_is_refused_at_once(database: Database) -> None:
    """At the submission, before anything is checked."""
    arena = StrengthSimulation(database, CALM, "puzzle")
    with pytest.raises(SubmissionError, match="a puzzle is played alone"):
        upload(arena, "bot-0", FirstTest())
    with database.read() as session:
        assert session.scalars(sa.select(Check.test_first)).all() == [None, None]
        assert session.scalars(sa.select(TestTally)).all() == []
