"""What is counted of lines is what a plain look at every record counts, on both databases."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.voids import make_void
from arena.ground.db import Database
from arena.keeping.packing import unpack
from arena.lists import branches, explorer
from arena.lists.lines import END, PLIES, move_code, root_of, start_code
from arena.models import (
    Competition,
    Entrant,
    GameLine,
    JobStatus,
    LineBranch,
    Mark,
    Match,
    PlayedGame,
)
from arena.recorder.rebuild import rebuild_beside
from engine.record import GameRecord
from tests.arena.lists.conftest import furnish
from tests.conftest import DATABASES
from tests.furnished import furnished_database

BOUNDS = {"SHARED": 20, "ENOUGH": 30, "AT_ONCE": 77}
"""Few games share a line, so that among some hundred many lines are open."""

LOOKED_AT = 25
"""Lines of two moves and more that are compared."""


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are opened, and games added, as with many."""
    for name, bound in BOUNDS.items():
        monkeypatch.setattr(branches, name, bound)
    monkeypatch.setattr(explorer, "WINDOW", 60)


@pytest.fixture(params=DATABASES)
def played(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Database]:
    """Some hundred games, of which none is added to a line yet."""
    with furnished_database(request, tmp_path, furnish) as (database, _):
        with database.begin() as session:
            session.execute(sa.delete(LineBranch))
            session.execute(sa.delete(Mark).where(Mark.key == branches.NOTE))
        yield database


ALL = sa.select(PlayedGame).options(
    sa.orm.undefer(PlayedGame.record),
    sa.orm.selectinload(PlayedGame.seats),
    sa.orm.joinedload(PlayedGame.match),
    sa.orm.joinedload(PlayedGame.competition),
)
Line = tuple[int | None, str, tuple[str, ...]]
"""A competition or None for all of its variant, the start, and moves."""


Plain = tuple[dict[Line, Counter[Any]], dict[Line, bytes]]
"""What came of each line, by each move that led on; and each line's key."""


def plain(session: Session, but: Collection[int] = ()) -> Plain:
    """All lines of all games, one by one from their records.

    Args:
        but: the numbers of games that are not recorded yet.
    """
    told: dict[Line, Counter[Any]] = {}
    keys: dict[Line, bytes] = {}
    for game in session.scalars(ALL):
        match, competition, record = game.match, game.competition, unpack(game.record)
        if match.status is not JobStatus.FIXED or match.requester_id is not None:
            continue
        if game.id in but:
            continue
        until = record.faults[0].ply if record.faults else len(record.plies)
        words = [*record.moves[:until], ""][:PLIES]
        key = root_of(competition.game, competition.options) + start_code(match.options)
        for place in (competition.id, None):
            about = str(competition.variant)
            for ply, word in enumerate(words):
                line = (place, f"{about} {match.options}", tuple(words[:ply]))
                keys[line] = key + b"".join(map(move_code, words[:ply]))
                move = move_code(word) if word else END
                its = told.setdefault(line, Counter())
                its[move, "chosen"] += bool(word) and ply >= len(match.opening)
                for seat in game.seats:
                    alone = sum(other.rank == 1 for other in game.seats) == 1
                    result = 2 if seat.rank > 1 else 0 if alone else 1
                    its[move, seat.seat, result] += 1
    return told, keys


def demand_right(session: Session, known: Plain, random: Random) -> None:
    """Compares the shortest lines, and some of the others, with a plain count."""
    told, keys = known
    short = [line for line in told if len(line[2]) < 2]
    others = [line for line in told if len(line[2]) >= 2]
    for line in [*short, *random.sample(others, LOOKED_AT)]:
        wanted = told[line]
        found: Counter[Any] = Counter()
        for move, tally in explorer.branches(session, keys[line], line[0]).items():
            # The end stands for no move, which nobody chose.
            found[move, "chosen"] += tally.chosen if move != END else 0
            for seat, results in tally.results.items():
                found.update({(move, seat, result): n for result, n in enumerate(results)})
        assert +found == +wanted, line


@pytest.mark.long
def test_every_line_is_counted(played: Database) -> None:
    """Whatever was added to open lines, what was not yet, and after matches were made void."""
    random = Random(1)
    with played.read() as session:
        known = plain(session)
        demand_right(session, known, random)
    added = 0
    while added < 3 and played.run(branches.add_next):
        added += 1
    with played.begin() as session:
        demand_right(session, known, random)
        assert (
            0
            < branches.last_added(session)
            < session.scalars(sa.select(sa.func.max(GameLine.game_id))).one()
        )
        for number in (1, 2, 5, 40, 60, 61, 99):
            make_void(session, session.get_one(Match, number), "a power cut")
    with played.read() as session:
        opened = sa.select(sa.func.count(sa.distinct(LineBranch.line)))
        assert session.scalars(opened).one() > 5
        known = plain(session)
        demand_right(session, known, random)
    while played.run(branches.add_next):
        pass
    with played.read() as session:
        demand_right(session, known, random)


