"""All games that are wanted, one after the other, however many: what exports are made of.

They are looked up and read part by part, so that no transaction lasts as long as a download.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, takewhile
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, load_only

from arena.keeping.reading import text_of
from arena.lists.filters import GameFilter, Order
from arena.lists.search import ListPlace, find
from arena.lists.settled import settled
from arena.models import Bot, BotVersion, Competition, Entrant, GameSeat, Match, PlayedGame
from arena.sight import Reads

AT_A_TIME = 1000
"""Games that are looked up at a time."""
CHUNK_GAMES = 100
"""How many records are read at a time."""


def numbers(database: Reads, wanted: GameFilter, after: int) -> Iterator[int]:
    """The numbers of all games that are wanted above one, the lowest first, as far as they are
    settled: who goes on after the last one has missed none.

    Raises:
        NotThere: the filter names what is not there.
    """
    wanted = wanted.but(sort=Order.OLDEST)
    place: ListPlace | None = ListPlace(after)
    while place is not None:
        with database.read() as session:
            found = find(session, wanted, most=AT_A_TIME, after=place)
            last = settled(session)
        yield from takewhile(last.__ge__, found.games)
        place = found.further if all(map(last.__ge__, found.games)) else None


def parts(found: Iterator[int], size: int) -> Iterator[list[int]]:
    """Some numbers at a time."""
    while part := list(islice(found, size)):
        yield part


def lines(database: Reads, wanted: GameFilter, after: int) -> Iterator[list[bytes]]:
    """The games that are wanted above a number, some at a time; errors as for `numbers`.

    Each is its record, as JSON without a line's end, with what the arena knows of it before:
    ``number``, ``match``, ``finished``, ``competition``, ``counts`` and ``void``, and ``seats``,
    which has for each seat ``bot``, ``version``, ``options``, ``rank``, ``points``, and the rating
    before and after on a ladder.
    """
    for some in parts(numbers(database, wanted, after), CHUNK_GAMES):
        with database.read() as session:
            yield _read(session, some)


def _read(session: Session, some: Sequence[int]) -> list[bytes]:
    game = PlayedGame
    rows = session.execute(
        sa.select(game.id, game.finished, game.record, Competition.name, Match)
        .options(load_only(Match.status, Match.requester_id))
        .join(Match, Match.id == game.match_id)
        .join(Competition, Competition.id == game.competition_id)
        .where(game.id.in_(some))
        .order_by(game.id)
    ).all()
    seats = _seats(session, some)
    found = []
    for row in rows:
        match = row.Match
        about = {
            "number": row.id,
            "match": match.id,
            "finished": row.finished.isoformat(),
            "competition": row.name,
            "counts": match.counts and not match.is_void,
            "void": match.is_void,
            "seats": seats.get(row.id, []),
        }
        # What is stored is JSON already: an object, which gets some keys more.
        before, record = json.dumps(about)[:-1].encode(), text_of(session, row.id, row.record)
        found.append(b"%s,%s" % (before, record[1:]))
    return found


def _seats(session: Session, games: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Who sat where in some games, and what came of it there; by the games' numbers."""
    seat = GameSeat
    rows = session.execute(
        sa.select(seat.game_id, Bot.name.label("bot"), BotVersion.number.label("version"))
        .add_columns(seat.options, seat.rank, seat.points)
        .add_columns(seat.mu_before, seat.sigma_before, seat.mu_after, seat.sigma_after)
        .join(Entrant, Entrant.id == seat.entrant_id)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(seat.game_id.in_(games))
        .order_by(seat.game_id, seat.seat)
    ).mappings()
    return {
        number: [{key: value for key, value in row.items() if key != "game_id"} for row in its]
        for number, its in groupby(rows, lambda row: row["game_id"])
    }
