"""Keeps how far workers' clocks are ahead of the arena's.

Languages of workers are forgotten, until each says them again within seconds: they had no bounds.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("worker", sa.Column("clock_ahead", sa.Double(), nullable=True))
    op.execute("UPDATE worker SET languages = '[]'")
