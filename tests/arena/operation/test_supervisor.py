"""The supervisor: refuses in one line, survives its children, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import redis

from arena.cli import prepare
from arena.ground.db import Database
from arena.operation.broker import BrokerError, EmbeddedBroker
from arena.operation.supervisor import LOG_LIMIT, shorten
from arena.signing import SECRET_MARK
from tests.arena.running import RunningArena, arena, free_port, short_folder, until
from tests.arena.test_end_to_end import furnish_small


def taken_port(_: Path, stack: ExitStack) -> list[str]:
    """Somebody else listens there."""
    other = stack.enter_context(socket.socket())
    other.bind(("127.0.0.1", 0))
    other.listen()
    return ["--port", str(other.getsockname()[1])]


def file_as_data(folder: Path, _: ExitStack) -> list[str]:
    """The data folder is a file."""
    (folder / "var").touch()
    return ["--data", str(folder / "var")]


def file_above_data(folder: Path, _: ExitStack) -> list[str]:
    """What the data folder would be in is a file."""
    (folder / "file").touch()
    return ["--data", str(folder / "file" / "var")]


def data_in_proc(_: Path, __: ExitStack) -> list[str]:
    """Where not even root can make a folder."""
    return ["--data", "/proc/arena"]


def newer_database(folder: Path, _: ExitStack) -> list[str]:
    """A later release's database."""
    (folder / "var").mkdir()
    database = Database(f"sqlite:///{folder}/var/arena.db")
    database.upgrade()
    database.close()
    with sqlite3.connect(folder / "var" / "arena.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    return ["--data", str(folder / "var")]


@pytest.mark.long
@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (taken_port, r"can't serve on 127\.0\.0\.1:\d+: Address already in use; .* --port or"),
        (file_as_data, "can't write the data folder .*; choose another with --data"),
        (file_above_data, "can't write the data folder .*; choose another with --data"),
        (data_in_proc, "can't write the data folder /proc/arena: .*"),
        # What preparing says is passed on; what else it may say is tried below.
        (newer_database, "the database is of another release .*; use that release, or another"),
    ],
)
def test_what_prevents_a_start_is_said(
    prepare: Callable[[Path, ExitStack], list[str]], words: str
) -> None:
    """One line that says what is wrong, exit code 2, and no process left."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        given = prepare(folder, stack)
        defaults = {"--data": str(folder / "var"), "--port": str(free_port())}
        for option, value in defaults.items():
            given += [] if option in given else [option, value]
        done = arena("up", *given)
        (line,) = done.stderr.splitlines()
        assert re.match(f"arena: {words}", line)
        assert (done.returncode, done.stdout) == (2, "")
        assert RunningArena(folder).processes() == []


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ARENA_PORT": "many"}, "ARENA_PORT='many' is no whole number"),
        ({"ARENA_MINIMUM_ISOLATION": "some"}, "it is one of full, good, reduced, none"),
        ({"ARENA_DATABASE": "my games"}, "ARENA_DATABASE is not allowed: it is sqlite:///FILE or"),
    ],
)
def test_wrong_settings_are_said(variables: dict[str, str], words: str, tmp_path: Path) -> None:
    """The same for what the environment says."""
    done = arena(
        "up", "--data", str(tmp_path / "var"), **{"ARENA_PORT": str(free_port())} | variables
    )
    (line,) = done.stderr.splitlines()
    assert re.match(f"arena: .*{words}", line)
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ARENA_GAMES": "chess"}, "there is no game 'chess'"),
        ({}, "/.*/arena.db is no database, or a damaged one: choose another, or make"),
        ({"ARENA_DATABASE": "postgresql+psycopg://u@/d?host=/nowhere"}, "can't use the database"),
        ({"ARENA_DATABASE": "postgresql://u:p@h:x/d"}, "ARENA_DATABASE .*: its port is no number"),
    ],
)
def test_what_can_not_be_prepared_is_said(
    variables: dict[str, str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The process says what it does that is started for it, in its last line."""
    (tmp_path / "arena.db").write_text("this is no database, and long enough to be read\n")
    place = {"ARENA_DATA": str(tmp_path), "ARENA_DATABASE": f"sqlite:///{tmp_path}/arena.db"}
    for name, value in (place | variables).items():
        monkeypatch.setenv(name, value)
    assert prepare.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(f".*{words}", line)


