"""A person's games against bots: whose turn it is, what workers may say, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from random import Random

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import sittings
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import BotVersion, Check, JobStatus, Ladder, Match, Sitting, User, VersionStatus
from arena.recorder import noting, recording
from arena.schedule import allocation, leases, load
from arena.schedule.leases import Fate
from arena.sittings import Person, SittingError, Wish
from engine import jobs, reporting, sitting
from engine.game import IllegalMoveError, Termination
from engine.games import GAMES
from engine.player import CrashError, Player
from engine.record import replay
from tests.arena.simulator import CALM, START, Simulation, give_sign
from tests.engine.players import FirstMove, Scripted

VARIANTS = [(game.name, dict(game.offered[0].options)) for game in GAMES.singles.values()]
SMALL = ("clobber", {"size": "4x3"})
SETTINGS = Settings()


class Table:
    """An arena with ladders and bots, a person, and a worker in this process."""

    def __init__(self, database: Database, variants: list[tuple[str, dict[str, str]]]) -> None:
        self.database, self.now = database, START
        Simulation(database, 1, CALM).furnish(variants, bots=2)
        with database.begin() as session:
            session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
            session.execute(sa.update(Ladder).values(state="paused"))
            session.execute(sa.delete(Check))
            self.bots = list(session.scalars(sa.select(BotVersion.id).order_by(BotVersion.id)))
            user = User(name="ada", created=START)
            session.add(user)
            session.flush()
            self.person = Person("ada", user.id)
        self.wake()

    def wake(self) -> None:
        """A worker's sign of life."""
        with self.database.begin() as session:
            give_sign(session, "one", self.now, slots=2)

    def begin(self, number: int = 0, *, place: int = 0, seed: int = 5, **more: object) -> int:
        """A new game against the first bot in every other seat."""
        with self.database.begin() as session:
            ladder = session.scalars(sa.select(Ladder).where(Ladder.name == f"ladder-{number}"))
            wish = Wish(ladder.one(), place, (), False, f"form {seed}", seed)
            others = len(sittings.places(wish.ladder.variant)) - 1
            wish = replace(wish, **{"opponents": (self.bots[0],) * others, **more})  # type: ignore[arg-type]
            made = sittings.begin(session, self.person, wish, self.now, most_open=3)
            return made.id

    def change(self, number: int, do: Callable[..., None], *words: object) -> None:
        """What the person does."""
        with self.database.begin() as session:
            found = sittings.find(session, number, to_change=True)
            assert found is not None
            do(found, *words, self.now)

    def look(self, number: int) -> Sitting:
        with self.database.read() as session:
            found = sittings.find(session, number)
            assert found is not None
            return found

    def issue(self) -> list[jobs.Job | jobs.MoveJob]:
        """The jobs that are handed out now, as the queue delivers them."""
        with self.database.begin() as session:
            issued = chain.from_iterable(allocation.fill(session, SETTINGS, self.now))
        return [
            jobs.MoveJob.from_json(job.to_json()) if isinstance(job, jobs.MoveJob) else job
            for job in issued
        ]

    def issue_one(self) -> jobs.MoveJob:
        (job,) = self.issue()
        assert isinstance(job, jobs.MoveJob)
        return job

    def answer(self, job: jobs.MoveJob, player: Player | None = None) -> reporting.MoveReport:
        """What a worker reports of a job."""
        game = sitting.ask(job.game, player or FirstMove(cpu_us=9, wall_us=9))
        return reporting.MoveReport.from_json(
            reporting.MoveReport(job.lease, "one", game).to_json()
        )

    def record(self, report: reporting.MoveReport) -> Fate:
        with self.database.begin() as session:
            return sittings.record_move(session, report, self.now)


@pytest.fixture
def table(database: Database) -> Table:
    """One small ladder."""
    return Table(database, [SMALL])


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=[name for name, _ in VARIANTS])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_whole_game_of_every_game(database: Database, number: int) -> None:
    """The person draws lots, each move of a bot is a job; the rules confirm the record."""
    table = Table(database, [VARIANTS[number]])
    chance = Random(2)
    game_id = table.begin(random_opening=True)
    # The Siege can go on for long.
    for _ in range(40 if VARIANTS[number][0] == "siege" else 120):
        found = table.look(game_id)
        record = sittings.record_of(found)
        if found.finished is not None:
            break
        state = sitting.position(record)
        if found.status is JobStatus.OPEN:
            assert table.record(table.answer(table.issue_one())) is Fate.FIXED
        else:
            assert state.to_move in sittings.own_seats(found)
            move = state.legal_moves()[int(chance.random() * len(state.legal_moves()))]
            table.change(game_id, sittings.move, move, len(record.plies))
    else:
        table.change(game_id, sittings.resign, table.look(game_id).plies)
    record = sittings.record_of(table.look(game_id))
    replay(record)
    with table.database.read() as session:
        assert session.scalars(sa.select(Match)).all() == []
        assert [one.id for one in sittings.latest(session, table.person, count=5)] == [game_id]


