"""Counts the games of each day, game by game."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "game_day_count",
        sa.Column("day", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("game", sa.String(40), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", "game", name="pk_game_day_count"),
        sqlite_with_rowid=False,
    )
    # The games of a day lie between its ends.
    op.execute(
        "INSERT INTO game_day_count (day, game, games)"
        " SELECT game_day.day, listed_seat.game, count(*) FROM game_day"
        " JOIN listed_seat ON listed_seat.game_id BETWEEN game_day.first_id AND game_day.last_id"
        " WHERE listed_seat.seat = 0 GROUP BY game_day.day, listed_seat.game"
    )