def end_politely(running: RunningArena, end: signal.Signals) -> None:
    """Ends an arena by a signal that it obeys: in order, and with all that it started."""
    running.interrupt(end)
    assert running.wait() == 0
    running.await_end("the end of everything")
    assert "Traceback" not in running.output()


@pytest.mark.long
@pytest.mark.timeout(300)  # an arena starts and ends twice
def test_whatever_ends_it_nothing_is_left_and_the_next_start_works() -> None:
    """With a blank in the folder's name, and with files where the user is that hide Python's.

    It is killed, and then interrupted; what else ends it ends the arenas of the tests below.
    """
    with short_folder() as folder:
        (folder / "here").mkdir()
        for name in ("random.py", "queue.py", "arena.py", "celery.py"):
            (folder / "here" / name).write_text("raise SystemExit('the wrong file was imported')\n")
        data = folder / "my data"
        with RunningArena(data, cwd=folder / "here") as running:
            secrets = []
            for number in (1, 2):
                running.start()
                secrets += re.findall(r"with the password (\S+) and", running.output())
                assert running.page("/healthz") == (200, "ok\n")
                until(
                    lambda number=number: running.log("worker").count(" ready.") == number,
                    "the worker's start",
                )
                if number == 1:
                    assert running.supervisor is not None
                    running.supervisor.kill()
                    running.wait()
                    running.await_end("the end of all children")
                    # The broker's socket is left, and is in nobody's way.
                    assert [*running.said.parent.glob("*/socket")]
            end_politely(running, signal.SIGINT)
            for name in ("recorder", "worker", "web", "broker"):
                assert "Traceback" not in running.log(name)
            with sqlite3.connect(data / "arena.db") as connection:
                query = "SELECT value FROM mark WHERE key = ?"
                secrets += connection.execute(query, (SECRET_MARK,)).fetchone()
                # The worker's last word, by which nobody takes it for lost.
                assert connection.execute("SELECT slots FROM worker").fetchall() == [(0,)]
            connection.close()
            assert len(secrets) == 2
            assert (data / "logs").stat().st_mode & 0o777 == 0o700
            for log in (data / "logs").iterdir():
                assert not [one for one in secrets if one in log.read_text(errors="replace")], log


TOKEN = "a token of the test's own"


@pytest.fixture(scope="module")
def standing() -> Iterator[RunningArena]:
    """An arena that runs as long as the tests that it outlives; it has a token of its metrics, and
    no bots to play."""
    with (
        short_folder() as folder,
        closing(Database(f"sqlite:///{folder}/arena.db")) as database,
        RunningArena(folder, ARENA_METRICS_TOKEN=TOKEN) as running,
    ):
        furnish_small(database)
        running.start()
        yield running
        running.interrupt()
        assert running.wait() == 0


def test_a_worker_is_told_no_secret_but_its_login(standing: RunningArena) -> None:
    """Not the database, nor the token of the metrics, which the pages are told."""
    database = f"sqlite:///{standing.data}/arena.db"
    web = standing.process("arena.cli.serve").environ().values()
    assert {TOKEN, database} <= set(web)
    worker = standing.process("workers.tasks").environ().values()
    assert not [value for value in worker if TOKEN in value or database in value]


def test_one_arena_has_a_folder_to_itself(standing: RunningArena) -> None:
    """A second start there says so."""
    done = arena("up", "--data", str(standing.data), "--port", str(free_port()))
    assert done.stderr == (
        f"arena: an arena runs on {standing.data} already; stop it, or choose another folder "
        "with --data\n"
    )
    assert done.returncode == 2


