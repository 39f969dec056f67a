"""Has counters made anew in which resignations were counted as faults."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "UPDATE competition SET rebuild_due = true WHERE id IN (SELECT game.competition_id "
        "FROM game JOIN game_seat ON game_seat.game_id = game.id "
        "WHERE game_seat.fault = 'resign')"
    )