@pytest.mark.long
def test_right_at_any_moment(played: Database) -> None:
    """While one process records games and adds them to lines, others make matches void, and the
    competitions are rebuilt."""
    wanted = sa.select(GameLine.game_id, GameLine.line, GameLine.set_plies)
    with played.begin() as session:
        rows = [row._asdict() for row in session.execute(wanted.order_by(GameLine.game_id))]
        held = rows[-90:]
        first = held[0]["game_id"]
        session.execute(sa.delete(GameLine).where(GameLine.game_id >= first))
        of_matches = (
            sa.select(PlayedGame.match_id)
            .join(PlayedGame.match)
            .where(PlayedGame.id < first - 1, Match.status == JobStatus.FIXED)
            .distinct()
        )
        matches = list(session.scalars(of_matches))
        competitions = list(session.scalars(sa.select(Competition.id)))

    def record() -> None:
        for at in range(0, len(held), 3):
            with played.begin() as session:
                session.execute(sa.insert(GameLine), held[at : at + 3])
            while played.run(branches.add_next):
                pass

    def make_some_void(which: Sequence[int]) -> None:
        for number in which:
            with played.begin() as session:
                make_void(session, session.get_one(Match, number), "a power cut")

    def rebuild_all() -> None:
        for number in competitions:
            rebuild_beside(played, number, lambda _: None)

    random, looks = Random(2), 0
    with ThreadPoolExecutor(4) as pool:
        void = random.sample(matches, 12)
        under_way = [
            pool.submit(record),
            pool.submit(make_some_void, void[:6]),
            pool.submit(make_some_void, void[6:]),
            pool.submit(rebuild_all),
        ]
        while looks < 2:
            with played.read() as session:
                there = set(session.scalars(sa.select(GameLine.game_id)))
                but = {row["game_id"] for row in held} - there
                demand_right(session, plain(session, but), random)
            looks += 1
        for one in under_way:
            one.result()
    with played.read() as session:
        known = plain(session)
        demand_right(session, known, random)
        assert branches.last_added(session) > first


def test_the_migration_writes_the_same_lines(played: Database) -> None:
    """It writes those of games that were there before."""
    migration = importlib.import_module("migrations.versions.0025_lines_of_games")
    wanted = sa.select(GameLine.game_id, GameLine.line, GameLine.set_plies)
    with played.begin() as session:
        make_void(session, session.get_one(Match, 7), "a power cut")
        before = session.execute(wanted.order_by(GameLine.game_id)).all()
        rows = session.execute(migration._GAMES, {"last": 0, "most": 10_000}).mappings()
        made = [migration._row(row) for row in rows]
    assert [tuple(row.values()) for row in made] == [tuple(row) for row in before]


def _begun(record: GameRecord) -> tuple[str, tuple[str, ...]]:
    """The variant and the moves up to the first that a bot chose."""
    return str(record.variant), record.moves[: record.opening + 1]


def test_who_played_a_line_and_when(played: Database) -> None:
    """The bots that chose its last move, and its last games, of a ladder and of all."""
    while played.run(branches.add_next):
        pass
    with played.read() as session:
        every = [(game, unpack(game.record)) for game in session.scalars(ALL)]
        begun = Counter(map(_begun, (record for _, record in every)))
        (((about, moves), _),) = begun.most_common(1)
        alike = [
            game
            for game, its in every
            if (str(its.variant), its.moves[: len(moves)]) == (about, moves)
        ]
        alike = [game for game in alike[::-1] if game.match.counts and not game.match.is_void]
        assert len(alike) > 5
        match, ladder, ply = alike[0].match, alike[0].competition, len(moves)
        line = root_of(ladder.game, ladder.options) + start_code(match.options)
        line += b"".join(map(move_code, moves))
        for where in (ladder.id, None):
            found = explorer.last_games(session, line, where, most=5)
            assert found == [one.id for one in alike[:5]]
            mover = (ply - 1) % 2
            bots = {one.key: one.games for one in explorer.players(session, line, mover, where)}
            chosen = [one.seats[mover].entrant_id for one in alike if len(one.match.opening) < ply]
            of_bot = Counter(session.get_one(Entrant, one).version.bot_id for one in chosen)
            assert bots == of_bot
        codes = [start_code(match.options), b"none"]
        starts = explorer.starts_of(session, root_of(ladder.game, ladder.options), codes)
        assert starts == {codes[0]: match.options}
