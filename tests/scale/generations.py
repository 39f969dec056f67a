"""Makes a made-up past longer by having it played again, by the next versions of the same bots.

Theory of operation. To make a game up costs a third of a millisecond in this process; to copy its
rows costs the database a part of that. So all rows of a past are copied once for each generation
after the first, with numbers and moments that go on behind it: a column is moved on by as much as
the table it refers to has rows. Every generation has entrants of its own, which come in when the
one before is at its end and retire. So each begins with the ratings of those whom nobody knows, and
what came of its games is what came of them the first time: ratings, counters and meetings hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from arena.ground.db import Database
from arena.lists import branches
from arena.models import COMPLETED, Base, EntrantState
from arena.models.base import UtcTime

TABLES = Base.metadata.tables
VERSION, ENTRANT, MATCH = TABLES["bot_version"], TABLES["entrant"], TABLES["match"]
LISTED, COMPETITION = TABLES["listed_seat"], TABLES["competition"]
COPIED = (
    VERSION, ENTRANT, TABLES["meeting"],
    MATCH, TABLES["place"], TABLES["game"], TABLES["game_seat"],
    LISTED, TABLES["game_value"], TABLES["game_tag"], TABLES["game_line"],
)  # fmt: skip
"""Those of which each generation has as many rows."""
NUMBERS = {VERSION.c.number, MATCH.c.seq, *(table.c.id for table in COPIED if "id" in table.c)}
"""The columns that number rows: of each generation they go on behind the one before."""
MEANT = {ENTRANT.c.entered_after: MATCH.c.seq, LISTED.c.version_id: VERSION.c.id}
"""Columns that hold such a number, and do not say so by a foreign key."""
COUNTED = ("matches_made", "games", "neighbours", "ties", "worker_seconds")
"""What is counted of a ladder as its games are played."""

DAYS = (
    "TRUNCATE game_day, game_day_count",
    """
    INSERT INTO game_day (day, first_id, last_id)
    SELECT finished::date - DATE '0001-01-01' + 1 AS day, min(id), max(id) FROM game GROUP BY day
    """,
    """
    INSERT INTO game_day_count (day, game, games)
    SELECT finished::date - DATE '0001-01-01' + 1 AS day, game, count(*) FROM listed_seat
    WHERE seat = 0 GROUP BY day, game
    """,
)
SET_NUMBER = sa.text("SELECT setval(CAST(:of AS regclass), :last)")


def play_again(database: Database, times: int, span: timedelta) -> None:
    """Makes the past of a PostgreSQL so many times as long.

    Args:
        database: one that has nothing but what `arena fake` made up.
        span: how long the past is that it has.
    """
    with database.begin() as session:
        connection = session.connection()
        # That what is copied refers to what is there need not be looked up for each row.
        connection.execute(sa.text("SET LOCAL session_replication_role = replica"))
        last = {column: connection.scalar(sa.select(sa.func.max(column))) for column in NUMBERS}
        for turn in range(1, times):
            for table in COPIED:
                connection.execute(_copy(table, last, turn, turn * span))
        retired = ENTRANT.c.id <= (times - 1) * last[ENTRANT.c.id]
        connection.execute(sa.update(ENTRANT).where(retired).values(state=EntrantState.RETIRED))
        totals = {name: COMPETITION.c[name] * times for name in COUNTED}
        ended = _later(COMPETITION.c.last_game, (times - 1) * span)
        connection.execute(sa.update(COMPETITION).values(last_game=ended, **totals))
        for words in DAYS:
            connection.execute(sa.text(words))
        for column, number in last.items():
            connection.execute(SET_NUMBER, {"of": _sequence(column), "last": times * number})
    while database.run(branches.add_next):
        pass


def _copy(table: sa.Table, last: Mapping[Any, int], turn: int, later: timedelta) -> sa.Insert:
    """Copies the rows of the first generation for another one."""
    columns = [column for column in table.columns if column.computed is None]
    numbered = {column: its for column in columns if (its := _number(column)) is not None}
    made: list[Any] = []
    for column in columns:
        if column in numbered:
            made.append(column + turn * last[numbered[column]])
        elif isinstance(column.type, UtcTime):
            made.append(_later(column, later))
        else:
            made.append(column)
    first = next(column for column in table.primary_key if column in numbered)
    rows = sa.select(*made).where(first <= last[numbered[first]]).order_by(first)
    return sa.insert(table).from_select(columns, rows)


def _number(column: sa.Column[Any]) -> sa.Column[Any] | None:
    """The column whose numbers one holds; None if it holds no such."""
    if column in NUMBERS:
        return column
    referred = (key.column for key in column.foreign_keys if key.column in NUMBERS)
    return MEANT.get(column) if column in MEANT else next(referred, None)


def _later(column: sa.Column[Any], span: timedelta) -> sa.ColumnElement[Any]:
    return column + sa.literal(span, sa.Interval)


def _sequence(column: sa.Column[Any]) -> str | None:
    """What gives the next numbers of a column; None of one to which a program gives them."""
    if column is MATCH.c.seq:
        return COMPLETED.name
    return f"{column.table.name}_id_seq" if column.name == "id" else None
