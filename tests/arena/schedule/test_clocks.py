"""Who plays by the reference machine's clock, what it grants, and whether workers lie."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.strength_deeds import CreateTest
from arena.competitions.tournament_deeds import CreateTournament
from arena.deeds import By
from arena.formats.catalogue import FORMATS
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    BotVersion,
    Check,
    JobStatus,
    Ladder,
    ListedSeat,
    Match,
    PlayedGame,
    Scope,
    VersionStatus,
    Worker,
)
from arena.operation import alarms
from arena.recorder import recording
from arena.recorder.dispatch import _queue_of
from arena.schedule import allocation, leases, matchmaking, speeds, workers
from arena.schedule.idle import ELSEWHERE, why_idle, why_it_waits
from arena.web.api.worker_shapes import WorkerList
from engine import jobs, reporting
from engine.clock import TimeControl
from engine.games import GAMES
from engine.match import play_match
from engine.measure import Measure
from engine.record import GameRecord
from tests.arena.doing import do
from tests.arena.issuing import issued as in_hand
from tests.arena.simulator import CALM, START, LotPlayer, Simulation

NOW = START + timedelta(days=1)
SETTINGS = Settings(data=Path("/nowhere"))
FAST = Measure(1.0, 1.0, spread=0.02, share=0.99, ply_us=40, slow_ply_us=90)
HALF = replace(FAST, interpreted=0.5, compiled=0.5)
BUSY = replace(FAST, share=0.4)


def furnish(database: Database, *, ladders: int = 2) -> None:
    """A ladder by each worker's own clock, and one by the reference machine's."""
    both = [("clobber", {"size": "4x3"}), ("clobber", {"size": "5x6"})]
    Simulation(database, 0, CALM).furnish(both[-ladders:], bots=6)
    with database.begin() as session:
        last = session.scalars(sa.select(Ladder).order_by(Ladder.id.desc()).limit(1)).one()
        last.reference = True
        session.execute(sa.delete(Check))


def sign(
    database: Database, worker: str, measure: Measure | None, *, slots: int = 1, cores: int = 4
) -> None:
    """A worker says that it lives, and how fast it is."""
    games = tuple(map(str, GAMES.editions()))
    told = reporting.SignOfLife(
        worker, slots, "good", games=games, measure=measure, cores=measure and cores
    )
    with database.begin() as session:
        workers.note_alive(session, reporting.SignOfLife.from_json(told.to_json()), NOW)


def issued(database: Database) -> list[jobs.Job]:
    """The jobs that are issued now."""
    with database.begin() as session:
        found = [job for batch in allocation.fill(session, SETTINGS, NOW) for job in batch]
    return [job for job in found if isinstance(job, jobs.Job)]


def why(database: Database) -> tuple[str | None, list[str]]:
    """Why the ladder by the reference machine's clock is idle, and the alarms that are of it."""
    with database.read() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.reference)).one()
        found = alarms.find(session, SETTINGS, NOW)
        words = [one.words for one in found if one.kind in ("game", "speed")]
        return why_idle(session, ladder, SETTINGS, NOW), words


def test_only_who_is_fit_plays_by_the_reference_machine(database: Database) -> None:
    """The others play on by their own clocks, and it is said why they do not play by that."""
    furnish(database)
    sign(database, "busy", BUSY)
    sign(database, "crowded", FAST, slots=2, cores=1)
    sign(database, "old", None)
    assert {job.spec.time.reference for job in issued(database)} == {False}
    words, alarms = why(database)
    assert words is not None
    assert words.startswith("No worker plays by the reference machine's clock")
    assert "busy, since its bots get 40% of a core" in words
    assert "crowded, since it plays 2 matches at a time on 1 cores" in words
    assert "old, since it does not say how fast it is" in words
    assert [alarm for alarm in alarms if "busy plays no match" in alarm] != []
    sign(database, "half", HALF, slots=2)
    found = [job for job in issued(database) if job.spec.time.reference]
    assert len(found) == 2 * allocation.AHEAD
    assert {_queue_of(job) for job in found} == {"matches+reference"}
    assert why(database)[0] == ELSEWHERE


def test_who_asks_for_none_is_told_of_nobody(sqlite_database: Database) -> None:
    """Whoever is busy is no alarm where all play by their own clocks; a lone one plays all."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=4)
    sign(sqlite_database, "busy", BUSY, slots=4, cores=2)
    assert len(issued(sqlite_database)) == 4 * allocation.AHEAD
    with sqlite_database.read() as session:
        found = alarms.find(session, SETTINGS, NOW)
        assert {one.kind for one in found} == {"idle ladder"}
        (shown,) = WorkerList.now(session, SETTINGS, NOW, for_organisers=False).items
    assert (shown.cores, shown.measure and shown.measure.share) == (2, 0.4)
    assert shown.unfit.startswith("it plays 4 matches at a time on 2 cores")


def test_checks_need_no_fit_worker(sqlite_database: Database) -> None:
    """They are by whatever clock there is, and so are moves against people."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=6)
    with sqlite_database.begin() as session:
        session.scalars(sa.select(Ladder)).one().reference = True
        for check in session.scalars(sa.select(Check)):
            check.status = JobStatus.OPEN
    sign(sqlite_database, "busy", BUSY, slots=2)
    found = issued(sqlite_database)
    assert {(job.lease.kind, job.spec.time.reference) for job in found} == {("check", False)}
    assert {_queue_of(job) for job in found} == {"matches"}


