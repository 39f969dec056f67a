"""What becomes of a word of a worker's about a match: whose it is, and what it changes there."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Check, JobStatus, Ladder, Match, PlayedGame, User, Worker
from arena.recorder import noting, recording
from arena.schedule import matchmaking
from arena.schedule.leases import Fate
from engine import jobs
from engine.reporting import MatchReport, Progress, Started
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START, Simulation, give_sign, report_of

SETTINGS = Settings()
LATER = START + timedelta(seconds=5)


@pytest.fixture
def arena(sqlite_database: Database) -> Database:
    """A ladder of two bots, and two workers."""
    Simulation(sqlite_database, 0, CALM).furnish([("mijnlieff", {"size": "4x4"})], bots=2)
    with sqlite_database.begin() as session:
        session.execute(sa.delete(Check))
        for name in ("one", "two"):
            give_sign(session, name, START, slots=1)
    return sqlite_database


def issued_match(arena: Database, *, asked: bool = False) -> jobs.Job:
    """A new match, which nobody has taken up.

    Args:
        asked: whether somebody asked for it, so that it is not rated.
    """
    with arena.begin() as session:
        match = next(matchmaking.new_matches(session, START))
        if asked:
            match.rated, match.requester_id = False, session.scalars(sa.select(User.id)).first()
        session.flush()
        job = issued(session, match, SETTINGS, START)
    assert isinstance(job, jobs.Job)
    return job


def take_in(arena: Database, told: MatchReport | Started | Progress) -> list[Fate]:
    """What becomes of it."""
    with arena.begin() as session:
        if isinstance(told, MatchReport):
            return recording.take_in(session, [told], SETTINGS, LATER)
        return noting.note(session, [told], SETTINGS, LATER)


def look(arena: Database, job: jobs.Job) -> Match:
    """The match of a job."""
    with arena.read() as session:
        return session.get_one(Match, job.lease.job)


@pytest.mark.parametrize("played", [False, True], ids=["begun", "played"])
def test_who_is_set_aside_takes_nothing_up(arena: Database, played: bool) -> None:
    """Another gets the match, though this one says that it has played it already."""
    job = issued_match(arena)
    with arena.begin() as session:
        session.get_one(Worker, "one").set_aside = START
    told = report_of(job, "one") if played else Started(job.lease, "one")
    assert take_in(arena, told) == [Fate.STALE]
    match = look(arena, job)
    assert (match.status, match.worker, match.failures) == (JobStatus.OPEN, None, 0)
    with arena.read() as session:
        assert session.scalars(sa.select(PlayedGame)).all() == []


def test_who_was_set_aside_since_may_finish(arena: Database) -> None:
    """What it took up before it is recorded: the rules confirm it."""
    job = issued_match(arena)
    assert take_in(arena, Started(job.lease, "one")) == [Fate.NOTED]
    with arena.begin() as session:
        session.get_one(Worker, "one").set_aside = START
    assert take_in(arena, report_of(job, "one")) == [Fate.FIXED]


def test_a_word_of_progress_renews_the_lease(arena: Database) -> None:
    """And says which game is running, and its moves."""
    job = issued_match(arena)
    moves = ("1:b2", "2:c3")
    told = [Started(job.lease, "one"), Progress(job.lease, game=1, moves=moves)]
    assert take_in(arena, told[0]) == [Fate.NOTED]
    with arena.begin() as session:
        session.get_one(Match, job.lease.job).lease_ends = START
    assert take_in(arena, told[1]) == [Fate.NOTED]
    match = look(arena, job)
    assert match.lease_ends == LATER + timedelta(seconds=SETTINGS.lease_seconds)
    assert match.progress == {"game": 1, "moves": list(moves)}
    assert take_in(arena, report_of(job, "one")) == [Fate.FIXED]
    assert look(arena, job).progress is None


@pytest.mark.parametrize("said", [True, False], ids=["taken up", "not said"])
def test_a_match_is_that_workers_who_took_it_up(arena: Database, said: bool) -> None:
    """A lie is held against it, and a success is its own; who reports is written down."""
    taker = "one" if said else "two"
    for lie in (True, False):
        job = issued_match(arena)
        if said:
            assert take_in(arena, Started(job.lease, "one")) == [Fate.NOTED]
        told = report_of(job, "two")
        if lie:
            assert take_in(arena, replace(told, games=told.games * 2)) == [Fate.REFUSED]
            with arena.read() as session:
                blamed = {one.name: one.problem for one in session.scalars(sa.select(Worker))}
                assert "4 games reported of a match of 2" in blamed.pop(taker)
                assert list(blamed.values()) == [""]
                assert [entry["job"] for entry in session.get_one(Worker, taker).failed] == [
                    f"match {job.lease.job}"
                ]
        else:
            assert take_in(arena, told) == [Fate.FIXED]
            assert look(arena, job).played_by == "two"
            with arena.read() as session:
                assert session.get_one(Worker, taker).failed == []


@pytest.mark.parametrize(
    ("games", "logs", "words"),
    [
        (slice(1), slice(2), "1 game reported of a match of 2"),
        (slice(2), slice(1), "the logs of 1 game reported of a match of 2"),
    ],
)
def test_a_report_is_of_the_whole_match(
    arena: Database, games: slice, logs: slice, words: str
) -> None:
    """No less than was issued."""
    job = issued_match(arena)
    told = report_of(job, "one")
    short = replace(told, games=told.games[games], logs=told.logs[logs])
    assert take_in(arena, short) == [Fate.REFUSED]
    match = look(arena, job)
    assert words in match.problem
    assert (match.status, match.failures) == (JobStatus.OPEN, 1)


@pytest.mark.parametrize(
    ("opening", "logs", "words"),
    [
        (-1, 0, "game 1 is not the one that was issued"),
        (1, 0, "game 1 is not the one that was issued"),
        (0, 1, "game 1 has 3 logs"),
        (0, -1, "game 1 has 1 logs"),
    ],
)
def test_a_game_is_as_it_was_issued(arena: Database, opening: int, logs: int, words: str) -> None:
    """Its opening has as many moves, and there is a log for each seat."""
    job = issued_match(arena)
    told = report_of(job, "one")
    first, second = told.games
    words_of = (*told.logs[0], "more")[: 2 + logs]
    games = (replace(first, opening=first.opening + opening), second)
    assert take_in(arena, replace(told, games=games, logs=(words_of, told.logs[1]))) == [
        Fate.REFUSED
    ]
    assert words in look(arena, job).problem


def test_what_a_ladder_counts(arena: Database) -> None:
    """Games, and how many of them were ties, by the ranks that the rules give; time as it was."""
    tied: list[bool] = []
    for _ in range(8):
        job = issued_match(arena)
        told = report_of(job, "one", seconds=1.5)
        assert take_in(arena, told) == [Fate.FIXED]
        tied += [game.ranks == (1, 1) for game in told.games]
    assert 0 < sum(tied) < len(tied)
    with arena.read() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        assert (ladder.games, ladder.neighbours, ladder.ties) == (16, 16, sum(tied))
        assert ladder.worker_seconds == 8 * 1.5


def test_a_clock_that_was_put_back_takes_no_time_away(arena: Database) -> None:
    """A match that seems to be made after it was recorded cost its ladder nothing."""
    job = issued_match(arena)
    with arena.begin() as session:
        session.get_one(Match, job.lease.job).created = LATER + timedelta(hours=1)
    assert take_in(arena, report_of(job, "one", seconds=1.5)) == [Fate.FIXED]
    with arena.read() as session:
        assert session.scalars(sa.select(Ladder)).one().worker_seconds == 0


def test_what_is_not_rated_counts_nowhere(arena: Database) -> None:
    """It is played and kept; no rating moves, and no table knows of it."""
    job = issued_match(arena, asked=True)
    assert take_in(arena, report_of(job, "one")) == [Fate.FIXED]
    with arena.read() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        assert (ladder.games, ladder.neighbours, ladder.last_game) == (0, 0, None)
        match = session.get_one(Match, job.lease.job)
        assert len(match.games) == 2
        for place in match.places:
            assert (place.entrant.games, place.entrant.mu) == (0, 25.0)
            assert place.entrant.last_game is None
