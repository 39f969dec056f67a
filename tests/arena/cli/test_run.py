"""Processes of an arena that are started each where it belongs, and what keeps them from it."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from arena.cli import serve
from arena.ground.db import Database
from tests import postgres
from tests.arena.running import arena, free_port

NOWHERE = "redis+socket:///nowhere/socket"
UNPREPARED = (
    "the database is not prepared for this release .*: first arena up, or arena run prepare"
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("process", "words", "code"),
    [
        ("web", f"the pages can't be served: {UNPREPARED}", 2),
        ("recorder", f"this recorder records nothing: {UNPREPARED}", 3),
    ],
)
def test_an_unprepared_database_is_refused(
    process: str, words: str, code: int, tmp_path: Path
) -> None:
    """Rather than by what the first query says of a table that is missing."""
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    done = arena("run", process, ARENA_DATABASE=url, ARENA_BROKER=NOWHERE)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert re.search(words, done.stderr.splitlines()[-1])


def test_a_database_for_english_alone_is_refused(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever finds it first does: before it is prepared, or put in the place of another."""
    with postgres.database(postgres_url, like="template0 ENCODING 'SQL_ASCII' LOCALE 'C'") as url:
        done = arena("run", "recorder", ARENA_DATABASE=url, ARENA_BROKER=NOWHERE)
        monkeypatch.setenv("ARENA_DATABASE", url)
        assert serve.main() == 2
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    for said, by in (
        (done.stderr, "this recorder records nothing: "),
        (capsys.readouterr().err, "the pages can't be served: "),
    ):
        assert said.splitlines()[-1].startswith(f"{by}the database keeps text as SQL_ASCII")


def test_a_port_in_use_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And so is a database that is not there."""
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    database = Database(url)
    database.upgrade()
    database.close()
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        port = str(taken.getsockname()[1])
        variables = {"ARENA_BROKER": NOWHERE, "ARENA_PORT": port}
        done = arena("run", "web", ARENA_DATABASE=url, **variables)
        # Behind it Python, which warns of all in tests, tells what waitress did not close.
        line, *_ = done.stderr.splitlines()
        assert line == (
            f"the pages can't be served: can't listen on 127.0.0.1:{port}: Address already in use"
        )
        assert "Traceback" not in done.stderr
    monkeypatch.setenv("ARENA_DATABASE", "postgresql+psycopg://u@/d?host=/nowhere")
    assert serve.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("can't use the database: ")
