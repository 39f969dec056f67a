"""The recorder's tasks: whatever a message says, nothing is lost in silence or tried for ever."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import undefer

from arena.ground.db import Database
from arena.models import Entrant, GameSeat, JobStatus, Match, PlayedGame, Worker
from arena.recorder.process import Recorder
from arena.schedule import leases, workers
from engine import jobs
from engine.messages import pack
from engine.process import BotProcess
from engine.program import Program
from engine.reporting import SignOfLife
from tests.arena.recorder.conftest import AGO, MATCH_SECONDS, the_match, worker_seconds
from tests.arena.recorder.spoiling import (
    FORGERIES,
    for_ever,
    games_of_another_kind,
    half_a_character,
    less_than_no_time,
    no_games,
    no_time,
)
from tests.arena.simulator import CALM, Simulation

SIGN: dict[str, Any] = SignOfLife("worker", 1, "good").to_json()


def test_a_report_is_recorded_once(database: Database, recorder: Recorder, report: Any) -> None:
    """The same message again changes nothing, and is not held against its worker."""
    data = report()
    for _ in range(2):
        recorder.tasks.record_match(data)
        assert the_match(database).status is JobStatus.FIXED
        assert the_match(database).attempt == 1
    assert worker_seconds(database) == MATCH_SECONDS
    with database.read() as session:
        assert session.get_one(Worker, "worker").failed == []


def test_no_more_time_is_believed_than_there_was(
    database: Database, recorder: Recorder, report: Any
) -> None:
    """A worker could starve a ladder otherwise: who had most of the time waits for the others."""
    began = datetime.now(UTC) - AGO
    recorder.tasks.record_match(report() | {"seconds": 1e9})
    assert 10 <= worker_seconds(database) <= (datetime.now(UTC) - began).total_seconds()


def test_no_more_of_a_log_is_kept_than_a_worker_of_ours_says(
    database: Database, recorder: Recorder, report: Any
) -> None:
    """A ladder's limit of 64 KiB of standard error, four times as much of other lines, and once
    of the lines exchanged, all of which is kept of a bot that fills all three."""
    data = report()
    data["logs"][0][0] = "the first line\n" + "x" * 2**20
    data["logs"][0][1] = full = full_log(2**16)
    recorder.tasks.record_match(data)
    with database.read() as session:
        kept = session.scalars(sa.select(GameSeat).options(undefer(GameSeat.log))).all()
        longest = max((seat.log for seat in kept), key=len)
        assert len(longest) == 6 * 2**16 + 1000
        assert longest.startswith("the first line\n")
        assert full in [seat.log for seat in kept]


def full_log(log_bytes: int) -> str:
    """What `engine.process` keeps of a bot that writes too much everywhere."""
    bot = BotProcess(no_program, log_bytes=log_bytes)
    bot._log.add(b"#" * 2**20)
    bot._errors.add(b"e" * 2**20)
    for _ in range(2**12):
        bot._exchange.tell("<", "l" * 100)
    log = bot.take_log()
    assert len(log) > 6 * log_bytes - 1000
    return log


def no_program() -> Program:
    raise AssertionError("nothing is started")


def test_a_worker_of_the_release_before(
    database: Database, recorder: Recorder, report: Any
) -> None:
    """It does not say how long a match took; its report counts."""
    data = report()
    del data["seconds"]
    recorder.tasks.record_match(data)
    assert the_match(database).status is JobStatus.FIXED
    assert worker_seconds(database) == 0


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (half_a_character, "it could not be recorded: .*surrogates"),
        (no_games, "0 games reported of a match of 2"),
        (games_of_another_kind, "no report of a match"),
        (no_time, "no time in seconds: 'NaN'"),
        (less_than_no_time, "no time in seconds: '-1000000000.0'"),
        (for_ever, "no time in seconds: 'inf'"),
    ],
)
def test_a_spoilt_report_brings_its_match_back(
    database: Database, recorder: Recorder, report: Any, spoil: Any, words: str
) -> None:
    """It does at once and with the reason; the third time it is set aside for the operator."""
    for failures in (1, 2, 3):
        data = report()
        spoil(data)
        for _ in range(2):
            recorder.tasks.record_match(data)
            match = the_match(database)
            assert match.failures == failures
            assert match.status is (JobStatus.SET_ASIDE if failures == 3 else JobStatus.OPEN)
            assert re.search(words, match.problem)


@pytest.mark.parametrize(("spoil", "words"), FORGERIES.items(), ids=FORGERIES.values())
def test_a_forged_report_is_held_against_its_worker(
    database: Database,
    recorder: Recorder,
    report: Any,
    spoil: Any,
    words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It changes no match, stands in the log, and counts as a failure of who sent it."""
    data = report()
    spoil(data)
    recorder.tasks.record_match(data)
    assert the_match(database).status is not JobStatus.FIXED
    with database.read() as session:
        worker = session.get_one(Worker, "worker")
        assert words in worker.problem
        assert len(worker.failed) == 1
        assert session.scalar(sa.select(sa.func.count()).select_from(PlayedGame)) == 0
    assert re.search("attempt . of worker: (forged, )?refused", caplog.text)