def reported(job: jobs.Job, worker: str, **said: Any) -> reporting.MatchReport:
    """What a worker says of a match that it played at a speed."""
    players = play_match(job.spec, lambda _: LotPlayer())
    games = tuple(replace(game, **said) for game in players.games)
    return reporting.MatchReport(job.lease, worker, games, players.logs)


def take(database: Database, told: reporting.MatchReport) -> tuple[leases.Fate, str]:
    """What became of a report, and what is said of its match."""
    with database.begin() as session:
        (fate,) = recording.take_in(session, [told], SETTINGS, NOW)
    with database.read() as session:
        return fate, session.get_one(Match, told.lease.job).problem


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"speeds": (0.5, 0.5), "stretch": (2.0, 2.0)}, ""),
        ({"speeds": (0.5, 0.8), "stretch": (2.0, 1.25)}, ""),
        ({}, "nothing is said of its own"),
        ({"speeds": (0.5, 0.5), "stretch": (4.0, 4.0)}, "stretched by [4.0, 4.0] at speeds of"),
        ({"speeds": (0.01, 0.01), "stretch": (100.0, 100.0)}, "stretched by [100.0, 100.0]"),
    ],
)
def test_what_was_granted_is_proven(
    sqlite_database: Database, said: dict[str, Any], words: str
) -> None:
    """And kept with the game, for lists."""
    furnish(sqlite_database, ladders=1)
    sign(sqlite_database, "half", HALF)
    job = issued(sqlite_database)[0]
    fate, problem = take(sqlite_database, reported(job, "half", **said))
    assert (fate is leases.Fate.FIXED) == (not words)
    assert words in problem
    if not words:
        with sqlite_database.read() as session:
            kept = set(session.scalars(sa.select(ListedSeat.speed)))
            assert kept == set(session.scalars(sa.select(PlayedGame.speed))) != {None}


def test_who_became_unfit_gives_its_match_back(sqlite_database: Database) -> None:
    """It is nobody's failure; another worker gets it."""
    furnish(sqlite_database, ladders=1)
    sign(sqlite_database, "half", HALF)
    job = issued(sqlite_database)[0]
    sign(sqlite_database, "half", BUSY)
    told = reported(job, "half", speeds=(0.5, 0.5), stretch=(2.0, 2.0))
    fate, problem = take(sqlite_database, told)
    assert fate is leases.Fate.STALE
    assert problem.startswith("half took it up, which plays by no reference clock: its bots get")
    with sqlite_database.read() as session:
        match = session.get_one(Match, job.lease.job)
        assert (match.status, match.failures) == (JobStatus.OPEN, 0)
        assert "No worker plays by" in (why_it_waits(session, match, SETTINGS, NOW) or "")


@pytest.mark.parametrize("before", [False, True])
def test_a_clock_that_is_changed_is_nobodys_falsehood(
    sqlite_database: Database, before: bool
) -> None:
    """What was under way by the clock before is played again."""
    furnish(sqlite_database, ladders=1)
    with sqlite_database.begin() as session:
        session.execute(sa.update(Ladder).values(reference=before))
    sign(sqlite_database, "half", HALF)
    job = issued(sqlite_database)[0]
    machine = {"machine": "own" if before else "reference"}
    with sqlite_database.begin() as session:
        do(session, ChangeLadder("ladder-0", machine), NOW)
    stretch = (2.0, 2.0) if before else ()
    fate, problem = take(sqlite_database, reported(job, "half", speeds=(0.5, 0.5), stretch=stretch))
    assert (fate, problem) == (
        leases.Fate.ROLLED_BACK,
        "it was played by another clock than is kept now",
    )
    with sqlite_database.read() as session:
        assert session.get_one(Worker, "half").failed == []
        assert session.get_one(Match, job.lease.job).failures == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"machine": "reference", "charge": "wall"}, "choose charge=cpu"),
        ({"machine": "reference", "home": "beside"}, "keeps the clock of its own machines"),
        ({"machine": "mine"}, "one of own, reference"),
        ({"machine": "reference"}, None),
    ],
)
def test_the_reference_machine_measures_cpu_time_of_known_machines(
    sqlite_database: Database, settings: dict[str, str], words: str | None
) -> None:
    """Made so, and changed to it."""
    with sqlite_database.begin() as session:
        deed = CreateLadder(name="new", game="clobber", settings=settings)
        if words is None:
            made = do(session, deed, NOW)
            assert (made.reference, made.time.words) == (True, "move=100 clock=reference")
            return
        with pytest.raises(Refusal, match=words):
            do(session, deed, NOW)
        others = {key: text for key, text in settings.items() if key != "machine"}
        do(session, CreateLadder(name="other", game="clobber", settings=others), NOW)
        with pytest.raises(Refusal, match=words):
            do(session, ChangeLadder("other", {"machine": settings["machine"]}), NOW)


