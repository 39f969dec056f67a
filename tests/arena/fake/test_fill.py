"""A made-up arena is consistent: as if its games had been recorded one by one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from arena.bots.quota import stored_bytes
from arena.competitions.ranks import ranks_of
from arena.fake.fill import fill
from arena.ground.db import Database
from arena.keeping.packing import unpack
from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    GameSeat,
    Ladder,
    LargeFile,
    Match,
    Meeting,
    PlayedGame,
)
from arena.recorder.rebuild import rebuild
from engine.record import replay

NOW = datetime(2026, 5, 4, tzinfo=UTC)


def test_made_up_games_add_up(database: Database) -> None:
    """Ratings come out again, counters are those of the rows, records obey the rules."""
    made = fill(database, bots=30, ladders=3, games=150, seed=1, now=NOW)
    with database.read() as session:
        assert made == session.scalar(sa.select(sa.func.count(PlayedGame.id))) >= 150
        assert session.scalar(sa.select(sa.func.count(Bot.id))) == 30
        # What is large counts once for its owner, however many versions have it.
        whole = sum(session.scalars(sa.select(BotVersion.size)))
        large = sa.select(LargeFile.digest, LargeFile.size).join(
            BotVersion, BotVersion.digest == LargeFile.bundle
        )
        each, files = 0, dict[str, int]()
        for digest, size in session.execute(large):
            each, files[digest] = each + size, size
        owners = session.scalars(sa.select(Bot.owner_id).distinct())
        stored = sum(stored_bytes(session, owner) for owner in owners)
        assert len(files) == 3
        assert stored == whole - each + sum(files.values())
        for ladder in session.scalars(sa.select(Ladder)).all():
            rebuilt = rebuild(session, ladder, write=False)
            assert rebuilt.equal, rebuilt.differences[:3]
            assert rebuilt.games == ladder.games > 0
            met = sa.select(sa.func.sum(Meeting.matches)).where(Meeting.competition_id == ladder.id)
            assert session.scalar(met) == ladder.matches_made
        for entrant in session.scalars(sa.select(Entrant)):
            seats = sa.select(sa.func.count()).where(GameSeat.entrant_id == entrant.id)
            faults = seats.where(GameSeat.fault.is_not(None))
            assert (entrant.games, entrant.faults) == (
                session.scalar(seats),
                session.scalar(faults),
            )
        for game in session.scalars(sa.select(PlayedGame).limit(20)):
            replay(unpack(game.record))
    with database.begin() as session:
        last = session.scalars(sa.select(Match).order_by(Match.id.desc()).limit(1)).one()
        session.add(
            Match(
                competition_id=last.competition_id,
                status=last.status,
                seq=(last.seq or 0) + 1,
                rated=False,
                options={},
                opening=[],
                seed=0,
                created=NOW,
            )
        )


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_made_up_bots_had_better_ranks(database: Database) -> None:
    """Who has a place on a board had that or a better one; some had a better one long ago."""
    fill(database, bots=20, ladders=1, games=600, seed=1, now=NOW)
    with database.read() as session:
        ranked = session.scalars(sa.select(Entrant).where(Entrant.games >= 20)).all()
        present = ranks_of(session, ranked)
        assert len(ranked) > 10
        for entrant in ranked:
            rank = present[entrant.id].rank
            assert rank is not None
            assert entrant.best_rank is not None
            assert entrant.best_rank_at is not None
            assert 1 <= entrant.best_rank <= rank
            assert entrant.best_rank_at <= NOW
        assert any(one.best_rank != present[one.id].rank for one in ranked)
