"""What is said of matches, to a real broker with the bounds that the arena gives its own."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping

import pytest
import redis

from engine import jobs, reporting
from engine.clock import TimeControl
from engine.game import State, Termination
from engine.games import GAMES
from engine.games.siege.game import Siege
from engine.messages import unpack
from engine.record import GameRecord, Ply
from tests.arena.running import short_folder, until
from tests.requirements import need
from workers.app import app
from workers.progress import HUNG, ProgressTeller, Reports

MIB = 1 << 20
SIEGE = GAMES["siege"].variant(seats="3")
TEXT = "\N{GREEK SMALL LETTER ALPHA}" * 2040
"""As long as a reply may be (4096 bytes), and in JSON three times that: of 2 bytes each is 6."""
VALUES = {f"{n:032}".replace("0", "k"): -1.2345678901234567e-200 for n in range(16)}
LOG = "x" * 320 * 1024
"""What is kept of a bot's log: 64 KiB of standard error, four times that of its own lines."""


@pytest.fixture(scope="module")
def broker() -> Iterator[redis.Redis]:
    """One that takes messages of 64 MB, and the workers' app with it for its broker."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    need(program, "redis-server is not installed")
    with short_folder() as folder, pytest.MonkeyPatch.context() as patch:
        socket = folder / "socket"
        words = ["--port", "0", "--unixsocket", str(socket), "--save", ""]
        words += ["--proto-max-bulk-len", "64mb"]
        server = subprocess.Popen([str(program), *words], cwd=folder, stdout=subprocess.DEVNULL)
        try:
            until(socket.exists, "the broker's start")
            patch.setattr(app.conf, "broker_url", f"redis+socket://{socket}")
            # Connections are kept, those of other tests in this process too.
            patch.setattr(app, "_pool", None)
            patch.setattr(app.amqp, "_producer_pool", None)
            with redis.Redis(unix_socket_path=str(socket)) as client:
                yield client
            app.pool.force_close_all()
        finally:
            server.kill()
            server.wait()


def told(broker: redis.Redis) -> list[list[reporting.MatchReport]]:
    """The reports of each message, as the recorder reads them."""
    found = []
    while message := broker.rpop(jobs.RESULTS_QUEUE):
        assert isinstance(message, bytes)
        reports, _, _ = json.loads(base64.b64decode(json.loads(message)["body"]))
        found.append([reporting.MatchReport.from_json(report) for report in reports])
    return found


def report_of(
    number: int, *, text: str = "", values: Mapping[str, float] | None = None, log: str = ""
) -> reporting.MatchReport:
    """A match of the longest game, each ply with the same words."""
    plies = tuple(
        Ply(n % 3, "a1b2", 1000, 1000, text, values or {}) for n in range(SIEGE.max_plies)
    )
    game = GameRecord(
        *(SIEGE, 1, ("a", "b", "c"), TimeControl(move_ms=100), 0, plies, (), Termination.PLY_LIMIT),
        *((0.0, 0.0, 0.0), (1, 1, 1), "full", "2026-01-01T00:00:00Z"),
    )
    lease = jobs.Lease("match", number, 1, "ticket")
    return reporting.MatchReport(lease, "worker", (game,) * 3, ((log,) * 3,) * 3)


@pytest.mark.parametrize(
    ("said", "log", "texts_kept", "log_kept"),
    [
        ({"text": TEXT[:100], "values": VALUES}, LOG, True, True),
        ({"text": TEXT[:100]}, "x" * 16 * MIB, True, False),
        ({"text": TEXT, "values": VALUES}, LOG, False, False),
        ({"text": TEXT, "values": VALUES}, "", False, False),
    ],
    ids=["much", "a long log", "all that may be said", "and no log"],
)
def test_report_of_a_match_is_never_too_long(
    said: Mapping[str, object],
    log: str,
    texts_kept: bool,
    log_kept: bool,
    broker: redis.Redis,
) -> None:
    """The broker would end the connection, and the match be played again and lost again."""
    report = report_of(1, log=log, **said)  # type: ignore[arg-type]
    reports = Reports()
    reports.add(report.to_json())
    reports.send()
    ((found,),) = told(broker)
    assert found.lease == report.lease
    assert [game.moves for game in found.games] == [game.moves for game in report.games]
    assert (found.games == report.games) is texts_kept
    assert (found.logs == report.logs) is log_kept
    if not log_kept:
        assert all("left out" in one for logs in found.logs for one in logs)


def test_reports_that_are_too_long_together(broker: redis.Redis) -> None:
    """Each is whole, in one message or another."""
    matches = [report_of(number, log="x" * 2 * MIB) for number in range(4)]
    reports = Reports()
    for match in matches:
        reports.add(match.to_json())
    reports.send()
    messages = told(broker)
    assert len(messages) == 2  # nine logs each
    assert [found for message in messages for found in message] == matches


def test_answers_are_told_while_a_bot_is_asked_on(
    broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, as parts; the whole is for the report in the end."""
    monkeypatch.setattr("workers.progress.SOON_SECONDS", 0.01)
    monkeypatch.setattr("workers.progress.PROGRESS_SECONDS", 0.01)
    broker.delete(jobs.RESULTS_QUEUE)
    found: list[reporting.AnswersReport] = []

    def hear() -> int:
        while message := broker.rpop(jobs.RESULTS_QUEUE):
            assert isinstance(message, bytes)
            said = json.loads(message)
            (one,), _, _ = json.loads(base64.b64decode(said["body"]))
            if said["headers"]["task"] == jobs.RECORD_ANSWERS:
                found.append(reporting.AnswersReport.from_json(one))
        return sum(len(report.answers) for report in found)

    lease = jobs.Lease("question", 7, 1, "ticket")
    with ProgressTeller(lease, Reports(), 10) as progress:
        for ply in range(3):
            progress.answers.append((ply, Ply(ply % 2, "a1a2", 5, 5)))
            until(lambda due=ply + 1: hear() == due, "an answer")  # type: ignore[misc]
    assert hear() == 3
    assert [ply for report in found for ply, _ in report.answers] == [0, 1, 2]
    assert all(report.is_part and report.lease == lease for report in found)


class Endless(Siege):
    """A game that waits for its own end where it lists its first moves."""

    def initial(self, seed: int = 0) -> State:
        assert ended.wait(60)
        return super().initial(seed)


ended = threading.Event()


def test_a_game_whose_rules_hang_ends_with_its_process(
    broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is given up with the line at which it was, and what it has cost."""
    codes: list[int] = []

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    monkeypatch.setattr("os._exit", end)
    monkeypatch.setattr("workers.progress.RULES_SECONDS", 2.0)
    lease = jobs.Lease("match", 7, 1, "ticket")
    with ProgressTeller(lease, Reports(), 0.1):
        Endless(SIEGE.options).initial()
    assert codes == [HUNG]
    queue = broker.lrange(jobs.RESULTS_QUEUE, 0, -1)
    broker.delete(jobs.RESULTS_QUEUE)
    assert isinstance(queue, list)
    said = [unpack(message) for message in queue]
    (void,) = [one.args[0] for one in said if one.task == jobs.RECORD_VOID]
    assert "the game siege: its rules hang: for 2 s in " in void["problem"]
    assert void["failed"]
    assert 0 < void["seconds"] < 60