def test_nothing_is_counted_twice(table: Table) -> None:
    """A report twice, one of an earlier attempt, or with a wrong ticket changes nothing."""
    game = table.begin(place=1)
    job = table.issue_one()
    assert table.issue() == []
    forged = replace(table.answer(job), lease=replace(job.lease, ticket="x"))
    assert table.record(forged) is Fate.STALE
    table.now += timedelta(seconds=SETTINGS.take_up_seconds + 1)
    with table.database.begin() as session:
        back = leases.roll_back_overdue(session, SETTINGS, table.now, table.now)
        assert back.total() == 1
    table.wake()
    again = table.issue_one()
    assert (again.lease.attempt, again.game) == (2, job.game)
    assert table.record(table.answer(job)) is Fate.STALE
    assert table.record(table.answer(again)) is Fate.FIXED
    assert table.record(table.answer(again)) is Fate.STALE
    assert table.look(game).plies == 1


def test_a_worker_that_is_not_heard_of(table: Table) -> None:
    """Taken up and then silent, three times: the move is set aside, and the person may go."""
    game = table.begin(place=1)
    for _ in range(3):
        job = table.issue_one()
        with table.database.begin() as session:
            told = [reporting.Started(job.lease, "one"), reporting.Progress(job.lease)]
            assert noting.note(session, told, SETTINGS, table.now) == [Fate.NOTED] * 2
        table.now += timedelta(seconds=SETTINGS.lease_seconds + 1)
        with table.database.begin() as session:
            leases.roll_back_overdue(session, SETTINGS, table.now, table.now)
        table.wake()
    assert table.look(game).status is JobStatus.SET_ASIDE
    assert table.issue() == []
    table.change(game, sittings.resign, 0)
    assert table.look(game).finished == table.now


def test_a_worker_that_can_not_play(table: Table) -> None:
    """What is void by our fault is asked for again."""
    table.begin(place=1)
    job = table.issue_one()
    with table.database.begin() as session:
        outcome = recording.record_void(session, job.lease, "no box", SETTINGS, table.now)
    assert outcome is Fate.ROLLED_BACK
    assert table.issue_one().lease.attempt == 2


def test_a_false_report_is_refused(table: Table) -> None:
    """Two moves at once are no answer; the next attempt is heard."""
    game = table.begin(place=1)
    report = table.answer(table.issue_one())
    moves = sitting.position(report.game).legal_moves()
    twice = replace(report, game=sitting.moved(report.game, moves[0]))
    assert table.record(twice) is Fate.REFUSED
    assert "refuted by the rules" in table.look(game).problem
    assert table.record(table.answer(table.issue_one())) is Fate.FIXED


def test_a_bot_that_fails_loses(table: Table) -> None:
    """Its fault is in the record, and the game is over."""
    game = table.begin(place=1)
    crash = Scripted(CrashError("exit status 1"))
    assert table.record(table.answer(table.issue_one(), crash)) is Fate.FIXED
    found = table.look(game)
    record = sittings.record_of(found)
    assert found.finished == table.now
    assert (record.termination, record.ranks) == (Termination.CRASH, (2, 1))
    assert table.issue() == []


def test_what_a_person_may_not_do(table: Table) -> None:
    """Each refusal has its words, and changes nothing."""
    game = table.begin(place=0)
    before = table.look(game).game
    with pytest.raises(IllegalMoveError, match="is not legal here"):
        table.change(game, sittings.move, "a1a1", 0)
    with pytest.raises(SittingError, match="the game went on meanwhile"):
        table.change(game, sittings.move, "a2a1", 4)
    assert table.look(game).game == before
    first = sitting.position(sittings.record_of(table.look(game))).legal_moves()[0]
    table.change(game, sittings.move, first, 0)
    # The same form once more, and a move while it is the bot's turn.
    with pytest.raises(SittingError, match="the game went on meanwhile"):
        table.change(game, sittings.move, first, 0)
    with pytest.raises(SittingError, match="it is not your turn"):
        table.change(game, sittings.move, first, 1)
    table.change(game, sittings.resign, 1)
    with pytest.raises(SittingError, match="the game is over"):
        table.change(game, sittings.move, first, 1)
    assert sittings.record_of(table.look(game)).ranks == (2, 1)


def test_who_leaves_while_others_could_play_on(database: Database) -> None:
    """Three bots do not finish a game of Blokus for nobody, even while one of them thinks."""
    table = Table(database, [("blokus", {})])
    game = table.begin(place=1)
    job = table.issue_one()
    table.change(game, sittings.resign, 0)
    found = table.look(game)
    assert (found.status, found.finished) == (JobStatus.FIXED, table.now)
    assert sitting.goes_on(sittings.record_of(found))
    assert table.record(table.answer(job)) is Fate.STALE
    assert table.issue() == []


def test_one_person_has_both_seats_of_a_team(database: Database) -> None:
    """In Blokus by teams the person plays blue and red, and one bot the others."""
    table = Table(database, [("blokus", {"mode": "teams"})])
    found = table.look(table.begin())
    assert sittings.own_seats(found) == [0, 2]
    assert sittings.record_of(found).players == ("ada", "bot-0 v1", "ada", "bot-0 v1")


