"""A worker's jobs from the job to the report, in the real box: a bot is checked, then plays."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena.operation import queues
from engine import bot_logs, exchange, jobs, reporting, sitting
from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.match import MatchSpec
from engine.messages import unpack
from engine.openings import Opening
from engine.record import GameRecord
from tests.arena.running import broker
from tests.requirements import need
from tests.workers.test_building import BOTS, need_language
from workers import bundles, tasks
from workers.app import app, worker_name
from workers.program import BoxError
from workers.progress import ProgressTeller, Reports

MIB = 1 << 20
KIT = Path(__file__).parents[2] / "bots" / "kit"
SAMPLES = KIT.parent
GRANT = jobs.Grant(memory_bytes=256 * MIB, threads=16, log_bytes=64 * 1024)
SPEC = MatchSpec(
    GAMES["clobber"].variant(size="4x4"), ("one", "one"), TimeControl(move_ms=1000), seed=3
)
SOURCES: Mapping[str, Mapping[str, str]] = {
    "Python": {"bot.py": (SAMPLES / "random_bot.py").read_text()},
    "JavaScript": {"bot.js": (SAMPLES / "random_bot.js").read_text()},
    "C++": BOTS["C++"],
    "C": BOTS["C"],
}


@pytest.fixture(autouse=True)
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The settings of a worker whose box folder every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="arena-worker-"))
    folder.chmod(0o711)
    monkeypatch.setenv("ARENA_BOX_FOLDER", str(folder / "box_folder"))
    tasks.sandbox.cache_clear()
    yield
    tasks.sandbox.cache_clear()
    shutil.rmtree(folder)


def job_of(
    kind: str, folder: Path, sources: Mapping[str, str], grant: jobs.Grant = GRANT
) -> jobs.Job:
    """A job for a bot of these files, as a queue delivers it."""
    bot = folder / "bot"
    bot.mkdir()
    for name, content in sources.items():
        (bot / name).write_text(content)
    bundle = bundles.pack(bot)
    files = jobs.BotFiles(bundle.digest, str(bundles.store(folder / "stored", bundle)))
    job = jobs.Job(jobs.Lease(kind, 1, 1, "ticket"), SPEC, (files, files), grant, 30.0)
    return jobs.Job.from_json(job.to_json())


class Untold(ProgressTeller):
    """A job's progress, told to nobody: its thread is not started."""

    def __init__(self) -> None:
        super().__init__(jobs.Lease("match", 1, 1, "ticket"), Reports(), 30.0)
        self.builds: list[tuple[str, float]] = []
        """What was said of builds."""

    def tell_of_build(self, digest: str, seconds: float) -> None:
        self.builds.append((digest, seconds))


def checked(job: jobs.Job, progress: Untold | None = None) -> reporting.CheckReport:
    """What the check of a job's bot reports."""
    task, report = tasks._check(job, progress or Untold())
    assert task == jobs.RECORD_CHECK
    return reporting.CheckReport.from_json(report)


def played_of(*matches: jobs.Job, progress: Untold | None = None) -> list[reporting.MatchReport]:
    """What is reported of the matches of one message."""
    with closing(tasks._Table()) as table:
        told = [table.play(job, progress or Untold()) for job in matches]
    assert {task for task, _ in told} == {jobs.RECORD_MATCH}
    return [reporting.MatchReport.from_json(report) for _, report in told]


@pytest.mark.long
@pytest.mark.usefixtures("briskly")
@pytest.mark.parametrize("language", SOURCES)
def test_from_the_bundle_to_the_match(language: str, tmp_path: Path) -> None:
    """It is checked clause by clause, and then plays a match in both seatings."""
    need_language(language)
    job = job_of("check", tmp_path, SOURCES[language])
    report = checked(job)
    assert report.passed, [finding for finding in report.findings if not finding.kept]
    assert (report.findings[0].clause == "build") == (language in BOTS)
    began = time.monotonic()
    (played,) = played_of(job)
    thought = sum(ply.wall_us or 0 for game in played.games for ply in game.plies) / 1e6
    assert thought < played.seconds < time.monotonic() - began
    assert len(played.games) == 2
    assert all(game.termination is Termination.NORMAL for game in played.games)
    assert {game.isolation for game in played.games} == {tasks.sandbox().level}


CHOOSY = """
from arena_bot import Bot

class Choosy(Bot):
    name, declares = "choosy", {"depth": "int 1 20 6"}

    def new_game(self, game):
        self.log(f"{self.options}")

    def choose(self, position):
        return position.legal[0]

Choosy().run()
"""


