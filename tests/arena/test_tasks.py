"""The recorder's tasks: whatever a message says, nothing is lost in silence or tried for ever."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec, module_from_spec
from itertools import islice
from math import inf
from types import ModuleType
from typing import Any

import pytest
import redis
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import undefer

from arena import inbox, rebuild, scheduling
from arena.broker import EmbeddedBroker
from arena.config import Settings
from arena.db import Database
from arena.dispatch import WAKE
from arena.health import TICK_MARK
from arena.models import (
    Competition,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Mark,
    Match,
    PlayedGame,
    Worker,
)
from engine import jobs, reporting
from engine.match import play_match
from engine.openings import opening
from engine.record import GameRecord
from engine.referee import play_game
from tests.arena.running import short_folder, until
from tests.arena.simulator import CALM, LotPlayer, Simulation, give_sign


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    """The address of a broker."""
    with short_folder() as folder:
        embedded = EmbeddedBroker(folder)
        process = subprocess.Popen(embedded.prepare(), stdout=subprocess.DEVNULL)
        try:
            until(embedded.answers, "the broker's start")
            yield embedded.url
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def queue(broker: str) -> Iterator[redis.Redis]:
    """What is in the broker: nothing yet."""
    with redis.Redis(unix_socket_path=broker.removeprefix("redis+socket://")) as client:
        client.flushall()
        yield client


@pytest.fixture
def recorder(
    database: Database, broker: str, queue: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleType]:
    """The module of the recorder's tasks, as a recorder on this database has it."""
    monkeypatch.setenv("ARENA_DATABASE", database.url)
    monkeypatch.setenv("ARENA_BROKER", broker)
    monkeypatch.setattr(inbox, "PACE_SECONDS", 0.05)
    # Celery gives every app of a process the tasks of all, of earlier recorders too.
    monkeypatch.setattr("celery._state._on_app_finalizers", set())
    spec = find_spec("arena.tasks")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    module.inbox().close()
    module.database().close()


@pytest.fixture
def report(database: Database) -> Iterator[Any]:
    """Issues the next match anew, and gives what its worker says of it."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x4"})], bots=2)
    with database.begin() as session:
        give_sign(session, "worker", datetime.now(UTC), slots=0)

    def next_report() -> dict[str, Any]:
        now = datetime.now(UTC) - AGO
        with database.begin() as session:
            match = session.scalar(sa.select(Match)) or next(
                scheduling.new_matches(session, now), None
            )
            assert match is not None
            return played(scheduling.issue(session, match, Settings(), now))

    return next_report


@pytest.fixture
def reports(database: Database, report: Any) -> list[dict[str, Any]]:
    """What is said of several matches."""
    now = datetime.now(UTC)
    with database.begin() as session:
        made = islice(scheduling.new_matches(session, now), SEVERAL)
        return [played(scheduling.issue(session, match, Settings(), now)) for match in made]


def played(job: jobs.AnyJob) -> dict[str, Any]:
    """What the worker says of a match."""
    assert isinstance(job, jobs.Job)
    result = play_match(job.spec, lambda _: LotPlayer())
    told = reporting.MatchReport(job.lease, "worker", result.games, result.logs, MATCH_SECONDS)
    return json.loads(json.dumps(told.to_json()))


SEVERAL, MATCH_SECONDS = 6, 1.25
AGO = timedelta(seconds=10)
"""Since then a match is under way."""


def the_match(database: Database) -> Match:
    with database.read() as session:
        return session.scalars(sa.select(Match)).one()


def worker_seconds(database: Database) -> float:
    with database.read() as session:
        return sum(session.scalars(sa.select(Competition.worker_seconds)))


def test_a_report_is_recorded_once(database: Database, recorder: ModuleType, report: Any) -> None:
    """The same message again changes nothing."""
    data = report()
    for _ in range(2):
        recorder.record_match(data)
        assert the_match(database).status is JobStatus.FIXED
        assert the_match(database).attempt == 1
    assert worker_seconds(database) == MATCH_SECONDS


def test_no_more_time_is_believed_than_there_was(
    database: Database, recorder: ModuleType, report: Any
) -> None:
    """A worker could starve a ladder otherwise: who had most of the time waits for the others."""
    began = datetime.now(UTC) - AGO
    recorder.record_match(report() | {"seconds": 1e9})
    assert 10 <= worker_seconds(database) <= (datetime.now(UTC) - began).total_seconds()


def test_no_more_of_a_log_is_kept_than_a_worker_of_ours_says(
    database: Database, recorder: ModuleType, report: Any
) -> None:
    """A ladder's limit of 64 KiB of standard error, and four times as much of other lines."""
    data = report()
    data["logs"][0][0] = "x" * 2**20
    recorder.record_match(data)
    with database.read() as session:
        kept = session.scalars(sa.select(GameSeat).options(undefer(GameSeat.log))).all()
        assert max(len(seat.log) for seat in kept) == 5 * 2**16 + 1000


