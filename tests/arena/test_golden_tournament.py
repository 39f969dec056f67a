"""A whole tournament in earnest comes out the same on one worker, and on two that are killed."""

from __future__ import annotations

import json
import subprocess
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import Actor
from arena.bots.submissions import enter, submit
from arena.competitions.players import NamedPlayer
from arena.competitions.tournaments import TournamentPlan, create
from arena.ground.db import Database
from arena.models import Check, CompetitionState, JobStatus, Ladder, User, VersionStatus
from engine.clock import TimeControl
from tests.arena.running import COMMAND, environment, short_folder, until
from tests.arena.test_end_to_end import VARIANT, Watched, furnish_small, pool_process
from workers import bundles

GOLDEN = Path(__file__).parents[1] / "data" / "golden_tournament.json"
BOTS = 6
MATCHES = 30
"""Each meets each of the others twice."""

# Each plays a different one of the legal moves, counted on from ply to ply.
BOT = """\
import sys
import time

for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello":
        print("ready golden want=legal", flush=True)
    elif verb == "newgame":
        ply = {number}
        print("ok", flush=True)
    elif verb == "legal":
        legal = words
    elif verb == "go":
        time.sleep({pause})
        print("move", legal[ply % len(legal)], flush=True)
        ply = 3 * ply + {number} + 1
    elif verb == "quit":
        break
"""


def furnish(database: Database, folder: Path, mark: str, pause: float) -> None:
    """Six bots that need no check any more, and a double round robin between them.

    Args:
        pause: how many seconds each waits before it moves.
    """
    furnish_small(database)
    now = datetime.now(UTC)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.state = CompetitionState.PAUSED
        owner = User(name="golden", created=now)
        session.add(owner)
        players = []
        for number in range(BOTS):
            path = folder / f"golden_{mark}_{number}.py"
            path.write_text(BOT.format(number=number, pause=pause))
            bundle = bundles.pack(path)
            bundles.store(folder / "data" / "bundles", bundle)
            version = submit(
                session, owner, f"golden-{number}", digest=bundle.digest, size=9, now=now,
                language=bundle.language, ladder=ladder,
            )  # fmt: skip
            version.status = VersionStatus.READY
            enter(session, ladder, version, now)
            players.append(NamedPlayer(version))
        session.execute(sa.delete(Check))
        # Time enough, so that a loaded machine makes nobody lose by the clock.
        plan = TournamentPlan(
            "golden", VARIANT, TimeControl(move_ms=5000), "round-robin", settings={"cycles": 2},
            seed=2026,
        )  # fmt: skip
        create(session, plan, players, now, Actor(None, "golden", "a test"))


def outcome(found: dict[str, Any], digest_: str) -> dict[str, Any]:
    """What is to be the same always: every game, and who came where."""
    return {
        "digest": digest_,
        "matches": found["matches"],
        "points": [[row["bot"], row["points"]] for row in found["standings"]],
    }


def arena_says(*words: str) -> dict[str, Any]:
    """What a command prints as JSON at its end."""
    done = subprocess.run(
        [*COMMAND, *words],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    assert f"of {MATCHES} matches" in done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def await_what_was_issued(running: Watched, victims: list[str]) -> None:
    """Waits for what was under way, and one more; at the end of the tournament none is left."""
    issued, fixed = running.matches(JobStatus.ISSUED), running.matches(JobStatus.FIXED)
    enough = min(len(fixed) + 1, MATCHES)

    def reached() -> bool:
        now = running.matches(JobStatus.FIXED)
        return issued <= now and len(now) >= enough

    until(reached, f"{enough} matches after {victims} were killed, {issued} among them")


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_tournament_comes_out_the_same(workers: int) -> None:
    """Every record and the table are those on file.

    On one worker it is the command that plays it; on two an arena, of which the worker with the
    recorder, and one of its processes with the broker are killed while matches are played.
    """
    golden = json.loads(GOLDEN.read_text())
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        data = folder / "data"
        data.mkdir()
        database = Database(f"sqlite:///{data}/arena.db")
        stack.callback(database.close)
        running = stack.enter_context(Watched(data, database))
        # So that it lasts long enough for all that is killed.
        furnish(database, folder, running.mark, pause=0.0 if workers == 1 else 0.02)
        words = ["tournament", "run", "golden", "--data", str(data), "--json"]
        if workers == 1:
            found = arena_says(*words, "--workers", "1", "--port", str(running.port))
            assert outcome(found, found["digest"]) == golden
            return
        running.start()
        running.await_matches(3, "at first")
        running.await_a_bot()
        for victims in (["workers.tasks", "arena.recorder.process"], ["pool", "valkey-server"]):
            processes = [
                pool_process(running) if word == "pool" else running.process(word)
                for word in victims
            ]
            for process in processes:
                process.kill()
            assert len(running.matches(JobStatus.FIXED)) < MATCHES, "it was over too soon"
            await_what_was_issued(running, victims)
        # Where an arena runs, the command waits for the end.
        found = arena_says(*words)
        running.interrupt()
        assert running.wait() == 0
        running.await_end("the end of every process")
        assert outcome(found, found["digest"]) == golden
