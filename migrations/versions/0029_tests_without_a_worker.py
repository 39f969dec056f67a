"""Strength tests may leave out the games of a worker; those that there are leave out none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("competition", sa.Column("excluded", sa.JSON(), nullable=True))
    op.add_column("competition", sa.Column("withdrawn", sa.String(20), nullable=True))
    op.execute("UPDATE competition SET excluded = '{}' WHERE kind = 'test'")
