"""Bots at home in a whole arena: two of them by `arena connect`, and every part killed meanwhile.

Whatever dies, each match is fixed once with all its games, and ratings come out the same when they
are made anew.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import (
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    GameSeat,
    HomeRule,
    JobStatus,
    Ladder,
    Match,
    Presence,
    Scope,
    User,
    Worker,
)
from arena.people.accounts import add_token
from arena.schedule.jobs import spec_of
from engine.game import Termination
from tests.arena.running import COMMAND, arena, environment, short_folder, until
from tests.arena.test_end_to_end import LADDER, TEN_LINES, Watched, furnish_small
from tests.arena.web.signing_in import now, person

VICTIMS = {
    "home worker": "workers.home.tasks",
    "pages": "arena.cli.serve",
    "recorder": "arena.recorder.process",
    "broker": "valkey-server",
}


def furnish_home(database: Database, move_ms: int = 2000) -> str:
    """A small ladder that takes bots at home, and a token of somebody who has one."""
    furnish_small(database, kept=("random",))
    user = person(database, "ada")
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.home, ladder.move_ms = HomeRule.BESIDE, move_ms
        ada = session.get_one(User, user.id)
        return add_token(session, ARENA, ada, "home", [Scope.READ, Scope.CONNECT], now())


@contextmanager
def connected(running: Watched, token: str, name: str, *options: str) -> Iterator[Path]:
    """A bot of ten lines at home, as its author starts it; the file of what its command says."""
    bot = running.data.parent / f"{name}_{running.mark}.py"
    bot.write_text(TEN_LINES.format(choice={"near": "0", "far": "-1"}[name]))
    said = bot.with_suffix(".said")
    server = f"http://127.0.0.1:{running.port}"
    words: Sequence[str] = [
        *("connect", str(bot), "--name", name, "--ladder", LADDER),
        *("--server", server, "--games", "2", "--json", *options),
    ]
    with said.open("w") as out:
        process = subprocess.Popen(
            [*COMMAND, *words],
            env=environment(ARENA_TOKEN=token, XDG_CONFIG_HOME=str(bot.parent)),
            stdout=out,
            stderr=out,
        )
    try:
        yield said
        # Games under way are finished, and then it ends.
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, said.read_text()
    finally:
        process.kill()
        process.wait()


def home_matches(running: Watched, status: JobStatus) -> set[int]:
    with running.database.read() as session:
        its = sa.select(Match.id).where(Match.status == status, Match.at_home)
        return set(session.scalars(its))


def await_home_matches(running: Watched, more: int, what: str) -> None:
    """Waits until so many more matches of bots at home were played."""
    before = len(home_matches(running, JobStatus.FIXED))
    until(
        lambda: len(home_matches(running, JobStatus.FIXED)) >= before + more,
        f"{more} matches of bots at home {what}",
    )


def check_database(database: Database) -> None:
    """Each match has all its games, once; no game was lost by what we killed."""
    with database.read() as session:
        matches = session.scalars(
            sa.select(Match).where(Match.status == JobStatus.FIXED).order_by(Match.seq)
        ).all()
        assert [match.seq for match in matches] == list(range(1, len(matches) + 1))
        for match in matches:
            assert [game.number for game in match.games] == list(range(spec_of(match).games))
            versions = {place.entrant.version for place in match.places}
            assert match.at_home is any(version.is_at_home for version in versions)
        faults = session.scalars(sa.select(GameSeat.fault).where(GameSeat.fault.is_not(None)))
        assert [fault for fault in faults if fault is not Termination.RESIGN] == []
        charged = session.scalars(
            sa.select(GameSeat.cpu_us)
            .join(Entrant, Entrant.id == GameSeat.entrant_id)
            .join(BotVersion, BotVersion.id == Entrant.version_id)
            .where(BotVersion.language == "home")
        ).all()
        assert charged
        assert min(charged) > 0
        checks = session.scalars(sa.select(Check).where(Check.at_home)).all()
        assert [check.status for check in checks] == [JobStatus.FIXED] * 2


@pytest.fixture(scope="module")
def home() -> Iterator[tuple[Watched, list[str]]]:
    """An arena in which two bots at home play beside a boxed one, one of them by a WebSocket and
    one by polls; and what tests have killed of it. In the end nothing was lost."""
    killed: list[str] = []
    with ExitStack() as stack:
        data = stack.enter_context(short_folder()) / "data"
        data.mkdir()
        database = Database(f"sqlite:///{data}/arena.db")
        stack.callback(database.close)
        token = furnish_home(database)
        running = stack.enter_context(Watched(data, database, ARENA_TRICKLE_SECONDS="0.1"))
        running.start()
        assert not running._children("workers.home.tasks"), "nobody has come yet"
        with connected(running, token, "near") as said, connected(running, token, "far", "--poll"):
            until(lambda: _checked(database) == 2, "the checks of both")
            await_home_matches(running, 3, "at first")
            yield running, killed
        events = {json.loads(line)["event"] for line in said.read_text().splitlines()}
        assert {"admitted", "connected", "begun", "ended", "leaving"} <= events
        assert "lost" in events or "home worker" not in killed
        until(lambda: _away(database) == 2, "that they are away")
        until(lambda: "It is away, and went" in running.page("/bots/near")[1], "it said")
        with database.begin() as session:
            session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
        until(lambda: not home_matches(running, JobStatus.ISSUED), "the end of what was issued")
        with database.read() as session:
            (worker,) = session.scalars(sa.select(Worker).where(Worker.at_home))
            assert worker.name.endswith("-home")
        running.interrupt()
        assert running.wait() == 0
        running.await_end("the end of every process, bots too")
        check_database(database)
        done = arena("ratings", "rebuild", "--check", "--data", str(data))
        assert (done.returncode, "3 entrants: equal" in done.stdout) == (0, True), done.stdout


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("victim", VICTIMS)
def test_bots_at_home_lose_nothing_by_what_is_killed(
    home: tuple[Watched, list[str]], victim: str
) -> None:
    """They go on playing; that nothing was lost is seen when all has ended."""
    running, killed = home
    running.process(VICTIMS[victim]).kill()
    killed.append(victim)
    await_home_matches(running, 2, f"after the {victim} was killed")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_its_page_says_where_a_bot_is(home: tuple[Watched, list[str]]) -> None:
    running, _ = home
    status, page = running.page("/bots/near")
    assert (status, "stays <strong>at home</strong>" in page) == (200, True)
    until(lambda: "It is connected, and came" in running.page("/bots/near")[1], "it said")


def _checked(database: Database) -> int:
    with database.read() as session:
        its = sa.select(Check).where(Check.at_home, Check.status == JobStatus.FIXED)
        return len(session.scalars(its).all())


def _away(database: Database) -> int:
    with database.read() as session:
        return len(session.scalars(sa.select(Presence).where(Presence.games == 0)).all())
