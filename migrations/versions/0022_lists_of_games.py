"""Keeps what lists of games are filtered by, of the games that are there too, and selections."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import defaultdict
from statistics import fmean
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

AT_A_TIME = 1000
"""Games that are read at a time: their records are long."""
MOST_WORDS = 16
ENDINGS = (
    "normal", "repetition", "plylimit", "illegal", "timeout", "crash", "memory", "protocol",
    "start", "resign", "void",
)  # fmt: skip
FIRST_SEAT, BY_FAULT = sa.text("seat = 0"), sa.text("fault IS NOT NULL")
OF_GAMES = (
    ("competition_id",), ("competition_id", "plies"), ("game",), ("ending",), ("opening",),
    ("plies",), ("worker",),
)  # fmt: skip


def upgrade() -> None:
    one_of = ", ".join(f"'{ending}'" for ending in ENDINGS)
    seats = op.create_table(
        "listed_seat",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("result", sa.String(20), nullable=False),
        sa.Column("fault", sa.String(20), nullable=True),
        sa.Column("cpu_us", sa.BigInteger(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("game", sa.String(40), nullable=False),
        sa.Column("ending", sa.String(20), nullable=False),
        sa.Column("plies", sa.Integer(), nullable=False),
        sa.Column("opening", sa.BigInteger(), nullable=False),
        sa.Column("finished", sa.DateTime(), nullable=False),
        sa.Column("worker", sa.String(120), nullable=True),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.CheckConstraint("result IN ('won', 'drawn', 'lost')", name="ck_listed_seat_seatresult"),
        sa.CheckConstraint(
            f"ending IN ({one_of}) AND (fault IS NULL OR fault IN ({one_of}))",
            name="ck_listed_seat_termination",
        ),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name="fk_listed_seat_game_id_game"),
        sa.PrimaryKeyConstraint("game_id", "seat", name="pk_listed_seat"),
        sqlite_with_rowid=False,
    )
    values = op.create_table(
        "game_value",
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name="fk_game_value_game_id_game"),
        sa.PrimaryKeyConstraint("key", "game_id", "seat", name="pk_game_value"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "game_tag",
        sa.Column("tag", sa.String(32), nullable=False),
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name="fk_game_tag_game_id_game"),
        sa.PrimaryKeyConstraint("tag", "game_id", "seat", name="pk_game_tag"),
        sqlite_with_rowid=False,
    )
    days = op.create_table(
        "game_day",
        sa.Column("day", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("first_id", sa.Integer(), nullable=False),
        sa.Column("last_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["first_id"], ["game.id"], name="fk_game_day_first_id_game"),
        sa.ForeignKeyConstraint(["last_id"], ["game.id"], name="fk_game_day_last_id_game"),
        sa.PrimaryKeyConstraint("day", name="pk_game_day"),
    )
    op.create_table(
        "selection",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["user.id"], name="fk_selection_owner_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_selection"),
        sa.UniqueConstraint("owner_id", "name", name="uq_selection_owner_id_name"),
    )
    _fill(seats, values, days)
    # After the rows, for so they are made at once.
    for name in ("bot_id", "version_id"):
        op.create_index(f"ix_listed_seat_{name}", "listed_seat", [name, "game_id"])
    for names, which in ((("fault",), BY_FAULT), *((names, FIRST_SEAT) for names in OF_GAMES)):
        op.create_index(
            f"ix_listed_seat_{'_'.join(names)}",
            "listed_seat",
            [*names, "game_id"],
            sqlite_where=which,
            postgresql_where=which,
        )
    op.create_index(
        "ix_listed_seat_uncounted",
        "listed_seat",
        ["game_id"],
        sqlite_where=sa.text("seat = 0 AND counts = 0"),
        postgresql_where=sa.text("seat = 0 AND NOT counts"),
    )
    op.create_index("ix_game_value_key_value", "game_value", ["key", "value"])


def _fill(seats: sa.Table, values: sa.Table, days: sa.Table) -> None:
    """Writes the rows of the games that are there. None of them has tags yet."""
    connection = op.get_bind()
    last, ends = 0, dict[int, tuple[int, int]]()
    while True:
        games = connection.execute(_GAMES, {"last": last, "most": AT_A_TIME}).mappings().all()
        if not games:
            break
        about = {row["id"]: _in_common(row) for row in games}
        first, last = games[0]["id"], games[-1]["id"]
        rows = connection.execute(_SEATS, {"first": first, "last": last}).mappings()
        found = [_seat(row, about[row["game_id"]]) for row in rows]
        told = [one for row in games for one in _values(row["id"], row["record"])]
        if found:
            connection.execute(sa.insert(seats), found)
        if told:
            connection.execute(sa.insert(values), told)
        for row in games:
            day, number = row["finished"].toordinal(), row["id"]
            ends[day] = ends.get(day, (number,))[0], number
    if ends:
        rows = [{"day": day, "first_id": one, "last_id": end} for day, (one, end) in ends.items()]
        connection.execute(sa.insert(days), rows)


_GAMES = sa.text(
    "SELECT game.id, game.termination, game.plies, game.finished, game.record,"
    " game.competition_id, competition.game, match.options, match.opening, match.played_by,"
    " match.status, match.requester_id FROM game JOIN match ON match.id = game.match_id"
    " JOIN competition ON competition.id = game.competition_id"
    " WHERE game.id > :last ORDER BY game.id LIMIT :most"
).columns(finished=sa.DateTime(), record=sa.LargeBinary(), options=sa.JSON(), opening=sa.JSON())
_SEATS = sa.text(
    "SELECT game_seat.game_id, game_seat.seat, game_seat.rank, game_seat.points, game_seat.fault,"
    " game_seat.cpu_us, entrant.version_id, bot_version.bot_id FROM game_seat"
    " JOIN entrant ON entrant.id = game_seat.entrant_id"
    " JOIN bot_version ON bot_version.id = entrant.version_id"
    " WHERE game_seat.game_id BETWEEN :first AND :last"
)


def _in_common(row: sa.RowMapping) -> dict[str, Any]:
    text = json.dumps([row["options"], row["opening"]], sort_keys=True)
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
    return {
        "competition_id": row["competition_id"],
        "game": row["game"],
        "ending": row["termination"],
        "plies": row["plies"],
        "opening": number,
        "finished": row["finished"],
        "worker": row["played_by"],
        "counts": row["status"] == "fixed" and row["requester_id"] is None,
    }


def _seat(row: sa.RowMapping, about: dict[str, Any]) -> dict[str, Any]:
    result = "lost" if row["rank"] > 1 else "won" if row["points"] == 1.0 else "drawn"
    its = ("game_id", "seat", "bot_id", "version_id", "fault", "cpu_us")
    return {**{name: row[name] for name in its}, "result": result, **about}


def _values(game: int, stored: bytes) -> list[dict[str, Any]]:
    """The means of the numbers that each seat's bot gave; of a record that can't be read none."""
    try:
        record = json.loads(zlib.decompress(stored))
        movers = [int(move.partition(":")[0]) - 1 for move in record["moves"]]
        told = sorted((int(ply), its) for ply, its in record["values"].items())
        found: dict[int, dict[str, list[float]]] = defaultdict(dict)
        for ply, its in told:
            known = found[movers[ply]]
            for key, value in its.items():
                if key in known or len(known) < MOST_WORDS:
                    known.setdefault(key, []).append(float(value))
    except (zlib.error, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return []
    return [
        {"key": key, "game_id": game, "seat": seat, "value": fmean(numbers)}
        for seat, known in found.items()
        for key, numbers in known.items()
    ]
