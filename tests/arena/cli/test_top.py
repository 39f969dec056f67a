"""The command top: what an arena does at this moment."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import click
import pytest
import sqlalchemy as sa

from arena.cli import run
from arena.cli.top import picture
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import JobStatus, Match, PlayedGame, Worker
from arena.operation import overview
from arena.operation.jobs_under_way import under_way
from arena.operation.queues import Queues
from tests.arena.running import COMMAND, environment
from tests.arena.simulator import CALM, Simulation


@pytest.fixture
def data(sqlite_database: Database, tmp_path: Path) -> Path:
    """A data folder where two work, one of them set aside, and a match is set aside."""
    database = sqlite_database
    simulation = Simulation(database, 3, CALM)
    simulation.now = datetime.now(UTC)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.alive()
    simulation.tick()
    simulation.run(5)
    with database.begin() as session:
        now = datetime.now(UTC)
        for worker in session.scalars(sa.select(Worker)):
            worker.last_seen = now
        broken = session.get_one(Worker, "two")
        broken.set_aside, broken.problem = now, "no [space] left"
        session.execute(sa.update(PlayedGame).values(finished=now))
        match = session.scalars(sa.select(Match).where(Match.status != JobStatus.FIXED)).first()
        assert match is not None
        match.status, match.ticket, match.lease_ends, match.worker = (
            JobStatus.SET_ASIDE, None, None, None,
        )  # fmt: skip
    return tmp_path


def test_once_for_programs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as the operator's page has, and what waits in the queues if the broker is there."""
    assert run(["top", "--json", "--data", str(data)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["queues"] is None
    assert found["matches"]["set_aside"] == 1
    assert [(one["name"], one["state"]) for one in found["workers"]] == [
        ("one", "at work"),
        ("two", "set aside"),
    ]
    assert found["games_a_minute"].keys() == {"ladder-0"}
    assert {alarm["kind"] for alarm in found["alarms"]} == {"set aside", "worker"}


def test_once_for_people(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What somebody wrote stands there as it is, not as an order to the terminal."""
    assert run(["top", "--once", "--data", str(data)]) == 0
    text = capsys.readouterr().out
    for words in ("the broker does not answer", "one", "at work", "set aside", "no [space] left"):
        assert words in text
    assert re.search(r"matches +\d+ +\d+ +0 +1", text)
    assert "1 match is set aside after failing three times" in text


def test_a_long_silence_is_told_in_days(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And in no number of seconds that somebody would have to divide."""
    database = Database(f"sqlite:///{data}/arena.db")
    with database.begin() as session:
        session.get_one(Worker, "one").last_seen = datetime.now(UTC) - timedelta(days=3, hours=1)
    database.close()
    assert run(["top", "--once", "--data", str(data)]) == 0
    assert re.search(r"one +gone .*3 days ago", capsys.readouterr().out)


def test_what_waits_is_told_by_queue(data: Path) -> None:
    """As the broker has it, the empty ones too."""
    database = Database(f"sqlite:///{data}/arena.db")
    with database.read() as session:
        waiting = Queues({"results": 3, "matches": 0})
        found = overview.as_json(session, Settings(), datetime.now(UTC), waiting)
    database.close()
    told = picture(found | {"under_way": []}).renderables
    assert "waiting: results 3, matches 0" in told
    assert "nothing is under way" in told


def test_each_slot_that_is_taken_has_a_line(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which match, how far it is, and whose; in a terminal of 80 columns, too."""
    database = Database(f"sqlite:///{data}/arena.db")
    with database.begin() as session:
        matches = sa.select(Match).where(Match.status == JobStatus.ISSUED, Match.worker == "one")
        match = session.scalars(matches.order_by(Match.id)).first()
        assert match is not None
        match.progress = {"game": 1, "moves": ["1:a1a2"] * 7}
        first = match.id
    with database.read() as session:
        jobs = under_way(session)
    database.close()
    assert [(job.game, job.plies) for job in jobs if job.number == first] == [(2, 7)]
    assert {job.worker for job in jobs} <= {"one", "two"}
    assert all(len(job.bots) == 1 + (job.kind == "match") for job in jobs)
    assert {job.competition for job in jobs} == {"ladder-0"}
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert run(["top", "--once", "--data", str(data)]) == 0
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    assert all(len(line) <= 80 for line in lines)
    (line,) = (line for line in lines if line.startswith(f"match {first} "))
    assert re.search(r"match \d+ +2 +7 +bot-\d v1, bot-\d v1 +ladder-0 +one", line)
    (worker,) = (line for line in lines if line.startswith("one "))
    assert re.search(rf"one +at work +{sum(job.worker == 'one' for job in jobs)} of \d", worker)


def rename(database: Database, table: str, name: str) -> None:
    """Calls a table something else, so that whoever wants it is failed by the database."""
    with database.begin() as session:
        session.execute(sa.text(f"ALTER TABLE {table} RENAME TO {name}"))


def test_it_follows_on_a_terminal_until_ctrl_c(data: Path) -> None:
    """A database that is away for a while included; and then it gives the screen back."""
    database = Database(f"sqlite:///{data}/arena.db")
    own, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "top", "--every", "0.2", "--data", str(data)],
        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
        env=environment(TERM="xterm", COLUMNS="120", LINES="40"),
        # Tests that run in the background of a shell have it ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    os.close(terminal)
    seen = b""
    try:
        while seen.count(b"set aside") < 6:
            seen += os.read(own, 65536)
        rename(database, "worker", "gone")
        while b"the database can't be read" not in seen:
            seen += os.read(own, 65536)
        rename(database, "gone", "worker")
        again = len(seen)
        while b"set aside" not in seen[again:]:
            seen += os.read(own, 65536)
        process.send_signal(signal.SIGINT)
        while True:
            seen += os.read(own, 65536)
    except OSError:  # the other end is closed
        pass
    finally:
        process.kill()
        os.close(own)
        database.close()
    assert process.wait() == 0
    enter, leave = b"\x1b[?1049h", b"\x1b[?1049l"
    assert seen.count(enter) == seen.count(leave) == 1
    assert b"Traceback" not in seen