def test_players_are_told_their_options(tmp_path: Path) -> None:
    """Each its own, in the games of both seatings; whoever has no such option any more loses."""
    sources = {
        "bot.py": CHOOSY,
        "arena_bot.py": (KIT / "arena_bot.py").read_text(),
        "bot.toml": 'main = "bot.py"\n[options]\nmood = "text calm"\n',
    }
    plain = job_of("match", tmp_path, sources)
    chosen = ({"depth": "8", "mood": "quit"}, {}), ({"ghost": "1"}, {})
    told = [replace(plain, spec=replace(SPEC, chosen=its)) for its in chosen]
    assert [job.to_json()["format"] for job in (plain, *told)] == [2, 3, 3]
    known, lost = played_of(*(jobs.Job.from_json(job.to_json()) for job in told))
    assert [game.chosen for game in known.games] == [chosen[0], chosen[0][::-1]]
    assert [game.termination for game in known.games] == [Termination.NORMAL] * 2
    logs = [known.logs[0][0], known.logs[1][1], known.logs[0][1], known.logs[1][0]]
    assert [log.splitlines()[0] for log in logs] == [
        "{'depth': 8, 'mood': 'quit'}",
        "{'depth': 8, 'mood': 'quit'}",
        "{'depth': 6}",
        "{'depth': 6}",
    ]
    for seat, game in enumerate(lost.games):
        (fault,) = game.faults
        assert (fault.seat, game.termination) == (seat, Termination.START)
        assert "choosy has no option ghost: its options are depth, mood" in fault.detail


def move_of(job: jobs.Job, progress: Untold) -> tuple[GameRecord, reporting.MoveReport]:
    """A game in which the job's bot is to move, and what is reported of its move."""
    start = Opening(SPEC.variant, ("b1c1",))
    names = ("one", "somebody")
    game = sitting.begin(start, seed=5, players=names, time=SPEC.time, started=datetime.now(UTC))
    asked = jobs.MoveJob(job.lease, game, job.bots[0], GRANT, 30.0)
    task, told = tasks._move(jobs.MoveJob.from_json(asked.to_json()), progress)
    assert task == jobs.RECORD_MOVE
    return game, reporting.MoveReport.from_json(told)


def test_one_move_of_a_game_that_goes_on_elsewhere(tmp_path: Path) -> None:
    """The bot is started in its box, told what was played, and its answer is the next ply."""
    job = job_of("move", tmp_path, SOURCES["Python"])
    game, report = move_of(job, Untold())
    sitting.confirm(game, report.game)
    assert report.game.isolation == tasks.sandbox().level
    assert report.game.plies[1].cpu_us


def test_a_bot_that_can_not_be_built(tmp_path: Path) -> None:
    """Its author gets the finding and the compiler's words; a match with it is not played."""
    need_language("C++")
    job = job_of("check", tmp_path, {"bot.cpp": "int main() { return oops; }"})
    progress = Untold()
    report = checked(job, progress)
    assert [(found.kept, found.words) for found in report.findings] == [
        (False, "the build failed: exit 1")
    ]
    assert "oops" in report.log
    with pytest.raises(tasks.BuildError):
        played_of(job, progress=progress)
    assert [(digest, seconds > 0) for digest, seconds in progress.builds] == [
        (job.bots[0].digest, True)
    ] * 2


@pytest.mark.parametrize("kind", ["check", "match", "move"])
def test_a_build_is_told_of_once(tmp_path: Path, kind: str) -> None:
    """The first job that needs it tells: those that follow it find it built."""
    need_language("C")
    job = job_of(kind, tmp_path, SOURCES["C"])
    progress = Untold()
    if kind == "check":
        checked(job, progress)
    elif kind == "move":
        move_of(job, progress)
    played_of(job, job, progress=progress)
    ((digest, seconds),) = progress.builds
    assert digest == job.bots[0].digest
    assert 0 < seconds < 60


@pytest.mark.parametrize(
    ("grant", "words"),
    [
        ({"memory_bytes": 16 * MIB}, "needs 32 MiB of memory to start, and the limit is 16 MiB"),
        ({"threads": 3}, "it needs 4 threads, and the limit is 3"),
    ],
)
def test_a_ladder_that_grants_too_little(
    grant: Mapping[str, Any], words: str, tmp_path: Path
) -> None:
    """The check says so before the bot is started."""
    sources = {**SOURCES["Python"], "bot.toml": "threads = 4\n"}
    given = {"memory_bytes": 256 * MIB, "threads": 16, "log_bytes": 1000, **grant}
    (finding,) = checked(job_of("check", tmp_path, sources, jobs.Grant(**given))).findings
    assert not finding.kept
    assert words in finding.words