@pytest.mark.parametrize(
    ("each", "ratios"),
    [
        ([], {}),
        ([{"one": 3.0}], {}),
        ([{"one": 3.0, "two": 3.0}], {"one": 1.0, "two": 1.0}),
        # Of two nobody knows which one is wrong; of three it is the odd one, by its octave.
        ([{"one": 3.0, "two": 4.0}], {"one": 0.5, "two": 2.0}),
        ([{"one": 3.0, "two": 3.0, "liar": 4.0}], {"one": 1.0, "two": 1.0, "liar": 2.0}),
        # A bot that goes its own way is outvoted by two others.
        (
            [{"one": 0.0, "two": 9.0}, {"one": 1.0, "two": 1.0}, {"one": 5.0, "two": 5.0}],
            {"one": 1.0, "two": 1.0},
        ),
    ],
)
def test_workers_are_compared_by_what_bots_got_done(
    each: list[dict[str, float]], ratios: dict[str, float]
) -> None:
    """The medians of workers count, and of bots."""
    assert speeds.compared(each) == pytest.approx(ratios, abs=5e-4)


@pytest.mark.parametrize("reference", [False, True])
def test_a_worker_that_lies_about_its_speed_is_found(
    sqlite_database: Database, reference: bool
) -> None:
    """It says to be half as fast as it is. By the nodes of a second, one of the bots tells: on the
    others as many as their speeds say. By the reference machine's clock it is found without them,
    by the other, which always thinks as far: it takes half of the time that it should.
    """
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with sqlite_database.begin() as session:
        session.scalars(sa.select(Ladder)).one().reference = reference
        session.execute(sa.delete(Check))
    machines = {"one": (1.0, 1.0), "half": (0.5, 0.5), "liar": (1.0, 0.5)}
    """How fast each is, and says to be."""
    for name, (_, says) in machines.items():
        sign(sqlite_database, name, replace(FAST, interpreted=says, compiled=says))
    for name in [name for name in machines for _ in range(speeds.LEAST_GAMES)]:
        with sqlite_database.begin() as session:
            match = next(matchmaking.new_matches(session, NOW))
            job = in_hand(session, match, SETTINGS, NOW)
        true, says = machines[name]
        stretch = (1 / says, 1 / says) if reference else ()
        told = reported(job, name, speeds=(says, says), stretch=stretch)
        games = tuple(thought(game, true, tells=not reference) for game in told.games)
        assert take(sqlite_database, replace(told, games=games)) == (leases.Fate.FIXED, "")
    with sqlite_database.read() as session:
        found = speeds.ratios(session)
        shown = WorkerList.now(session, SETTINGS, NOW, for_organisers=True).items
        (alarm,) = [
            one.words
            for one in alarms.find(session, SETTINGS, NOW)
            if "not to be believed" in one.words
        ]
    # Not to the last digit: games of an odd number of plies are not shared out evenly.
    assert found == pytest.approx({"one": 1.0, "half": 1.0, "liar": 2.0}, rel=0.15)
    assert {one.name: bool(one.doubt) for one in shown} == {
        "one": False,
        "half": False,
        "liar": True,
    }
    assert re.search(r"on it and on others, it is (1\.[6-9]|2(\.[0-3])?) times as fast", alarm)


def thought(game: GameRecord, speed: float, *, tells: bool) -> GameRecord:
    """A game of bots that look at 1000 nodes for every ply, in 10 ms at the speed of 1."""
    values = {"nodes": 1000.0} if tells else {}
    plies = tuple(
        ply if ply.cpu_us is None else ply._replace(cpu_us=round(10_000 / speed), values=values)
        for ply in game.plies
    )
    return replace(game, plies=plies)


@pytest.mark.parametrize(
    ("ladders", "machine", "reference"),
    [(True, None, True), (True, "own", False), (False, None, False), (False, "reference", True)],
)
def test_a_tournament_is_by_its_ladders_machine(
    sqlite_database: Database, ladders: bool, machine: str | None, reference: bool
) -> None:
    """Or by that which an organiser says; in a strength test nobody else may say another."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=2)
    with sqlite_database.begin() as session:
        session.scalars(sa.select(Ladder)).one().reference = ladders
        session.execute(sa.delete(Check))
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        cup = CreateTournament(
            name="cup", format=next(iter(FORMATS)), machine=machine, ladder="ladder-0"
        )
        assert do(session, cup, NOW).time == TimeControl(move_ms=100, reference=reference)
        test = CreateTest(candidate="bot-0", baseline="bot-1", ladder="ladder-0", machine=machine)
        organiser, somebody = (
            By(ARENA, frozenset(scopes), NOW, at_machine=False)
            for scopes in (Scope, {Scope.SUBMIT})
        )
        made = test.do(session, organiser).answer
        assert made.time.reference is reference
        if machine is not None:
            with pytest.raises(NotAllowed):
                test.do(session, somebody)
