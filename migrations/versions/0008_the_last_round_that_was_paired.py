"""Keeps the last round that was paired with whoever was withdrawn from a tournament.

Until now it was paired anew without them, as far as no match of it was made.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("entrant", sa.Column("last_paired", sa.Integer(), nullable=True))
    op.execute("UPDATE entrant SET last_paired = last_round")
