"""Keeps the last round of whoever was withdrawn from a tournament.

Until now it was taken to be the last one in which it had played a match.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("entrant", sa.Column("last_round", sa.Integer(), nullable=True))
    op.execute(
        """
        UPDATE entrant SET last_round = (
            SELECT COALESCE(MAX(match.round), 0) FROM match JOIN place ON place.match_id = match.id
            WHERE place.entrant_id = entrant.id AND match.status = 'fixed'
        )
        WHERE state = 'retired'
        AND competition_id IN (SELECT id FROM competition WHERE kind = 'tournament')
        """
    )
