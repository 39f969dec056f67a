"""Finds the seats whose logs are kept, of which there may be few, without looking at all."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    logged = sa.text("log <> ''")
    op.create_index(
        "ix_game_seat_logged",
        "game_seat",
        ["game_id"],
        sqlite_where=logged,
        postgresql_where=logged,
    )
