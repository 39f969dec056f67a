"""Keeps who has won a tournament, for the list of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("competition", sa.Column("winner", sa.Text(), nullable=True))