def test_a_child_is_started_again_whatever_ended_it(standing: RunningArena) -> None:
    """Also a signal of real time, most of which have no names."""
    os.kill(standing.process("arena.recorder.process").pid, signal.SIGRTMIN + 1)
    words = "recorder ended (killed by signal 35); started again in 0.2 s"
    until(lambda: words in standing.output(), "word of it")
    until(lambda: standing.process("arena.recorder.process"), "another recorder")


@pytest.mark.long
def test_a_worker_without_a_box_says_so() -> None:
    """The terminal and the front page have it; the rest of the arena goes on, until it is ended as
    its terminal is closed. After another start a worker is there."""
    with short_folder() as folder:
        with RunningArena(folder, ARENA_BOX_FOLDER="/dev/null/x") as running:
            running.start()
            words = "arena: worker: this worker plays nothing: no box folder"
            until(lambda: words in running.output(), "the worker's refusal")
            status, text = running.page("/")
            assert status == 200
            assert "no worker is there" in text
            end_politely(running, signal.SIGHUP)
        with RunningArena(folder) as running:
            running.start()
            until(lambda: "no worker is there" not in running.page("/")[1], "a worker")
            end_politely(running, signal.SIGTERM)


@pytest.mark.long
def test_ctrl_c_during_a_start_ends_it() -> None:
    """However early or late it comes, also when it comes twice."""
    with short_folder() as folder, RunningArena(folder) as running:
        for seen, times in (("lock", 1), ("arena.db", 2), ("logs/web.log", 1)):
            running.launch()
            until(lambda seen=seen: (folder / seen).exists(), seen, pause=0.001)
            for _ in range(times):
                running.interrupt()
                time.sleep(0.05)
            assert running.wait() == 0, running.output()
            assert "Traceback" not in running.output()
            running.await_end("the end of everything")
            for path in (folder / "arena.db", folder / "logs" / "web.log"):
                path.unlink(missing_ok=True)


def test_a_long_log_is_put_aside(tmp_path: Path) -> None:
    """A process that has it open writes on, at the new end of it."""
    path = tmp_path / "worker.log"
    with path.open("ab") as log:
        log.truncate(LOG_LIMIT)
        shorten(path)
        assert path.stat().st_size == LOG_LIMIT
        log.write(b"the last line\n")
        log.flush()
        shorten(path)
        log.write(b"the next line\n")
    assert path.read_bytes() == b"the next line\n"
    assert (tmp_path / "worker.log.1").read_bytes().endswith(b"\0the last line\n")


def test_a_broker_begins_empty() -> None:
    """One of the last run that still lives is ended, and what it held is forgotten."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        processes = []
        for _ in range(2):
            broker = EmbeddedBroker(folder)
            processes.append(subprocess.Popen(broker.prepare(), stdout=subprocess.DEVNULL))
            stack.callback(processes[-1].wait)
            stack.callback(processes[-1].kill)
            until(broker.answers, "the broker's start")
            assert broker.waiting("results") == 0
            client = redis.Redis(unix_socket_path=broker.url.removeprefix("redis+socket://"))
            client.rpush("results", "one", "two")
            client.close()
            assert broker.waiting("results") == 2
        assert processes[0].wait(60) == 0


def test_a_broker_of_a_long_path_listens_elsewhere(tmp_path: Path) -> None:
    """It is in a folder that is its user's alone; one of somebody else is not entered."""
    broker = EmbeddedBroker(tmp_path / ("x" * 120))
    path = Path(broker.url.removeprefix("redis+socket://"))
    assert len(os.fsencode(path)) < 100
    (tmp_path / ("x" * 120)).mkdir()
    command = broker.prepare()
    assert str(path) in command
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.touch()
    broker.leave()
    assert not path.parent.exists()
    path.parent.symlink_to(tmp_path)
    try:
        with pytest.raises(BrokerError, match="belongs to somebody else"):
            broker.prepare()
    finally:
        path.parent.unlink()
