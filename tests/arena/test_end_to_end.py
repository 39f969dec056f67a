"""A whole arena in earnest: real processes, real boxes, and everything killed in the middle.

Whatever dies, every match is fixed exactly once, ratings come out the same when they are made
anew, and nothing is left running.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

import psutil
import pytest
import sqlalchemy as sa

from arena.bots.furnish import ladder_name, open_ladder
from arena.cli.arguments import listed_samples
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    JobStatus,
    Ladder,
    Mark,
    Match,
)
from arena.schedule.jobs import spec_of
from engine.game import Game, Variant
from engine.games import GAMES
from tests import postgres
from tests.arena.running import COMMAND, RunningArena, arena, environment, short_folder, until

GAME = GAMES["clobber"]
VARIANT = GAME.variant(size="4x4")
LADDER = ladder_name(GAME, VARIANT)

TEN_LINES = """\
import sys
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello":
        print("ready ten want=legal", flush=True)
    elif verb == "newgame":
        print("ok", flush=True)
    elif verb == "legal":
        legal = words
    elif verb == "go": print("move", legal[{choice}], flush=True)
    elif verb == "quit": break
"""


@pytest.fixture
def database_url(postgres_url: str, postgresql_like: str) -> Iterator[str]:
    """Where the arena keeps what it knows: on a PostgreSQL."""
    with postgres.database(postgres_url, like=postgresql_like) as url:
        yield url


def furnish_small(
    database: Database, game: Game = GAME, variant: Variant = VARIANT, *, kept: Sequence[str] = ()
) -> None:
    """One small ladder, and marks as of an operator who removed all that a fresh arena has.

    Args:
        kept: samples that were not removed.
    """
    now = datetime.now(UTC)
    database.upgrade()
    with database.begin() as session:
        ladder = open_ladder(game, variant, now)
        ladder.move_ms = 2000
        session.add(ladder)
        session.flush()
        for sample in listed_samples():
            if sample["name"] in kept:
                continue
            session.add(Mark(key=f"sample {sample['name']} on {ladder.id}", value="removed"))
        for name in GAMES.singles:
            for offered in GAMES[name].offered:
                session.add(Mark(key=f"ladder {offered}", value="removed"))


class Watched(RunningArena):
    """An arena whose database the test looks at beside it."""

    def __init__(self, data: Path, database: Database, **variables: str) -> None:
        super().__init__(data, **variables)
        self.database = database

    def matches(self, status: JobStatus) -> set[int]:
        """The numbers of the matches in a status."""
        with self.database.read() as session:
            return set(session.scalars(sa.select(Match.id).where(Match.status == status)))

    def await_matches(self, more: int, what: str) -> None:
        """Waits until some more matches are fixed, and all that are under way now."""
        issued, fixed = self.matches(JobStatus.ISSUED), self.matches(JobStatus.FIXED)

        def reached() -> bool:
            now = self.matches(JobStatus.FIXED)
            return issued <= now and len(now) >= len(fixed) + more

        until(reached, f"{more} matches {what}, and those that were under way: {issued}")

    def await_a_bot(self) -> None:
        """Waits until a match is being played."""
        until(lambda: self.bots(), "a running bot", pause=0.02)

    def bots(self) -> list[psutil.Process]:
        """The processes of bots and of their boxes."""
        return [one for one in psutil.process_iter(["cmdline"]) if self._plays(one)]

    def _plays(self, process: psutil.Process) -> bool:
        return any(self.mark in word for word in process.info["cmdline"] or ())


def submit_bots(running: Watched) -> None:
    """Two bots of ten lines, by the command line."""
    processes = []
    for name, choice in (("first", "0"), ("last", "-1")):
        path = running.data.parent / f"{name}_{running.mark}.py"
        path.write_text(TEN_LINES.format(choice=choice))
        words = ["submit", str(path), "--ladder", LADDER, "--name", name]
        processes.append(
            subprocess.Popen(
                [*COMMAND, *words, "--data", str(running.data)],
                env=environment(**running.variables),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    assert all("was taken in" in words for words in said)


def pool_process(running: Watched) -> psutil.Process:
    """One of the processes that play matches."""
    worker = running.process("workers.tasks")
    until(lambda: len(worker.children()) == 2, "the pool")
    return worker.children()[0]


VICTIMS: dict[str, Callable[[Watched], psutil.Process]] = {
    "worker": lambda running: running.process("workers.tasks"),
    "pool process": pool_process,
    "recorder": lambda running: running.process("arena.recorder.process"),
    "broker": lambda running: running.process("valkey-server"),
}


@pytest.mark.long
@pytest.mark.timeout(300)
def test_nothing_is_lost_or_counted_twice(database_url: str) -> None:
    """All are killed at once while matches are played.

    One after the other they are killed in a tournament, which is on SQLite (see
    test_golden_tournament.py).
    """
    variables = {
        "ARENA_GAMES": "clobber",
        "ARENA_DATABASE": database_url,
        # So quick are these bots that all is soon known of them, and the ladder would rest.
        "ARENA_TRICKLE_SECONDS": "0.1",
    }
    with ExitStack() as stack:
        data = stack.enter_context(short_folder()) / "data"
        data.mkdir()
        database = Database(database_url)
        stack.callback(database.close)
        furnish_small(database)
        with Watched(data, database, **variables) as running:
            running.start()
            submit_bots(running)
            running.await_matches(3, "at first")
            running.await_a_bot()
            # The bots are not touched: that they end with who plays them is the kernel's work.
            killed = set(running.processes()) - set(running.bots())
            for process in killed:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            running.wait()
            # Until its server is gone for good nobody can listen there again.
            psutil.wait_procs(killed, timeout=30)
            running.start()
            running.await_matches(3, "after all were killed")
            check_pages(running)
            with database.begin() as session:
                session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
            until(
                lambda: not running.matches(JobStatus.OPEN) | running.matches(JobStatus.ISSUED),
                "the end of all matches of a paused ladder",
            )
            running.interrupt()
            assert running.wait() == 0
            running.await_end("the end of every process, bots too")
        check_database(database)
        done = arena("ratings", "rebuild", "--check", "--data", str(data), **variables)
        assert (done.returncode, done.stdout) == (0, done.stdout)
        assert f"{LADDER}: " in done.stdout
        assert "2 entrants: equal" in done.stdout


def check_pages(running: Watched) -> None:
    """Every kind of page answers, and shows the bots."""
    for path in ("/", f"/ladders/{LADDER}", "/bots/first", "/matches/1", "/games/1"):
        status, text = running.page(path)
        assert status == 200
        assert "first" in text


def check_database(database: Database) -> None:
    """Each match has all its games, once, and each entrant is rated by just those games."""
    with database.read() as session:
        matches = session.scalars(sa.select(Match).order_by(Match.seq)).all()
        assert [match.seq for match in matches] == list(range(1, len(matches) + 1))
        games = {1: 0, 2: 0}
        for match in matches:
            assert match.status is JobStatus.FIXED
            assert [game.number for game in match.games] == list(range(spec_of(match).games))
            for game in match.games:
                for seat in game.seats:
                    assert seat.fault is None
                    games[seat.entrant_id] += 1
        assert {e.id: e.games for e in session.scalars(sa.select(Entrant))} == games
        assert min(games.values()) == 2 * len(matches)
        assert {check.status for check in session.scalars(sa.select(Check))} == {JobStatus.FIXED}
        names = session.scalars(sa.select(Bot.name).join(BotVersion).order_by(Bot.name)).all()
        assert names == ["first", "last"]


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_a_ladder_of_500_games_with_a_kill_now_and_then() -> None:
    """Every match counts exactly once, and the ratings are those of a rebuild."""
    with ExitStack() as stack:
        data = stack.enter_context(short_folder()) / "data"
        data.mkdir()
        database = Database(f"sqlite:///{data}/arena.db")
        stack.callback(database.close)
        furnish_small(database)
        # The ladder must not rest when all is known of its two bots.
        with Watched(data, database, ARENA_GAMES="clobber", ARENA_TRICKLE_SECONDS="0.001") as one:
            one.start()
            submit_bots(one)
            one.await_matches(3, "at first")
            victims = cycle(VICTIMS.items())
            while len(one.matches(JobStatus.FIXED)) < 250:
                name, find = next(victims)
                found = find(one)
                one.await_a_bot()
                found.kill()
                one.await_matches(20, f"after the {name} was killed")
            with database.begin() as session:
                session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
            until(
                lambda: not one.matches(JobStatus.OPEN) | one.matches(JobStatus.ISSUED),
                "the end of all matches of a paused ladder",
            )
            one.interrupt()
            assert one.wait() == 0
        check_database(database)
        done = arena("ratings", "rebuild", "--check", "--data", str(data))
        assert (done.returncode, "2 entrants: equal" in done.stdout) == (0, True), done.stdout
        with database.read() as session:
            assert session.scalars(sa.select(Ladder.games)).one() >= 500
