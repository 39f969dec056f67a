"""Lets a strength test decide although faults ended many of its games.

Until now every test did; those that have a verdict keep it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("competition", sa.Column("allow_faults", sa.Boolean(), nullable=True))
    op.execute("UPDATE competition SET allow_faults = FALSE WHERE kind = 'test'")