def test_a_late_report_is_not_held_against_its_worker(
    database: Database, recorder: Recorder, report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever was cut off for longer than a lease did no wrong, and is not listened to."""
    late = report()
    with database.begin() as session:
        match = session.scalars(sa.select(Match)).one()
        leases.roll_back(match, "not heard of", failed=False)
    report()
    with caplog.at_level("INFO"):
        recorder.tasks.record_match(late)
    assert the_match(database).status is JobStatus.ISSUED
    with database.read() as session:
        assert session.get_one(Worker, "worker").failed == []
    assert "attempt 1 of worker: stale, ignored" in caplog.text


def test_an_unknown_worker_is_not_believed(
    database: Database, recorder: Recorder, report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Who never gave a sign of life plays nothing."""
    data = report()
    data["worker"] = "stranger"
    recorder.tasks.record_match(data)
    assert the_match(database).status is JobStatus.OPEN
    assert "there is no worker 'stranger'" in caplog.text


def test_a_worker_writes_no_lines_of_the_log(
    recorder: Recorder, report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Its words stand on the line that tells of it, and command no terminal."""
    problem = "it failed\nERROR: a line\x1b[2J"
    recorder.tasks.record_void({"lease": report()["lease"], "problem": problem})
    (line,) = (one.getMessage() for one in caplog.records if "it failed" in one.getMessage())
    assert line.endswith(r": rolled back: it failed\nERROR: a line\x1b[2J")


@pytest.mark.parametrize("word", ["failed", "understood"])
def test_a_job_that_no_worker_knows_waits(
    database: Database, recorder: Recorder, report: Any, word: str
) -> None:
    """However often a worker of another release refuses it; it is no failure of the match."""
    for _ in range(5):
        refusal = {"lease": report()["lease"], "problem": "a job of format 0", word: False}
        recorder.tasks.record_void(refusal)
        match = the_match(database)
        assert (match.status, match.failures) == (JobStatus.OPEN, 0)
    assert match.problem == "a job of format 0"


@pytest.mark.parametrize("data", [{}, {"lease": None}, {"lease": {"kind": "match"}}, [], None, "x"])
def test_what_is_no_message_is_dropped(
    recorder: Recorder, data: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """With a line in the log."""
    recorder.tasks.inbox._client.lpush(jobs.RESULTS_QUEUE, pack(jobs.RECORD_MATCH, data))
    assert recorder.tasks.turn()
    assert "dropped that can't be read" in caplog.text
    assert recorder.writer.counted["unreadable"] == 1


def test_a_tick_keeps_better_ranks(database: Database, recorder: Recorder) -> None:
    """The first one after a start at once, and not every one after it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x4"})], bots=2)
    with database.begin() as session:
        session.execute(sa.update(Entrant).values(games=20, wins=20))
    query = sa.select(Entrant.best_rank).order_by(Entrant.id)
    for _ in range(2):
        recorder.tick()
        with database.begin() as session:
            assert session.scalars(query).all() == [1, 2]
            session.execute(sa.update(Entrant).values(mu=Entrant.id))


@pytest.mark.parametrize(
    ("task", "told"),
    [
        (jobs.WORKER_ALIVE, {**SIGN, "languages": ["x" * 3_000_000]}),
        (jobs.WORKER_ALIVE, {**SIGN, "slots": "many"}),
        (jobs.JOB_STARTED, {"worker": "worker", "lease": {"kind": "match"}}),
        (jobs.RECORD_VOID, {"worker": "worker", "lease": 7}),
        (jobs.BOT_BUILT, {"worker": "worker", "lease": 7}),
    ],
)
def test_who_says_what_no_worker_says_has_it_held_against(
    database: Database, recorder: Recorder, report: Any, task: str, told: dict[str, Any]
) -> None:
    """It is dropped, and what was known of the worker stays."""
    report()
    recorder.tasks.inbox._client.lpush(jobs.RESULTS_QUEUE, pack(task, told))
    recorder.tasks.turn()
    with database.read() as session:
        worker = session.get_one(Worker, "worker")
        assert worker.failed == [{"job": f"message {task}", "against": True}]
        assert f"said what can't be read of {task}" in worker.problem
        assert worker.languages == []
    assert recorder.writer.counted["unreadable"] == 1


def test_signs_of_before_keep_no_report_waiting(
    database: Database, recorder: Recorder, report: Any
) -> None:
    """A heap of them in its queue is noted together, the last of each worker and of each match."""
    begun = []
    client = recorder.tasks.inbox._client
    said = report()
    signs = [SIGN | {"worker": f"box{n % 20}", "slots": n} for n in range(600)]
    moves = [["1:a1b1"] * n for n in range(1, 200)]
    under_way = {"lease": said["lease"], "progress": {"game": 1, "moves": [], "findings": []}}
    client.lpush(
        jobs.RESULTS_QUEUE,
        *(pack(jobs.WORKER_ALIVE, sign) for sign in signs),
        *(pack(jobs.MATCH_PROGRESS, _with_moves(under_way, its)) for its in moves),
    )
    sa.event.listen(recorder.writer.database.engine, "begin", begun.append)
    recorder.tasks.turn()
    assert len(begun) == 1
    assert recorder.writer.counted == {"noted": len(signs) + len(moves)}
    with database.read() as session:
        found = {one.name: one.slots for one in session.scalars(sa.select(Worker))}
        assert found == {sign["worker"]: sign["slots"] for sign in signs} | {"worker": 0}
        assert session.scalars(sa.select(Match)).one().progress["moves"] == moves[-1]
    client.lpush(
        jobs.RESULTS_QUEUE,
        *(pack(jobs.WORKER_ALIVE, sign) for sign in signs[:100]),
        pack(jobs.RECORD_MATCH, said),
        *(pack(jobs.WORKER_ALIVE, sign) for sign in signs[:100]),
    )
    begun.clear()
    recorder.tasks.turn()
    assert len(begun) == 2
    assert recorder.writer.counted["fixed"] == 1
    assert client.llen(jobs.RESULTS_QUEUE) == 0


def test_nonsense_keeps_no_report_waiting(
    database: Database, recorder: Recorder, report: Any
) -> None:
    """Whatever lies between what can't be read is taken in together, and so is what it tells."""
    begun = []
    client = recorder.tasks.inbox._client
    said = report()
    nonsense = [
        pack(jobs.MATCH_PROGRESS, {"lease": None, "worker": "worker"}),
        pack(jobs.JOB_STARTED, {"worker": "worker"}),
        pack(jobs.WORKER_ALIVE, {"worker": "worker", "slots": "many"}),
        pack(jobs.MATCH_PROGRESS),
    ]
    begins = pack(jobs.JOB_STARTED, {"lease": said["lease"], "worker": "worker"})
    client.lpush(
        jobs.RESULTS_QUEUE,
        *(one for n in range(100) for one in (*nonsense, pack(jobs.WORKER_ALIVE, SIGN), begins)),
        pack(jobs.RECORD_MATCH, said),
    )
    sa.event.listen(recorder.writer.database.engine, "begin", begun.append)
    recorder.tasks.turn()
    assert len(begun) == 3  # signs, the report, and against whom nonsense speaks
    assert recorder.writer.counted == {"fixed": 1, "unreadable": 400, "noted": 200}
    assert client.llen(jobs.RESULTS_QUEUE) == 0
    with database.read() as session:
        told = sorted(one["job"] for one in session.get_one(Worker, "worker").failed)
    assert told == sorted(
        f"message {task}" for task in (jobs.JOB_STARTED, jobs.MATCH_PROGRESS, jobs.WORKER_ALIVE)
    )


def _with_moves(told: dict[str, Any], moves: list[str]) -> dict[str, Any]:
    return told | {"progress": told["progress"] | {"moves": moves}}


def test_invented_workers_are_refused_together(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Each is counted, and a line tells of all that were read together."""
    monkeypatch.setattr(workers, "MOST_WORKERS", 3)
    signs = [SIGN | {"worker": f"box{n}"} for n in range(300)]
    client = recorder.tasks.inbox._client
    client.lpush(jobs.RESULTS_QUEUE, *(pack(jobs.WORKER_ALIVE, sign) for sign in signs))
    recorder.tasks.turn()
    assert recorder.writer.counted == {"noted": 3, "refused": 297}
    assert len([1 for one in caplog.messages if "a sign of life was dropped" in one]) == 1
