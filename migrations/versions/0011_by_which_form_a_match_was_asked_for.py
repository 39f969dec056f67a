"""Keeps by which form or key a match was asked for, so that one sent twice makes one match."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("match", sa.Column("request", sa.String(64), nullable=True))
    op.create_index("ix_match_request", "match", ["request"], unique=True)
