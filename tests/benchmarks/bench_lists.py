"""How long the server takes to find games by each word of a filter, alone and combined.

The arena of `arena fake` is made anew in SQLite and in PostgreSQL, as large as PAGES_BOTS,
PAGES_LADDERS and PAGES_GAMES say. PAGES_DATABASE is the URL of one that is there already; then
that one alone is measured, and nothing is written. What is asked for is taken from what a game in
its middle has, so that of each word there are few or many as it comes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import Database
from arena.lists.filters import GameFilter, opening_word
from arena.lists.search import find
from arena.models import (
    Bot,
    Competition,
    Entrant,
    GameSeat,
    ListedSeat,
    PlayedGame,
    SeatResult,
)
from tests.benchmarks.bench_pages import AIM_MS, FEWEST_ROUNDS, databases, quantile
from tests.benchmarks.table import Table

MOST = 50
"""Games on a page."""


@dataclass(slots=True)
class Search:
    """What finding a page of games took, each time."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    """The CPU time of this process, and of the database's server if that is on this machine."""
    statements: int = 0
    games: int = 0


def run(seconds: float) -> Table:
    """Every filter in turn, again and again."""
    rows = []
    with databases() as found:
        for name, database in found:
            for words, took in measure(database, seconds / 2).items():
                rows.append(
                    (
                        f"{name} {words}",
                        took.games,
                        took.statements,
                        *(f"{quantile(took.cpu_ms, share):.1f}" for share in (0.5, 0.95)),
                        f"{quantile(took.wall_ms, 0.5):.1f}",
                        "yes" if quantile(took.cpu_ms, 0.5) < AIM_MS else "no",
                    )
                )
    columns = ("filter", "games", "statements", "CPU ms", "p95", "ms", f"CPU under {AIM_MS:.0f}")
    return Table("Lists of games", columns, rows)


def measure(database: Database, seconds: float) -> dict[str, Search]:
    """The times of each filter; every one is asked for some times at least."""
    with database.read() as session:
        asked = {_shown(words): GameFilter.read(words) for words in filters(session)}
    found = {words: Search() for words in asked}
    for words, wanted in asked.items():
        found[words].statements = _statements(database, wanted)
    end, rounds = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or rounds < FEWEST_ROUNDS:
        rounds += 1
        for words, wanted in asked.items():
            with database.read() as session:
                server = _server(session)
                wall, cpu = time.perf_counter(), _cpu_ms(server)
                found[words].games = len(find(session, wanted, most=MOST).games)
                found[words].cpu_ms.append(_cpu_ms(server) - cpu)
                found[words].wall_ms.append((time.perf_counter() - wall) * 1000)
    return found


def _server(session: Session) -> Path | None:
    """Where the kernel tells what the server's process for this session takes, if it is here."""
    if session.get_bind().dialect.name != "postgresql":
        return None
    found = Path(f"/proc/{session.scalar(sa.text('SELECT pg_backend_pid()'))}/schedstat")
    return found if found.exists() else None


def _cpu_ms(server: Path | None) -> float:
    """The CPU time of this process and of that one."""
    its_ns = int(server.read_text(encoding="ascii").split()[0]) if server else 0
    return time.process_time() * 1000 + its_ns / 1e6


def _shown(words: dict[str, str]) -> str:
    return "&".join(f"{key}={word[:16]}" for key, word in words.items()) or "all"


def _statements(database: Database, wanted: GameFilter) -> int:
    """How many statements one takes."""
    asked: list[str] = []

    def note(*args: object) -> None:
        asked.append(str(args[2]))

    with database.read() as session:
        sa.event.listen(database.engine, "before_cursor_execute", note)
        find(session, wanted, most=MOST)
        sa.event.remove(database.engine, "before_cursor_execute", note)
    return len(asked)


def filters(session: Session) -> list[dict[str, str]]:
    """Every word alone, then combinations, of what there is in an arena."""
    last = session.scalars(sa.select(sa.func.max(PlayedGame.id))).one()
    games = sa.select(PlayedGame).where(PlayedGame.id >= last // 2, PlayedGame.plies > 0)
    game = session.scalars(games.order_by(PlayedGame.id).limit(1)).one()
    listed = session.get_one(ListedSeat, (game.id, 0))
    other = session.get_one(ListedSeat, (game.id, 1))
    competition = session.get_one(Competition, game.competition_id).name
    bot = session.get_one(Bot, listed.bot_id).name
    against = session.get_one(Bot, other.bot_id).name
    busiest = session.scalars(
        sa.select(Bot.name)
        .join(ListedSeat, ListedSeat.bot_id == Bot.id)
        .where(ListedSeat.game_id > last - 20_000)
        .group_by(Bot.name)
        .order_by(sa.func.count().desc())
        .limit(1)
    ).one()
    since, until = f"{game.finished:%Y-%m-%d}", f"{game.finished:%Y-%m-%d}"
    opening = opening_word(listed.opening)
    worker = listed.worker or ""
    version = session.scalars(
        sa.select(Entrant).join(GameSeat).where(GameSeat.game_id == game.id, GameSeat.seat == 0)
    ).one()
    number = version.version.number
    won, lost = SeatResult.WON, SeatResult.LOST
    return [
        {},
        {"competition": competition},
        {"game": listed.game},
        {"bot": bot},
        {"bot": busiest},
        {"bot": f"{bot}:{number}"},
        {"against": against},
        {"seat": "2"},
        {"result": lost},
        {"fault": "crash"},
        {"fault": "timeout"},
        {"ending": "normal"},
        {"ending": "crash"},
        {"opening": opening},
        {"plies": "20-30"},
        {"plies": "1"},
        {"since": since, "until": until},
        {"tag": "book"},
        {"value": "depth>=12"},
        {"value": "depth>=1000"},
        {"counts": "yes"},
        {"counts": "no"},
        {"worker": worker},
        {"sort": "oldest"},
        {"sort": "longest"},
        {"sort": "shortest"},
        # Combinations: of what is rare with what is not, or hardly goes together; in any order.
        {"bot": bot, "against": against},
        {"bot": busiest, "result": lost, "ending": "crash"},
        {"competition": competition, "sort": "longest", "seat": "1", "result": won},
        {"competition": competition, "plies": "1-5", "sort": "shortest"},
        {"game": listed.game, "tag": "book", "value": "depth>=12", "counts": "yes"},
        {"bot": busiest, "since": since, "sort": "oldest", "seat": "2"},
        {"opening": opening, "result": lost, "seat": "2", "worker": worker},
        {"fault": "timeout", "until": since, "counts": "no"},
        {"competition": competition, "bot": bot, "value": "depth<2,score>0", "sort": "longest"},
        {"ending": "crash", "plies": "200-", "against": busiest, "since": since},
    ]