def test_a_log_is_as_long_as_the_ladder_grants(briskly: None, tmp_path: Path) -> None:
    """Its beginning and its end are kept of standard error, in each game, and in all of a check."""
    need(os.path.exists("/usr/bin/python3"), "there is no system Python")
    noisy = "import sys\nprint('x' * 5000, file=sys.stderr, flush=True)\n"
    sources = {"bot.py": noisy + SOURCES["Python"]["bot.py"].replace("from __future__ ", "# ")}
    grant = jobs.Grant(256 * MIB, 16, 1000)
    job = job_of("match", tmp_path, sources, grant)
    (played,) = played_of(job)
    parts = [bot_logs.apart(log)[0] for log in played.logs[0]]
    below = [log.removeprefix(part) for log, part in zip(played.logs[0], parts, strict=True)]
    assert all(one.startswith(exchange.HEADING) and len(one) <= 1100 for one in below)
    # Four conversations, and the game with a process for each seat.
    parts += checked(job).log.split("\n===")
    assert len(parts) == 2 + 6
    for part in parts:
        assert "[... 4001 bytes left out ...]" in part
        assert part.count("x") == 1000 - 1


COUNTING = """
import sys
games = 0
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello":
        print("ready counting want=legal", flush=True)
    elif verb == "newgame":
        games += 1
        print("ok", flush=True)
    elif verb == "legal":
        move = words[0]
    elif verb == "go":
        print("move", move, games, flush=True)
    elif verb == "quit":
        break
"""
"""A bot that says with each move how many games its process has begun."""


def test_bots_stay_for_the_next_match_of_the_same(tmp_path: Path) -> None:
    """It is one of the same message, limits and board; for others they begin anew."""
    need(os.path.exists("/usr/bin/python3"), "there is no system Python")
    job = job_of("match", tmp_path, {"bot.py": COUNTING})
    pair = replace(job, spec=replace(job.spec, entrants=("one", "two")))
    turned = replace(pair, spec=replace(pair.spec, entrants=("two", "one")))
    board = replace(turned, spec=replace(SPEC, variant=GAMES["clobber"].variant(size="3x3")))
    limits = replace(turned, grant=replace(GRANT, memory_bytes=128 * MIB))
    reports = played_of(job, job, pair, turned, turned, board, turned, limits, limits)
    counts = [{ply.text for game in report.games for ply in game.plies} for report in reports]
    fresh, kept = {"1", "2"}, {"3", "4"}
    assert counts == [fresh, kept, fresh, fresh, kept, fresh, fresh, fresh, kept]


def test_what_was_not_played_for_long_is_removed_once_a_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also by a worker that is never started again."""
    cache = tasks.sandbox().bundles
    cache.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(tasks._tidying, "_last", time.monotonic())
    for hours, is_there in ((23, True), (25, False)):
        unused = cache / ("0" * 64)
        unused.mkdir(exist_ok=True)
        os.utime(unused, (0, 0))
        monkeypatch.setattr(tasks._tidying, "_last", time.monotonic() - hours * 3600)
        tasks.tidy_if_due()
        assert unused.exists() == is_there


def test_a_mistake_of_ours_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ends a job with an error, the arena hears why before its lease has ended."""
    monkeypatch.setattr(tasks._Luck, "failures", 0)

    def work(*_: Any) -> tasks.Message:
        raise ValueError("embedded null byte")

    with broker() as embedded:
        monkeypatch.setattr(app.conf, "broker_url", embedded.url)
        data = job_of("check", tmp_path, SOURCES["Python"]).to_json()
        tasks._do(data, jobs.Job.from_json, work, Reports())
        with closing(queues.connect(embedded.url)) as client:
            messages = [unpack(raw) for raw in client.lrange(jobs.RESULTS_QUEUE, 0, -1)]
    ((task, told),) = [(message.task, message.args[0]) for message in messages]
    assert task == jobs.RECORD_VOID
    assert told["problem"].endswith(": embedded null byte")
    assert told["failed"]
    assert told["worker"] == worker_name()


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (7, 32), (8, 60), (2000, 60)],
)
def test_who_fails_again_and_again_takes_jobs_more_slowly(failures: int, seconds: float) -> None:
    """A second after the second failure in a row, then twice as long each time, up to a minute."""
    assert tasks.pause_seconds(failures) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 8 << 30), ("8", 8 << 30), ("0.5", 1 << 29), ("0", 0)],
)
def test_how_much_a_worker_keeps_is_said_in_gib(text: str, size: int) -> None:
    assert tasks.kept_bytes(text) == size


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf", "1e10", "8G"])
def test_what_is_no_size_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(BoxError, match=r"ARENA_CACHE_GIB=.* is no number of GiB, such as 8"):
        tasks.kept_bytes(text)