def test_a_worker_of_the_release_before(
    database: Database, recorder: ModuleType, report: Any
) -> None:
    """It does not say how long a match took; its report counts."""
    data = report()
    del data["seconds"]
    recorder.record_match(data)
    assert the_match(database).status is JobStatus.FIXED
    assert worker_seconds(database) == 0


def half_a_character(data: dict[str, Any]) -> None:
    """No database keeps that, and no rule of the game refutes it."""
    data["logs"][0][0] = "\ud800"


def no_games(data: dict[str, Any]) -> None:
    data["games"] = []


def games_of_another_kind(data: dict[str, Any]) -> None:
    data["games"] = 7


def no_time(data: dict[str, Any]) -> None:
    data["seconds"] = "NaN"


def less_than_no_time(data: dict[str, Any]) -> None:
    data["seconds"] = -1e9


def for_ever(data: dict[str, Any]) -> None:
    data["seconds"] = inf


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
    database: Database, recorder: ModuleType, report: Any, spoil: Any, words: str
) -> None:
    """At once and with the reason; the third time the match is set aside for the operator."""
    for failures in (1, 2, 3):
        data = report()
        spoil(data)
        for _ in range(2):
            recorder.record_match(data)
            match = the_match(database)
            assert match.failures == failures
            assert match.status is (JobStatus.SET_ASIDE if failures == 3 else JobStatus.OPEN)
            assert re.search(words, match.problem)


def another_ticket(data: dict[str, Any]) -> None:
    data["lease"]["ticket"] = "0" * 32


def no_ticket(data: dict[str, Any]) -> None:
    data["lease"]["ticket"] = "\N{SNOWMAN}"


def attempt_to_come(data: dict[str, Any]) -> None:
    data["lease"]["attempt"] += 1


def nobodys_match(data: dict[str, Any]) -> None:
    data["lease"]["job"] += 1000


def another_winner(data: dict[str, Any]) -> None:
    for game in data["games"]:
        game["scores"].reverse()
        game["ranks"].reverse()


def a_game_of_its_own(data: dict[str, Any]) -> None:
    data["games"][0]["seed"] += 1


def a_text_too_long(data: dict[str, Any]) -> None:
    data["games"][0]["texts"] = {"0": "x" * 5000}


def a_text_for_terminals(data: dict[str, Any]) -> None:
    data["games"][1]["texts"] = {"0": "\x1b[2J"}


def values_with_odd_names(data: dict[str, Any]) -> None:
    data["games"][0]["values"] = {"0": {"x" * 1000: 1.0}}


def values_too_many(data: dict[str, Any]) -> None:
    """The protocol has sixteen of a ply kept."""
    data["games"][1]["values"] = {"0": {f"n{number}": 1.0 for number in range(17)}}


def a_box_of_many_words(data: dict[str, Any]) -> None:
    data["games"][0]["run"]["isolation"] = "full" * 100


