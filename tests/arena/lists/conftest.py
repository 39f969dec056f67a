"""A made-up arena whose games are looked for, and what a plain look at each of them finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean

import pytest
import sqlalchemy as sa

from arena.competitions.voids import make_void
from arena.fake.fill import fill
from arena.ground.bot_names import Named
from arena.ground.db import Database
from arena.keeping.packing import unpack
from arena.lists.filters import COMPARISONS, GameFilter, Order, ValueBound
from arena.lists.lines import line_of
from arena.lists.rows import opening_number, start_of
from arena.models import (
    Bot,
    BotVersion,
    Competition,
    Entrant,
    JobStatus,
    Match,
    PlayedGame,
    SeatResult,
)
from engine.game import Termination
from tests.conftest import DATABASES
from tests.furnished import furnished_database

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PlainSeat:
    """A seat of a game, as its record and its row tell it."""

    seat: int
    bot: str
    version: int
    result: SeatResult
    fault: Termination | None
    tags: frozenset[str]
    values: dict[str, float]

    def is_(self, named: Named) -> bool:
        """Whether somebody sits there."""
        return self.bot.lower() == named.name.lower() and named.version in (None, self.version)


@dataclass(frozen=True, slots=True)
class PlainGame:
    """A game, as its record and its match tell it."""

    number: int
    competition: str
    game: str
    ending: Termination
    opening: int
    plies: int
    finished: datetime
    worker: str | None
    counts: bool
    line: bytes
    seats: tuple[PlainSeat, ...]

    def is_wanted(self, wanted: GameFilter) -> bool:
        """Whether a filter finds it."""
        least, most = (None, None) if wanted.plies is None else wanted.plies.ends
        return (
            wanted.competition in (None, self.competition)
            and wanted.game in (None, self.game)
            and wanted.ending in (None, self.ending)
            and wanted.opening in (None, self.opening)
            and wanted.worker in (None, self.worker)
            and (wanted.line is None or self.counts and self.line.startswith(wanted.line))
            and wanted.counts in (None, self.counts)
            and (least is None or self.plies >= least)
            and (most is None or self.plies <= most)
            and (wanted.since is None or self.finished >= wanted.since.begin)
            and (wanted.until is None or self.finished <= wanted.until.end)
            and bool(self.wanted_seats(wanted))
        )

    def wanted_seats(self, wanted: GameFilter) -> list[PlainSeat]:
        """The seats of which all holds that a filter says of one."""
        of_one = wanted.is_of_seat
        return [
            seat
            for seat in (self.seats if of_one else self.seats[:1])
            if (wanted.bot is None or seat.is_(wanted.bot))
            and wanted.seat in (None, seat.seat + 1)
            and wanted.result in (None, seat.result)
            and wanted.fault in (None, seat.fault)
            and seat.tags.issuperset(wanted.tag)
            and all(_holds(seat, bound) for bound in wanted.value)
            and all(
                any(other.is_(one) for other in self.seats if not of_one or other is not seat)
                for one in wanted.against
            )
        ]


def _holds(seat: PlainSeat, bound: ValueBound) -> bool:
    if bound.key not in seat.values or not bound.comparison:
        return bound.key in seat.values
    return bool(COMPARISONS[bound.comparison](seat.values[bound.key], bound.value))


@dataclass(frozen=True, slots=True)
class Archive:
    """A database with games, and all of them."""

    database: Database
    games: Sequence[PlainGame]

    def wanted(self, wanted: GameFilter) -> list[int]:
        """The numbers of the games that a filter wants, in its order."""
        found = [game for game in self.games if game.is_wanted(wanted)]
        by_length = wanted.sort in (Order.LONGEST, Order.SHORTEST)
        found.sort(
            key=lambda game: (game.plies if by_length else 0, game.number),
            reverse=wanted.sort in (Order.NEWEST, Order.LONGEST),
        )
        return [game.number for game in found]


@pytest.fixture(scope="module", params=DATABASES)
def archive(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Archive]:
    """Some hundred games on three ladders; some void, and one as if played on request."""
    with furnished_database(request, tmp_path_factory.mktemp("archive"), furnish) as found:
        database, _ = found
        with database.read() as session:
            yield Archive(database, plain_games(session))


def furnish(database: Database) -> None:
    """Makes the games, and takes some of them out of what counts."""
    fill(database, bots=12, ladders=3, games=240, seed=2, now=NOW)
    with database.begin() as session:
        for number in (3, 20, 21, 60):
            make_void(session, session.get_one(Match, number), "a power cut")


def plain_games(session: sa.orm.Session) -> list[PlainGame]:
    """All games, one by one from their records."""
    entrants = {
        row.id: (row.name, row.number)
        for row in session.execute(
            sa.select(Entrant.id, Bot.name, BotVersion.number)
            .join(BotVersion, BotVersion.id == Entrant.version_id)
            .join(Bot, Bot.id == BotVersion.bot_id)
        )
    }
    named = dict(session.execute(sa.select(Competition.id, Competition.name)).all())
    found = []
    for game in session.scalars(sa.select(PlayedGame).options(sa.orm.undefer(PlayedGame.record))):
        record, match, seats = unpack(game.record), game.match, []
        for row in game.seats:
            own = [ply for ply in record.plies if ply.seat == row.seat]
            keys = {key for ply in own for key in ply.values}
            alone = sum(other.rank == 1 for other in game.seats) == 1
            won = SeatResult.WON if alone else SeatResult.DRAWN
            seats.append(
                PlainSeat(
                    row.seat,
                    *entrants[row.entrant_id],
                    won if row.rank == 1 else SeatResult.LOST,
                    row.fault,
                    frozenset(tag for ply in own for tag in ply.tags),
                    {
                        key: fmean(ply.values[key] for ply in own if key in ply.values)
                        for key in keys
                    },
                )
            )
        found.append(
            PlainGame(
                game.id,
                named[game.competition_id],
                record.variant.game,
                record.termination,
                opening_number(match.options, match.opening),
                len(record.plies),
                game.finished,
                match.played_by,
                match.status is JobStatus.FIXED and match.requester_id is None,
                line_of(
                    start_of(record.variant.game, game.competition.options, match.options), record
                ),
                tuple(seats),
            )
        )
    return found
