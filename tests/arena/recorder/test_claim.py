"""There is one recorder on a database, whatever is started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.cli import prepare
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.operation import processes
from arena.operation.broker import EmbeddedBroker
from arena.recorder import process
from arena.recorder.claim import Claims
from tests.arena.running import environment, short_folder, until

TAKEN = "another recorder is at work on this database; this one waits until it ends"


class Recorder:
    """Does one transaction after the other on a database that it claims, in a thread."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        Claims(self.database)

    def begin(self) -> threading.Event:
        """Begins a transaction; what comes back is set once it is done."""
        done = threading.Event()

        def transact() -> None:
            with self.database.begin() as session:
                session.execute(sa.text("UPDATE mark SET value = value"))
            done.set()

        threading.Thread(target=transact, daemon=True).start()
        return done


@pytest.fixture
def two(database: Database) -> Iterator[tuple[Recorder, Recorder]]:
    """Two on the same database, neither of which has begun."""
    recorders = Recorder(database.url), Recorder(database.url)
    yield recorders
    for one in recorders:
        one.database.close()


def test_the_second_waits_for_the_first(
    two: tuple[Recorder, Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    """It says so once, and goes on when the first has ended."""
    first, second = two
    for _ in range(2):
        assert first.begin().wait(60)
    waiting = second.begin()
    until(lambda: TAKEN in caplog.messages, "the second one's word")
    assert not waiting.wait(1)
    assert first.begin().wait(60)
    first.database.close()
    assert waiting.wait(60)
    assert caplog.messages == [TAKEN, "this recorder takes over"]


def test_no_stranger_can_lock_the_claim_of_a_file(tmp_path: Path) -> None:
    """Who may open it could keep every recorder away; one that others could open is closed."""
    claim = tmp_path / "arena.db.recorder"
    claim.touch()
    claim.chmod(0o644)
    for _ in range(2):
        recorder = Recorder(f"sqlite:///{tmp_path}/arena.db")
        with recorder.database.engine.connect():
            assert claim.stat().st_mode & 0o777 == 0o600
        recorder.database.close()
        claim.unlink()


def test_a_second_arena_is_refused(
    database: Database,
    two: tuple[Recorder, Recorder],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Even with a folder of its own; what the first has under way would be rolled back."""
    first, _ = two
    assert first.begin().wait(60)
    monkeypatch.setenv("ARENA_DATA", str(tmp_path))
    monkeypatch.setenv("ARENA_DATABASE", database.url)
    monkeypatch.setattr(prepare, "PATIENCE", 0.1)
    assert prepare.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("another arena is at work on this database: stop it first")


def end_sessions(database: Database) -> None:
    """What a server does to sessions whose host is gone."""
    others = "pid <> pg_backend_pid() AND datname = current_database()"
    with database.begin() as session:
        session.execute(
            sa.text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
        )


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_who_lost_its_session_lost_its_claim(
    database: Database, two: tuple[Recorder, Recorder], caplog: pytest.LogCaptureFixture
) -> None:
    """It can't even write before it has claimed again: another may have taken over meanwhile."""
    first, second = two
    assert first.begin().wait(60)
    end_sessions(database)
    assert second.begin().wait(60)
    back = first.begin()
    until(lambda: TAKEN in caplog.messages, "the first one's word")
    assert second.begin().wait(60)
    assert not back.is_set()
    second.database.close()
    assert back.wait(60)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_session_lost_in_a_transaction_loses_what_it_wrote(
    database: Database, two: tuple[Recorder, Recorder]
) -> None:
    """So that no half of it is there when another has gone on."""
    first, second = two

    def half() -> None:
        with first.database.begin() as session:
            session.execute(sa.text("INSERT INTO mark (key, value) VALUES ('told', 'first')"))
            end_sessions(database)
            assert second.begin().wait(60)

    with pytest.raises(sa.exc.OperationalError):
        half()
    with database.read() as session:
        assert session.scalars(sa.text("SELECT value FROM mark WHERE key = 'told'")).all() == []


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_who_looks_at_a_replica_claims_nothing(database: Database) -> None:
    """It looks beside the recorder, whose transaction need not end for that."""
    recorder = process.Recorder(Settings(database=database.url, database_read=database.url))
    try:
        recorder.take_over()
        replica = recorder._replica
        assert replica is not None
        with recorder.writer.database.begin() as session:
            session.connection()
            looking = threading.Thread(target=replica.look, daemon=True)
            looking.start()
            looking.join(60)
            assert not looking.is_alive()
        assert recorder.writer.claims.held == {0}
        assert replica.problem == "it follows no other"
    finally:
        recorder.close()


@pytest.fixture
def start(database: Database) -> Iterator[Callable[..., tuple[subprocess.Popen[bytes], Path]]]:
    """Starts real recorders on a database; what comes back is the process and its log."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        broker = EmbeddedBroker(folder)

        def launch(
            name: str, command: list[str], **more: str
        ) -> tuple[subprocess.Popen[bytes], Path]:
            path = folder / f"{name}.log"
            variables = {"ARENA_DATABASE": database.url, "ARENA_BROKER": broker.url, **more}
            variables["ARENA_LOG"] = "json"
            with path.open("wb") as log:
                process = subprocess.Popen(
                    command, env=environment(**variables), stdout=log, stderr=log, cwd=folder
                )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process, path

        launch("broker", broker.prepare())
        until(broker.answers, "the broker's start")
        yield lambda name, **more: launch(name, processes.recorder(), **more)


@pytest.mark.long
def test_of_two_recorders_one_works(
    start: Callable[..., tuple[subprocess.Popen[bytes], Path]],
) -> None:
    """The other waits while the first one is stopped, too, and takes over when it was killed.

    It says so in its log, in the form that was asked for.
    """
    first, log = start("first")
    until(lambda: "ready" in log.read_text(), "the first one's start")
    os.kill(first.pid, signal.SIGSTOP)
    second, log = start("second")
    until(lambda: TAKEN in log.read_text(), "the second one's word")
    assert "ready" not in log.read_text()
    first.kill()
    until(lambda: "ready" in log.read_text(), "the second one's start")
    assert second.poll() is None
    # Celery warns root by some lines of its own, before there is a log.
    said = [json.loads(line)["message"] for line in log.read_text().splitlines() if "{" in line]
    assert said[:2] == [TAKEN, "this recorder takes over"]
    assert "[tasks]" not in log.read_text()


@pytest.mark.long
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_who_hangs_is_taken_over_from(
    start: Callable[..., tuple[subprocess.Popen[bytes], Path]],
) -> None:
    """Its age tells, though it lives; once awake it has a part again, like one that came anew."""
    more = {"ARENA_SHARDS": "2", "ARENA_TAKE_OVER_SECONDS": "2", "ARENA_TICK_SECONDS": "0.2"}
    first, log = start("first", **more)
    until(lambda: "has now: 0, 1" in log.read_text(), "the first one's start")
    _, other = start("second", **more)
    until(lambda: "has now: 1" in other.read_text(), "the second one's start")
    until(lambda: 'has now: 0"' in log.read_text(), "that it has one less")
    os.kill(first.pid, signal.SIGSTOP)
    until(lambda: "another recorder hangs" in other.read_text(), "that it is found out")
    until(lambda: "has now: 0, 1" in other.read_text(), "its part")
    os.kill(first.pid, signal.SIGCONT)
    until(lambda: log.read_text().count('has now: 1"') == 1, "that it is back")
    assert first.poll() is None
