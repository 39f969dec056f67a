"""Keeps which books of openings were removed, while competitions that are over refer to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("book", sa.Column("removed", sa.DateTime(), nullable=True))