def another_opening(data: dict[str, Any]) -> None:
    """A game by the rules, of the right bots, but not from where they were to begin."""
    game = GameRecord.from_json(data["games"][1])
    start = opening(game.variant, 1, plies=game.opening)
    assert start.moves != game.moves[: game.opening]
    forged = play_game(
        game.variant,
        [LotPlayer(), LotPlayer()],
        time=game.time,
        seed=game.seed,
        opening=start.moves,
        names=game.players,
    )
    data["games"][1] = forged.to_json()


def a_log_too_few(data: dict[str, Any]) -> None:
    data["logs"][1].pop()


def logs_of_one_game(data: dict[str, Any]) -> None:
    data["logs"].pop()


def logs_of_three_games(data: dict[str, Any]) -> None:
    data["logs"].append(data["logs"][0])


FORGERIES = {
    a_text_too_long: "game 1 is refuted by the rules: at ply 0: no bot can say such a text",
    a_text_for_terminals: "game 2 is refuted by the rules: at ply 0: no bot can say such a text",
    values_with_odd_names: "game 1 is refuted by the rules: at ply 0: no bot can give such values",
    values_too_many: "game 2 is refuted by the rules: at ply 0: no bot can give such values",
    a_box_of_many_words: "its beginning or its isolation has too many words",
    another_ticket: "the ticket is wrong",
    no_ticket: "the ticket is wrong",
    attempt_to_come: "its attempt 2 was never issued",
    nobodys_match: "it was never made",
    another_winner: "game 1 is refuted by the rules",
    a_game_of_its_own: "game 1 is not the one that was issued",
    another_opening: "game 2 is not the one that was issued",
    a_log_too_few: "game 2 has 1 logs",
    logs_of_one_game: "the logs of 1 game reported of a match of 2",
    logs_of_three_games: "the logs of 3 games reported of a match of 2",
}


