"""Counts how often each entrant had which place, where games have more than two sides, and how
large the files of versions are.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("bot_version", sa.Column("files_bytes", sa.BigInteger(), nullable=True))
    op.add_column("entrant", sa.Column("places", sa.JSON(), nullable=False, server_default="[]"))
    # The recorder counts them from the games. A third seat is in every game that has places.
    op.execute(
        "UPDATE competition SET rebuild_due = true WHERE id IN (SELECT game.competition_id "
        "FROM game JOIN game_seat ON game_seat.game_id = game.id WHERE game_seat.seat = 2)"
    )
