"""What is written of a game so that it can be found, as it is recorded.

The numbers and tags of a seat are bounded: of a bot that gives more different ones, those that it
gave first can be looked for, and all of them stay in the record.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from arena.models import GameDay, GameTag, GameValue, ListedSeat, SeatResult
from engine.record import GameRecord

MOST_WORDS = 16
"""How many different numbers, and how many tags, a seat's bot can be found by in a game."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OfMatch:
    """What all games of a match have in common."""

    competition_id: int
    game: str
    opening: int
    finished: datetime
    worker: str | None
    counts: bool


@dataclass(slots=True)
class Listed:
    """The rows of some games, table by table."""

    seats: list[Row]
    values: list[Row]
    tags: list[Row]

    @classmethod
    def nothing(cls) -> Listed:
        """No rows yet."""
        return cls([], [], [])

    def add(self, game_id: int, seats: Iterable[Row], said: SeatWords) -> None:
        """Adds a game."""
        self.seats += [{"game_id": game_id, **row} for row in seats]
        self.values += [{"game_id": game_id, **row} for row in said.values]
        self.tags += [{"game_id": game_id, **row} for row in said.tags]

    def write(self, connection: sa.Connection) -> None:
        """Inserts them."""
        for statement, rows in zip(_INSERTS, (self.seats, self.values, self.tags), strict=True):
            if rows:
                connection.execute(statement, rows)
        days: dict[int, tuple[int, int]] = {}
        for row in self.seats:
            day, number = row["finished"].astimezone(UTC).toordinal(), row["game_id"]
            days[day] = days.get(day, (number,))[0], number
        if days:
            ends = [
                {"day": day, "first_id": one, "last_id": end} for day, (one, end) in days.items()
            ]
            connection.execute(_note_days(connection.dialect.name), ends)


@cache
def _note_days(dialect: str) -> sa.Insert:
    """Notes games that end a day so far, the first ones of a day too."""
    statement: sqlite.Insert | postgresql.Insert
    statement = sqlite.insert(GameDay) if dialect == "sqlite" else postgresql.insert(GameDay)
    return statement.on_conflict_do_update(
        index_elements=[GameDay.day], set_={"last_id": statement.excluded.last_id}
    )


_INSERTS = tuple(sa.insert(table) for table in (ListedSeat, GameValue, GameTag))


@dataclass(frozen=True, slots=True)
class SeatWords:
    """What bots gave of themselves in a game: rows without its number."""

    values: Sequence[Row]
    tags: Sequence[Row]


def opening_number(options: Mapping[str, str], moves: Sequence[str]) -> int:
    """The number of an opening: the same for the same moves from the same start, with 63 bits.

    Args:
        options: of the match, with its lots drawn.
    """
    text = json.dumps([dict(options), list(moves)], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def seat_result(rank: int, points: float) -> SeatResult:
    """What came of a game for a seat, as the counters of its entrant have it.

    Args:
        points: the share of opponents beaten, ties half.
    """
    if rank > 1:
        return SeatResult.LOST
    return SeatResult.WON if points == 1.0 else SeatResult.DRAWN


def listed_seats(
    record: GameRecord,
    seats: Iterable[Row],
    versions: Mapping[int, tuple[int, int]],
    match: OfMatch,
) -> list[Row]:
    """The rows of a game's seats, without its number.

    Args:
        seats: what is stored of them (see `arena.recorder.storage.seat_rows`).
        versions: of each entrant the ids of its version and its bot.
    """
    common = {
        "competition_id": match.competition_id,
        "game": match.game,
        "ending": record.termination,
        "plies": len(record.plies),
        "opening": match.opening,
        "finished": match.finished,
        "worker": match.worker,
        "counts": match.counts,
    }
    rows = []
    for seat in seats:
        version, bot = versions[seat["entrant_id"]]
        rows.append(
            {
                "seat": seat["seat"],
                "bot_id": bot,
                "version_id": version,
                "result": seat_result(seat["rank"], seat["points"]),
                "fault": seat["fault"],
                "cpu_us": seat["cpu_us"],
                **common,
            }
        )
    return rows


def said(record: GameRecord) -> SeatWords:
    """The numbers and tags that bots gave in a game."""
    values: dict[int, dict[str, list[float]]] = {}
    tags: dict[int, dict[str, None]] = {}
    for ply in record.plies:
        if ply.values:
            its = values.setdefault(ply.seat, {})
            for key, value in ply.values.items():
                if key in its or len(its) < MOST_WORDS:
                    its.setdefault(key, []).append(value)
        if ply.tags:
            tags.setdefault(ply.seat, {}).update(dict.fromkeys(ply.tags))
    return SeatWords(
        [
            {"key": key, "seat": seat, "value": fmean(numbers)}
            for seat, its in values.items()
            for key, numbers in its.items()
        ],
        [
            {"tag": tag, "seat": seat}
            for seat, words in tags.items()
            for tag in list(words)[:MOST_WORDS]
        ],
    )