WRONG: dict[str, dict[str, object]] = {
    "choose one of the seats: White, Black": {"place": 7},
    "is played against 1 bot$": {"opponents": ()},
    "choose each opponent from the list": {"opponents": (10**9,)},
}


@pytest.mark.long
@pytest.mark.parametrize("problem", WRONG)
def test_a_game_that_can_not_begin(table: Table, problem: str) -> None:
    """It says what to choose."""
    with pytest.raises(SittingError, match=problem):
        table.begin(**WRONG[problem])  # type: ignore[arg-type]


def test_so_many_open_games_and_no_more(table: Table) -> None:
    """A form that is sent twice begins one game; the fourth form is refused until one ends."""
    first = table.begin(seed=1)
    assert table.begin(seed=1) == first
    table.begin(seed=2)
    table.begin(seed=3)
    with pytest.raises(SittingError, match="you have 3 games that are not over"):
        table.begin(seed=4)
    table.change(first, sittings.resign, 0)
    assert table.begin(seed=4) > first


def test_abandoned_games_are_given_up(table: Table) -> None:
    """After the days of the setting, and not before; what a worker then says is stale."""
    game = table.begin(place=1)
    job = table.issue_one()
    days = timedelta(days=SETTINGS.abandoned_days)

    def given_up(session: Session, now: datetime) -> int:
        return sittings.give_up_abandoned(session, SETTINGS, now)

    with table.database.begin() as session:
        assert given_up(session, table.now + days) == 0
    with table.database.begin() as session:
        assert given_up(session, table.now + days + timedelta(seconds=1)) == 1
    with table.database.begin() as session:
        assert given_up(session, table.now + 2 * days) == 0
    assert table.look(game).status is JobStatus.VOID
    assert table.record(table.answer(job)) is Fate.STALE


def test_moves_take_half_of_the_slots(table: Table) -> None:
    """They take one of two; who plays in two games waits until the first was answered."""
    for seed in (1, 2):
        table.begin(place=1, seed=seed)
    job = table.issue_one()
    assert table.issue() == []
    assert table.record(table.answer(job)) is Fate.FIXED
    assert table.issue_one().lease.job != job.lease.job


def test_moves_go_before_matches(table: Table) -> None:
    """One of two slots is the person's while somebody plays; later all are the ladder's again."""
    table.begin(place=1)
    with table.database.begin() as session:
        session.execute(sa.update(Ladder).values(state="open"))
    first, *others = table.issue()
    assert isinstance(first, jobs.MoveJob)
    assert len(others) == 1
    assert table.record(table.answer(first)) is Fate.FIXED
    assert table.issue() == []
    table.now += load.ATTENDANCE + timedelta(seconds=1)
    table.wake()
    assert len(table.issue()) == 2 * allocation.AHEAD - 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("slots", "moves", "matches"), [(0, 0, 0), (1, 1, 1), (2, 1, 1), (3, 1, 2), (4, 2, 3)]
)
def test_one_slot_is_kept_for_whoever_plays(
    table: Table, slots: int, moves: int, matches: int
) -> None:
    """Where there are two; of three games at once as many moves as are half of the slots."""
    for seed in (1, 2, 3):
        table.begin(place=1, seed=seed)
    with table.database.begin() as session:
        give_sign(session, "one", table.now, slots=slots)
        session.execute(sa.update(Ladder).values(state="open"))
    assert [job.lease.kind for job in table.issue()] == ["move"] * moves + ["match"] * matches


def test_a_move_does_not_wait_for_matches(table: Table) -> None:
    """Though as many of them are under way as are ever issued."""
    with table.database.begin() as session:
        session.execute(sa.update(Ladder).values(state="open"))
    assert len(table.issue()) == 2 * allocation.AHEAD
    assert table.issue() == []
    table.begin(place=1)
    assert table.issue_one().lease.kind == "move"


def test_who_waits_longest_is_answered_first(table: Table) -> None:
    """Whichever game was begun first."""
    later = table.begin(seed=1)
    table.now += timedelta(seconds=1)
    sooner = table.begin(place=1, seed=2)
    table.now += timedelta(seconds=1)
    move = sitting.position(sittings.record_of(table.look(later))).legal_moves()[0]
    table.change(later, sittings.move, move, 0)
    job = table.issue_one()
    assert job.lease.job == sooner
    assert table.record(table.answer(job)) is Fate.FIXED
    assert table.issue_one().lease.job == later


def test_fewer_slots_play_no_more_moves(table: Table) -> None:
    """Two of four slots had one; whoever waits is not helped by a worker that left."""
    for seed in (1, 2, 3):
        table.begin(place=1, seed=seed)
    for slots, moves in ((4, 2), (2, 0), (6, 1)):
        with table.database.begin() as session:
            give_sign(session, "one", table.now, slots=slots)
        assert len(table.issue()) == moves


def test_a_game_that_is_over_keeps_no_slot(table: Table) -> None:
    """It keeps none from the moment of its end."""
    game = table.begin()
    table.change(game, sittings.resign, 0)
    with table.database.begin() as session:
        session.execute(sa.update(Ladder).values(state="open"))
    assert len(table.issue()) == 2 * allocation.AHEAD