@pytest.mark.parametrize(("spoil", "words"), FORGERIES.items(), ids=FORGERIES.values())
def test_a_forged_report_is_held_against_its_worker(
    database: Database,
    recorder: ModuleType,
    report: Any,
    spoil: Any,
    words: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It changes no match, stands in the log, and counts as a failure of who sent it."""
    data = report()
    spoil(data)
    recorder.record_match(data)
    assert the_match(database).status is not JobStatus.FIXED
    with database.read() as session:
        worker = session.get_one(Worker, "worker")
        assert words in worker.problem
        assert len(worker.failed) == 1
        assert session.scalar(sa.select(sa.func.count()).select_from(PlayedGame)) == 0
    assert re.search("attempt . of worker: (forged, )?refused", caplog.text)


def test_a_late_report_is_not_held_against_its_worker(
    database: Database, recorder: ModuleType, report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever was cut off for longer than a lease did no wrong, and is not listened to."""
    late = report()
    with database.begin() as session:
        match = session.scalars(sa.select(Match)).one()
        scheduling.roll_back(match, "not heard of", failed=False)
    report()
    with caplog.at_level("INFO"):
        recorder.record_match(late)
    assert the_match(database).status is JobStatus.ISSUED
    with database.read() as session:
        assert session.get_one(Worker, "worker").failed == []
    assert "attempt 1 of worker: stale, ignored" in caplog.text


def test_an_unknown_worker_is_not_believed(
    database: Database, recorder: ModuleType, report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Who never gave a sign of life plays nothing."""
    data = report()
    data["worker"] = "stranger"
    recorder.record_match(data)
    assert the_match(database).status is JobStatus.OPEN
    assert "there is no worker 'stranger'" in caplog.text


def test_a_worker_writes_no_lines_of_the_log(
    recorder: ModuleType, report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Its words stand on the line that tells of it, and command no terminal."""
    problem = "it failed\nERROR: a line\x1b[2J"
    recorder.record_void({"lease": report()["lease"], "problem": problem})
    (line,) = (one.getMessage() for one in caplog.records if "it failed" in one.getMessage())
    assert line.endswith(r": rolled back: it failed\nERROR: a line\x1b[2J")


@pytest.mark.parametrize("word", ["failed", "understood"])
def test_a_job_that_no_worker_knows_waits(
    database: Database, recorder: ModuleType, report: Any, word: str
) -> None:
    """However often a worker of another release refuses it; it is no failure of the match."""
    for _ in range(5):
        refusal = {"lease": report()["lease"], "problem": "a job of format 0", word: False}
        recorder.record_void(refusal)
        match = the_match(database)
        assert (match.status, match.failures) == (JobStatus.OPEN, 0)
    assert match.problem == "a job of format 0"


@pytest.mark.parametrize("data", [{}, {"lease": None}, {"lease": {"kind": "match"}}, [], None, "x"])
def test_what_is_no_message_is_dropped(
    recorder: ModuleType, data: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """With a line in the log."""
    recorder.record_match(data)
    assert "a message without a lease was dropped" in caplog.text


def test_a_tick_keeps_better_ranks(database: Database, recorder: ModuleType) -> None:
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


@contextmanager
def altered(url: str, database: Database, now: str, later: str) -> Iterator[sa.Engine]:
    """A database that is altered, and altered again half a second later; the server's own engine.

    Args:
        url: of the server.
    """
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT")

    def alter(words: str) -> None:
        with admin.connect() as connection:
            connection.exec_driver_sql(f"ALTER DATABASE {database.engine.url.database} {words}")

    alter(now)
    again = threading.Timer(0.5, alter, [later])
    again.start()
    try:
        yield admin
    finally:
        again.join()
        admin.dispose()


@pytest.mark.parametrize("pauses", [(0.1, 1), (0.05, 0.1)], ids=["a moment", "long"])
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_is_away_is_waited_for(
    database: Database,
    recorder: ModuleType,
    report: Any,
    postgres_url: str,
    pauses: tuple[float, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its server refuses everybody, maybe for longer than all tries take; the report is kept."""
    monkeypatch.setattr(recorder, "PAUSES", pauses)
    data = report()
    recorder.tick()
    allow = "ALLOW_CONNECTIONS {}".format
    with altered(postgres_url, database, allow("false"), allow("true")) as admin:
        with admin.connect() as connection:
            query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            connection.exec_driver_sql(query, (database.engine.url.database,))
        recorder.record_match(data)
    assert the_match(database).status is JobStatus.FIXED


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_only_reads_is_waited_for(
    database: Database,
    recorder: ModuleType,
    report: Any,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As while one server takes over from another; connections to the old one are given up."""
    monkeypatch.setattr(recorder, "PAUSES", (0.05, 0.1))
    data = report()
    recorder.tick()
    recorder.database().close()
    only_read = "SET default_transaction_read_only = {}".format
    with altered(postgres_url, database, only_read("on"), only_read("off")):
        recorder.record_match(data)
    assert the_match(database).status is JobStatus.FIXED


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_that_goes_away_during_a_check_is_waited_for(
    database: Database, recorder: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check takes long, so that this is when it happens."""
    monkeypatch.setattr(recorder, "PAUSES", (0.05, 0.1))
    simulation = Simulation(database, 0, CALM)
    simulation.furnish([("clobber", {"size": "4x4"})], bots=2)
    ended = []

    def end(*told: Any) -> None:
        if "FROM entrant" in told[2] and "entered_after" in told[2] and not ended:
            with database.engine.connect() as other:
                query = "SELECT pg_terminate_backend(%s)"
                ended.append(other.exec_driver_sql(query, (told[1].connection.info.backend_pid,)))

    created = datetime.now(UTC) - timedelta(days=9)
    with database.begin() as session:
        session.execute(sa.update(Competition).values(created=created))
    sa.event.listen(recorder.database().engine, "before_cursor_execute", end)
    recorder.tick()
    assert ended
    with database.read() as session:
        assert session.scalar(sa.select(Competition.checked))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("gone", "stopping"),
    [(["game"], None), (["game", "alembic_version"], 0)],
    ids=["of a database that takes others", "when the recorder is to end"],
)
def test_what_fails_is_not_tried_for_ever(
    database: Database,
    recorder: ModuleType,
    report: Any,
    gone: list[str],
    stopping: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The recorder gives a message up, and goes on with the next one or ends."""
    monkeypatch.setattr(recorder, "PAUSES", (0.01,))
    monkeypatch.setattr("celery.worker.state.should_stop", stopping)
    data = report()
    with database.begin() as session:
        for table in gone:
            session.execute(sa.text(f"ALTER TABLE {table} RENAME TO gone_{table}"))
    with pytest.raises(OperationalError):
        recorder.record_match(data)


def send(recorder: ModuleType, task: str, *args: Any, **options: Any) -> None:
    """Sends a message to the queue of results."""
    recorder.app.send_task(task, args, queue=jobs.RESULTS_QUEUE, **options)


def in_order(database: Database) -> list[int]:
    """The matches that are fixed, in the order of completion."""
    with database.read() as session:
        fixed = sa.select(Match.id).where(Match.status == JobStatus.FIXED)
        return list(session.scalars(fixed.order_by(Match.seq)))


def left(queue: redis.Redis) -> list[bytes]:
    """What the broker still has, but for the names of its queues."""
    return [key for key in queue.scan_iter() if not key.startswith(b"_kombu.binding")]


def test_what_waits_is_recorded_together(
    database: Database, recorder: ModuleType, reports: Any, queue: redis.Redis
) -> None:
    """In its order and by one transaction; as ratings made anew from the games say, too."""
    order = [reports[index] for index in (3, 0, 5, 1, 4, 2)]
    for data in order[1:]:
        started = {"lease": data["lease"], "worker": "worker"}
        send(recorder, jobs.JOB_STARTED, started)
        send(recorder, jobs.MATCH_PROGRESS, {**started, "progress": PROGRESS})
        send(recorder, jobs.RECORD_MATCH, data)
    begun = []
    sa.event.listen(recorder.database().engine, "begin", begun.append)
    recorder.record_match(order[0])
    assert len(begun) == 1
    assert in_order(database) == [data["lease"]["job"] for data in order]
    assert left(queue) == []
    with database.read() as session:
        (ladder,) = session.scalars(sa.select(Ladder))
        assert rebuild.rebuild(session, ladder, write=False).equal


PROGRESS = {"game": 0, "moves": ["1:a1b1"], "findings": []}


def test_what_follows_soon_is_waited_for(
    database: Database, recorder: ModuleType, reports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One alone is recorded at once; the next ones together, until somebody waits for an answer."""
    waited: list[float] = []
    to_come = [(jobs.RECORD_MATCH, reports[2]), (jobs.RECORD_MATCH, reports[3]), (WAKE,)]

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        send(recorder, *to_come[len(waited) - 1])

    monkeypatch.setattr(inbox.time, "sleep", sleep)
    monkeypatch.setattr(inbox, "PACE_SECONDS", 60.0)
    recorder.record_match(reports[0])
    assert waited == []
    begun = []
    sa.event.listen(recorder.database().engine, "begin", begun.append)
    recorder.record_match(reports[1])
    assert waited == [inbox.GLANCE_SECONDS] * len(to_come)
    # Of the reports, and of what a person who waits brings about.
    assert len(begun) == 2
    assert in_order(database) == [data["lease"]["job"] for data in reports[:4]]


def test_what_does_not_follow_is_not_waited_for(
    database: Database, recorder: ModuleType, reports: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not beyond the pace."""
    monkeypatch.setattr(inbox, "PACE_SECONDS", 0.5)
    began = time.monotonic()
    recorder.record_match(reports[0])
    recorder.record_match(reports[1])
    assert 0.5 <= time.monotonic() - began < 10
    assert in_order(database) == [data["lease"]["job"] for data in reports[:2]]


@pytest.mark.parametrize(
    "spoil", [half_a_character, no_games, games_of_another_kind, another_ticket, another_winner]
)
def test_a_spoilt_report_spoils_no_other(
    database: Database, recorder: ModuleType, reports: Any, queue: redis.Redis, spoil: Any
) -> None:
    """Whatever comes together with it is recorded, once."""
    spoil(reports[2])
    for data in reports[1:] * 2:
        send(recorder, jobs.RECORD_MATCH, data)
    recorder.record_match(reports[0])
    numbers = [data["lease"]["job"] for data in reports]
    assert in_order(database) == [*numbers[:2], *numbers[3:]]
    assert left(queue) == []


def test_what_is_no_message_spoils_no_other(
    database: Database, recorder: ModuleType, reports: Any, queue: redis.Redis
) -> None:
    """A worker's login may write anything into the queue."""
    queue.lpush(jobs.RESULTS_QUEUE, "no JSON")
    recorder.record_match(reports[0])
    for task in ("arena.no_such_task", "celery.group", jobs.RECORD_VOID, jobs.JOB_STARTED):
        send(recorder, task, 1, 2, 3)
    send(recorder, jobs.RECORD_MATCH, serializer="yaml")
    send(recorder, jobs.RECORD_MATCH, {"half": "a message"})
    send(recorder, jobs.RECORD_MATCH, reports[2])
    recorder.record_match(reports[1])
    assert in_order(database) == [data["lease"]["job"] for data in reports[:3]]
    assert left(queue) == []


def test_a_tick_that_is_too_late_is_none(
    database: Database, recorder: ModuleType, reports: Any
) -> None:
    """A recorder that was away must not find a heap of them; one that is in time is done."""
    for seconds, marks in ((-1, 0), (60, 1)):
        send(recorder, "arena.tick", expires=datetime.now(UTC) + timedelta(seconds=seconds))
        recorder.record_match(reports.pop())
        with database.read() as session:
            assert len(session.scalars(sa.select(Mark).where(Mark.key == TICK_MARK)).all()) == marks


def test_what_is_not_handled_stays_the_brokers(
    database: Database, recorder: ModuleType, reports: Any, queue: redis.Redis
) -> None:
    """What the recorder took and did not acknowledge comes again."""
    for data in reports:
        send(recorder, jobs.RECORD_MATCH, data)
    taken = list(recorder.inbox().take(SEVERAL - 1))
    assert len(taken) == queue.hlen("unacked.results") == SEVERAL - 1
    recorder.inbox().close()
    assert queue.llen(jobs.RESULTS_QUEUE) == SEVERAL
    recorder.tick()
    recorder.record_match(reports[0])
    assert sorted(in_order(database)) == sorted(data["lease"]["job"] for data in reports)
    assert left(queue) == []


@contextmanager
def refused_by_the_database(database: Database, data: dict[str, Any]) -> Iterator[None]:
    """Has it fail whatever stores the games of a match, as for want of memory."""
    statements = f"""
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION SQLSTATE '53200'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON game FOR EACH ROW
            WHEN (NEW.match_id = {data["lease"]["job"]}) EXECUTE FUNCTION fail()"""
    with database.begin() as session:
        session.execute(sa.text(statements))
    yield
    with database.begin() as session:
        session.execute(sa.text("DROP FUNCTION fail CASCADE"))


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_what_the_database_fails_spoils_no_other(
    database: Database,
    recorder: ModuleType,
    reports: Any,
    queue: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What came before it is recorded, and what was to follow is the broker's again, at once."""
    monkeypatch.setattr(recorder, "PAUSES", (0.01,))
    numbers = [data["lease"]["job"] for data in reports]
    for data in reports[1:]:
        send(recorder, jobs.RECORD_MATCH, data)
    with refused_by_the_database(database, reports[2]):
        with pytest.raises(OperationalError):
            recorder.record_match(reports[0])
        assert in_order(database) == numbers[:2]
        assert queue.llen(jobs.RESULTS_QUEUE) == SEVERAL - 2
    recorder.record_match(reports[2])
    assert sorted(in_order(database)) == numbers
    assert left(queue) == []


def test_a_broker_that_is_away_keeps_nothing_from_being_recorded(
    database: Database, recorder: ModuleType, report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The message that is there is handled."""
    recorder.app.conf.broker_url = "redis+socket:///nowhere"
    recorder.record_match(report())
    assert "nothing more was taken from the queue of results" in caplog.text
    assert the_match(database).status is JobStatus.FIXED
