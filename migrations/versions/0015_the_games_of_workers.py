"""Keeps which games each worker has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # None of a worker of a release before: it says so again within seconds, or is gone.
    op.add_column("worker", sa.Column("games", sa.JSON(), nullable=True))
