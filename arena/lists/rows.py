"""What is written of a game so that it can be found, as it is recorded.

The numbers and tags of a seat are bounded: of a bot that gives more different ones, those that it
gave first can be looked for, and all of them stay in the record.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from arena.lists.lines import line_of, root_of, start_code
from arena.models import GameDay, GameDayCount, GameLine, GameTag, GameValue, ListedSeat, SeatResult
from engine.measure import mean_speed
from engine.record import GameRecord

MOST_GIVEN = 16
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
    start: bytes
    """What the lines of its games begin with."""
    set_plies: int
    """How many moves its opening has."""
    is_public: bool = True
    """Whether everybody finds them."""


@dataclass(slots=True)
class Listed:
    """The rows of some games, table by table."""

    seats: list[Row]
    values: list[Row]
    tags: list[Row]
    lines: list[Row]
    public: set[int]
    """The numbers of those that everybody finds: only they are among the day's games."""

    @classmethod
    def nothing(cls) -> Listed:
        """No rows yet."""
        return cls([], [], [], [], set())

    def add(
        self,
        game_id: int,
        seats: Iterable[Row],
        given: GivenByBots,
        line: Row | None,
        *,
        is_public: bool = True,
    ) -> None:
        """Adds a game."""
        if is_public:
            self.public.add(game_id)
        self.seats += [{"game_id": game_id, **row} for row in seats]
        self.values += [{"game_id": game_id, **row} for row in given.values]
        self.tags += [{"game_id": game_id, **row} for row in given.tags]
        if line is not None:
            self.lines.append({"game_id": game_id, **line})

    def write(self, connection: sa.Connection) -> None:
        """Inserts them, but for what is noted of their days."""
        for statement, rows in zip(_INSERTS, self._rows, strict=True):
            if rows:
                connection.execute(statement, rows)

    def tables(self) -> Iterator[tuple[sa.Table, list[Row]]]:
        """Each table with its rows."""
        for statement, rows in zip(_INSERTS, self._rows, strict=True):
            assert isinstance(statement.table, sa.Table)
            yield statement.table, rows

    @property
    def _rows(self) -> tuple[list[Row], ...]:
        return self.seats, self.values, self.tags, self.lines


class Days:
    """What is noted of the days on which games ended.

    All who record write the same rows of today, each of whom holds up the others until it has
    committed. So this is the last that is written.
    """

    def __init__(self) -> None:
        self._ends: dict[int, tuple[int, int]] = {}
        self._counts = Counter[tuple[int, str]]()

    def add(self, games: Listed) -> None:
        """Adds games, whose numbers are higher than of those before."""
        for row in games.seats:
            day, number = row["finished"].astimezone(UTC).toordinal(), row["game_id"]
            self._ends[day] = self._ends.get(day, (number,))[0], number
            self._counts[day, row["game"]] += row["seat"] == 0 and number in games.public

    def write(self, connection: sa.Connection) -> None:
        """Writes the days, once."""
        ends = [
            {"day": day, "first_id": one, "last_id": end}
            for day, (one, end) in sorted(self._ends.items())
        ]
        added = [
            {"day": day, "game": game, "games": games}
            for (day, game), games in sorted(self._counts.items())
            if games
        ]
        note, count = _of_days(connection.dialect.name)
        if ends:
            connection.execute(note, ends)
        if added:
            connection.execute(count, added)


@cache
def _of_days(dialect: str) -> tuple[sa.Insert, sa.Insert]:
    """Notes games that end a day so far, and adds them to the day's; the first ones too."""
    insert: Any = sqlite.insert if dialect == "sqlite" else postgresql.insert
    noted, counted = insert(GameDay), insert(GameDayCount)
    least, most = ("min", "max") if dialect == "sqlite" else ("least", "greatest")
    return (
        noted.on_conflict_do_update(
            index_elements=[GameDay.day],
            set_={
                "first_id": getattr(sa.func, least)(GameDay.first_id, noted.excluded.first_id),
                "last_id": getattr(sa.func, most)(GameDay.last_id, noted.excluded.last_id),
            },
        ),
        counted.on_conflict_do_update(
            index_elements=[GameDayCount.day, GameDayCount.game],
            set_={"games": GameDayCount.games + counted.excluded.games},
        ),
    )


_INSERTS = tuple(sa.insert(table) for table in (ListedSeat, GameValue, GameTag, GameLine))


@dataclass(frozen=True, slots=True)
class GivenByBots:
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


def start_of(game: str, usual: Mapping[str, str], options: Mapping[str, str]) -> bytes:
    """What the lines of a match's games begin with.

    Args:
        usual: the options of its competition.
        options: its own, with its lots drawn.
    """
    return root_of(game, usual) + start_code(options)


def line_row(record: GameRecord, match: OfMatch) -> Row | None:
    """The row of a game's line, without its number; None of one that does not count."""
    if not match.counts:
        return None
    return {"line": line_of(match.start, record), "set_plies": match.set_plies}


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
        "speed": speed_of(record),
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
                "options": seat["options"],
                "result": seat_result(seat["rank"], seat["points"]),
                "fault": seat["fault"],
                "cpu_us": seat["cpu_us"],
                **common,
            }
        )
    return rows


def speed_of(record: GameRecord) -> float | None:
    """How fast the machine of a game was; None if that is not known."""
    return mean_speed(record.speeds) if record.speeds else None


def given_by_bots(record: GameRecord) -> GivenByBots:
    """The numbers and tags that bots gave in a game."""
    values: dict[int, dict[str, list[float]]] = {}
    tags: dict[int, dict[str, None]] = {}
    for ply in record.plies:
        if ply.values:
            its = values.setdefault(ply.seat, {})
            for key, value in ply.values.items():
                if key in its or len(its) < MOST_GIVEN:
                    its.setdefault(key, []).append(value)
        if ply.tags:
            tags.setdefault(ply.seat, {}).update(dict.fromkeys(ply.tags))
    return GivenByBots(
        [
            {"key": key, "seat": seat, "value": fmean(numbers)}
            for seat, its in values.items()
            for key, numbers in its.items()
        ],
        [
            {"tag": tag, "seat": seat}
            for seat, words in tags.items()
            for tag in list(words)[:MOST_GIVEN]
        ],
    )
