"""Keeps how each game that counts began, of the games that are there too."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

AT_A_TIME = 1000
"""Games that are read at a time: their records are long."""
PLIES = 24


def upgrade() -> None:
    lines = op.create_table(
        "game_line",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("line", sa.LargeBinary(), nullable=False),
        sa.Column("set_plies", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name="fk_game_line_game_id_game"),
        sa.PrimaryKeyConstraint("game_id", name="pk_game_line"),
    )
    op.create_table(
        "line_branch",
        sa.Column("line", sa.LargeBinary(), nullable=False),
        sa.Column("move", sa.LargeBinary(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("won", sa.Integer(), nullable=False),
        sa.Column("drawn", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.Column("chosen", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competition.id"], name="fk_line_branch_competition_id_competition"
        ),
        sa.PrimaryKeyConstraint("line", "move", "competition_id", "seat", name="pk_line_branch"),
        sqlite_with_rowid=False,
    )
    _fill(lines)
    # After the rows, for so it is made at once.
    op.create_index("ix_game_line_line", "game_line", ["line", "game_id"])


def _fill(lines: sa.Table) -> None:
    """Writes the lines of the games that are there; the recorder counts them."""
    connection = op.get_bind()
    last = 0
    while True:
        games = connection.execute(_GAMES, {"last": last, "most": AT_A_TIME}).mappings().all()
        if not games:
            return
        last = games[-1]["id"]
        rows = [row for row in map(_row, games) if row is not None]
        if rows:
            connection.execute(sa.insert(lines), rows)


_GAMES = sa.text(
    "SELECT game.id, game.record, competition.game, competition.options AS usual, match.options,"
    " match.opening FROM game JOIN match ON match.id = game.match_id"
    " JOIN competition ON competition.id = game.competition_id"
    " WHERE game.id > :last AND match.status = 'fixed' AND match.requester_id IS NULL"
    " ORDER BY game.id LIMIT :most"
).columns(record=sa.LargeBinary(), usual=sa.JSON(), options=sa.JSON(), opening=sa.JSON())


def _digest(data: Any) -> bytes:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).digest()


def _row(game: sa.RowMapping) -> dict[str, Any] | None:
    """The line of a game; None of a record that can't be read."""
    try:
        record = json.loads(zlib.decompress(game["record"]))
        words = [word.partition(":")[2] for word in record["moves"]]
        played = min([len(words), PLIES, *(fault["ply"] for fault in record["faults"])])
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return None
    line = _digest([game["game"], game["usual"]])[:8] + _digest(game["options"])[:4]
    line += b"".join(zlib.crc32(word.encode()).to_bytes(4, "big") for word in words[:played])
    if played < PLIES:
        line += bytes(4)
    return {"game_id": game["id"], "line": line, "set_plies": len(game["opening"])}
