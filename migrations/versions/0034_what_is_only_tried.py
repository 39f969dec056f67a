"""Lets a version be checked that is not handed in yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "check", sa.Column("enters", sa.Boolean(), nullable=False, server_default=sa.true())
    )
