"""Keeps how far tunings came, and what proves what came out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("competition", sa.Column("course", sa.JSON(), nullable=True))
    # With its constraint at once, which SQLite takes for a new column alone.
    op.execute(
        "ALTER TABLE competition ADD COLUMN proof_id INTEGER "
        "CONSTRAINT fk_competition_proof_id_competition REFERENCES competition (id)"
    )
