"""How many processes a bot may have: one, where there was nothing to choose."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    one = sa.Column("processes", sa.Integer(), nullable=False, server_default="1")
    op.add_column("competition", one)
